/** Reads of records. Answers go through `project` and hold only what the caller may see. */
import type { Static } from 'typebox';
import { pageOf, windowOf } from '../../contract/paging.ts';
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { fieldSchema, findType, registry } from '../metadata/index.ts';
import type * as contract from './contract.ts';
import { findVisible, preload, requireAction, requireVisible } from './load.ts';
import { judge, type ObjectAnswer, project, type VisibleObject } from './record.ts';
import { type HistoryRow, listEvents, listVisible } from './store.ts';

/** @throws Fault NOT_FOUND */
export async function getObject(ctx: ReadContext, id: string): Promise<ObjectAnswer> {
  return project(ctx, await requireVisible(ctx, id));
}

/** The record and its answer for this caller; undefined if it does not exist or the caller may not read it. */
export async function readCard(
  ctx: ReadContext,
  id: string,
): Promise<{ object: VisibleObject; card: ObjectAnswer } | undefined> {
  const object = await findVisible(ctx, id);
  return object === undefined ? undefined : { object, card: project(ctx, object) };
}

type ListQuery = Static<(typeof contract.listObjects)['query']>;

function badParameter(name: string, code: string, message: string): Fault {
  return new Fault('INVALID_REQUEST', message, [{ path: `query.${name}`, code, message }]);
}

/**
 * Returns the ids of the records that match the words of `q`, newest first. `app.ts` passes it in, so that this module does not
 * depend on search.
 */
export type WordMatch = (
  ctx: ReadContext,
  asked: {
    q: string;
    typeIds?: readonly string[];
    state: 'ACTIVE' | 'ARCHIVED';
    workflowStateIds?: readonly string[];
    limit: number;
    offset: number;
  },
) => Promise<string[]>;

/**
 * Lists records that the caller may read, newest first (docs/spec/records.md#lists).
 *
 * @throws Fault INVALID_REQUEST for an unknown type or state, or one that the caller may not read
 */
export async function listObjects(
  ctx: ReadContext,
  query: ListQuery,
  matches: WordMatch,
): Promise<{ rows: ObjectAnswer[]; page: number; pageSize: number; hasMore: boolean }> {
  const window = windowOf(query);
  const types = registry(ctx);
  const readable = new Set(ctx.actor.typesFor('read'));
  const type = query.typeId === undefined ? undefined : findType(types, query.typeId);
  if (query.typeId !== undefined && (type === undefined || !readable.has(type.id))) {
    throw badParameter('typeId', 'UNKNOWN_TYPE', 'There is no such record type.');
  }
  const among = type === undefined ? [...readable] : [type.id];
  const filter = stateFilter(ctx, query.state ?? 'ACTIVE', among);
  const visible = ctx.actor.visible('o', 'read', ctx.now, type === undefined ? undefined : [type.id]);
  if (visible === null) return pageOf([], window);
  if (query.q !== undefined && query.q !== '') {
    const { limit, offset } = window;
    const typeIds = type === undefined ? {} : { typeIds: [type.id] };
    const page = pageOf(await matches(ctx, { q: query.q, ...typeIds, ...filter, limit, offset }), window);
    await preload(ctx, page.rows);
    const found = await Promise.all(page.rows.map((id) => findVisible(ctx, id)));
    return { ...page, rows: found.flatMap((object) => (object === undefined ? [] : [project(ctx, object)])) };
  }
  const rows = await listVisible(ctx, {
    visible,
    ...(type === undefined ? {} : { typeId: type.id }),
    ...filter,
    limit: window.limit,
    offset: window.offset,
  });
  const page = pageOf(rows, window);
  return { ...page, rows: page.rows.map((row) => project(ctx, judge(ctx, row))) };
}

