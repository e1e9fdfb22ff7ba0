/** The API contract of notifications and watches (docs/reference/notifications.md). All of it is about the caller's own. */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { pagingQuery } from '../../contract/paging.ts';
import { closed, Id, Instant, nullable, oneOf } from '../../contract/schemas.ts';
import { WorkflowState } from '../objects/index.ts';
import { KINDS, MAIL_CHOICES, NOTIFYING, REASONS } from './rules.ts';

const shared = { access: 'console', tag: 'Notifications', status: 200 } as const;
const ofRecord = closed({ objectId: Id });

const Watching = Type.Object({ watching: Type.Boolean() }, { $id: 'Watching' });

export const getWatch = defineOperation({
  ...shared,
  id: 'notifications.watch.get',
  method: 'GET',
  path: '/objects/{objectId}/watch',
  growth: 'record',
  right: 'read',
  unit: 'read',
  summary: 'Read whether the caller watches a record',
  description: 'Watchers are notified of changes of the record.',
  params: ofRecord,
  answer: Watching,
  faults: ['NOT_FOUND'],
});

export const setWatch = defineOperation({
  ...shared,
  id: 'notifications.watch.set',
  method: 'PUT',
  path: '/objects/{objectId}/watch',
  right: 'read',
  unit: 'write',
  summary: 'Watch a record',
  description:
    'The caller is notified of comments, changes of fields and states, files, archiving, and SLA warnings and breaches, as far as the caller may see them. Changes of fields need the right `history`. The watch ends when the caller may no longer read the record.',
  params: ofRecord,
  answer: Watching,
  faults: ['NOT_FOUND'],
});

export const endWatch = defineOperation({
  ...shared,
  id: 'notifications.watch.end',
  method: 'DELETE',
  path: '/objects/{objectId}/watch',
  right: 'read',
  unit: 'write',
  summary: 'Stop watching a record',
  description: 'Changes nothing if the caller does not watch the record.',
  params: ofRecord,
  answer: Watching,
  faults: ['NOT_FOUND'],
});

const Notification = Type.Object(
  {
    id: Id,
    kind: oneOf(KINDS),
    eventType: Type.String({ enum: [...NOTIFYING] }),
    at: Instant,
    readAt: nullable(Instant),
    actor: nullable(
      Type.Object({ id: Id, displayName: Type.String() }, { description: 'Null for the service itself.' }),
    ),
    object: Type.Object(
      {
        id: Id,
        number: nullable(Type.String()),
        title: nullable(Type.String()),
        typeCode: Type.String(),
        workflowState: nullable(WorkflowState),
      },
      { description: 'The record now, as the caller may read it.' },
    ),
    fields: Type.Array(Type.Object({ code: Type.String(), name: Type.String() }), {
      description: 'The changed fields that the caller may read.',
    }),
    comment: nullable(
      Type.Object({ id: Id, excerpt: Type.String({ description: 'The first 300 characters, in Markdown.' }) }),
    ),
  },
  { $id: 'Notification' },
);

export const listNotifications = defineOperation({
  ...shared,
  id: 'notifications.list',
  method: 'GET',
  path: '/notifications',
  unit: 'snapshot',
  summary: "List the caller's notifications, newest first",
  description:
    'Rights are evaluated now: notifications of records, comments and fields that the caller may no longer see are left out. Notifications are kept for 90 days.',
  query: closed({
    ...pagingQuery,
    unread: Type.Optional(Type.Boolean({ description: 'Only those that were not read.' })),
  }),
  answer: Type.Object({
    rows: Type.Array(Notification),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
  }),
  faults: ['INVALID_REQUEST'],
});

const Count = Type.Object({ unread: Type.Integer({ description: 'At most 1,000.' }) }, { $id: 'UnreadNotifications' });

export const countNotifications = defineOperation({
  ...shared,
  id: 'notifications.count',
  method: 'GET',
  path: '/notifications/count',
  growth: 'few',
  unit: 'read',
  summary: "Count the caller's unread notifications",
  description: 'Counts what the list shows with `unread=true`.',
  answer: Count,
  faults: [],
});

export const streamNotifications = defineOperation({
  ...shared,
  id: 'notifications.stream',
  method: 'GET',
  path: '/notifications/stream',
  growth: 'stream',
  unit: 'own',
  summary: "Follow the number of the caller's unread notifications",
  description:
    'A stream of server-sent events. The event `unread` has as its data what GET /notifications/count returns in `data`. It is sent once at the beginning, then when the number differs from that sent last, at most once a second. A comment line is sent every 15 s. The stream ends when the key or session ends, when the service stops, and after 30 to 38 minutes; open a new one then. The limits are those of GET /desk/queues/stream.',
  answer: Type.String({ description: 'Server-sent events.' }),
  raw: { mediaTypes: ['text/event-stream'] },
  faults: ['OVERLOADED'],
});

export const readNotifications = defineOperation({
  ...shared,
  id: 'notifications.read',
  method: 'POST',
  path: '/notifications/read',
  unit: 'write',
  summary: 'Mark notifications as read',
  description:
    "By ids, of one record, or all. Ids of notifications that are not the caller's, or that were read before, change nothing.",
  body: Type.Union([
    closed({ ids: Type.Array(Id, { minItems: 1, maxItems: 1000, uniqueItems: true }) }),
    closed({ objectId: Id }),
    closed({ all: Type.Literal(true) }),
  ]),
  answer: Type.Object({ read: Type.Literal(true) }),
  faults: [],
});

