/** Reads pages of the changes feed. */
import type { Static } from 'typebox';
import { scopeOf, WEBHOOK_EVENTS, type WebhookEvent } from '../../contract/events.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import { type FeedState, feedState } from '../../platform/journal/places.ts';
import type { RequestFacts } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { articleEventData } from '../knowledge/index.ts';
import { findType, registry } from '../metadata/index.ts';
import {
  actorAnswer,
  eventAnswer,
  eventDecoder,
  findVisible,
  type ObjectAnswer,
  preload,
  project,
} from '../objects/index.ts';
import { isKind, listed, type readChanges } from './contract.ts';
import { commonPlace, cursorMaker, readCursor } from './cursor.ts';
import { type FeedRange, listPlaced, type PlacedEvent } from './store.ts';

/** Maximum number of places that a page examines. */
const MAX_EXAMINED = 10_000;
/** A page ends after this many stored bytes of changes and records; the answer is at most about ten times as large. */
const MAX_BYTES = 2 * 1024 * 1024;
/** Events that are read before their size is known. */
const FIRST_ROWS = 100;
/** Places of the first statement of a page. Further ones cover more, so that a page with few visible events needs few of them. */
const FIRST_PLACES = 500;
/** Minimum number of rows of a statement after the first one of a page, which found too few visible events. */
const ROWS_AT_ONCE = 500;
/** A page ends after this time, so that many hidden events do not hold a request and its slot for longer. */
const MAX_MS = 2000;

export type FeedQuery = Static<(typeof readChanges)['query']>;

export interface FeedEventAnswer {
  cursor: string;
  eventId: string;
  eventType: string;
  occurredAt: string;
  actor: ReturnType<typeof actorAnswer>;
  objectId?: string;
  typeCode?: string;
  revision?: number | null;
  changes: { field: string; from: unknown; to: unknown }[];
  data: Record<string, unknown>;
  object?: ObjectAnswer;
}

/** A page, and whether it ends at the last place that was given. */
export interface FeedRead {
  page: FeedPage;
  isAtEnd: boolean;
  /** A new cursor of the place of `page.next`. */
  mark(): string;
}

export interface FeedPage {
  events: FeedEventAnswer[];
  next: string;
  caughtUp: boolean;
}

/**
 * The events after the cursor that the caller may see now.
 *
 * @throws Fault INVALID_REQUEST (unknown kind or type), INVALID_CURSOR, CURSOR_REWOUND, OVERLOADED (`now` before all earlier
 *   events have places)
 */
export async function readFeed(
  ctx: ReadContext,
  query: FeedQuery,
  { scopes }: Pick<RequestFacts, 'scopes'>,
): Promise<FeedRead> {
  const selection = { kinds: kindsOf(query, scopes), typeIds: typeIdsOf(ctx, query) };
  const state = await feedState(ctx);
  const cursorOf = cursorMaker(state);
  const after = await startOf(ctx, query.after, state, selection);
  const upTo = Math.min(after + MAX_EXAMINED, state.place);
  const limit = query.limit ?? 100;
  const events: FeedEventAnswer[] = [];
  const withObject = query.include === 'object';
  const deadline = performance.now() + MAX_MS;
  let from = after;
  let lastPlace = after;
  let [taken, bytes, span] = [0, 0, FIRST_PLACES];
  // Events whose changes are all hidden are left out after the statement. Further statements take what fits by the sizes so far.
  while (from < upTo && events.length < limit && bytes < MAX_BYTES && performance.now() < deadline) {
    const fitting = taken === 0 ? FIRST_ROWS : Math.ceil(((MAX_BYTES - bytes) * taken) / Math.max(1, bytes));
    const wanted = Math.min(taken === 0 ? limit : Math.max(limit, ROWS_AT_ONCE), fitting);
    const end = Math.min(upTo, from + span);
    const rows = await listPlaced(ctx, { ...selection, after: from, upTo: end, limit: wanted, withObject });
    span *= 4;
    taken += rows.length;
    for (const row of rows) bytes += row.bytes;
    from = rows.length < wanted ? end : (rows.at(-1)?.place ?? end);
    for (const { row, answer } of await answersOf(ctx, rows, withObject)) {
      if (events.length === limit) {
        from = lastPlace;
        break;
      }
      events.push({ cursor: cursorOf(row.place), ...answer });
      lastPlace = row.place;
    }
  }
  const isAtEnd = from >= state.place;
  const mark = (): string => cursorOf(from);
  return { page: { events, next: mark(), caughtUp: isAtEnd && !state.isBehind }, isAtEnd, mark };
}

type Selection = Pick<FeedRange, 'kinds' | 'typeIds'>;

