/** The configured mailboxes. */
import type { Localized } from '../../contract/schemas.ts';
import { isActive, type ItemState } from '../../contract/state.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';

/** What a mailbox does with mail of unknown addresses. */
export const UNKNOWN_SENDER = ['refuse', 'create'] as const;

/** `implicit`: from the start; `starttls`: before the password is sent. There is no connection without TLS. */
export const TLS = ['implicit', 'starttls'] as const;
export type Tls = (typeof TLS)[number];

/** The account whose inbox is read. */
export interface ImapDefinition {
  host: string;
  port: number;
  tls: Tls;
  user: string;
  /** Code of the stored secret that is the password. */
  secretRef: string;
}

export interface MailboxDefinition {
  code: string;
  /** The address to which people write, and which replies carry with a token. */
  address: string;
  /** Code of the type of the records that mails become. */
  type: string;
  /** Field code → value of those records. */
  defaults: Record<string, unknown>;
  /** The server whose `Authentication-Results` are believed; absent: none. */
  authServer?: string;
  unknownSender: (typeof UNKNOWN_SENDER)[number];
  /** Absent: a mail server hands in the messages. */
  imap?: ImapDefinition;
  enabled: boolean;
}

export interface CompiledMailbox extends MailboxDefinition {
  /** Null only if the type is unknown; such a mailbox is refused. */
  typeId: string | null;
}

export interface Mailbox extends CompiledMailbox {
  id: string;
  state: ItemState;
}

const mailboxView: DerivedView<ReadonlyMap<string, Mailbox>> = {
  name: 'mailboxes',
  build: ({ items }: ConfigSource) =>
    new Map(
      items
        .filter(({ section }) => section === 'mailboxes')
        .map(({ id, state, compiled }) => [id, { ...(compiled as CompiledMailbox), id, state }]),
    ),
};

/** All mailboxes by id, including archived ones. */
export function mailboxes(ctx: Pick<ReadContext, 'config'>): ReadonlyMap<string, Mailbox> {
  return ctx.config.get(mailboxView);
}

export interface TemplateDefinition {
  code: string;
  name: Localized;
  subject: Localized;
  /** Markdown. */
  body: Localized;
}

/** The active templates. Rules name them by id, kinds of notifications by code. */
interface Templates {
  byCode: ReadonlyMap<string, TemplateDefinition>;
  byId: ReadonlyMap<string, TemplateDefinition>;
}

const templateView: DerivedView<Templates> = {
  name: 'mail-templates',
  build: ({ items }: ConfigSource) => {
    const active = items.filter((item) => item.section === 'templates' && isActive(item));
    return {
      byCode: new Map(active.map(({ code, compiled }) => [code, compiled as TemplateDefinition])),
      byId: new Map(active.map(({ id, compiled }) => [id, compiled as TemplateDefinition])),
    };
  },
};

export function templates(ctx: Pick<ReadContext, 'config'>): Templates {
  return ctx.config.get(templateView);
}