/** `ACTIVE`, `ARCHIVED`, or the code of a workflow state of a type that the caller may read. */
function stateFilter(
  ctx: ReadContext,
  state: string,
  typeIds: readonly string[],
): { state: 'ACTIVE' | 'ARCHIVED'; workflowStateIds?: string[] } {
  if (state === 'ACTIVE' || state === 'ARCHIVED') return { state };
  const types = registry(ctx);
  const ids = new Set<string>();
  for (const typeId of typeIds) {
    for (const version of types.byId.get(typeId)?.versions.values() ?? []) {
      for (const known of version.workflow?.states.values() ?? []) if (known.code === state) ids.add(known.id);
    }
  }
  if (ids.size === 0)
    throw badParameter('state', 'UNKNOWN_STATE', 'state is ACTIVE, ARCHIVED or a workflow state code.');
  return { state: 'ACTIVE', workflowStateIds: [...ids] };
}

export interface HistoryEventAnswer {
  id: string;
  type: string;
  at: string;
  actor: { id: string | null; displayName: string; via: string };
  revision: number | null;
  changes: { field: string; from: unknown; to: unknown }[];
  data: Record<string, unknown>;
}

/** Changes that every reader of a record may see, because they concern no field. */
const RECORD_CHANGES = new Set(['state', 'workflowState']);

function eventAnswer(event: HistoryRow, reads: (code: string) => boolean): HistoryEventAnswer | undefined {
  const all = Object.entries(event.changes ?? {});
  const shown = all.filter(([field]) => RECORD_CHANGES.has(field) || reads(field));
  if (all.length > 0 && shown.length === 0) return undefined;
  return {
    id: event.id,
    type: event.type,
    at: event.at,
    actor: { id: event.actorId, displayName: event.actorName ?? 'system', via: event.via },
    revision: event.revision,
    changes: shown.map(([field, [from, to]]) => ({ field, from, to })),
    data: event.data ?? {},
  };
}

/**
 * Returns the ids of events that the caller may not see now. Each module decides on the events of its own items (comments,
 * relations). `app.ts` passes the filters in, so that this module does not depend on the others.
 */
export type EventFilter = (
  ctx: ReadContext,
  object: VisibleObject,
  events: readonly HistoryRow[],
) => Promise<ReadonlySet<string>>;

/**
 * The events of a record that the caller may see now, oldest first. An event is left out if all its changes are hidden.
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING
 */
export async function getHistory(
  ctx: ReadContext,
  id: string,
  filters: readonly EventFilter[],
): Promise<HistoryEventAnswer[]> {
  const object = await requireVisible(ctx, id);
  requireAction(object, 'history');
  const events = await listEvents(ctx, id);
  const hidden = new Set<string>();
  for (const filter of filters) for (const eventId of await filter(ctx, object, events)) hidden.add(eventId);
  const shown = events.filter((event) => !hidden.has(event.id));
  return shown.flatMap((event) => eventAnswer(event, (code) => object.right.reads(code)) ?? []);
}

/** The data of the record's `ObjectCreated` event. The caller of this function must check access. */
export async function creationData(ctx: ReadContext, id: string): Promise<Record<string, unknown>> {
  const event = (await listEvents(ctx, id)).find(({ type }) => type === 'ObjectCreated');
  return event?.data ?? {};
}

/** @throws Fault NOT_FOUND */
export async function getSchema(ctx: ReadContext, id: string): Promise<{ id: string; fields: unknown[] }> {
  const object = await requireVisible(ctx, id);
  const { right, version } = object;
  const fields = [...version.fields.values()].filter((field) => right.reads(field.code));
  return {
    id,
    fields: fields.map((field) => {
      const schema = fieldSchema(ctx, field);
      return right.writes(field.code) ? schema : { ...schema, readOnly: true };
    }),
  };
}

/**
 * Filters the stored response of a create by the caller's current rights: fields that the caller may no longer read are left
 * out, and all fields if the record is no longer visible.
 */
export async function replayObject(ctx: ReadContext, data: unknown): Promise<unknown> {
  const kept = data as ObjectAnswer;
  const object = await findVisible(ctx, kept.id);
  if (object === undefined) return { ...kept, title: null, values: {} };
  const values = Object.fromEntries(Object.entries(kept.values).filter(([code]) => object.right.reads(code)));
  const named = object.version.titleField !== null && object.right.reads(object.version.titleField);
  return { ...kept, title: named ? kept.title : null, values };
}
