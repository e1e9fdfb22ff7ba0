/** Computes scores of records, and word frequencies among the caller's records. */
import sql, { empty, join } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { RankPlan } from './ranking.ts';
import { termRank } from './store-rerank.ts';
import type { Matched, MemoryQuestion } from './memory-scope.ts';
import { needAny } from './needs.ts';
import type { Rank } from './store-match.ts';
import { holdsTerm } from './store-text-predicate.ts';
import { type AccessFilter, trustedRows } from './store-access-filter.ts';
import type { TermQuery } from './terms.ts';

export interface Scored {
  id: string;
  score: number;
}

/** The rank of a record before length normalisation. Only words that the caller may read on the record count. */
export function rankOf(queries: readonly TermQuery[], plan: RankPlan, accessFilter: AccessFilter): Rank {
  const zones = sql`${[...plan.zones]}::real[]`;
  const sums = queries.map(
    (query, index) => sql`${plan.weights[index] ?? 0}::float8 * ${termRank(zones, query, accessFilter)}`,
  );
  return {
    sql: sums.length === 0 ? sql`0::float8` : sql`(${join(sums, ' + ')})`,
    ranking: { words: queries, weights: plan.weights, zones: plan.zones },
  };
}

/** The score of each record, best first, ties by id. */
export async function score(
  ctx: ReadContext,
  found: readonly Matched[],
  queries: readonly TermQuery[],
  plan: RankPlan & { average: number },
  accessFilter: AccessFilter,
  memory: MemoryQuestion | null,
): Promise<Scored[]> {
  // A single record needs no order.
  if (found.length <= 1) return found.map(({ id }) => ({ id, score: 1 }));
  const known = found.every(({ rank }) => rank !== undefined);
  const ids = found.map(({ id }) => id);
  const rank = rankOf(queries, plan, accessFilter);
  // Each row by its key: with many ids, the planner would read the whole table.
  const rows = known
    ? found
    : ((await memory?.rank(ids, rank.ranking)) ??
      (await ctx.query<Matched>(sql`
        SELECT s.id, ${rank.sql} AS rank, s.size
        FROM unnest(${ids}::uuid[]) AS m (id)
          JOIN LATERAL (SELECT s.id, s.size, s.words FROM search_records s WHERE s.id = m.id OFFSET 0) s ON true
          ${accessFilter.classes.length === 0 ? empty : sql`JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = m.id OFFSET 0) o ON true`}`)));
  const average = plan.average > 0 ? plan.average : averageOf(rows);
  return rows
    .map(({ id, rank = 0, size = 0 }) => {
      return { id, score: Math.floor((1e6 * rank) / (1 - plan.b + (plan.b * size) / average)) / 1e6 };
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1));
}

function averageOf(rows: readonly Matched[]): number {
  return Math.max(1, rows.reduce((sum, { size = 0 }) => sum + size, 0) / rows.length);
}

/** How many of the caller's newest records contain each word, the number of these records, and their average size. */
export async function sampleTerms(
  ctx: ReadContext,
  accessFilter: AccessFilter,
  queries: readonly TermQuery[],
  size: number,
  memory: MemoryQuestion | null,
): Promise<{ records: number; holding: readonly number[]; average: number }> {
  const known = await memory?.sample(
    queries.map((query) => needAny([query])),
    size,
  );
  if (known !== undefined) return known;
  const counts = queries.map((query) => sql`count(*) FILTER (WHERE ${holdsTerm(query, accessFilter)})`);
  const [row] = await ctx.query<{ records: number; holding: number[]; average: number }>(
    sql`SELECT count(*) AS records, ARRAY[${join(counts)}]::float8[] AS holding, coalesce(avg(o.size), 0)::float8 AS average
      FROM (SELECT o.*, s.words, s.size FROM objects o
          JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = o.id OFFSET 0) s ON true
        WHERE o.state = 'ACTIVE' AND ${accessFilter.visible} ${trustedRows(accessFilter)}
        ORDER BY o.updated_at DESC, o.id DESC LIMIT ${size}::int OFFSET 0) o
      CROSS JOIN LATERAL (SELECT o.words) AS s (words)`,
  );
  return row ?? { records: 0, holding: queries.map(() => 0), average: 0 };
}
