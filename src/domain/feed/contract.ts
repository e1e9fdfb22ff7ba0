/** The operation of the changes feed. */
import Type from 'typebox';
import { EVENTS, scopeOf, WEBHOOK_EVENTS, type WebhookEvent } from '../../contract/events.ts';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, Instant, nullable } from '../../contract/schemas.ts';
import { HistoryActor, ObjectSchema } from '../objects/index.ts';

/** The parts of a list that is separated by commas; undefined if the parameter is absent. */
export function listed(text: unknown): string[] | undefined {
  return typeof text === 'string' ? text.split(',').map((part) => part.trim()) : undefined;
}

export function isKind(text: string): text is WebhookEvent {
  return Object.hasOwn(EVENTS, text) && EVENTS[text as WebhookEvent].webhook;
}

const FeedEvent = Type.Object(
  {
    cursor: Type.String({ description: 'The place after this event.' }),
    eventId: Id,
    eventType: Type.String({ enum: [...WEBHOOK_EVENTS] }),
    occurredAt: Instant,
    actor: HistoryActor,
    objectId: Type.Optional(Id),
    typeCode: Type.Optional(Type.String()),
    revision: Type.Optional(nullable(Type.Integer())),
    changes: Type.Array(Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() })),
    data: Type.Record(Type.String(), Type.Unknown()),
    object: Type.Optional(ObjectSchema),
  },
  { $id: 'FeedEvent', description: 'Events of articles have no objectId, typeCode and revision.' },
);

export const readChanges = defineOperation({
  id: 'feed.read',
  method: 'GET',
  path: '/changes',
  growth: 'page',
  access: 'objects:read',
  moreScopes: ({ eventTypes }) => [
    ...new Set((listed(eventTypes) ?? []).filter(isKind).flatMap((kind) => scopeOf(kind) ?? [])),
  ],
  unit: 'own',
  status: 200,
  streams: true,
  tag: 'Changes feed',
  summary: 'Read what happened, in order and without gaps',
  description:
    'Events after a cursor, in the order of a journal of all changes; those of one record in the order of its revisions. After a cursor no event is skipped and none comes twice, however late a change was committed, also across restarts and failovers without loss. An event of a record needs the rights `read` and `history` on it now, and holds what the history would show; events of articles need the right `kb.read` and the audience. If the caller loses the right to read a record, no event says so. Events of comments, files, relations, SLA instances and articles also need the scopes `comments:read`, `files:read`, `relations:read`, `sla:read` and `kb:read`: without the scope they are left out, and 403 `SCOPE_MISSING` if `eventTypes` names them. A page examines at most 10,000 places of the journal, and ends early if its events are large, so that it can be short or empty: go on from `next` until `caughtUp`. After a restore or a failover that lost changes, a cursor behind them is refused with 409 `CURSOR_REWOUND`.\n\nWith `Accept: text/event-stream` the answer is a stream of server-sent events: `id` is the cursor, `event` the kind, `data` the event. A client goes on after its last event by `Last-Event-ID`, which takes precedence over `after`. A comment line is sent every 15 s. The stream ends when the key is revoked, when the service stops, and after 30 to 38 minutes. One caller may have 8 streams and 64 waiting requests in each process of the service, above that 429 `RATE_LIMITED`.',
  query: closed({
    after: Type.Optional(
      Type.String({
        description:
          'A cursor. Absent: from the beginning. `now`: from this moment on; 503 `OVERLOADED` after an upgrade or a restore until all earlier events have their places.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    eventTypes: Type.Optional(
      Type.String({ maxLength: 2000, description: 'Kinds of events, separated by commas. Absent: all.' }),
    ),
    types: Type.Optional(
      Type.String({
        maxLength: 10_000,
        description: 'Ids or codes of record types, separated by commas. Leaves out events of articles.',
      }),
    ),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 25,
        default: 0,
        description: 'Seconds to wait for an event that the caller may see. Without one, the answer is an empty page.',
      }),
    ),
    include: Type.Optional(
      Type.Literal('object', { description: 'Adds the record as the caller may read it now to each of its events.' }),
    ),
  }),
  answer: Type.Object({
    events: Type.Array(FeedEvent),
    next: Type.String({ description: 'The cursor to go on from, also if the page is empty.' }),
    caughtUp: Type.Boolean({ description: 'Whether there was nothing more to examine.' }),
  }),
  faults: ['INVALID_CURSOR', 'CURSOR_REWOUND'],
});
