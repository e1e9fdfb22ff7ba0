/**
 * Sorted lists of records for the console: filters of `GET /objects` and `GET /search`, an order by any column, and what a row
 * shows besides the record: SLA figures and the names of users and groups.
 */
import type { Static } from 'typebox';
import { pageOf, type Window, windowOf } from '../../contract/paging.ts';
import { faultAt } from '../../lib/fault.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { findNames } from '../identity/index.ts';
import { type FieldDefinition, named, type RecordType, registry, today } from '../metadata/index.ts';
import {
  findVisible,
  type ObjectAnswer,
  preload,
  project,
  readScope,
  type VisibleObject,
  type WordMatch,
} from '../objects/index.ts';
import { unreadRecords } from '../notifications/index.ts';
import { filterOnRecords, withinBudget } from '../search/index.ts';
import { doneWithin } from '../reports/index.ts';
import { remainingTimes, requirePolicy, type SlaFigures, slaFigures } from '../sla/index.ts';
import type * as contract from './contract.ts';
import { serviceNames } from './queries.ts';
import { sharedField, sharedOptions } from './shared-fields.ts';
import * as store from './store-list.ts';

/** Words select at most this many records, the newest ones. */
const MAX_MATCHES = 1000;
/** At most this many records with running time limits are sorted by the time left, which is computed in memory. */
const MAX_RUNNING = 5000;
const DEFAULT_SORT = '-createdAt';

type ListQuery = Static<(typeof contract.listDeskObjects)['query']>;
/** Which records, and in which order. */
export type ListSelection = Omit<ListQuery, 'page' | 'pageSize'>;

interface Ref {
  id: string;
  name: string;
}

export interface DeskRow extends ObjectAnswer {
  sla: SlaFigures | null;
  assignee: Ref | null;
  group: Ref | null;
  requester: Ref | null;
  unread: boolean;
}

export interface DeskPage {
  rows: DeskRow[];
  page: number;
  pageSize: number;
  hasMore: boolean;
  total: number;
  totalExact: boolean;
  names: Ref[];
}

/**
 * @param matches finds records by words
 * @throws Fault INVALID_REQUEST, INVALID_FILTER, FILTER_TOO_EXPENSIVE
 */
export async function listDeskObjects(
  { work, caller }: Pick<Runner, 'work' | 'caller'>,
  query: ListQuery,
  matches: WordMatch,
): Promise<DeskPage> {
  const path = query.filter === undefined ? 'query.sort' : 'query.filter';
  // The limit of time needs a transaction.
  return await work.read(caller, (ctx) => withinBudget(ctx, path, () => readList(ctx, query, matches)), {
    snapshot: true,
  });
}

/**
 * The ids of the selected records that the caller may read, in their order.
 *
 * @returns null if there can be none
 * @throws Fault INVALID_REQUEST, INVALID_FILTER, FILTER_TOO_EXPENSIVE
 */
export async function selectSorted(
  ctx: ReadContext,
  query: ListSelection,
  matches: WordMatch,
  part: Pick<Window, 'offset' | 'limit'>,
): Promise<{ ids: string[]; selection: store.Selection; complete: boolean } | null> {
  const selected = await select(ctx, query, matches);
  const sort = query.sort ?? DEFAULT_SORT;
  const descending = sort.startsWith('-');
  const code = descending ? sort.slice(1) : sort;
  const { type, typeIds } = readScope(ctx, query);
  const key = code === 'sla.remaining' ? null : requireSortKey(ctx, query, type, typeIds, code);
  if (selected === null) return null;
  const ids =
    key === null
      ? await byRemainingTime(ctx, selected.selection, descending, part)
      : await store.listSorted(ctx, selected.selection, key, descending, part);
  return { ids, ...selected };
}

