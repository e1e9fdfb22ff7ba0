/**
 * The words of a question as SQL on a record `o` and its row `s`, and the same for the index in memory: which records contain them,
 * how these rank, how frequent the words are, and what reranking reads. A word counts only where the caller may read it.
 */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { visibleComments } from '../../comments/index.ts';
import { duplicatesOf } from '../../relations/index.ts';
import type { Operand } from '../indexing/lexemes.ts';
import type { Need } from '../memory/need.ts';
import type { Matched, MemoryQuestion, OccurrencesById } from '../memory/backend.ts';
import type { Ranking } from '../memory/search.ts';
import { type RankPlan, type RerankHit, scoreOf } from '../ranking.ts';
import { type AccessFilter, trustedRows, whereTitlesReadable } from './access.ts';
import {
  type FieldTokens,
  type Numbers,
  type Operands,
  type WordQuery,
  type TermQuery,
  termQuery,
  widest,
} from '../terms.ts';

export interface TextPredicate {
  /** `tsquery` that every match satisfies; empty if nothing can match. */
  query: string;
  /** Additional predicate; null if there is none. */
  exact: Sql | null;
  /** The whole predicate for the index in memory. */
  need: Need;
}

/** The record contains the word in a field that the caller may read on this record. */
export function holdsTerm({ free, classes }: TermQuery, accessFilter: AccessFilter): Sql {
  const parts: Sql[] = free.match === '' ? [] : [sql`s.words @@ ${free.match}::tsquery`];
  for (const [index, { match }] of classes.entries()) {
    const of = accessFilter.classes[index];
    if (of !== undefined && match !== '') parts.push(sql`(${of.holds} AND s.words @@ ${match}::tsquery)`);
  }
  return parts.length === 0 ? sql`false` : sql`(${join(parts, ' OR ')})`;
}

const NOTHING: TextPredicate = { query: '', exact: sql`false`, need: needAny([]) };

/** All of the words. */
export function allOf(queries: readonly TermQuery[], accessFilter: AccessFilter): TextPredicate {
  const parts = queries.map(widest);
  // A word without searchable characters, for example only control characters, matches nothing.
  if (parts.length === 0 || parts.includes('')) return NOTHING;
  const exact = queries.map((query) => holdsTerm(query, accessFilter));
  return {
    query: parts.map((part) => `(${part})`).join(' & '),
    exact: accessFilter.classes.length === 0 ? null : sql`(${join(exact, ' AND ')})`,
    need: needAll(queries),
  };
}

/** Any of several predicates. */
export function oneOf(predicates: readonly TextPredicate[], accessFilter: AccessFilter): TextPredicate {
  const given = predicates.filter(({ query }) => query !== '');
  if (given.length === 0) return NOTHING;
  const exact = given.map(({ query, exact }) => exact ?? sql`s.words @@ ${query}::tsquery`);
  return {
    query: given.map(({ query }) => `(${query})`).join(' | '),
    exact: accessFilter.classes.length === 0 ? null : sql`(${join(exact, ' OR ')})`,
    need: { kind: 'any', needs: given.map(({ need }) => need) },
  };
}

/** Both predicates. */
function bothOf(one: TextPredicate, other: TextPredicate): TextPredicate {
  if (one.query === '' || other.query === '') return NOTHING;
  const exact = one.exact === null || other.exact === null ? null : sql`(${one.exact} AND ${other.exact})`;
  return { query: `(${one.query}) & (${other.query})`, exact, need: { kind: 'all', needs: [one.need, other.need] } };
}

/**
 * Any of several combinations of words. Each is a list of indexes, the rarest word first. Common prefixes of combinations are
 * factored out, because the word index evaluates the whole query for every entry that it reads.
 */
export function combinationOf(
  combinations: readonly (readonly number[])[],
  queries: readonly TermQuery[],
  accessFilter: AccessFilter,
): TextPredicate {
  const rests = new Map<number, (readonly number[])[]>();
  for (const [first, ...rest] of combinations) {
    if (first === undefined) continue;
    const known = rests.get(first);
    if (known === undefined) rests.set(first, [rest]);
    else known.push(rest);
  }
  const predicates = [...rests].map(([index, others]) => {
    const query = queries[index];
    if (query === undefined) return NOTHING;
    const word = allOf([query], accessFilter);
    return others.some((rest) => rest.length === 0) ? word : bothOf(word, combinationOf(others, queries, accessFilter));
  });
  return { ...oneOf(predicates, accessFilter), need: needCombination(combinations, queries) };
}

