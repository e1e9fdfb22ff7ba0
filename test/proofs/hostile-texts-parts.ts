/** Texts that are expensive to read in different ways, and the calls that hand them in over every channel. */
import { randomUUID } from 'node:crypto';
import { makeReplyToken, replyAddress, TOKEN_KEY } from '../../src/domain/mail/reply-token.ts';
import { makeThreads } from '../../src/domain/mail/store.ts';
import { TEST_SECRETS, type TestApp } from '../support/app.ts';
import { mail } from '../support/mail-messages.ts';
import { ACTIONS, idOf } from '../support/small-configuration.ts';

/** Characters of a whole text, and of a field or comment. */
const WHOLE = 4_000_000;
const LONGEST = 100_000;
/** Bytes of the body of a mail: in base64, it is as long as a request may be. */
const LONGEST_MAIL = 7_500_000;
const FIELDS = WHOLE / LONGEST;

const CODES = Array.from({ length: FIELDS }, (_, index) => `text${index}`);

export const HOSTILE_WORLD = `
settings: { defaultLocale: en-US }
types:
  - code: thing
    name: Thing
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: requester, dataType: user }
      - { code: rich, dataType: rich-text }
${CODES.map((code) => `      - { code: ${code}, dataType: text }\n`).join('')}
mailboxes: [{ code: box, address: box@example.org, type: thing, enabled: true }]
knowledgeBases: [{ code: kb, name: KB, visibility: internal, locales: [en-US], sections: [{ code: first }] }]
roles:
  - code: everything
    rights: [integration.manage, import.manage, import.execute, kb.read, kb.write, role.assign]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [full] }
  - code: requester
    records:
      - { type: thing, where: { field: requester, operator: equals, value: $me }, actions: [read, create, comment.create, attachment.add], fields: { read: '*', write: '*' } }
    assignedTo: { users: [anna] }
users:
  - { login: full, displayName: Full }
  - { login: anna, displayName: Anna, email: anna@example.com }
`;

const fill = (part: string, length: number): string => part.repeat(Math.ceil(length / part.length)).slice(0, length);

/** Bytes that look random, each as one character. */
function bytes(length: number): string {
  const found = Buffer.alloc(length);
  let state = 7;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    found[at] = state >>> 24;
  }
  return found.toString('latin1');
}

/** Name → text of the given length. */
const HOSTILE_TEXTS: Readonly<Record<string, (length: number) => string>> = {
  'one word': (length) => fill('a', length),
  'many lines': (length) => fill('a\n', length),
  'quoted lines': (length) => fill('> \n', length),
  blanks: (length) => fill(' ', length),
  'white space': (length) => fill(' \t\r\n\u00a0', length),
  accents: (length) => fill('e\u0301', length),
  'marks out of order': (length) => fill(`a${'\u0301\u0323'.repeat(30)}`, length),
  'marks alone': (length) => fill('\u0301', length),
  'base64 in one line': (length) => Buffer.from(bytes(length), 'latin1').toString('base64').slice(0, length),
  'base64 in lines': (length) =>
    fill(`${Buffer.from(bytes(57_000), 'latin1').toString('base64').slice(0, 76)}\r\n`, length),
  'bytes of a picture': (length) => bytes(length).replaceAll('\u0000', 'x'),
  attributions: (length) => fill('On 2026-11-20 10:00 a@example.com wrote:\n> a\nb\n', length),
  mentions: (length) => fill('@a.b-', length),
  markup: (length) => fill('<b>*a_[b](c)', length),
};

/** The texts that take the event loop longest where many of them are handed in at once, which takes seconds. */
const EXPENSIVE: ReadonlySet<string> = new Set(['accents', 'marks out of order', 'base64 in one line']);

/** The texts to hand in over a channel. */
export function textsFor(channel: string): [name: string, text: (length: number) => string][] {
  const isSlow = /record|import/.test(channel);
  return Object.entries(HOSTILE_TEXTS).filter(([name]) => !isSlow || EXPENSIVE.has(name));
}