async function readList(ctx: ReadContext, query: ListQuery, matches: WordMatch): Promise<DeskPage> {
  const window = windowOf(query);
  const sorted = await selectSorted(ctx, query, matches, window);
  if (sorted === null) return await answer(ctx, [], window, { count: 0, exact: true });
  const { ids, selection, complete } = sorted;
  const most = registry(ctx).settings.searchExactTotal;
  const count = await store.countSelected(ctx, selection, most + 1);
  return await answer(ctx, ids, window, { count: Math.min(count, most), exact: complete && count <= most });
}

/** The selected records; null if there can be none. @throws Fault INVALID_REQUEST, INVALID_FILTER */
async function select(
  ctx: ReadContext,
  query: ListSelection,
  matches: WordMatch,
): Promise<{ selection: store.Selection; complete: boolean } | null> {
  const scope = readScope(ctx, query);
  const filter = query.filter === undefined ? undefined : filterOnRecords(ctx, query.filter, scope.typeIds);
  const { visible } = scope;
  if (visible === null || filter === null) return null;
  const conditions = filter === undefined ? [] : [filter];
  if (query.sla !== undefined) conditions.push(slaCondition(ctx, query.sla));
  if (query.done !== undefined) conditions.push(doneWithin(ctx, scope.typeIds, query.done, 'query.done'));
  if (query.slaPolicy !== undefined) {
    const policy = query.slaPolicy === '-' ? null : requirePolicy(ctx, query.slaPolicy, 'query.slaPolicy').id;
    conditions.push(store.policyCondition(policy));
  }
  let complete = true;
  if (query.q !== undefined && query.q.trim() !== '') {
    const typeIds = scope.type === undefined ? {} : { typeIds: [scope.type.id] };
    const ids = await matches(ctx, { q: query.q, ...typeIds, ...scope.filter, limit: MAX_MATCHES, offset: 0 });
    complete = ids.length < MAX_MATCHES;
    conditions.push(store.amongIds(ids));
  }
  return { selection: { scope: { ...scope, visible }, conditions }, complete };
}

const HOUR_MS = 3_600_000;

/** `overdue`, `today` in the time zone of the settings, or hours like `4h`. */
function slaCondition(ctx: ReadContext, due: string): ReturnType<typeof store.slaCondition> {
  if (due === 'overdue') return store.slaCondition('overdue', ctx.now);
  const types = registry(ctx);
  const before =
    due === 'today'
      ? Temporal.PlainDate.from(today(types, ctx.now)).add({ days: 1 }).toZonedDateTime(types.settings.timezone)
          .epochMilliseconds
      : Date.parse(ctx.now) + Number.parseInt(due, 10) * HOUR_MS;
  return store.slaCondition({ before: new Date(before).toISOString() }, ctx.now);
}

/** @throws Fault INVALID_REQUEST; the same for a field that the caller can never read as for an unknown one */
function requireSortKey(
  ctx: ReadContext,
  query: ListSelection,
  type: RecordType | undefined,
  typeIds: readonly string[],
  code: string,
): store.SortKey {
  const key = type === undefined ? undefined : ownSortKey(ctx, type, code);
  const found =
    key ??
    systemSortKey(ctx, type, typeIds, code) ??
    (type === undefined ? sharedSortKey(ctx, query, code) : undefined);
  if (found !== undefined) return found;
  throw faultAt('INVALID_REQUEST', 'query.sort', 'SORT_UNKNOWN');
}

/** Undefined if the type has no such field. @throws Fault INVALID_REQUEST if the caller can never read it */
function ownSortKey(ctx: ReadContext, type: RecordType, code: string): store.SortKey | undefined {
  // The title is the text of a field, and sorts by its index.
  const titled = code === 'title' && !type.newest.fields.has(code) ? (type.newest.titleField ?? code) : code;
  const field = type.newest.fields.get(titled);
  if (field === undefined) return undefined;
  if (!ctx.actor.fieldAccess(type.id).canRead(titled)) throw faultAt('INVALID_REQUEST', 'query.sort', 'SORT_UNKNOWN');
  const places = placesOf(ctx, field);
  const key = store.fieldSortKey(ctx, type, titled, { places, locales: localesOf(ctx) });
  if (key !== null) return key;
  throw faultAt('INVALID_REQUEST', 'query.sort', 'SORT_UNORDERED');
}