const Told = Type.Object(
  {
    id: Id,
    type: Type.String({ enum: [...NOTIFYING] }),
    at: Instant,
    actor: Type.Object({ id: nullable(Id), displayName: Type.String() }),
    kind: nullable(oneOf(KINDS)),
    reason: nullable(oneOf(REASONS)),
    inConsole: Type.Boolean({ description: 'Whether the notification is in the list of the user.' }),
    readAt: nullable(Instant),
    mail: nullable(
      Type.Object({ isDigest: Type.Boolean(), dueAt: Instant }, { description: 'The mail that waits to be sent.' }),
    ),
  },
  { $id: 'ExplainedNotification', description: 'Either `kind` or `reason` is null.' },
);

export const explainNotifications = defineOperation({
  ...shared,
  id: 'notifications.explain',
  method: 'POST',
  path: '/notifications/explain',
  unit: 'write',
  dryRun: false,
  summary: 'Explain which notifications of a record a user got, and why not of other events',
  description:
    'Examines the newest 100 events of the history that the caller may see, which needs the right `history` on the record. Other users than the caller need the right `role.assign`; that call is in the audit log. What was sent is stored; `reason` is judged with the rights and choices of today: `NOT_CONCERNED` (nothing connects the user with the event), `OWN_ACTION`, `USER_ARCHIVED`, `RECORD_HIDDEN`, `COMMENT_HIDDEN`, `FIELDS_HIDDEN` (the user may not see them), `COMMENT_ARCHIVED`, `COMMENT_KNOWN` (the user has another notification of it), `NOT_WANTED` (by the choices of the user), `IMPORTED`, `PENDING`, `TOO_OLD` (notifications are kept for 90 days), `CHANGED_SINCE` (the user would be notified today), `UNKNOWN` (the caller may not read a field that decides).',
  body: closed({
    objectId: Id,
    user: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Id or login. Default: the caller.' }),
    ),
  }),
  answer: Type.Object(
    {
      user: Type.Object({ id: Id, login: Type.String(), displayName: Type.String() }),
      watching: Type.Boolean(),
      hasMailAddress: Type.Boolean(),
      timezone: Type.String(),
      quietHours: Type.Object({ from: nullable(Type.String()), to: nullable(Type.String()) }),
      events: Type.Array(Told),
    },
    { $id: 'NotificationsExplanation' },
  ),
  faults: ['NOT_FOUND', 'RIGHT_MISSING'],
});

const ChoiceSchema = closed({ console: Type.Boolean(), mail: oneOf(MAIL_CHOICES) });
const byKind = <T>(one: T): Record<(typeof KINDS)[number], T> =>
  Object.fromEntries(KINDS.map((kind) => [kind, one])) as Record<(typeof KINDS)[number], T>;

const ChoicesAnswer = Type.Object(byKind(ChoiceSchema), { $id: 'NotificationChoices' });

export const getChoices = defineOperation({
  ...shared,
  id: 'notifications.choices.get',
  method: 'GET',
  path: '/notifications/choices',
  growth: 'few',
  unit: 'read',
  summary: 'Read which notifications the caller wants',
  description:
    'For each kind whether it is listed in the console, and whether a mail is sent at once (`now`), once a day (`digest`) or `never`.',
  answer: ChoicesAnswer,
  faults: [],
});

export const setChoices = defineOperation({
  ...shared,
  id: 'notifications.choices.set',
  method: 'PUT',
  path: '/notifications/choices',
  unit: 'write',
  summary: 'Choose notifications',
  description:
    'Kinds that are left out get their defaults: the console for all, mail at once for `assigned`, `mention`, `state` and `sla`, and for public comments of records whose requester or participant the user is. A choice applies to later events.',
  body: closed(byKind(Type.Optional(ChoiceSchema))),
  answer: ChoicesAnswer,
  faults: [],
});

const LocalTime = Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description: 'HH:MM.' });
const QuietHours = Type.Object(
  { from: nullable(LocalTime), to: nullable(LocalTime) },
  { $id: 'QuietHours', description: 'Both are null without quiet hours.' },
);

export const getQuietHours = defineOperation({
  ...shared,
  id: 'notifications.quietHours.get',
  method: 'GET',
  path: '/notifications/quiet-hours',
  growth: 'few',
  unit: 'read',
  summary: "Read the caller's quiet hours",
  description:
    "In quiet hours, in the user's own time zone, no mail is sent; it is sent at their end. Digests are sent at their end, or at 08:00.",
  answer: QuietHours,
  faults: [],
});

export const setQuietHours = defineOperation({
  ...shared,
  id: 'notifications.quietHours.set',
  method: 'PUT',
  path: '/notifications/quiet-hours',
  unit: 'write',
  summary: 'Set or end quiet hours',
  description: 'The end can be on the next day: from 22:00 to 07:00. Quiet hours apply to later events.',
  body: Type.Union([closed({ from: LocalTime, to: LocalTime }), closed({ from: Type.Null(), to: Type.Null() })]),
  answer: QuietHours,
  faults: [],
});
