/** Messages from header lines to the decision, among them forged ones. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMMENT_VISIBILITIES, rightForVisibility } from '../../contract/comment-visibility.ts';
import type { RecordAction } from '../../contract/rights.ts';
import type { FieldDefinition, TypeDefinition } from '../metadata/index.ts';
import type { CompiledMailbox } from './registry.ts';
import { mailContent } from './content.ts';
import type { ParsedMail } from './envelope.ts';
import { Headers } from './headers.ts';
import { type Judging, type Lookups, judge, recordOfMail } from './judge.ts';
import { makeReplyToken, replyAddress } from './reply-token.ts';
import { messageIdOf, threadHeaders } from './threading.ts';

const [OPEN, HIDDEN] = COMMENT_VISIBILITIES;
const SEES_HIDDEN = rightForVisibility(HIDDEN) as RecordAction;
const KEY = Buffer.alloc(32, 1);
const NOW = Date.parse('2026-11-20T10:00:00.000Z');
const DAY = 86_400_000;
const id = (last: string): string => `01900000-0000-7000-8000-00000000000${last}`;
const [ANNA, AGENT, GONE, RECORD, ABOUT_HIDDEN, ABOUT_OPEN] = ['1', '2', '3', 'a', 'c', 'd'].map(id) as string[];

const mailbox: CompiledMailbox = {
  code: 'support',
  address: 'support@example.org',
  type: 'incident',
  typeId: 'incident-id',
  defaults: {},
  authServer: 'mx.example.org',
  unknownSender: 'refuse',
  enabled: true,
};

const { authServer: _server, ...untrusting } = mailbox;

const people: Readonly<Record<string, { userId: string; actions: readonly RecordAction[] | null }>> = {
  'anna@example.com': { userId: ANNA as string, actions: ['read', 'create', 'comment.create'] },
  'agent@example.com': { userId: AGENT as string, actions: ['read', 'comment.create', 'update', SEES_HIDDEN] },
  'gone@example.com': { userId: GONE as string, actions: null },
};
const threads = [
  { handle: 1, objectId: RECORD as string, userId: ANNA as string },
  { handle: 2, objectId: RECORD as string, userId: AGENT as string },
  { handle: 3, objectId: RECORD as string, userId: GONE as string },
];
const lookups: Lookups = {
  sender: async (address) => {
    const found = people[address];
    if (found === undefined) return undefined;
    const { userId, actions } = found;
    if (actions === null) return { userId, rights: null };
    return { userId, rights: { has: () => false, mayEver: (_type, action) => actions.includes(action) } };
  },
  thread: async (handle) => threads.find((thread) => thread.handle === handle),
  record: async (userId, objectId) => {
    const found = Object.values(people).find((one) => one.userId === userId);
    // The receiver reads the record with the rights of the sender, and an archived user has none.
    assert.ok(found?.actions, 'only records of active users are read');
    if (objectId !== RECORD) return null;
    return { objectId, archived: false, isRequester: userId === ANNA, actions: new Set(found.actions) };
  },
  answered: async (_userId, _objectId, mailIds) => {
    if (mailIds.includes(ABOUT_HIDDEN as string)) return HIDDEN;
    return mailIds.includes(ABOUT_OPEN as string) ? OPEN : null;
  },
};
const judging: Judging = { mailbox, typeIds: ['incident-id'], key: KEY, now: NOW, isTrusted: true, lookups };

const addressOf = (handle: number): string => {
  const thread = threads.find((one) => one.handle === handle) ?? assert.fail();
  return replyAddress(mailbox.address, makeReplyToken(KEY, thread, NOW));
};
const PASS = 'Authentication-Results: mx.example.org; dmarc=pass header.from=example.com';

interface Sent {
  from?: string;
  to?: string;
  lines?: string[];
  subject?: string;
  text?: string | null;
}
function mailOf({
  from = 'anna@example.com',
  to = mailbox.address,
  lines = [],
  subject = 'Printer',
  text = 'Hi',
}: Sent) {
  const headers = Headers.ofLines([`From: ${from}`, `To: ${to}`, 'Message-ID: <x@mail.example.com>', ...lines]);
  const content = mailContent({ subject, text, html: null, files: [] });
  return {
    subject,
    content,
    report: null,
    sha256: 'raw',
    headers,
    from: [from],
    fromName: '',
    recipients: [to],
  } satisfies ParsedMail;
}

async function outcome(sent: Sent, more: Partial<Judging> = {}): Promise<string> {
  const { decision } = await judge(mailOf(sent), { ...judging, ...more });
  switch (decision.kind) {
    case 'listed':
      return decision.reason;
    case 'comment':
      return `${decision.visibility} comment of ${decision.userId === ANNA ? 'anna' : 'agent'}`;
    default:
      return decision.kind;
  }
}

const repliesTo = (mailId: string | undefined): string =>
  `In-Reply-To: ${messageIdOf({ mailId: mailId ?? '', objectId: RECORD as string, mailbox: mailbox.address })}`;

describe('a received mail', () => {
  const CASES: readonly [string, string, Sent, Partial<Judging>?][] = [
    ['a new mail of a user', 'record', {}],
    ['a subject without text', 'record', { text: null }],
    ['nothing at all', 'EMPTY', { text: ' ', subject: '' }],
    ['a reply of the requester', `${OPEN} comment of anna`, { to: addressOf(1) }],
    ['a reply without text', 'EMPTY', { to: addressOf(1), text: null }],
    [
      'a reply of an agent',
      `${HIDDEN} comment of agent`,
      { from: 'agent@example.com', to: addressOf(2), lines: [PASS] },
    ],
    [
      'a reply of an agent to a public comment',
      `${OPEN} comment of agent`,
      {
        from: 'agent@example.com',
        to: addressOf(2),
        lines: [PASS, repliesTo(ABOUT_OPEN)],
      },
    ],
    [
      'a reply of the requester to a hidden comment',
      'RIGHT_MISSING',
      { to: addressOf(1), lines: [repliesTo(ABOUT_HIDDEN)] },
    ],
    ['a forged From of an agent', 'SENDER_NOT_PROVEN', { from: 'agent@example.com', to: addressOf(2) }],
    [
      'a forged From with a forged result',
      'SENDER_NOT_PROVEN',
      {
        from: 'agent@example.com',
        to: addressOf(2),
        lines: [PASS.replace('=pass', '=fail'), 'Received: by mx', PASS],
      },
    ],
    [
      'a result of a relay that is not trusted',
      'SENDER_NOT_PROVEN',
      {
        from: 'agent@example.com',
        to: addressOf(2),
        lines: [PASS],
      },
      { isTrusted: false },
    ],
    ['a stolen token', 'TOKEN_OF_ANOTHER_USER', { to: addressOf(2) }],
    ['a stolen token from outside', 'TOKEN_OF_ANOTHER_USER', { from: 'eve@evil.net', to: addressOf(1) }],
    [
      'a stolen token where users are created',
      'TOKEN_OF_ANOTHER_USER',
      { from: 'eve@evil.net', to: addressOf(1) },
      {
        mailbox: { ...mailbox, unknownSender: 'create' },
      },
    ],
    ['a token with another key', 'TOKEN_INVALID', { to: addressOf(1) }, { key: Buffer.alloc(32, 2) }],
    [
      'a token of a thread that is gone',
      'TOKEN_INVALID',
      { to: addressOf(1) },
      {
        lookups: { ...lookups, thread: async () => undefined },
      },
    ],
    [
      'a token of a handle that was assigned again',
      'TOKEN_INVALID',
      { to: addressOf(1) },
      {
        lookups: { ...lookups, thread: async (handle) => ({ handle, objectId: id('b'), userId: ANNA as string }) },
      },
    ],
    ['an old token', 'TOKEN_EXPIRED', { to: addressOf(1) }, { now: NOW + 91 * DAY }],
    ['references without a token', 'TOKEN_MISSING', { lines: [repliesTo(ABOUT_OPEN)] }],
    ['somebody unknown', 'SENDER_UNKNOWN', { from: 'eve@evil.net' }],
    [
      'somebody unknown where users are created',
      'record-of-new-user',
      { from: 'eve@evil.net' },
      {
        mailbox: { ...mailbox, unknownSender: 'create' },
      },
    ],
    ['an archived user', 'SENDER_ARCHIVED', { from: 'gone@example.com' }],
    ['a reply of an archived user', 'SENDER_ARCHIVED', { from: 'gone@example.com', to: addressOf(3) }],
    [
      'a record that is hidden now',
      'RECORD_NOT_FOUND',
      { to: addressOf(1) },
      {
        lookups: { ...lookups, record: async () => null },
      },
    ],
    ['an automatic reply to our mail', 'AUTO_REPLY', { to: addressOf(1), lines: ['Auto-Submitted: auto-replied'] }],
    ['our own mail', 'LOOP', { from: mailbox.address }],
    ['a disabled mailbox', 'MAILBOX_DISABLED', {}, { mailbox: { ...mailbox, enabled: false } }],
    [
      'a mailbox without a trusted server',
      'SENDER_NOT_PROVEN',
      {
        from: 'agent@example.com',
        to: addressOf(2),
        lines: [PASS],
      },
      { mailbox: untrusting },
    ],
  ];
  for (const [name, expected, sent, more] of CASES) {
    it(`becomes ${expected}: ${name}`, async () => assert.equal(await outcome(sent, more), expected));
  }

  it('is a comment when it answers the mail that was sent, with its quotation cut', async () => {
    const sent = threadHeaders({
      mailId: ABOUT_OPEN as string,
      objectId: RECORD as string,
      typeCode: 'incident',
      mailbox: mailbox.address,
    });
    const text = 'Thanks!\n\nOn 20 Nov 2026, at 10:15, Support <support@example.org> wrote:\n> Solved.';
    const lines = [`In-Reply-To: ${sent['Message-ID']}`, `References: ${sent['References']} ${sent['Message-ID']}`];
    const judged = await judge(mailOf({ to: addressOf(1), lines, text }), judging);
    assert.deepEqual(judged.decision, { kind: 'comment', userId: ANNA, objectId: RECORD, visibility: OPEN });
    assert.equal(judged.text, 'Thanks!');
    const anew = await judge(mailOf({ text }), judging);
    assert.equal(anew.text, text, 'a new record keeps it');
  });

  it('looks at a record only for the user to whom the token was sent', async () => {
    let looked = 0;
    const record = async () => {
      looked++;
      return null;
    };
    for (const from of ['agent@example.com', 'eve@evil.net', 'gone@example.com']) {
      await outcome({ from, to: addressOf(1) }, { lookups: { ...lookups, record } });
    }
    assert.equal(looked, 0);
  });
});

describe('the record of a mail', () => {
  const field = (code: string, dataType: string, more: object = {}): FieldDefinition =>
    ({
      code,
      name: code,
      dataType,
      required: false,
      readOnly: false,
      multiple: false,
      constraints: {},
      search: {},
      ...more,
    }) as FieldDefinition;
  const type = (...fields: FieldDefinition[]): TypeDefinition =>
    ({ code: 'incident', name: 'Incident', category: 'object', title: 'title', fields }) as TypeDefinition;
  const title = field('title', 'string');
  const made = (of: TypeDefinition, defaults = {}, text = 'Some **text**') =>
    recordOfMail('Printer', text, of, defaults);

  it('has the subject and the text in their fields', () => {
    const full = type(title, field('description', 'text'), field('requester', 'user'));
    assert.deepEqual(made(full), {
      values: { title: 'Printer', description: 'Some **text**' },
      comment: null,
    });
    assert.deepEqual(made(full, {}, '').values, { title: 'Printer' });
    assert.deepEqual(made(full, { title: 'Fixed', requester: 'u2' }).values, { description: 'Some **text**' });
  });

  it('has Markdown in a rich-text field', () => {
    const { values, comment } = made(type(title, field('description', 'rich-text')));
    assert.deepEqual([values['description'], comment], ['Some **text**', null]);
  });

  it('has the text as a comment if no field can hold it', () => {
    for (const fields of [
      [],
      [field('description', 'string')],
      [field('description', 'text', { readOnly: true })],
      [field('description', 'text', { multiple: true })],
      [field('description', 'text', { constraints: { maxLength: 5 } })],
    ]) {
      const { values, comment } = made(type(title, ...fields));
      assert.deepEqual([values, comment], [{ title: 'Printer' }, 'Some **text**']);
    }
    assert.equal(made(type(title, field('description', 'text')), { description: 'x' }).comment, 'Some **text**');
    assert.deepEqual(made({ ...type(field('title', 'integer')) }).values, {}, 'a title that takes no text');
  });
});
