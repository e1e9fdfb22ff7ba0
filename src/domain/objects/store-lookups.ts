/**
 * SQL for lookups of records: by the value of a field, by page, changes by revision, inline images, referenced records and users, and
 * what the configuration asks about stored records.
 */
import { tables } from '../../platform/database/tables.ts';
import { insertInto } from '../../platform/unit-of-work/table-writes.ts';
import type { HeldCount } from '../../configuration/section.ts';
import sql, { empty, raw, type Sql, join } from 'sql-template-tag';
import type { ReadContext, TableWrite, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { IdOf, Referent } from '../../lib/data-types/index.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { decodeValue, type FieldDefinition, registry, storedCodes } from '../metadata/index.ts';
import { jsonOf } from '../../platform/database/filter-sql-fields.ts';
import { JOINED_NAMES, JOINS, OBJECT_COLUMNS, type ObjectRow, queryObjects } from './store.ts';
import { EVENT_SIZE, type HistoryRow } from './store-history.ts';
import { jsonSize, readWindows } from '../../platform/database/window.ts';
import { isLockTimeout } from '../../platform/database/sqlstate.ts';
import { Fault } from '../../lib/fault.ts';
import type { BlobUse } from '../../platform/blobs/register.ts';

/** Active visible records of the type that satisfy the condition, with the value of one field. */
export async function listByValue(
  ctx: ReadContext,
  typeId: string,
  field: FieldDefinition,
  visible: Sql,
  condition: Sql,
): Promise<{ id: string; value: unknown }[]> {
  const rows = await ctx.query<{ id: string; value: unknown }>(sql`
    SELECT o.id, ${jsonOf(field, 'o')} AS value FROM objects o
    WHERE o.state = 'ACTIVE' AND o.type_id = ${typeId}::uuid AND ${visible} AND ${condition}`);
  return rows.map(({ id, value }) => ({ id, value: decodeValue(field, value) }));
}

/** The id of the record with this number, which the caller may not be allowed to read. */
export async function idOfNumber(ctx: ReadContext, number: string): Promise<string | undefined> {
  const [row] = await ctx.query<{ id: string }>(sql`SELECT o.id FROM objects o WHERE o.number = ${number}`);
  return row?.id;
}

/** The last record of a page. */
export interface PageEnd {
  createdAt: string;
  id: string;
}

/** Active records of the type, newest first, after `after`; if `ids` is given, only those records. */
export async function listPage(
  ctx: ReadContext,
  page: {
    typeId: string;
    visible: Sql;
    condition: Sql | null;
    after: PageEnd | undefined;
    ids: readonly string[] | undefined;
    limit: number;
  },
): Promise<ObjectRow[]> {
  const { after } = page;
  const behind =
    after === undefined ? empty : sql`AND (o.created_at, o.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`;
  const condition = page.condition === null ? empty : sql`AND ${page.condition}`;
  const among = page.ids === undefined ? empty : sql`AND o.id = ANY(${[...page.ids]}::uuid[])`;
  return await queryObjects(
    ctx,
    sql`SELECT ${OBJECT_COLUMNS}, ${JOINED_NAMES} FROM (
        SELECT o.* FROM objects o
        WHERE o.state = 'ACTIVE' AND o.type_id = ${page.typeId}::uuid AND ${page.visible} ${condition} ${among} ${behind}
        ORDER BY o.created_at DESC, o.id DESC LIMIT ${page.limit}::int) AS o
      ${JOINS} ORDER BY o.created_at DESC, o.id DESC`,
    // With a filter, the best plan depends on its values.
    { freshPlan: page.condition !== null },
  );
}

/** The change that made the revision of a record of the type: field → [before, after]; null if it changed no values. */
export async function findChanges(
  ctx: ReadContext,
  { id, typeId }: Pick<ObjectRow, 'id' | 'typeId'>,
  revision: number,
): Promise<Record<string, [unknown, unknown]> | null> {
  const [row] = await ctx.query<Pick<HistoryRow, 'changes'>>(sql`
    SELECT j.changes FROM journal j
    WHERE j.object_id = ${id}::uuid AND j.revision = ${revision}::int AND j.type = 'ObjectUpdated'`);
  const changes = row?.changes ?? null;
  return changes === null ? null : storedCodes(registry(ctx), typeId).decodeChanges(changes);
}

export interface ImageRow {
  sha256: string;
  mediaType: string;
  size: number;
}

export async function findImage(ctx: ReadContext, objectId: string, sha256: string): Promise<ImageRow | undefined> {
  const rows = await ctx.query<ImageRow>(sql`
    SELECT sha256, media_type AS "mediaType", size FROM inline_images
    WHERE object_id = ${objectId}::uuid AND sha256 = ${sha256}`);
  return rows[0];
}

export const useImage = insertInto(tables.inline_images, {
  name: 'use_image',
  guard: false,
  records: ({ objectId }) => [objectId],
  conflict: 'ignore',
});

/** SQL: about how many bytes the values of the record have whose id is in the column. */
export function valuesBytes(column: string): Sql {
  return sql`coalesce((SELECT ${jsonSize('o."values"')} FROM objects o WHERE o.id = ${raw(column)}), 0)`;
}

/** A record's images are kept as long as its history. */
export const imageUse: BlobUse = (sha256) => sql`EXISTS (SELECT 1 FROM inline_images i WHERE i.sha256 = ${sha256})`;

/** The record's events that contain the image's handle anywhere, in windows. The caller checks in which field. */
export async function* eventsNaming(
  ctx: ReadContext,
  { id: objectId, typeId }: Pick<ObjectRow, 'id' | 'typeId'>,
  sha256: string,
): AsyncGenerator<Pick<HistoryRow, 'changes' | 'data'>> {
  const named = `%blob:${sha256}%`;
  const codes = storedCodes(registry(ctx), typeId);
  const windows = readWindows<Pick<HistoryRow, 'changes' | 'data'>>(
    ctx,
    (after, limit) => sql`
      SELECT j.seq::text AS key, ${EVENT_SIZE}, j.changes, j.data FROM journal j
      WHERE j.object_id = ${objectId}::uuid AND (j.changes::text LIKE ${named} OR j.data::text LIKE ${named})
        AND j.seq > ${after ?? '0'}::bigint
      ORDER BY j.seq LIMIT ${limit}::int`,
  );
  for await (const { rows } of windows)
    for (const { changes, data } of rows)
      yield { data, changes: changes === null ? null : codes.decodeChanges(changes) };
}

/** Kinds whose items are rows. Services are items of the configuration. */
type RowKind = Exclude<Referent, 'services'>;

/** Ids in values, by the kind of item that they must refer to. */
export type NamedThings = { readonly [K in RowKind]: readonly IdOf<K>[] };

/** What was found, by kind: an id counts only as what it was looked up as. `records` maps to the id of the type. */
export type FoundThings = { readonly [K in Exclude<RowKind, 'records'>]: ReadonlySet<IdOf<K>> } & {
  readonly records: ReadonlyMap<IdOf<'records'>, string>;
};

const TABLES: Readonly<Record<Exclude<RowKind, 'records'>, Sql>> = {
  users: sql`users`,
  groups: sql`groups`,
  orgUnits: sql`org_units`,
};

/**
 * The users, groups, units and records that exist, in one statement.
 *
 * @param records the condition on records `o`; null finds none
 * @param archived whether archived items count, too
 */
export async function findNamed(
  db: Pick<Queryable, 'query'>,
  ids: NamedThings,
  records: Sql | null,
  archived = false,
): Promise<FoundThings> {
  const parts: Sql[] = [];
  const active = (state: Sql): Sql => (archived ? sql`true` : sql`${state} = 'ACTIVE'`);
  for (const kind of ['users', 'groups', 'orgUnits'] as const) {
    if (ids[kind].length === 0) continue;
    parts.push(sql`SELECT ${kind}::text AS kind, id, NULL::uuid AS "typeId" FROM ${TABLES[kind]}
      WHERE ${isAmong(sql`id`, ids[kind])} AND ${active(sql`state`)}`);
  }
  if (ids.records.length > 0 && records !== null) {
    parts.push(sql`SELECT 'records' AS kind, o.id, o.type_id AS "typeId" FROM objects o
      WHERE ${isAmong(sql`o.id`, ids.records)} AND ${active(sql`o.state`)} AND ${records}`);
  }
  const found = { users: new Set<string>(), groups: new Set<string>(), orgUnits: new Set<string>() };
  const types = new Map<string, string>();
  const rows =
    parts.length === 0 ? [] : await db.query<{ kind: RowKind; id: string; typeId: string }>(join(parts, ' UNION ALL '));
  for (const { kind, id, typeId } of rows) {
    if (kind === 'records') types.set(id, typeId);
    else found[kind].add(id);
  }
  return { ...found, records: types } as unknown as FoundThings;
}

/**
 * A single id is compared with `=`. A statement with a list is planned at each execution, because the planner assumes ten
 * elements for an unknown list, and planning costs several times as much as the lookup.
 */
function isAmong(column: Sql, ids: readonly string[]): Sql {
  return ids.length === 1 ? sql`${column} = ${ids[0]}::uuid` : sql`${column} = ANY(${[...ids]}::uuid[])`;
}

/** Guards: each id must refer to an active user, group or unit. */
export const namedUsers = named('named_users', 'users');
export const namedGroups = named('named_groups', 'groups');
export const namedUnits = named('named_units', 'orgUnits');

function named<K extends Exclude<RowKind, 'records'>>(name: string, kind: K): TableWrite<{ id: IdOf<K> }> {
  const table = TABLES[kind];
  return {
    name,
    guard: true,
    records: () => [],
    frequent: true,
    columns: { id: 'uuid' },
    sql: (rows: Sql) => sql`SELECT n.id FROM ${rows} JOIN ${table} n ON n.id = r.id WHERE n.state = 'ACTIVE'`,
  };
}

export interface NamedObject {
  id: IdOf<'records'>;
  /** Allowed types of the record; null for any type. */
  types: string[] | null;
}

/** Predicate → its guard. An actor keeps its predicates, so its units share a guard and can be written together. */
const objectGuards = new WeakMap<Sql, TableWrite<NamedObject>>();

/** Guard: each id must refer to an active record of one of its types that satisfies `visible`. */
export function namedObjects(visible: Sql): TableWrite<NamedObject> {
  let guard = objectGuards.get(visible);
  if (guard === undefined) {
    guard = {
      name: 'named_objects',
      guard: true,
      varies: true,
      records: () => [],
      frequent: true,
      columns: { id: 'uuid', types: 'uuid[]' },
      // LIMIT keeps the planner from joining: without statistics, it would read all records of the types for a few ids.
      sql: (rows: Sql) => sql`
        SELECT n.id FROM ${rows} CROSS JOIN LATERAL (SELECT o.id FROM objects o WHERE o.id = r.id AND o.state = 'ACTIVE'
          AND (r.types IS NULL OR o.type_id = ANY(r.types)) AND ${visible} LIMIT 1) AS n`,
    };
    objectGuards.set(visible, guard);
  }
  return guard;
}

/** Whether a record in one of these versions of the type has a value under the field's code. */
async function holdsValue(
  ctx: ReadContext,
  typeId: string,
  versions: readonly number[],
  fieldCode: string,
): Promise<boolean> {
  const rows = await ctx.query<{ held: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM objects WHERE type_id = ${typeId}::uuid AND type_version = ANY(${[...versions]}::int[])
      AND jsonb_exists("values", ${fieldCode})) AS held`);
  return rows[0]?.held === true;
}

/**
 * The numbers of records of the type that have a value, or this option, in one pass; archived records count.
 *
 * @param parts the codes of a field, and of an option if only this one counts; `stored` are those in records
 */
async function countHolding(
  ctx: ReadContext,
  typeId: string,
  parts: readonly { codes: readonly string[]; stored: readonly string[] }[],
): Promise<HeldCount[]> {
  const seen = ctx.actor.visible('o', 'read', ctx.now, [typeId]) ?? sql`false`;
  const access = ctx.actor.fieldAccess(typeId);
  const counts = parts.flatMap(({ codes: [code = ''], stored: [field = '', option] }) => {
    const held =
      option === undefined
        ? sql`jsonb_exists(o."values", ${field})`
        : sql`o."values" -> ${field}::text @> to_jsonb(${option}::text)`;
    const readable = access.canRead(code) ? (access.whereReadable('o', code, ctx.now) ?? sql`true`) : sql`false`;
    return [
      sql`count(*) FILTER (WHERE ${held})::int`,
      sql`count(*) FILTER (WHERE ${held} AND ${seen} AND ${readable})::int`,
    ];
  });
  const fields = [...new Set(parts.flatMap(({ stored: [field] }) => field ?? []))];
  const [row] = await ctx.query<{ counts: number[] }>(sql`
    SELECT ARRAY[${join(counts)}] AS counts FROM objects o
    WHERE o.type_id = ${typeId}::uuid AND jsonb_exists_any(o."values", ${fields}::text[])`);
  const found = row?.counts ?? [];
  return parts.map((_, index) => ({ all: found[2 * index] ?? 0, readable: found[2 * index + 1] ?? 0 }));
}

/** The number of records in each workflow state; archived records count. */
async function countInStates(ctx: ReadContext, stateIds: readonly string[]): Promise<HeldCount[]> {
  const seen = ctx.actor.visible('o', 'read', ctx.now) ?? sql`false`;
  const rows = await ctx.query<HeldCount & { id: string }>(sql`
    SELECT o.workflow_state_id AS id, count(*)::int AS "all", count(*) FILTER (WHERE ${seen})::int AS readable
    FROM objects o WHERE o.workflow_state_id = ANY(${[...stateIds]}::uuid[]) GROUP BY 1`);
  const counts = new Map(rows.map(({ id, all, readable }) => [id, { all, readable }]));
  return stateIds.map((id) => counts.get(id) ?? { all: 0, readable: 0 });
}

/**
 * Waits for running writers of records and keeps out others until the transaction ends. Gives up after two seconds: writers that
 * come meanwhile wait behind this lock, and an index build may hold a lock for minutes. A dry run takes no lock: its count need
 * not hold until it takes effect.
 *
 * @throws Fault OVERLOADED, which the unit does not try again by itself: the writers would wait again
 */
async function lockRecords(ctx: WriteContext): Promise<void> {
  if (ctx.isDryRun) return;
  const [before] = await ctx.lock<{ limit: string }>(sql`SELECT current_setting('lock_timeout') AS limit`);
  await ctx.lock(sql`SELECT set_config('lock_timeout', '2s', true)`);
  try {
    await ctx.lock(sql`LOCK TABLE objects IN SHARE MODE`);
  } catch (cause) {
    if (!isLockTimeout(cause)) throw cause;
    throw new Fault('OVERLOADED', 'Records are being changed or indexed. Nothing was changed. Retry later.', [], {
      cause,
      headers: { 'Retry-After': '5' },
    });
  }
  await ctx.lock(sql`SELECT set_config('lock_timeout', ${before?.limit ?? '0'}, true)`);
}

/** What the sections `types` and `workflows` of the configuration ask about stored records. `modules.ts` passes it in. */
export const recordProbe = { holdsValue, countHolding, countInStates, lockRecords };

/** Ids of the records of the types that are not archived, by id. */
export async function listActiveIds(
  ctx: ReadContext,
  typeIds: readonly string[],
  { after, limit }: { after: string | null; limit: number },
): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT o.id FROM objects o
    WHERE o.type_id = ANY(${[...typeIds]}::uuid[]) AND o.state = 'ACTIVE'
      AND (${after}::uuid IS NULL OR o.id > ${after}::uuid)
    ORDER BY o.id LIMIT ${limit}::int`);
  return rows.map(({ id }) => id);
}