/** Undefined if no type has such a field that the caller can read. @throws Fault INVALID_REQUEST for values without an order */
function sharedSortKey(ctx: ReadContext, query: ListSelection, code: string): store.SortKey | undefined {
  const column = sharedField(ctx, query, code);
  if (column === undefined) return undefined;
  const options = sharedOptions(column);
  const places = (field: FieldDefinition): string[] | null => {
    if (field.dataType !== 'enum') return placesOf(ctx, field);
    const stored = new Map(field.constraints.options?.map((option) => [option.code, option.storedAs ?? option.code]));
    return options.map((option) => stored.get(option.code) ?? '');
  };
  const key = store.sharedSortKey(ctx, column, { places, locales: localesOf(ctx) });
  if (key !== null) return key;
  throw faultAt('INVALID_REQUEST', 'query.sort', 'SORT_UNORDERED');
}

/** The values of a field in their order, where that is not the order of the stored values. */
function placesOf(ctx: ReadContext, field: FieldDefinition): string[] | null {
  if (field.dataType === 'enum') return (field.constraints.options ?? []).map(({ code, storedAs = code }) => storedAs);
  if (field.dataType !== 'service') return null;
  return sortedIds(
    ctx,
    [...ctx.config.get(serviceNames)].map(([id, name]) => ({ id, name: named(ctx, name) })),
  );
}

function sortedIds(ctx: ReadContext, items: readonly { id: string; name: string }[]): string[] {
  const { compare } = new Intl.Collator(localesOf(ctx));
  return [...items].sort((a, b) => compare(a.name, b.name)).map(({ id }) => id);
}

function localesOf(ctx: ReadContext): string[] {
  const { defaultLocale } = registry(ctx).settings;
  return [...new Set([ctx.locale ?? defaultLocale, defaultLocale])];
}

function systemSortKey(
  ctx: ReadContext,
  type: RecordType | undefined,
  typeIds: readonly string[],
  code: string,
): store.SortKey | undefined {
  const types = registry(ctx);
  const among = typeIds.flatMap((id) => types.byId.get(id) ?? []);
  switch (code) {
    case 'title':
      return store.titleSortKey(ctx, typeIds);
    case 'typeCode':
      return store.typeSortKey(
        sortedIds(
          ctx,
          among.map(({ id, newest }) => ({ id, name: named(ctx, newest.definition.name) })),
        ),
      );
    case 'workflowState':
    case 'workflowCategory':
      return store.stateSortKey(statesInOrder(type === undefined ? among : [type]));
    case 'createdBy':
    case 'updatedBy':
      return store.personSortKey(code, localesOf(ctx));
    default:
      return Object.hasOwn(store.SYSTEM_SORT_KEYS, code) ? store.SYSTEM_SORT_KEYS[code] : undefined;
  }
}

const CATEGORIES = ['open', 'waiting', 'done'];

/** Open states first, then waiting and done ones; within a category in the order of the workflow. */
function statesInOrder(types: readonly RecordType[]): string[] {
  const versions = types.flatMap((type) => [type.newest, ...type.versions.values()]);
  const states = versions.flatMap(({ workflow }) => [...(workflow?.states.values() ?? [])]);
  const sorted = states.sort((a, b) => CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category));
  return [...new Set(sorted.map(({ id }) => id))];
}

