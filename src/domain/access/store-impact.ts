/** Counts of records whose access changes, in one statement for the rights before and after, so that both see the same data. */
import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { ImpactExample } from '../../configuration/impact.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { userQuery, type UserRow } from './store.ts';

/** The active users in the order of their ids, with all that rights depend on. @param after the last id of the page before */
export async function loadActiveUsers(
  ctx: Pick<ReadContext, 'query'>,
  after: string | null,
  limit: number,
): Promise<UserRow[]> {
  return await ctx.query<UserRow>(sql`
    SELECT x.* FROM (SELECT id FROM users WHERE state = 'ACTIVE' AND (${after}::uuid IS NULL OR id > ${after}::uuid)
      ORDER BY id LIMIT ${limit}::int) p, LATERAL (${userQuery(sql`p.id`)}) x ORDER BY x.id`);
}

/** The predicates of the actions `read` and `update` on records of one type under `o`, for one user or role; null matches none. */
export interface AccessPair {
  readBefore: Sql | null;
  readAfter: Sql | null;
  writeBefore: Sql | null;
  writeAfter: Sql | null;
}

export interface Counted {
  gained: number;
  lost: number;
  writable: { gained: number; lost: number };
}

/** Types with more records are sampled. */
const MOST_EXACT = 100_000;
const SAMPLE = 20_000;
/** A count of a sample of m records deviates from the share of all by more than this / sqrt(m) in 5 % of the cases (Hoeffding). */
const BOUND_95 = 1.36;
/** Pairs in one statement: each adds four predicates with their parameters. */
const BATCH = 10;

const isTrue = (condition: Sql | null): Sql => (condition === null ? sql`false` : sql`coalesce(${condition}, false)`);
const from = (was: Sql | null, is: Sql | null): Sql => sql`(NOT ${isTrue(was)} AND ${isTrue(is)})`;

/** A record can be changed only by those who can also read it. */
const writes = (read: Sql | null, update: Sql | null): Sql => sql`(${isTrue(read)} AND ${isTrue(update)})`;
const couldWrite = ({ readBefore, writeBefore }: AccessPair): Sql => writes(readBefore, writeBefore);
const canWrite = ({ readAfter, writeAfter }: AccessPair): Sql => writes(readAfter, writeAfter);

/** The predicate that the record becomes readable or writable, or stops being so. */
export function changesAccess(pair: AccessPair): Sql {
  const { readBefore, readAfter } = pair;
  return sql`(${isTrue(readBefore)} <> ${isTrue(readAfter)} OR ${couldWrite(pair)} <> ${canWrite(pair)})`;
}

/** How records of a type are read: all, or a sample with the factor by which counts grow. */
export interface Population {
  typeId: string;
  table: Sql;
  factor: number;
  /** Zero if exact. */
  errorBound: number;
  /** Selects the counted records: those of the type that `limit` allows to be counted. */
  where: Sql;
}

export async function populationOf(
  ctx: ReadContext,
  typeId: string,
  limit: Sql | null | undefined,
): Promise<Population> {
  const scope = limit === undefined ? sql`true` : isTrue(limit);
  const where = sql`o.type_id = ${typeId}::uuid AND ${scope}`;
  const [row] = await ctx.query<{ total: number; rows: number }>(sql`
    SELECT (SELECT count(*)::int FROM (SELECT FROM objects WHERE type_id = ${typeId}::uuid LIMIT ${MOST_EXACT + 1}::int) x) AS total,
      (SELECT greatest(reltuples, 1)::int FROM pg_class WHERE oid = 'objects'::regclass) AS rows`);
  if ((row?.total ?? 0) <= MOST_EXACT) return { typeId, table: sql`objects o`, factor: 1, errorBound: 0, where };
  const [all] = await ctx.query<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM objects WHERE type_id = ${typeId}::uuid`,
  );
  const n = all?.n ?? 0;
  const share = Math.min(1, SAMPLE / n);
  const table = sql`objects o TABLESAMPLE BERNOULLI (${share * 100}::real) REPEATABLE (1)`;
  const [sampled] = await ctx.query<{ m: number }>(
    sql`SELECT count(*)::int AS m FROM ${table} WHERE o.type_id = ${typeId}::uuid`,
  );
  const m = Math.max(1, sampled?.m ?? 1);
  return { typeId, table, factor: n / m, errorBound: Math.ceil((n * BOUND_95) / Math.sqrt(m)), where };
}

/** Counts of each pair, in order. Several pairs of a role are one: a record counts if it changes for any of them. */
export async function countAccess(
  ctx: ReadContext,
  population: Population,
  pairs: readonly (readonly AccessPair[])[],
): Promise<Counted[]> {
  const counted: Counted[] = [];
  for (let start = 0; start < pairs.length; start += BATCH) {
    const batch = pairs.slice(start, start + BATCH);
    const columns = batch.flatMap((group, index) => {
      const any = (pick: (pair: AccessPair) => Sql): Sql => join(group.map(pick), ' OR ');
      const column = (name: string, pick: (pair: AccessPair) => Sql): Sql =>
        sql`count(*) FILTER (WHERE ${any(pick)})::int AS ${raw(`${name}${index}`)}`;
      return [
        column('gained', (pair) => from(pair.readBefore, pair.readAfter)),
        column('lost', (pair) => from(pair.readAfter, pair.readBefore)),
        column('write_gained', (pair) => from(couldWrite(pair), canWrite(pair))),
        column('write_lost', (pair) => from(canWrite(pair), couldWrite(pair))),
      ];
    });
    const [row = {}] = await ctx.query<Record<string, number>>(
      sql`SELECT ${join(columns)} FROM ${population.table} WHERE ${population.where}`,
    );
    const of = (name: string, index: number): number => Math.round((row[`${name}${index}`] ?? 0) * population.factor);
    for (const index of batch.keys()) {
      counted.push({
        gained: of('gained', index),
        lost: of('lost', index),
        writable: { gained: of('write_gained', index), lost: of('write_lost', index) },
      });
    }
  }
  return counted;
}

/** Up to ten records whose access changes and that `visible` admits. */
export async function accessExamples(
  ctx: ReadContext,
  { table, where }: Population,
  pairs: readonly AccessPair[],
  visible: Sql | null,
): Promise<ImpactExample[]> {
  if (visible === null) return [];
  return await ctx.query<ImpactExample>(sql`
    SELECT o.id, o.number FROM ${table} WHERE ${where} AND ${visible}
      AND (${join(pairs.map(changesAccess), ' OR ')}) LIMIT 10`);
}
