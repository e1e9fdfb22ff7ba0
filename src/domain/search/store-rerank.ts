/** Reads the data for reranking the best hits. */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { visibleComments } from '../comments/index.ts';
import { duplicatesOf } from '../relations/index.ts';
import type { RerankHit } from './ranking.ts';
import { whereTitlesReadable, type AccessFilter } from './store-access-filter.ts';
import type { Operands, Part, TermQuery } from './terms.ts';

/** Maximum number of comments per record; the last ones are used. */
const MOST_COMMENTS = 20;
/** Maximum number of duplicates per record; the last linked ones are used. */
const MOST_DUPLICATES = 10;

const TITLE = sql`'{0,0,0,1}'::real[]`;
const REST = sql`'{1,1,1,0}'::real[]`;
const ANY = sql`'{1,1,1,1}'::real[]`;

/** The `ts_rank` of one occurrence with weight 1. */
const ONCE = 6 / Math.PI ** 2;

/** `ts_rank` divides by the number of operands; this multiplies by it. */
function ranked(zones: Sql, words: Sql, { text, count }: Operands): Sql {
  return sql`${count}::float8 * ts_rank(${zones}, ${words}, ${text}::tsquery)`;
}

/**
 * The rank of a word in `words`. `ts_rank` adds up over all words with a prefix, so a prefix of many words would outweigh the word
 * itself; together they count as one occurrence.
 */
export function partRank(zones: Sql, words: Sql, { exact, like }: Part): Sql {
  const alike = sql`least(${ONCE}::float8, ${ranked(zones, words, like)})`;
  if (exact.text === '') return like.text === '' ? sql`0` : alike;
  const itself = ranked(zones, words, exact);
  return like.text === '' ? itself : sql`greatest(${itself}, ${alike})`;
}

/** The rank of the word where the caller may read it on the record. */
export function termRank(zones: Sql, { free, classes }: TermQuery, accessFilter: AccessFilter): Sql {
  const words = sql`s.words`;
  const parts = free.match === '' ? [] : [partRank(zones, words, free)];
  for (const [index, part] of classes.entries()) {
    const of = accessFilter.classes[index];
    if (of === undefined || part.match === '') continue;
    parts.push(sql`CASE WHEN ${of.holds} THEN ${partRank(zones, words, part)} ELSE 0 END`);
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
  const titled = whereTitlesReadable(ctx, accessFilter.typeIds);
  const duplicates = duplicateTitles(ctx, accessFilter, titled);
  const list = (zones: Sql): Sql =>
    sql`ARRAY[${join(queries.map((query) => termRank(zones, query, accessFilter)))}]::float8[]`;
  return await ctx.query<RerankHit & { id: string }>(sql`
    SELECT s.id, s.size, CASE WHEN ${titled} THEN o.title END AS title,
      ${duplicates === null ? sql`'{}'::text[]` : sql`ARRAY(${duplicates})`} AS "duplicateTitles",
      ${list(TITLE)} AS "titleTf", ${list(REST)} AS "restTf",
      ${comments ? sql`coalesce(c.tf, '{}')` : sql`'{}'::float8[]`} AS "commentTf"
    FROM search_records s JOIN objects o ON o.id = s.id
    ${comments ? bestComments(ctx, queries) : empty}
    WHERE s.id = ANY(${[...ids]}::uuid[])`);
}

/** The titles of the duplicates of `s` that the caller may read, last linked first; null if no relation means duplicates. */
function duplicateTitles(ctx: ReadContext, { visible }: AccessFilter, titled: Sql): Sql | null {
  const links = duplicatesOf(ctx, sql`s.id`);
  return links === null
    ? null
    : sql`SELECT o.title FROM (${links}) AS l JOIN objects o ON o.id = l.source_id
        WHERE o.state = 'ACTIVE' AND ${visible} AND ${titled} ORDER BY l.created_at DESC, l.id LIMIT ${MOST_DUPLICATES}::int`;
}

/** For each word, the best rank in the record's last comments that the caller may read. */
function bestComments(ctx: ReadContext, queries: readonly TermQuery[]): Sql {
  const best = queries.map(({ free }) => (free.match === '' ? sql`0` : sql`max(${partRank(ANY, sql`k.words`, free)})`));
  return sql`LEFT JOIN LATERAL (
      SELECT ARRAY[${join(best)}]::float8[] AS tf
      FROM (SELECT words FROM search_comments s WHERE s.object_id = o.id AND ${visibleComments(ctx, 's', 'o')}
        ORDER BY s.updated_at DESC LIMIT ${MOST_COMMENTS}::int) AS k
    ) AS c ON true`;
}
