/** What reranking reads of records: their titles, titles of duplicates, and the best words of their comments. */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { visibleComments } from '../../comments/index.ts';
import { duplicatesOf } from '../../relations/index.ts';
import type { Access, Word } from '../query.ts';
import type { RerankHit } from '../ranking.ts';
import { whereTitlesReadable } from './rules.ts';
import { readingRank } from './words.ts';

/** Maximum number of comments per record; the last ones are used. */
const MAX_COMMENTS = 20;
/** Maximum number of duplicates per record; the last linked ones are used. */
const MAX_DUPLICATES = 10;

const ANY_ZONE = sql`'{1,1,1,1}'::real[]`;

export type RerankTexts = Pick<RerankHit, 'title' | 'duplicateTitles' | 'commentTf'> & { id: string };

/** @param counts further columns, on the record `o` and its row `s`; null if only the record is read */
export async function readRerankTexts<Row extends RerankTexts>(
  ctx: ReadContext,
  access: Access,
  ids: readonly string[],
  words: readonly Word[],
  comments: boolean,
  counts: Sql | null,
): Promise<Row[]> {
  const titled = whereTitlesReadable(ctx, access.typeIds);
  const duplicates = duplicateTitles(ctx, access, titled);
  const rows =
    counts === null
      ? sql`unnest(${[...ids]}::uuid[]) AS s (id) JOIN objects o ON o.id = s.id`
      : sql`search_records s JOIN objects o ON o.id = s.id`;
  return await ctx.query<Row>(sql`
    SELECT s.id, ${counts === null ? empty : sql`${counts},`} CASE WHEN ${titled} THEN o.title END AS title,
      ${duplicates === null ? sql`'{}'::text[]` : sql`ARRAY(${duplicates})`} AS "duplicateTitles",
      ${comments ? sql`c.tf` : sql`'{}'::float8[]`} AS "commentTf"
    FROM ${rows} ${comments ? bestComments(ctx, words) : empty}
    ${counts === null ? empty : sql`WHERE s.id = ANY(${[...ids]}::uuid[])`}`);
}

/** The titles of the duplicates of `s` that the caller may read, last linked first; null if no relation means duplicates. */
function duplicateTitles(ctx: ReadContext, { typeIds }: Access, titled: Sql): Sql | null {
  const links = duplicatesOf(ctx, sql`s.id`);
  const visible = ctx.actor.visible('o', 'read', ctx.now, typeIds) ?? sql`false`;
  return links === null
    ? null
    : sql`SELECT o.title FROM (${links}) AS l JOIN objects o ON o.id = l.source_id
        WHERE o.state = 'ACTIVE' AND ${visible} AND ${titled} ORDER BY l.created_at DESC, l.id LIMIT ${MAX_DUPLICATES}::int`;
}

/** For each word, the best rank in the last comments of `o` that the caller may read; an empty list if there are none. */
function bestComments(ctx: ReadContext, words: readonly Word[]): Sql {
  const best = words.map(({ free }) =>
    free.matched.length === 0 ? sql`0` : sql`max(${readingRank(ANY_ZONE, sql`k.words`, free)})`,
  );
  return sql`CROSS JOIN LATERAL (
      SELECT CASE WHEN count(*) = 0 THEN '{}' ELSE ARRAY[${join(best)}]::float8[] END AS tf
      FROM (SELECT words FROM search_comments s WHERE s.object_id = o.id AND ${visibleComments(ctx, 's', 'o')}
        ORDER BY s.updated_at DESC LIMIT ${MAX_COMMENTS}::int) AS k
    ) AS c`;
}