/** Any of the words. */
export function anyOf(queries: readonly TermQuery[], accessFilter: AccessFilter): TextPredicate {
  return oneOf(
    queries.map((query) => allOf([query], accessFilter)),
    accessFilter,
  );
}

/** Records with these numbers that also match the rest of the question. */
export function numbered(numbers: Numbers, accessFilter: AccessFilter): TextPredicate {
  const need = needNumbers(numbers, accessFilter);
  const number: TextPredicate = {
    query: numbers.query,
    exact: accessFilter.classes.length === 0 ? null : sql`s.words @@ ${numbers.query}::tsquery`,
    need,
  };
  if (numbers.rest.length === 0) return number;
  const rest = allOf(
    numbers.rest.map((term) => termQuery(term, accessFilter)),
    accessFilter,
  );
  if (rest.query === '') return NOTHING;
  return {
    query: `(${number.query}) & (${rest.query})`,
    exact: number.exact === null ? null : sql`(${number.exact} AND ${rest.exact ?? sql`true`})`,
    need,
  };
}

/** Records with exactly these numbers, whatever their other words. */
export function exactlyNumbered({ operands, exact: query }: Numbers): TextPredicate {
  const needs = operands.map(({ lexeme }): Need => {
    return { kind: 'lexemes', operands: [{ lexeme, prefix: false }], within: null };
  });
  return { query, exact: null, need: { kind: 'all', needs } };
}

/** The word in a field that the caller may read on the record. */
function needTerm({ free, classes }: TermQuery): Need {
  const parts = [free, ...classes].map(({ matched }, index): Need => {
    return { kind: 'lexemes', operands: matched, within: index === 0 ? null : index - 1 };
  });
  return { kind: 'any', needs: parts };
}

/** All of the words; nothing if there are none. */
export function needAll(queries: readonly TermQuery[]): Need {
  return queries.length === 0 ? { kind: 'any', needs: [] } : { kind: 'all', needs: queries.map(needTerm) };
}

/** Any of the words. */
export function needAny(queries: readonly TermQuery[]): Need {
  return { kind: 'any', needs: queries.map(needTerm) };
}

/** Any of several combinations of words; each is a list of indexes. */
export function needCombination(combinations: readonly (readonly number[])[], queries: readonly TermQuery[]): Need {
  return combinationOfNeeds(combinations, queries.map(needTerm));
}

/** The same for each list of combinations. */
export function needCombinations(
  lists: readonly (readonly (readonly number[])[])[],
  queries: readonly TermQuery[],
): Need[] {
  const terms = queries.map(needTerm);
  return lists.map((combinations) => combinationOfNeeds(combinations, terms));
}

/** Each word is one object, so that it is searched once for all combinations. */
function combinationOfNeeds(combinations: readonly (readonly number[])[], terms: readonly Need[]): Need {
  return {
    kind: 'any',
    needs: combinations.map((indices) => ({ kind: 'all', needs: indices.flatMap((index) => terms[index] ?? []) })),
  };
}

/** Records with these numbers that also contain the rest of the question. */
function needNumbers(numbers: Numbers, fieldTokens: FieldTokens): Need {
  const number = (operand: Operand): Need => ({ kind: 'lexemes', operands: [operand], within: null });
  const rest = numbers.rest.map((term) => needTerm(termQuery(term, fieldTokens)));
  return { kind: 'all', needs: [...numbers.operands.map(number), ...rest] };
}