/** @throws Fault FILTER_TOO_EXPENSIVE if too many records have a running time limit */
async function byRemainingTime(
  ctx: ReadContext,
  selection: store.Selection,
  descending: boolean,
  { offset, limit }: Pick<Window, 'offset' | 'limit'>,
): Promise<string[]> {
  const among = (running: boolean): store.Selection => ({
    ...selection,
    conditions: [...selection.conditions, store.hasRunningSla(running)],
  });
  const byId = store.SYSTEM_SORT_KEYS['createdAt'] as store.SortKey;
  const running = await store.listSorted(ctx, among(true), byId, true, { offset: 0, limit: MAX_RUNNING + 1 });
  if (running.length > MAX_RUNNING) {
    throw faultAt('FILTER_TOO_EXPENSIVE', 'query.sort', 'SORT_TOO_MANY');
  }
  const left = await remainingTimes(ctx, running);
  const sign = descending ? -1 : 1;
  const sorted = [...running].sort((a, b) => sign * ((left.get(a) ?? 0) - (left.get(b) ?? 0) || (a < b ? -1 : 1)));
  const page = sorted.slice(offset, offset + limit);
  if (page.length === limit) return page;
  const rest = { offset: Math.max(0, offset - sorted.length), limit: limit - page.length };
  return [...page, ...(await store.listSorted(ctx, among(false), byId, true, rest))];
}

// ---------------------------------------------------------------- rows

async function answer(
  ctx: ReadContext,
  ids: readonly string[],
  window: Window,
  total: { count: number; exact: boolean },
): Promise<DeskPage> {
  const page = pageOf(ids, window);
  await preload(ctx, page.rows);
  const found = await Promise.all(page.rows.map((id) => findVisible(ctx, id)));
  const objects = found.filter((object) => object !== undefined);
  const sla = await slaFigures(ctx, objects);
  const rows = objects.map((object) => ({ object, row: project(ctx, object) }));
  const names = await namesOf(ctx, rows);
  const unread = await unreadRecords(ctx, page.rows);
  const of = (id: unknown): Ref | null => {
    const name = typeof id === 'string' ? names.get(id) : undefined;
    return name === undefined ? null : { id: id as string, name };
  };
  return {
    ...page,
    rows: rows.map(({ object, row }) => {
      const fields = peopleFields(object.type);
      const value = (code: string | undefined): Ref | null => (code === undefined ? null : of(row.values[code]));
      return {
        ...row,
        sla: sla.get(row.id) ?? null,
        assignee: value(fields.assignee),
        group: value(fields.group),
        requester: value(fields.requester),
        unread: unread.has(row.id),
      };
    }),
    total: total.count,
    totalExact: total.exact,
    names: [...names].map(([id, name]) => ({ id, name })),
  };
}

/** The fields that hold the assignee, the assignment group and the requester of a type's records, as far as it has them. */
export interface PeopleFields {
  assignee?: string;
  group?: string;
  requester?: string;
}

const PEOPLE = {
  assignee: ['assignee', 'user'],
  group: ['assignmentGroup', 'group'],
  requester: ['requester', 'user'],
};

export function peopleFields(type: RecordType): PeopleFields {
  const found = Object.entries(PEOPLE).flatMap(([role, [code = '', dataType]]) => {
    const field = type.newest.fields.get(code);
    return field?.dataType === dataType && field?.multiple === false ? [[role, code] as const] : [];
  });
  return Object.fromEntries(found);
}

const PERSON_TYPES: ReadonlySet<string> = new Set(['user', 'group', 'org-unit']);

/** Names of the users, groups and units in the shown values, in one statement. */
export async function namesOf(
  ctx: ReadContext,
  rows: readonly { object: VisibleObject; row: ObjectAnswer }[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set<string>();
  for (const { object, row } of rows) {
    for (const { code, dataType } of object.version.fields.values()) {
      if (!PERSON_TYPES.has(dataType)) continue;
      for (const id of [row.values[code]].flat()) if (typeof id === 'string') ids.add(id);
    }
  }
  const found = ids.size === 0 ? [] : await findNames(ctx, [...ids]);
  return new Map(found.map(({ id, name }) => [id, named(ctx, name)]));
}
