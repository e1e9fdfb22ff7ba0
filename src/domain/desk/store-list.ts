/** SQL of sorted lists of records: which records, in which order, and how many. Rights are part of every statement. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { descriptorOf } from '../../lib/data-types/index.ts';
import { keyOf } from '../../platform/database/filter-sql-fields.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { joinedSortName, type NamedKind } from '../identity/index.ts';
import { conditionEnvironment, type FieldDefinition, type RecordType, registry, variables } from '../metadata/index.ts';
import { type ListScope, whereState } from '../objects/index.ts';
import { whereTitlesReadable } from '../search/index.ts';
import { hasPolicy, hasSla, RUNNING_BY_RECORD } from '../sla/index.ts';

/** What a list is sorted by. */
export interface SortKey {
  /** NULL for records without a value, and for those whose value the caller may not read. They come last. */
  keys: readonly Sql[];
  join: Sql;
  /** False if every record has a value. */
  optional: boolean;
}

const column = (name: string): SortKey => ({ keys: [raw(`o.${name}`)], join: empty, optional: false });

/** A column or text by its place in a list. */
function byPlace(value: Sql, list: readonly string[]): SortKey {
  return { keys: [sql`array_position(${[...list]}::text[], ${value})`], join: empty, optional: true };
}

export const SYSTEM_SORT_KEYS: Readonly<Record<string, SortKey>> = {
  createdAt: column('created_at'),
  updatedAt: column('updated_at'),
  revision: column('revision'),
  // A longer number is higher: the digits of a sequence grow when it is full.
  number: { keys: [sql`length(o.number)`, sql`(o.number COLLATE "C")`], join: empty, optional: true },
  'sla.dueAt': {
    keys: [sql`s.due_at`],
    join: sql`LEFT JOIN ${RUNNING_BY_RECORD} s ON s.object_id = o.id`,
    optional: true,
  },
};

export function stateSortKey(stateIds: readonly string[]): SortKey {
  return byPlace(sql`o.workflow_state_id::text`, stateIds);
}

export function typeSortKey(typeIds: readonly string[]): SortKey {
  return byPlace(sql`o.type_id::text`, typeIds);
}

export function personSortKey(code: 'createdBy' | 'updatedBy', locales: readonly string[]): SortKey {
  const id = code === 'createdBy' ? sql`o.created_by::text` : sql`o.updated_by::text`;
  const { join: joined, key } = joinedSortName('user', id, locales);
  return { keys: [key], join: joined, optional: true };
}

/** The title of records of several types. */
export function titleSortKey(ctx: ReadContext, typeIds: readonly string[]): SortKey {
  const key = sql`CASE WHEN ${whereTitlesReadable(ctx, typeIds)} THEN (left(o.folded ->> '$title', 200) COLLATE "C") END`;
  return { keys: [key], join: empty, optional: true };
}

/**
 * The value of a field. Options sort by their place, users, groups and units by name, all other values as conditions compare
 * them. A value that the caller may not read on a record counts as missing there.
 *
 * @returns null for values that have no order: lists, JSON and other records
 * @param places the values in their order, for data types whose stored values have another order
 */
export function fieldSortKey(
  ctx: ReadContext,
  type: RecordType,
  code: string,
  { places, locales }: { places: readonly string[] | null; locales: readonly string[] },
): SortKey | null {
  const field = type.newest.fields.get(code);
  if (field === undefined || !isOrdered(field)) return null;
  const guarded = (key: Sql): Sql => whereReadable(ctx, type.id, field, key);
  const value = keyOf(field, 'o');
  const kind = namedKind(field);
  if (kind !== undefined) {
    const named = joinedSortName(kind, value, locales);
    return { keys: [guarded(named.key)], join: named.join, optional: true };
  }
  if (places !== null) {
    const { keys } = byPlace(value, places);
    return { keys: keys.map(guarded), join: empty, optional: true };
  }
  return { keys: [guarded(value)], join: empty, optional: true };
}

/**
 * The values of one field of each type, all of one data type, in a list of several types. As `fieldSortKey`, but no index of a
 * type is of use.
 *
 * @param places the values of each type in the common order; an empty text has no place
 */
export function sharedSortKey(
  ctx: ReadContext,
  fields: ReadonlyMap<string, FieldDefinition>,
  { places, locales }: { places: (field: FieldDefinition) => readonly string[] | null; locales: readonly string[] },
): SortKey | null {
  const [first] = fields.values();
  if (first === undefined || !isOrdered(first)) return null;
  const cases = [...fields].map(([typeId, field]) => {
    const value = keyOf(field, 'o');
    const list = places(field);
    const key = list === null ? value : sql`array_position(${[...list]}::text[], ${value})`;
    return sql`WHEN ${typeId}::uuid THEN ${whereReadable(ctx, typeId, field, key)}`;
  });
  const key = sql`(CASE o.type_id ${join(cases, ' ')} END)`;
  const kind = namedKind(first);
  if (kind === undefined) return { keys: [key], join: empty, optional: true };
  const named = joinedSortName(kind, key, locales);
  return { keys: [named.key], join: named.join, optional: true };
}

const descriptor = ({ dataType }: FieldDefinition) => descriptorOf(dataType);
const namedKind = (field: FieldDefinition): NamedKind | undefined => NAMED_KINDS.get(descriptor(field).refersTo ?? '');

function isOrdered(field: FieldDefinition): boolean {
  const { comparison, refersTo } = descriptor(field);
  return !field.multiple && comparison !== 'none' && refersTo !== 'records';
}

