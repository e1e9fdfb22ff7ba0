/** How well records meet the words, and how common words are among the caller's records. */
import sql, { empty, join } from 'sql-template-tag';
import type { ReadContext } from '../../mechanisms/context.ts';
import type { RankPlan } from './ranking.ts';
import { termRank } from './store-look.ts';
import { holdsTerm } from './store-need.ts';
import { type Reach, trustedRows } from './store-reach.ts';
import type { TermQuery } from './terms.ts';

export interface Scored {
  id: string;
  score: number;
}

/** The score of each record, best first, ties by id. Only words that the caller may read on the record count. */
export async function score(
  ctx: ReadContext,
  ids: readonly string[],
  queries: readonly TermQuery[],
  plan: RankPlan & { average: number },
  reach: Reach,
  most: number,
): Promise<Scored[]> {
  if (ids.length === 0) return [];
  // One needs no order.
  if (ids.length === 1) return ids.map((id) => ({ id, score: 1 }));
  const zones = sql`${[...plan.zones]}::real[]`;
  const sums = queries.map(
    (query, index) => sql`${plan.weights[index] ?? 0}::float8 * ${termRank(zones, query, reach)}`,
  );
  const sum = sums.length === 0 ? sql`0` : join(sums, ' + ');
  const average = plan.average > 0 ? sql`${plan.average}::float8` : sql`greatest(1, avg(s.size) OVER ())`;
  return await ctx.query<Scored>(sql`
    SELECT id, score FROM (
      SELECT s.id, floor(1e6 * (${sum}) / (1 - ${plan.b}::float8 + ${plan.b}::float8 * s.size / ${average})) / 1e6 AS score
      FROM search_records s ${reach.classes.length === 0 ? empty : sql`JOIN objects o ON o.id = s.id`}
      WHERE s.id = ANY(${[...ids]}::uuid[])
    ) AS scored ORDER BY score DESC, id DESC LIMIT ${most}::int`);
}

/** How many of the caller's newest records hold each word, of how many, and how long these are: what is common where they look. */
export async function sampleTerms(
  ctx: ReadContext,
  reach: Reach,
  queries: readonly TermQuery[],
  size: number,
): Promise<{ records: number; holding: number[]; average: number }> {
  const counts = queries.map((query) => sql`count(*) FILTER (WHERE ${holdsTerm(query, reach)})`);
  const [row] = await ctx.query<{ records: number; holding: number[]; average: number }>(
    sql`SELECT count(*) AS records, ARRAY[${join(counts)}]::float8[] AS holding, coalesce(avg(o.size), 0)::float8 AS average
      FROM (SELECT o.*, s.words, s.size FROM objects o
          JOIN LATERAL (SELECT s.id, s.form, s.size, s.words FROM search_records s WHERE s.id = o.id OFFSET 0) s ON true
        WHERE o.state = 'ACTIVE' AND ${reach.visible} ${trustedRows(reach)}
        ORDER BY o.updated_at DESC, o.id DESC LIMIT ${size}::int OFFSET 0) o
      CROSS JOIN LATERAL (SELECT o.words) AS s (words)`,
  );
  return row ?? { records: 0, holding: queries.map(() => 0), average: 0 };
}