/** The kinds that the caller asked for and has the scopes for. @throws Fault INVALID_REQUEST */
function kindsOf({ eventTypes }: FeedQuery, scopes: RequestFacts['scopes']): WebhookEvent[] {
  const named: readonly string[] = listed(eventTypes) ?? WEBHOOK_EVENTS;
  return named.filter((kind): kind is WebhookEvent => {
    if (!isKind(kind))
      throw faultAt('INVALID_REQUEST', 'query.eventTypes', 'UNKNOWN_KIND', { known: [...WEBHOOK_EVENTS] });
    const scope = scopeOf(kind);
    return scope === undefined || scopes === null || scopes.has(scope);
  });
}

/** @throws Fault INVALID_REQUEST for an unknown type, or one of which the caller may read no record */
function typeIdsOf(ctx: ReadContext, { types }: FeedQuery): string[] | undefined {
  const readable = new Set(ctx.actor.typesFor('read'));
  return listed(types)?.map((idOrCode) => {
    const type = findType(registry(ctx), idOrCode);
    if (type === undefined || !readable.has(type.id)) throw faultAt('INVALID_REQUEST', 'query.types', 'NO_TYPE');
    return type.id;
  });
}

const BEHIND =
  'Earlier events are still being prepared for the changes feed, so that "now" has no cursor yet. Retry after the time in Retry-After, or read from the beginning.';

/** The place that a page starts after. @throws Fault INVALID_CURSOR, CURSOR_REWOUND, OVERLOADED */
async function startOf(
  ctx: ReadContext,
  cursor: string | undefined,
  state: FeedState,
  selection: Selection,
): Promise<number> {
  if (cursor === undefined) return 0;
  if (cursor === 'now') {
    // Places that are given after this one would belong to events of the past.
    if (state.isBehind) throw new Fault('OVERLOADED', BEHIND, [], { headers: { 'Retry-After': '1' } });
    return state.place;
  }
  const position = readCursor(cursor, state.cursorKey);
  if (position === undefined) {
    throw new Fault(
      'INVALID_CURSOR',
      'This is not a cursor of the changes feed. Send a cursor unchanged, or leave out the parameter.',
    );
  }
  const common = commonPlace(position, state);
  if (common === position.place) return common;
  const last = await lastEvent(ctx, common, selection);
  throw new Fault(
    'CURSOR_REWOUND',
    'Events up to this cursor were lost by a restore or a failover. Drop what you read after details.lastEventId, and continue from details.resume. If it is null or you did not read that event, drop everything and read from the beginning.',
    { resume: cursorMaker(state)(common), lostAfter: last?.at ?? null, lastEventId: last?.id ?? null },
  );
}

/** The last event up to the place that a reader of the selection can have read. */
async function lastEvent(ctx: ReadContext, place: number, selection: Selection): Promise<PlacedEvent | undefined> {
  const after = Math.max(0, place - MAX_EXAMINED);
  for (let upTo = place; upTo > after; ) {
    const rows = await listPlaced(ctx, { ...selection, after, upTo, limit: 100, isBackward: true });
    const [found] = await answersOf(ctx, rows, false);
    if (found !== undefined || rows.length < 100) return found?.row;
    upTo = (rows.at(-1)?.place ?? after + 1) - 1;
  }
  return undefined;
}

interface Answered {
  row: PlacedEvent;
  answer: Omit<FeedEventAnswer, 'cursor'>;
}

/** The events as the caller may see them. Those whose every change is hidden are left out. */
async function answersOf(ctx: ReadContext, rows: readonly PlacedEvent[], withObject: boolean): Promise<Answered[]> {
  await preload(ctx, [...new Set(rows.flatMap(({ objectId }) => objectId ?? []))]);
  const answers: Answered[] = [];
  for (const row of rows) {
    const common = { eventId: row.id, eventType: row.type, occurredAt: row.at, actor: actorAnswer(row) };
    if (row.objectId === null) {
      answers.push({ row, answer: { ...common, changes: [], data: articleEventData(row.data ?? {}) } });
      continue;
    }
    const object = await findVisible(ctx, row.objectId);
    // The caller may have lost the right to read the record since the statement.
    if (object?.right.can('history') !== true) continue;
    const shown = eventAnswer(eventDecoder(ctx, object.type.id)(row), (code) => object.right.canRead(code));
    if (shown === undefined) continue;
    const { revision, changes, data } = shown;
    const about = { objectId: row.objectId, typeCode: object.type.code, revision, changes, data };
    answers.push({
      row,
      answer: { ...common, ...about, ...(withObject ? { object: project(ctx, object) } : {}) },
    });
  }
  return answers;
}