/** The key, and NULL for records whose value the caller may not read or that have a value of another shape. */
function whereReadable(ctx: ReadContext, typeId: string, field: FieldDefinition, key: Sql): Sql {
  const environment = conditionEnvironment(registry(ctx), typeId, 'o', variables(ctx));
  const guards: Sql[] = [];
  const visible = ctx.actor.fieldAccess(typeId).whereReadable('o', field.code, ctx.now);
  if (visible !== null) guards.push(sql`(${visible}) IS TRUE`);
  const mismatch = environment.mismatch?.({ ...field, kind: 'value' }) ?? null;
  if (mismatch !== null) guards.push(sql`(${mismatch}) IS NOT TRUE`);
  return guards.length === 0 ? key : sql`CASE WHEN ${join(guards, ' AND ')} THEN ${key} END`;
}

const NAMED_KINDS: ReadonlyMap<string, NamedKind> = new Map([
  ['users', 'user'],
  ['groups', 'group'],
  ['orgUnits', 'org-unit'],
]);

/** The records that a list selects. */
export interface Selection {
  scope: ListScope & { visible: Sql };
  /** Conditions beside the scope. */
  conditions: readonly Sql[];
}

export const slaCondition = (due: Parameters<typeof hasSla>[1], now: string): Sql => hasSla('o.id', due, now);
export const policyCondition = (policyId: string | null): Sql => hasPolicy('o.id', policyId);
export const amongIds = (ids: readonly string[]): Sql => sql`o.id = ANY(${[...ids]}::uuid[])`;
export const hasRunningSla = (running: boolean): Sql =>
  running
    ? sql`o.id IN (SELECT r.object_id FROM ${RUNNING_BY_RECORD} r)`
    : sql`NOT EXISTS (SELECT FROM ${RUNNING_BY_RECORD} r WHERE r.object_id = o.id)`;

function where({ scope, conditions }: Selection): Sql {
  const { type, filter, visible } = scope;
  // The state is a literal in the statement, so that the planner can use partial indexes.
  const parts = [whereState(filter.state), visible];
  if (type !== undefined) parts.push(sql`o.type_id = ${type.id}::uuid`);
  if (filter.workflowStateIds !== undefined) {
    parts.push(sql`o.workflow_state_id = ANY(${filter.workflowStateIds}::uuid[])`);
  }
  return join([...parts, ...conditions], ' AND ');
}

/** The number of selected records, counted up to `limit`. */
export async function countSelected(ctx: ReadContext, selection: Selection, limit: number): Promise<number> {
  const rows = await ctx.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM (SELECT 1 FROM objects o WHERE ${where(selection)} LIMIT ${limit}::int) AS found`,
    { freshPlan: true },
  );
  return rows[0]?.count ?? 0;
}

/**
 * The number of records of each list, in one statement. Each selection is counted up to `limit`. A list is given as selections without common
 * records, for example one for each type: the indexes of a type are used only if the selection names the type.
 */
export async function countEach(
  ctx: ReadContext,
  lists: readonly (readonly Selection[])[],
  limit: number,
): Promise<number[]> {
  if (lists.length === 0) return [];
  const counts = lists.map((selections) => {
    const parts = selections.map(
      (selection) => sql`(SELECT 1 FROM objects o WHERE ${where(selection)} LIMIT ${limit}::int)`,
    );
    return sql`(SELECT count(*) FROM (${join(parts, ' UNION ALL ')}) AS found)::int`;
  });
  const rows = await ctx.query<{ counts: number[] }>(sql`SELECT ARRAY[${join(counts)}] AS counts`, { freshPlan: true });
  return rows[0]?.counts ?? [];
}

interface PageRange {
  limit: number;
  offset: number;
}

async function readIds(
  ctx: ReadContext,
  from: Sql,
  order: readonly Sql[],
  { limit, offset }: PageRange,
): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(
    sql`SELECT o.id FROM ${from} ORDER BY ${join(order)} LIMIT ${limit}::int OFFSET ${offset}::int`,
    { freshPlan: true },
  );
  return rows.map(({ id }) => id);
}

/**
 * The ids of a page, sorted by the key; records with equal values by id, those without a value last. Each direction of a plain
 * key can be read from the key's index, because records without a value are read by a second statement if the page reaches
 * them.
 */
export async function listSorted(
  ctx: ReadContext,
  selection: Selection,
  key: SortKey,
  descending: boolean,
  part: PageRange,
): Promise<string[]> {
  const direction = descending ? sql`DESC` : sql`ASC`;
  const [first = sql`o.id`] = key.keys;
  const valued = sql`objects o ${key.join} WHERE ${where(selection)} ${key.optional ? sql`AND ${first} IS NOT NULL` : empty}`;
  const order = [...key.keys, sql`o.id`].map((expression) => sql`${expression} ${direction}`);
  const ids = await readIds(ctx, valued, order, part);
  if (!key.optional || ids.length === part.limit) return ids;
  const before = ids.length > 0 ? part.offset + ids.length : await countRows(ctx, valued, part.offset);
  const without = sql`objects o ${key.join} WHERE ${where(selection)} AND ${first} IS NULL`;
  const rest = { limit: part.limit - ids.length, offset: part.offset + ids.length - before };
  return [...ids, ...(await readIds(ctx, without, [sql`o.id ${direction}`], rest))];
}

async function countRows(ctx: ReadContext, from: Sql, limit: number): Promise<number> {
  if (limit === 0) return 0;
  const rows = await ctx.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM (SELECT 1 FROM ${from} LIMIT ${limit}::int) AS found`,
  );
  return rows[0]?.count ?? 0;
}
