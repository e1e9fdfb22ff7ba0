/** Reads the data for reranking the best hits. */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { visibleComments } from '../comments/index.ts';
import type { RerankHit } from './ranking.ts';
import { whereTitlesReadable, type AccessFilter } from './store-access-filter.ts';
import type { Part, TermQuery } from './terms.ts';

/** Maximum number of comments per record; the last ones are used. */
const MOST_COMMENTS = 20;

const TITLE = sql`'{0,0,0,1}'::real[]`;
const REST = sql`'{1,1,1,0}'::real[]`;
const ANY = sql`'{1,1,1,1}'::real[]`;

/** `ts_rank` divides by the number of operands; this multiplies by it. */
function ranked(zones: Sql, words: Sql, { text, operands }: Part): Sql {
  return sql`${operands}::float8 * ts_rank(${zones}, ${words}, ${text}::tsquery)`;
}

/** The rank of the word where the caller may read it on the record. */
export function termRank(zones: Sql, { free, classes }: TermQuery, accessFilter: AccessFilter): Sql {
  const words = sql`s.words`;
  const parts = free.text === '' ? [] : [ranked(zones, words, free)];
  for (const [index, part] of classes.entries()) {
    const of = accessFilter.classes[index];
    if (of === undefined || part.text === '') continue;
    parts.push(sql`CASE WHEN ${of.holds} THEN ${ranked(zones, words, part)} ELSE 0 END`);
  }
  return parts.length === 0 ? sql`0` : sql`(${join(parts, ' + ')})`;
}

export async function loadForRerank(
  ctx: ReadContext,
  accessFilter: AccessFilter,
  ids: readonly string[],
  queries: readonly TermQuery[],
  comments: boolean,
): Promise<(RerankHit & { id: string })[]> {
  if (queries.length === 0) return [];
  const list = (zones: Sql): Sql =>
    sql`ARRAY[${join(queries.map((query) => termRank(zones, query, accessFilter)))}]::float8[]`;
  return await ctx.query<RerankHit & { id: string }>(sql`
    SELECT s.id, s.size, CASE WHEN ${whereTitlesReadable(ctx, accessFilter.typeIds)} THEN o.title END AS title,
      ${list(TITLE)} AS "titleTf", ${list(REST)} AS "restTf",
      ${comments ? sql`coalesce(c.tf, '{}')` : sql`'{}'::float8[]`} AS "commentTf"
    FROM search_records s JOIN objects o ON o.id = s.id
    ${comments ? bestComments(ctx, queries) : empty}
    WHERE s.id = ANY(${[...ids]}::uuid[])`);
}

/** For each word, the best rank in the record's last comments that the caller may read. */
function bestComments(ctx: ReadContext, queries: readonly TermQuery[]): Sql {
  const best = queries.map(({ free }) => (free.text === '' ? sql`0` : sql`max(${ranked(ANY, sql`k.words`, free)})`));
  return sql`LEFT JOIN LATERAL (
      SELECT ARRAY[${join(best)}]::float8[] AS tf
      FROM (SELECT words FROM search_comments s WHERE s.object_id = o.id AND ${visibleComments(ctx, 's', 'o')}
        ORDER BY s.updated_at DESC LIMIT ${MOST_COMMENTS}::int) AS k
    ) AS c ON true`;
}