/** The rank of a record before length normalisation. */
export interface Rank {
  /** Expression on `s` and `o`. A function, because the index in memory makes it needless in most searches. */
  sql: () => Sql;
  /** The same for the index in memory. */
  ranking: Ranking;
}

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
export function partRank(zones: Sql, words: Sql, { exact, like }: WordQuery): Sql {
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

/** The rank of a record before length normalisation. Only words that the caller may read on the record count. */
export function rankOf(queries: readonly TermQuery[], plan: RankPlan, accessFilter: AccessFilter): Rank {
  const expression = (): Sql => {
    const zones = sql`${[...plan.zones]}::real[]`;
    const sums = queries.map(
      (query, index) => sql`${plan.weights[index] ?? 0}::float8 * ${termRank(zones, query, accessFilter)}`,
    );
    return sums.length === 0 ? sql`0::float8` : sql`(${join(sums, ' + ')})`;
  };
  return { sql: expression, ranking: { words: queries, weights: plan.weights, zones: plan.zones } };
}

/** Maximum number of comments per record; the last ones are used. */
const MAX_COMMENTS = 20;
/** Maximum number of duplicates per record; the last linked ones are used. */
const MAX_DUPLICATES = 10;

/**
 * What reranking reads of the records. The index in memory knows how often they contain the words; their titles, comments and
 * duplicates are always read.
 */
export async function loadForRerank(
  ctx: ReadContext,
  accessFilter: AccessFilter,
  ids: readonly string[],
  queries: readonly TermQuery[],
  comments: boolean,
  memory: MemoryQuestion | null,
  /** How often the records contain the words, if the index in memory has said so. */
  counts?: OccurrencesById,
): Promise<(RerankHit & { id: string })[]> {
  if (queries.length === 0) return [];
  const titled = whereTitlesReadable(ctx, accessFilter.typeIds);
  const duplicates = duplicateTitles(ctx, accessFilter, titled);
  const texts = sql`CASE WHEN ${titled} THEN o.title END AS title,
    ${duplicates === null ? sql`'{}'::text[]` : sql`ARRAY(${duplicates})`} AS "duplicateTitles",
    ${comments ? sql`c.tf` : sql`'{}'::float8[]`} AS "commentTf"`;
  const best = comments ? bestComments(ctx, queries) : empty;
  if (memory !== null) {
    const [known, rows] = await Promise.all([
      counts ?? memory.occurrences(ids, queries),
      ctx.query<Pick<RerankHit, 'title' | 'duplicateTitles' | 'commentTf'> & { id: string }>(
        sql`SELECT s.id, ${texts} FROM unnest(${[...ids]}::uuid[]) AS s (id) JOIN objects o ON o.id = s.id ${best}`,
      ),
    ]);
    if (known !== undefined) {
      return rows.flatMap((row) => {
        const counted = known.get(row.id);
        return counted === undefined ? [] : [{ ...row, ...counted }];
      });
    }
  }
  const list = (zones: Sql): Sql =>
    sql`ARRAY[${join(queries.map((query) => termRank(zones, query, accessFilter)))}]::float8[]`;
  return await ctx.query<RerankHit & { id: string }>(sql`
    SELECT s.id, s.size, ${list(TITLE)} AS "titleTf", ${list(REST)} AS "restTf", ${texts}
    FROM search_records s JOIN objects o ON o.id = s.id ${best} WHERE s.id = ANY(${[...ids]}::uuid[])`);
}

/** The titles of the duplicates of `s` that the caller may read, last linked first; null if no relation means duplicates. */
function duplicateTitles(ctx: ReadContext, { visible }: AccessFilter, titled: Sql): Sql | null {
  const links = duplicatesOf(ctx, sql`s.id`);
  return links === null
    ? null
    : sql`SELECT o.title FROM (${links}) AS l JOIN objects o ON o.id = l.source_id
        WHERE o.state = 'ACTIVE' AND ${visible} AND ${titled} ORDER BY l.created_at DESC, l.id LIMIT ${MAX_DUPLICATES}::int`;
}

/** For each word, the best rank in the last comments of `o` that the caller may read; an empty list if there are none. */
function bestComments(ctx: ReadContext, queries: readonly TermQuery[]): Sql {
  const best = queries.map(({ free }) => (free.match === '' ? sql`0` : sql`max(${partRank(ANY, sql`k.words`, free)})`));
  return sql`CROSS JOIN LATERAL (
      SELECT CASE WHEN count(*) = 0 THEN '{}' ELSE ARRAY[${join(best)}]::float8[] END AS tf
      FROM (SELECT words FROM search_comments s WHERE s.object_id = o.id AND ${visibleComments(ctx, 's', 'o')}
        ORDER BY s.updated_at DESC LIMIT ${MAX_COMMENTS}::int) AS k
    ) AS c`;
}

export interface Scored {
  id: string;
  score: number;
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
        SELECT s.id, ${rank.sql()} AS rank, s.size
        FROM unnest(${ids}::uuid[]) AS m (id)
          JOIN LATERAL (SELECT s.id, s.size, s.words FROM search_records s WHERE s.id = m.id OFFSET 0) s ON true
          ${accessFilter.classes.length === 0 ? empty : sql`JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = m.id OFFSET 0) o ON true`}`)));
  const average = plan.average > 0 ? plan.average : averageOf(rows);
  return rows
    .map(({ id, rank = 0, size = 0 }) => {
      return { id, score: scoreOf(rank, size, average, plan.b) };
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
