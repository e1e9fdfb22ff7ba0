/** The bundle's sections `templates` and `mailboxes` (docs/decisions/0023-mail-proves-its-sender.md). */
import Type, { type Static } from 'typebox';
import { connectionNotes, secretUsesIn } from '../../configuration/connections.ts';
import { defineSection } from '../../configuration/define.ts';
import { CodeOf, SetSchema } from '../../configuration/schemas.ts';
import type { Change, CompileView, ConfigView, Report, SectionReport } from '../../configuration/section.ts';
import { compileSet } from '../../configuration/values.ts';
import { closed, Code, described, type Localized, localized, Name, oneOf, optional } from '../../contract/schemas.ts';
import type { GlobalRight } from '../../contract/rights.ts';
import { isEmail } from '../../lib/data-types/index.ts';
import { problem } from '../../lib/problem.ts';
import { isTemplateName, placeholders } from '../../lib/template.ts';
import { checkValue, type FieldDefinition, type TypeDefinition } from '../metadata/index.ts';
import { isMailName, unfilledFields } from './fields.ts';
import { addressKey } from './headers.ts';
import {
  type CompiledMailbox,
  type MailboxDefinition,
  type TemplateDefinition,
  TLS,
  UNKNOWN_SENDER,
} from './registry.ts';
import { LONGEST_LOCAL_PART } from './reply-token.ts';

/** Maximum number of characters of a subject and of a body. */
const LONGEST_SUBJECT = 500;
const LONGEST_BODY = 20_000;

const names = { kind: 'template' } as const;

const TemplateItem = closed(
  {
    code: Code,
    name: Type.Optional(Name),
    subject: {
      ...described(
        'Subject of the mail: a text, or one text for each locale, in the language of the recipient. May have {{ CODE }}.',
        localized(LONGEST_SUBJECT),
      ),
      names,
    },
    body: {
      ...described(
        'Text of the mail in Markdown, or one text for each locale. {{ CODE }} is a field, {{ $url }} the address of the record; what the recipient may not read stays empty.',
        localized(LONGEST_BODY),
      ),
      names,
    },
  },
  // A template serves all record types: a renamed field is renamed in it only if no type keeps the old code.
  { typesAt: 'types' },
);

/** Checks that each name in the texts is a field of some record type, or another known name. */
function compileTemplate(template: TemplateDefinition, view: CompileView, report: Report): TemplateDefinition {
  const types = [...view.active<TypeDefinition>('types').values()];
  const fields = new Set(types.flatMap((type) => type.fields.map(({ code }) => code)));
  for (const part of ['subject', 'body'] as const) {
    const texts = template[part];
    const places = typeof texts === 'string' ? [[[part], texts] as const] : localizedPlaces(part, texts);
    for (const [path, text] of places) {
      const unknown = placeholders(text).find(
        (name) => !isTemplateName(name) && !isMailName(name) && !fields.has(name),
      );
      if (unknown !== undefined) report(path, problem('NO_FIELD', { field: unknown }));
    }
  }
  return template;
}

function localizedPlaces(part: string, texts: Readonly<Record<string, string>>): [string[], string][] {
  return Object.entries(texts).map(([locale, text]) => [[part, locale], text]);
}

export const templatesSection = defineSection<Static<typeof TemplateItem>, TemplateDefinition>({
  key: 'templates',
  summary: 'Texts of mails, with names of fields in double braces.',
  schema: TemplateItem,
  normalise: (item) => ({
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    subject: item.subject as Localized,
    body: item.body as Localized,
  }),
  compile: compileTemplate,
});

const Imap = closed({
  host: described('Name of the mail server, such as imap.example.org.', Type.String({ minLength: 1, maxLength: 253 })),
  port: optional(
    'TCP port of the mail server. Default: 993 with implicit TLS, 143 with STARTTLS.',
    Type.Integer({ minimum: 1, maximum: 65_535 }),
  ),
  tls: optional(
    'implicit encrypts from the start, starttls after the greeting. There is no connection without TLS. Default: implicit.',
    oneOf(TLS),
  ),
  user: described('Name of the account at the mail server.', Type.String({ minLength: 1, maxLength: 254 })),
  secretRef: described(
    'Code of the secret with the password, whose value is stored apart from the bundle. No webhook may use it.',
    CodeOf('signingSecrets'),
  ),
});

/** The ports of IMAP, with TLS from the start and without. */
const PORTS = { implicit: 993, starttls: 143 } as const;

const MailboxItem = closed(
  {
    code: Code,
    address: described(
      'Address to which people write, without + and with at most 31 characters before @. One mailbox for each address.',
      Type.String({ minLength: 3, maxLength: 254 }),
    ),
    type: described(
      'Code of the record type of which new mails become records. Mail about its records is sent from this address.',
      CodeOf('types'),
    ),
    defaults: optional(
      'Field code to value for new records, as in the set of transitions. Required fields that a mail does not fill need one.',
      SetSchema,
    ),
    authServer: optional(
      'Name of the mail server whose Authentication-Results are trusted. Absent: only senders with no more rights than a requester can use mail.',
      Type.String({ minLength: 1, maxLength: 253 }),
    ),
    unknownSender: optional(
      'Mail from an unknown address: refuse lists it, create makes a user without roles for it. Default: refuse.',
      oneOf(UNKNOWN_SENDER),
    ),
    imap: optional('The account whose inbox is read. Absent: a mail server hands messages in over HTTP.', Imap),
    enabled: optional('If false, mail to the address is listed and not used. Default: false.', Type.Boolean()),
  },
  { typesAt: 'type' },
);

