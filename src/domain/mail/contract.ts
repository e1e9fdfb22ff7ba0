/** The API contract of received and sent mail (docs/decisions/0023-mail-proves-its-sender.md). */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { closed, Id, Instant, nullable, oneOf } from '../../contract/schemas.ts';
import { LIST_REASONS } from './decision.ts';
import { SEND_STATES } from './store-outgoing.ts';

const tag = 'Mail';
const right = 'integration.manage';

const State = oneOf(['USED', 'LISTED']);

const outcome = {
  id: Id,
  state: State,
  reason: nullable(oneOf(LIST_REASONS)),
  objectId: nullable(Id),
  commentId: nullable(Id),
};

export const receiveMessage = defineOperation({
  id: 'mail.receive',
  method: 'POST',
  path: '/mailboxes/{code}/messages',
  access: 'integrations:execute',
  unit: 'own',
  status: 201,
  tag,
  summary: 'Hand in a received mail',
  description:
    'For mail servers that pass mail on. `raw` is the whole message in base64. It becomes a record, a comment, or an entry in the list of messages that were not used; all of these answer 201, so that the server does not repeat it. A message that was handed in before has no second effect. `state` and `reason` are shown to callers with integration.manage, ids of records and comments to those who may read them. `Authentication-Results` of the message count only if the owner of the key holds integration.manage.',
  params: closed({ code: Type.String() }),
  body: closed({ raw: Type.String({ description: 'The message in base64 of RFC 4648, with padding.' }) }),
  // Whether a message was used tells whether its sender is known.
  answer: Type.Object({ ...outcome, state: nullable(State) }, { $id: 'ReceivedMail' }),
  faults: ['NOT_FOUND'],
});

const SendState = oneOf(SEND_STATES);

const SentMail = Type.Object(
  {
    id: Id,
    state: SendState,
    recipient: nullable(Type.Object({ id: Id, displayName: nullable(Type.String()) })),
    objectId: nullable(Id),
    notifications: Type.Integer({ description: 'Number of notifications in the mail: more than one in a digest.' }),
    attempts: Type.Integer(),
    dueAt: Instant,
    nextAttemptAt: nullable(Instant),
    finishedAt: nullable(Instant),
    error: nullable(
      Type.String({
        description:
          'What the mail server answered to the last attempt that failed, what the bounce says, or why there was no attempt.',
      }),
    ),
  },
  { $id: 'SentMail' },
);

const Message = Type.Object(
  {
    ...outcome,
    mailbox: nullable(Type.String({ description: 'Code of the mailbox.' })),
    at: Instant,
    sender: nullable(Type.String()),
    subject: Type.String(),
    size: Type.Integer({ description: 'Size of the message in bytes.' }),
    sentMail: nullable(SentMail),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String(), details: Type.Unknown() })),
  },
  { $id: 'MailMessage' },
);

const Unreadable = Type.Object(
  {
    mailbox: Type.String({ description: 'Code of the mailbox.' }),
    since: Instant,
    error: Type.String({ description: 'Why the last attempt failed.' }),
  },
  { $id: 'UnreadableMailbox' },
);

export const listMessages = defineOperation({
  id: 'mail.messages',
  method: 'GET',
  path: '/mail/received',
  access: 'console',
  right,
  unit: 'read',
  status: 200,
  tag,
  summary: 'List received mails, newest first',
  description:
    'Shows header fields, not the text. Mails with the state LISTED were not used; `reason` says why, and `error` what a command refused. They are kept for 30 days, used ones for a year. A used mail about a record or a comment that the caller may not read is shown without ids, sender and subject; without subject also if the caller may not read the title of the record. Of a mail larger than 64 MiB that came over IMAP only the start is stored; it cannot be used. `sentMail` is the mail that a bounce is about, as GET /mail/sent shows it; if its recipient is hidden, so are sender and subject of the bounce.',
  query: closed({ ...pagingQuery, state: Type.Optional(State) }),
  answer: Type.Object({
    items: Type.Array(Message),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
    unreadable: Type.Array(Unreadable, { description: 'Enabled mailboxes that cannot be read now over IMAP.' }),
  }),
  faults: ['RIGHT_MISSING'],
});

export const retryMessage = defineOperation({
  id: 'mail.retry',
  method: 'POST',
  path: '/mail/received/{messageId}/retry',
  access: 'console',
  right,
  unit: 'own',
  status: 200,
  tag,
  summary: 'Try a received mail again',
  description:
    'Judges a LISTED mail again with the rights, records and mailbox of this moment. Nothing is left out: what a mail may not do, it may not do now. A mail that was used already stays as it is.',
  params: closed({ messageId: Id }),
  answer: Message,
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

export const listSent = defineOperation({
  id: 'mail.sent',
  method: 'GET',
  path: '/mail/sent',
  access: 'console',
  right,
  unit: 'read',
  status: 200,
  tag,
  summary: 'List mails to users, newest first',
  description:
    'Mails about notifications of the last 91 days. PENDING waits for its first or next attempt, SENT was accepted by the mail server, BOUNCED was accepted and came back (`error` is what the bounce says; anybody who has read the mail could have sent it), FAILED was given up, DROPPED was about nothing that the recipient may see, or could not be tried for two days (`error` says so). The text is not kept. `objectId` is null for digests and for records and comments that the caller may not read. Of a mail about such a record or comment, or about a record with a user or group field that the caller may not read, `recipient` and `error` are null, too.',
  query: closed({ ...pagingQuery, state: Type.Optional(SendState) }),
  answer: Type.Object({
    items: Type.Array(SentMail),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
    hasMailServer: Type.Boolean({
      description: 'Whether the service has a mail server (`DOCKET_SMTP_URL`). Without one, no mails are sent.',
    }),
  }),
  faults: ['RIGHT_MISSING'],
});

export const sendAgain = defineOperation({
  id: 'mail.send-again',
  method: 'POST',
  path: '/mail/sent/{mailId}/retry',
  access: 'console',
  right,
  unit: 'write',
  status: 200,
  tag,
  summary: 'Send a mail again',
  description:
    'The mail is generated again from what its recipient may see now, with the same Message-ID. Mails in the state PENDING are retried automatically.',
  params: closed({ mailId: Id }),
  answer: SentMail,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'STATE_CONFLICT'],
});