export interface HostileCall {
  method: string;
  path: string;
  body: unknown;
}

type Channel = (text: (length: number) => string) => Promise<HostileCall> | HostileCall;

/** A call below `/api/v1` with every right; gives the answer's `data`. */
type Send = (method: string, path: string, body?: unknown) => Promise<any>;

/** Makes what the channels need. @returns channel → call with the text */
export async function hostileChannels(app: TestApp, send: Send): Promise<Readonly<Record<string, Channel>>> {
  const record = async (): Promise<string> =>
    (await send('POST', '/objects', { typeDefinitionId: 'thing', values: { title: 'A record' } })).id;
  const objectId = await record();
  const values = (text: (length: number) => string): Record<string, string> => ({
    title: 'A record',
    ...Object.fromEntries(CODES.map((code) => [code, text(LONGEST)])),
  });
  const integration = async (config: object): Promise<string> => {
    const executionPrincipalId = await idOf(app, 'users', 'full');
    const definition = { code: `i-${randomUUID()}`, type: 'inbound-webhook', executionPrincipalId, enabled: true };
    return (await send('POST', '/integrations', { ...definition, config })).id;
  };
  const same = (codes: readonly string[]) => codes.map((code) => ({ source: code, target: code }));
  const makesRecord = await integration({
    command: 'object.create',
    typeDefinitionId: 'thing',
    mapping: same(['title', ...CODES]),
  });
  const makesComment = await integration({ command: 'comment.add', mapping: same(['objectId', 'body']) });
  const importer = async (format: string): Promise<string> => {
    const definition = { code: `d-${randomUUID()}`, targetKind: 'object', targetTypeId: 'thing', mode: 'UPSERT' };
    const how = {
      format,
      sourceCode: 'there',
      resolver: { externalIdField: 'ext' },
      mapping: same(['title', ...CODES]),
    };
    return (await send('POST', '/import-definitions', { ...definition, ...how })).id;
  };
  const [csv, json] = [await importer('CSV'), await importer('JSON')];
  const userId = await idOf(app, 'users', 'anna');
  const [thread] = await makeThreads(app.db, [{ objectId, userId }]);
  if (thread === undefined) throw new Error('there is no thread');
  const key = TEST_SECRETS.deriveKey(TOKEN_KEY);
  const replyTo = replyAddress('box@example.org', makeReplyToken(key, thread, Date.now()));
  const message = (to: string, type: string, body: string): HostileCall => ({
    method: 'POST',
    path: '/mailboxes/box/messages',
    body: { raw: mail({ to, type, body: body.slice(0, LONGEST_MAIL) }).toString('base64') },
  });
  const bodies: Readonly<Record<string, (text: string) => [type: string, body: string]>> = {
    'a plain text': (text) => ['Content-Type: text/plain; charset=utf-8', Buffer.from(text).toString('latin1')],
    'a plain text of bytes': (text) => ['Content-Type: text/plain; charset=utf-8', text],
    'a text in base64': (text) => [
      'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64',
      Buffer.from(text).toString('base64'),
    ],
    HTML: (text) => ['Content-Type: text/html; charset=utf-8', Buffer.from(`<div>${text}</div>`).toString('latin1')],
  };
  const mails = Object.entries(bodies).flatMap(([name, make]): [string, Channel][] => [
    [`a mail with ${name}`, (text) => message('box@example.org', ...make(text(WHOLE)))],
    [`a reply with ${name}`, (text) => message(replyTo, ...make(text(WHOLE)))],
  ]);
  const line = (text: string): string => Buffer.from(text.replace(/[\r\n]/g, ' ')).toString('latin1');
  return {
    ...Object.fromEntries(mails),
    'a mail with long header fields': (text) => {
      const fields = ['Delivered-To', 'References', 'Authentication-Results', 'List-Id', 'X-Other', 'Auto-Submitted'];
      const headers = fields.map((name) => `${name}: ${line(text(15_000))}`);
      return {
        method: 'POST',
        path: '/mailboxes/box/messages',
        body: { raw: mail({ subject: line(text(15_000)), headers }).toString('base64') },
      };
    },
    'a mail with long addresses': (text) => {
      const address = `${line(text(LONGEST).replace(/[\s@<>,;:"()[\]]/g, ''))}@example.com`;
      return {
        method: 'POST',
        path: '/mailboxes/box/messages',
        body: { raw: mail({ to: address, headers: [`Delivered-To: ${address.slice(0, 30_000)}`] }).toString('base64') },
      };
    },
    'a comment that is too long': (text) => ({
      method: 'POST',
      path: `/objects/${objectId}/comments`,
      body: { body: text(WHOLE), visibility: 'public' },
    }),
    'a comment': (text) => ({
      method: 'POST',
      path: `/objects/${objectId}/comments`,
      body: { body: text(LONGEST), visibility: 'public' },
    }),
    'a changed comment': async (text) => {
      const { id } = await send('POST', `/objects/${objectId}/comments`, { body: 'A', visibility: 'public' });
      return { method: 'PATCH', path: `/comments/${id}`, body: { expectedRevision: 1, body: text(LONGEST) } };
    },
    'a new record': (text) => ({
      method: 'POST',
      path: '/objects',
      body: { typeDefinitionId: 'thing', values: values(text) },
    }),
    'a title': (text) => ({
      method: 'POST',
      path: '/objects',
      body: { typeDefinitionId: 'thing', values: { title: text(WHOLE) } },
    }),
    'a rich text': (text) => ({
      method: 'POST',
      path: '/objects',
      body: { typeDefinitionId: 'thing', values: { title: 'A record', rich: text(WHOLE / 4) } },
    }),
    'a changed record': async (text) => ({
      method: 'PATCH',
      path: `/objects/${await record()}`,
      body: { expectedRevision: 1, changes: values(text) },
    }),
    'many changed records': async (text) => {
      const ids = await Promise.all(CODES.map(record));
      const items = ids.map((id) => ({ objectId: id, expectedRevision: 1, changes: { text0: text(LONGEST) } }));
      return { method: 'POST', path: '/bulk', body: { operation: 'update', items } };
    },
    'an inbound call that makes a record': (text) => ({
      method: 'POST',
      path: `/inbound/${makesRecord}`,
      body: values(text),
    }),
    'an inbound call that makes a comment': (text) => ({
      method: 'POST',
      path: `/inbound/${makesComment}`,
      body: { objectId, body: text(LONGEST) },
    }),
    'an inbound call with a comment that is too long': (text) => ({
      method: 'POST',
      path: `/inbound/${makesComment}`,
      body: { objectId, body: text(WHOLE) },
    }),
    'an import of JSON': (text) => {
      const rows = CODES.map((code) => ({ ext: `${code}-${randomUUID()}`, title: 'A record', [code]: text(LONGEST) }));
      return {
        method: 'POST',
        path: '/imports/run',
        body: { definitionId: json, content: JSON.stringify(rows), dryRun: false },
      };
    },
    'an import of CSV': (text) => {
      const cell = `"${text(LONGEST).replaceAll('"', '""')}"`;
      const rows = CODES.map(() => `${randomUUID()},A record,${cell}\n`);
      const content = `ext,title,text0\n${rows.join('')}`;
      return { method: 'POST', path: '/imports/run', body: { definitionId: csv, content, dryRun: false } };
    },
    'an article': (text) => ({
      method: 'POST',
      path: '/kb/articles',
      body: {
        baseId: 'kb',
        sectionId: 'first',
        code: `a-${randomUUID()}`,
        title: 'T',
        locale: 'en-US',
        visibility: 'internal',
        body: text(2 * LONGEST),
      },
    }),
  };
}
