/** The history of a record, as far as the caller may see it. */
import { answerInWindows, type ListPage, unknownAfter } from '../../contract/paging.ts';
import { mapInTurns } from '../../lib/yielding.ts';
import type { RowWindow } from '../../platform/database/window.ts';
import { List } from '../../platform/module.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { RECORD_CHANGES, requireAction, requireVisible } from './load.ts';
import type { VisibleObject } from './record.ts';
import { eventWindows, findCreationData, findEvent, type HistoryRow } from './store-history.ts';

export interface HistoryEventAnswer {
  id: string;
  type: string;
  at: string;
  actor: { id: string | null; displayName: string; via: string };
  revision: number | null;
  changes: { field: string; from: unknown; to: unknown }[];
  data: Record<string, unknown>;
}

/** Who caused an event; the system has no id. */
export function actorAnswer({
  actorId,
  actorName,
  via,
}: Pick<HistoryRow, 'actorId' | 'actorName' | 'via'>): HistoryEventAnswer['actor'] {
  return { id: actorId, displayName: actorName ?? 'system', via };
}

/**
 * An event of the history with the changes of readable fields, in the order of their codes; undefined if all its changes are
 * hidden. The journal does not keep the order in which a change named its fields, so a dry run must not show it either.
 */
export function eventAnswer(event: HistoryRow, canRead: (code: string) => boolean): HistoryEventAnswer | undefined {
  const all = Object.entries(event.changes ?? {});
  const shown = all.filter(([field]) => RECORD_CHANGES.has(field) || canRead(field));
  if (all.length > 0 && shown.length === 0) return undefined;
  return {
    id: event.id,
    type: event.type,
    at: event.at,
    actor: actorAnswer(event),
    revision: event.revision,
    changes: shown
      .map(([field, [from, to]]) => ({ field, from, to }))
      .toSorted((one, other) => (one.field < other.field ? -1 : 1)),
    data: event.data ?? {},
  };
}

/**
 * Returns the ids of events that the caller may not see now. Each module decides on the events of its own items (comments,
 * relations).
 */
export type EventFilter = (
  ctx: ReadContext,
  object: VisibleObject,
  events: readonly HistoryRow[],
) => Promise<ReadonlySet<string>>;

/** The filters of all modules. */
export const historyFilters = new List<EventFilter>('history filters');

/**
 * The events of a record that the caller may see now: all, oldest first, or those of a page. An event is left out if all its
 * changes are hidden.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, INVALID_REQUEST
 */
export async function getHistory(
  ctx: ReadContext,
  id: string,
  filters: readonly EventFilter[],
  page?: ListPage,
): Promise<unknown> {
  const object = await requireVisible(ctx, id);
  requireAction(object, 'history');
  let after: string | undefined;
  if (page?.after !== undefined) {
    const event = await findEvent(ctx, object.row, page.after);
    if (event === undefined || (await eventAnswers(ctx, object, [event], filters)).length === 0) throw unknownAfter();
    after = event.key;
  }
  const windows = eventWindows(ctx, object.row, { after, newestFirst: page?.newestFirst === true });
  return await answerInWindows(answersOf(ctx, object, windows, filters), page);
}

/** The newest events that the caller may see, newest first. @throws Fault RIGHT_MISSING */
export async function recentEvents(
  ctx: ReadContext,
  object: VisibleObject,
  filters: readonly EventFilter[],
  limit: number,
): Promise<HistoryEventAnswer[]> {
  requireAction(object, 'history');
  const found: HistoryEventAnswer[] = [];
  for await (const { rows } of answersOf(ctx, object, eventWindows(ctx, object.row, { newestFirst: true }), filters)) {
    found.push(...rows);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Which events are hidden is decided in memory, window by window. */
async function* answersOf(
  ctx: ReadContext,
  object: VisibleObject,
  windows: AsyncGenerator<RowWindow<HistoryRow>>,
  filters: readonly EventFilter[],
): AsyncGenerator<RowWindow<HistoryEventAnswer>> {
  for await (const { rows, isLast } of windows) yield { rows: await eventAnswers(ctx, object, rows, filters), isLast };
}

/** The events that the caller may see. The caller of this function must check the right `history`. */
export async function eventAnswers(
  ctx: ReadContext,
  object: VisibleObject,
  events: readonly HistoryRow[],
  filters: readonly EventFilter[],
): Promise<HistoryEventAnswer[]> {
  const hidden = new Set<string>();
  for (const filter of filters) for (const eventId of await filter(ctx, object, events)) hidden.add(eventId);
  const shown = events.filter((event) => !hidden.has(event.id));
  const answers = await mapInTurns(shown, (event) => eventAnswer(event, (code) => object.right.canRead(code)));
  return answers.filter((answer) => answer !== undefined);
}

/** The data of the record's `ObjectCreated` event. The caller of this function must check access. */
export async function creationData(ctx: ReadContext, id: string): Promise<Record<string, unknown>> {
  return (await findCreationData(ctx, id)) ?? {};
}