const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

function checkAddresses({ address, authServer, imap }: MailboxDefinition, report: Report): void {
  const local = address.slice(0, address.lastIndexOf('@'));
  if (!isEmail(address)) report(['address'], problem('NOT_AN_EMAIL', { example: 'support@example.org' }));
  else if (local.includes('+') || local.length > LONGEST_LOCAL_PART) {
    report(['address'], problem('MAILBOX_LOCAL_PART', { max: LONGEST_LOCAL_PART }));
  }
  if (imap !== undefined && !HOST.test(imap.host)) {
    report(['imap', 'host'], problem('NOT_AN_ADDRESS', { example: 'imap.example.org' }));
  }
  if (authServer !== undefined && !HOST.test(authServer)) {
    report(['authServer'], problem('NOT_AN_ADDRESS', { example: 'mx.example.org' }));
  }
}

function compileMailbox(mailbox: MailboxDefinition, view: CompileView, report: Report): CompiledMailbox {
  checkAddresses(mailbox, report);
  const type = view.get<TypeDefinition>('types', mailbox.type);
  const typeId = view.has('types', mailbox.type) ? view.id('types', mailbox.type) : null;
  if (type === undefined) return { ...mailbox, typeId };
  const fields = new Map([[type.code, new Map(type.fields.map((field) => [field.code, field]))]]);
  const check = (field: FieldDefinition, value: unknown) => checkValue(field, value, '');
  const defaults = compileSet(mailbox.defaults, ['defaults'], fields, check, { view, report });
  for (const field of unfilledFields(type, mailbox.defaults)) {
    report(['defaults'], problem('MAILBOX_FIELD_REQUIRED', { field }));
  }
  return { ...mailbox, defaults, typeId };
}

/** An address belongs to one mailbox: a reply to it must not become comments of two. */
function checkUniqueAddresses(view: ConfigView, report: SectionReport): void {
  const owners = new Map<string, string>();
  for (const [code, { address }] of view.active<MailboxDefinition>('mailboxes')) {
    const owner = owners.get(addressKey(address));
    if (owner === undefined) owners.set(addressKey(address), code);
    else report(code, ['address'], problem('MAILBOX_ADDRESS_TAKEN', { mailbox: owner }));
  }
}

/** Of two mailboxes that read one account, each would take some of its messages. */
function checkUniqueAccounts(view: ConfigView, report: SectionReport): void {
  const owners = new Map<string, string>();
  for (const [code, { imap }] of view.active<MailboxDefinition>('mailboxes')) {
    if (imap === undefined) continue;
    const account = `${imap.host} ${imap.user}`;
    const owner = owners.get(account);
    if (owner === undefined) owners.set(account, code);
    else report(code, ['imap', 'user'], problem('MAILBOX_ACCOUNT_TAKEN', { mailbox: owner }));
  }
}

function checkSecrets(view: ConfigView, report: SectionReport): void {
  const { signing } = secretUsesIn(view);
  for (const [code, { imap }] of view.active<MailboxDefinition>('mailboxes')) {
    if (imap !== undefined && signing.has(imap.secretRef)) {
      report(code, ['imap', 'secretRef'], problem('SECRET_SIGNS', { code: imap.secretRef }));
    }
  }
}

/** Mail acts as the users who send it, and `authServer` says whom to believe. Creating users is the right of administrators. */
function mailboxRights({ action, definition }: Change): GlobalRight[] {
  if (action === 'archive') return [];
  const creates = (definition as MailboxDefinition).unknownSender === 'create';
  return creates ? ['role.assign', 'user.administer'] : ['role.assign'];
}

export const mailboxesSection = defineSection<Static<typeof MailboxItem>, MailboxDefinition>({
  key: 'mailboxes',
  summary: 'Addresses whose mail becomes records and comments.',
  schema: MailboxItem,
  rights: mailboxRights,
  normalise: (item) => ({
    code: item.code,
    address: item.address,
    type: item.type,
    defaults: (item.defaults ?? {}) as Record<string, unknown>,
    ...(item.authServer === undefined ? {} : { authServer: item.authServer.toLowerCase() }),
    unknownSender: item.unknownSender ?? 'refuse',
    ...(item.imap === undefined
      ? {}
      : {
          imap: {
            host: item.imap.host.toLowerCase(),
            port: item.imap.port ?? PORTS[item.imap.tls ?? 'implicit'],
            tls: item.imap.tls ?? 'implicit',
            user: item.imap.user,
            secretRef: item.imap.secretRef,
          },
        }),
    enabled: item.enabled ?? false,
  }),
  compile: compileMailbox,
  validateAll: (view, report) => {
    checkUniqueAddresses(view, report);
    checkUniqueAccounts(view, report);
    checkSecrets(view, report);
  },
  notes: connectionNotes,
});
