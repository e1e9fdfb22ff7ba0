/** Scores of records, data for reranking the best ones, word frequencies among the caller's records, and similar words. */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { visibleComments } from '../comments/index.ts';
import { duplicatesOf } from '../relations/index.ts';
import type { RerankHit, RankPlan } from './ranking.ts';
import { whereTitlesReadable, type AccessFilter, trustedRows } from './store-access-filter.ts';
import { isWithinOneEdit, mayHoldTypo, needAny, type Operands, type Part, type Term, type TermQuery } from './terms.ts';
import type { Matched, MemoryQuestion } from './memory/scope.ts';
import { type Rank, holdsTerm } from './store-match.ts';

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

/** Maximum number of pending rows that are searched. */
const MOST_PENDING = 2000;

/**
 * Words under the field tokens that start with the first half or end with the second half of `word` and differ in length by at
 * most 1. Every word at edit distance 1 is among them. There is no LIMIT: the words of one field token must not depend on those
 * of others that the caller may not read.
 */
async function likeWords(ctx: ReadContext, word: string, fieldTokens: readonly string[]): Promise<string[]> {
  const letters = [...word];
  const half = Math.floor(letters.length / 2);
  const head = letters.slice(0, half).join('');
  const tail = letters
    .slice(half + 1)
    .reverse()
    .join('');
  const near = sql`length(w.word) BETWEEN ${letters.length - 1}::int AND ${letters.length + 1}::int`;
  const above = (text: string): string => `${text}\u{10ffff}`;
  const parts = fieldTokens.flatMap((fieldToken) => [
    sql`SELECT w.word FROM search_words w WHERE w.field_token = ${fieldToken} AND w.word >= ${head} AND w.word < ${above(head)} AND ${near}`,
    sql`SELECT w.word FROM search_words w WHERE w.field_token = ${fieldToken} AND reverse(w.word) COLLATE "C" >= ${tail}
      AND reverse(w.word) COLLATE "C" < ${above(tail)} AND ${near}`,
  ]);
  parts.push(sql`SELECT w.word FROM (
      SELECT split_part(u.lexeme, chr(1), 2) AS code, CASE WHEN starts_with(u.lexeme, chr(1)) THEN split_part(u.lexeme, chr(1), 3) ELSE u.lexeme END AS word
      FROM (SELECT id FROM search_pending_words LIMIT ${MOST_PENDING}::int) AS n
      CROSS JOIN LATERAL (SELECT words FROM search_records r WHERE r.id = n.id UNION ALL SELECT words FROM search_comments c WHERE c.id = n.id
        UNION ALL SELECT words FROM search_articles a WHERE a.id = n.id) AS row (words)
      CROSS JOIN LATERAL unnest(row.words) AS u
    ) AS w WHERE ${near} AND (starts_with(w.word, ${head}) OR right(w.word, ${Math.max(letters.length - half - 1, 1)}::int) = ${letters.slice(half + 1).join('')})
      AND CASE WHEN w.code = '' THEN '' ELSE chr(1) || w.code || chr(1) END = ANY(${[...fieldTokens]}::text[])`);
  const rows = await ctx.query<{ word: string }>(
    sql`SELECT DISTINCT word FROM (${join(parts, ' UNION ALL ')}) AS w ORDER BY word`,
  );
  return rows.map(({ word: found }) => found);
}

/** The words, each with the known words at edit distance 1. */
export async function withTypos(
  ctx: ReadContext,
  { free, classes }: AccessFilter,
  terms: readonly Term[],
): Promise<Term[]> {
  const fieldTokens = [...free, ...classes.flatMap((of) => of.fieldTokens)];
  const typed: Term[] = [];
  for (const term of terms) {
    const near = new Set<string>();
    for (const word of new Set(mayHoldTypo(term.raw) ? [term.raw, ...term.lexemes].filter(mayHoldTypo) : [])) {
      for (const found of await likeWords(ctx, word, fieldTokens)) if (isWithinOneEdit(found, word)) near.add(found);
    }
    typed.push({ ...term, near: [...near].filter((word) => !term.lexemes.includes(word)).sort() });
  }
  return typed;
}
