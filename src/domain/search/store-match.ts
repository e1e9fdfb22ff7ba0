/**
 * The text predicate of a question (a `tsquery`, SQL if it depends on the record, and the same for the index in memory), and the
 * statement that finds the matching records. Nothing unbounded is ranked or counted. Rights are part of the statement, before every
 * LIMIT.
 */
import type { Operand } from './lexemes.ts';
import type { Need } from './memory/need.ts';
import { type Labels, type Numbers, type TermQuery, termQuery, widest } from './terms.ts';
import sql, { empty, join, type Sql } from 'sql-template-tag';
import { type SearchStatistics, shareOf } from './store-statistics.ts';
import { type AccessFilter, trustedRows } from './store-access-filter.ts';
import type { ItemState } from '../../contract/state.ts';
import { whereState } from '../objects/index.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Ranking } from './memory/search.ts';
import type { Matched, MemoryQuestion } from './memory/scope.ts';

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
  // Each word is one object, so that it is searched once for all combinations.
  const terms = queries.map(needTerm);
  return {
    kind: 'any',
    needs: combinations.map((indices) => ({ kind: 'all', needs: indices.flatMap((index) => terms[index] ?? []) })),
  };
}

/** Records with these numbers that also contain the rest of the question. */
export function needNumbers(numbers: Numbers, fieldTokens: Labels): Need {
  const number = (operand: Operand): Need => ({ kind: 'lexemes', operands: [operand], within: null });
  const rest = numbers.rest.map((term) => needTerm(termQuery(term, fieldTokens)));
  return { kind: 'all', needs: [...numbers.operands.map(number), ...rest] };
}

/** Records with exactly these numbers. */
export function needExactNumbers({ operands }: Numbers): Need {
  const exact = operands.map(({ lexeme }): Need => {
    return { kind: 'lexemes', operands: [{ lexeme, prefix: false }], within: null };
  });
  return { kind: 'all', needs: exact };
}

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

/** How many times more records are read in order than should contain the wanted matches. Reading ends when there are enough. */
const SPARE = 2;
/** Up to this number of matches per wanted one, reading all of them is cheaper than sorting them first. */
const AT_ONCE = 4;
/** Up to this number of records, reading all that rights and filter admit costs hardly anything. */
const FEW = 1000;
/** Beyond it, a record that rights and filter admit is worth reading if it saves this many others. */
const SAVED = 4;

export type Order = 'updated_at' | 'created_at';

/** The conditions on the records. */
export interface Match {
  accessFilter: AccessFilter;
  state: ItemState;
  /** Null for all workflow states. */
  workflowStateIds: readonly string[] | null;
  /** Additional predicate on `o`. */
  filter: Sql | null;
  /** Null for a match without words. */
  words: Words | null;
  order: Order;
  /** Whether indexes find what rights and filter admit. */
  indexed: boolean;
  statistics: Pick<SearchStatistics, 'frequencies' | 'admitted'>;
  /** The index in memory; null if only statements can answer. */
  memory: MemoryQuestion | null;
}

export interface Words {
  /** `tsquery` that every match satisfies. */
  query: string;
  /** Predicate on `s` and `o` in addition to `query`; null if there is none. */
  exact: Sql | null;
  /** The whole predicate for the index in memory. */
  need: Need;
  /** Null without ranking. */
  rank: Rank | null;
}

/** The rank of a record before length normalisation. */
export interface Rank {
  /** Expression on `s` and `o`. */
  sql: Sql;
  /** The same for the index in memory. */
  ranking: Ranking;
}

interface Page {
  limit: number;
  offset: number;
  /** Ids to leave out. */
  except: readonly string[];
}

function inState({ state }: Match): Sql {
  return whereState(state);
}

/** Predicate on `o` for the records that the caller may read and the filter permits. */
function isVisible(match: Match): Sql {
  const parts = [inState(match), match.accessFilter.visible];
  if (match.workflowStateIds !== null) {
    parts.push(sql`o.workflow_state_id = ANY(${[...match.workflowStateIds]}::uuid[])`);
  }
  if (match.filter !== null) parts.push(match.filter);
  return join(parts, ' AND ');
}

function ordered(match: Match): Sql {
  return match.order === 'updated_at'
    ? sql`ORDER BY o.updated_at DESC, o.id DESC`
    : sql`ORDER BY o.created_at DESC, o.id DESC`;
}

function paged(match: Match, { limit, offset, except }: Page): Sql {
  const unlisted = except.length === 0 ? empty : sql`AND o.id <> ALL(${[...except]}::uuid[])`;
  return sql`${unlisted} ${ordered(match)} LIMIT ${limit}::int OFFSET ${offset}::int`;
}

/** Without words; the planner of PostgreSQL chooses the plan. */
function withoutWords(match: Match, page: Page): Sql {
  return sql`SELECT o.id FROM objects o WHERE ${isVisible(match)} ${paged(match, page)}`;
}

/** The words of a record `m`, and the record of a row. By key, because the planner cannot estimate the number of records. */
const ITS_WORDS = sql`JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = m.id OFFSET 0) s ON true`;
const ITSELF = sql`JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = s.id OFFSET 0) o ON true`;

/** The parts that all statements with words share. */
function partsOf(
  match: Match,
  words: Words,
  { except }: Page,
): Record<'at' | 'holds' | 'rights' | 'rank' | 'columns', Sql> {
  const unlisted = except.length === 0 ? empty : sql`AND s.id <> ALL(${[...except]}::uuid[])`;
  return {
    at: match.order === 'updated_at' ? sql`o.updated_at` : sql`o.created_at`,
    holds: sql`s.words @@ ${words.query}::tsquery ${unlisted}`,
    rights: sql`${isVisible(match)} ${trustedRows(match.accessFilter)} ${words.exact === null ? empty : sql`AND ${words.exact}`}`,
    // The words of a match are already read, and reading them again would cost more than ranking.
    rank: words.rank === null ? empty : sql`, ${words.rank.sql} AS rank, s.size`,
    columns: words.rank === null ? sql`m.id` : sql`m.id, m.rank, m.size`,
  };
}

/** Reads all matches among the rows, then sorts them. */
function allAmong(match: Match, words: Words, page: Page, rows: Sql): Sql {
  const { at, holds, rights, rank, columns } = partsOf(match, words, page);
  return sql`SELECT ${columns} FROM (
      SELECT s.id ${rank}, ${at} AS at FROM (SELECT s.* FROM ${rows} WHERE ${holds} OFFSET 0) s ${ITSELF} WHERE ${rights} OFFSET 0
    ) AS m ORDER BY m.at DESC, m.id DESC LIMIT ${page.limit}::int OFFSET ${page.offset}::int`;
}

/**
 * Reads the `depth` last updated records until there are enough matches. If that does not give the page, all records with the words
 * are sorted by an index only (`objects_order`), and checked in this order until there are enough.
 */
function inOrder(match: Match, words: Words, page: Page, depth: number): Sql {
  const { at, holds, rights, rank, columns } = partsOf(match, words, page);
  const wanted = sql`${page.limit + page.offset}::int`;
  const last = sql`ORDER BY m.at DESC, m.id DESC`;
  // Without rank and rights on words, the words of the matches are not read again.
  const row =
    words.rank === null && words.exact === null ? sql`CROSS JOIN LATERAL (SELECT m.id, m.profile_id) s` : ITS_WORDS;
  const byWords = (most: Sql): Sql => sql`SELECT m.id, m.at ${rank}
    FROM (SELECT s.id, s.profile_id, o.at
        FROM (SELECT s.id, s.profile_id FROM search_records s WHERE ${holds} OFFSET 0) s
          JOIN LATERAL (SELECT ${at} AS at FROM objects o WHERE o.id = s.id AND ${inState(match)} OFFSET 0) o ON true
        ORDER BY o.at DESC, s.id DESC OFFSET 0) m
      ${row} ${ITSELF} WHERE ${rights} ${last} LIMIT ${most}`;
  const paging = sql`${page.limit}::int OFFSET ${page.offset}::int`;
  if (depth === 0) return sql`SELECT ${columns} FROM (${byWords(paging)}) AS m ${last}`;
  return sql`WITH walked AS MATERIALIZED (
      SELECT m.id, m.at ${rank}
      FROM (SELECT o.id, ${at} AS at FROM objects o WHERE ${inState(match)} ${ordered(match)} LIMIT ${depth}::bigint OFFSET 0) m
        ${ITS_WORDS} JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = m.id OFFSET 0) o ON ${holds}
      WHERE ${rights} ${last} LIMIT ${wanted}
    )
    SELECT ${columns} FROM (
      SELECT * FROM walked WHERE (SELECT count(*) FROM walked) >= ${wanted}
      UNION ALL SELECT * FROM (${byWords(wanted)}) AS by_words WHERE (SELECT count(*) FROM walked) < ${wanted}
    ) AS m ${last} LIMIT ${paging}`;
}

/** The records that rights and filter admit; undefined if there are more than `most`. */
async function fewAdmitted(ctx: ReadContext, match: Match, most: number): Promise<string[] | undefined> {
  const rows = await ctx.query<{ id: string }>(
    sql`SELECT o.id FROM objects o WHERE ${isVisible(match)} LIMIT ${most + 1}::int`,
    { freshPlan: true },
  );
  return rows.length > most ? undefined : rows.map(({ id }) => id);
}

/**
 * The statement that should read least. Each of them gives the same answer, whatever the estimates are: it reads all records with
 * rare words; or all records that rights and filter admit, if an index finds them and they are few; or records in order.
 */
async function withWords(ctx: ReadContext, match: Match, words: Words, page: Page): Promise<Sql> {
  const known = await match.statistics.frequencies(ctx);
  const share = shareOf(known, words.need);
  const wanted = page.limit + page.offset;
  const byWords = share * known.rows;
  if (byWords <= AT_ONCE * wanted) return allAmong(match, words, page, sql`search_records s`);
  const admitted = await match.statistics.admitted(ctx, isVisible(match));
  const byOrder = wanted / (share * admitted);
  const worth = Math.floor(Math.max(FEW, Math.min(byWords, byOrder) / SAVED));
  if (match.indexed && admitted * known.rows <= worth) {
    const ids = await fewAdmitted(ctx, match, worth);
    if (ids !== undefined) return allAmong(match, words, page, sql`unnest(${ids}::uuid[]) AS m (id) ${ITS_WORDS}`);
  }
  return inOrder(match, words, page, byOrder <= byWords ? Math.ceil(SPARE * byOrder) : 0);
}

/** Ids of matches in the order of the match, from `offset` on, without those in `except`. */
export async function listMatches(
  ctx: ReadContext,
  match: Match,
  limit: number,
  offset = 0,
  except: readonly string[] = [],
): Promise<string[]> {
  return (await findMatches(ctx, match, limit, offset, except)).map(({ id }) => id);
}

/** The same with the rank of all matches or of none. */
export async function findMatches(
  ctx: ReadContext,
  match: Match,
  limit: number,
  offset = 0,
  except: readonly string[] = [],
): Promise<Matched[]> {
  const { words, filter } = match;
  if (limit <= 0 || words?.query === '') return [];
  const page = { limit, offset, except };
  // Without words, the planner of PostgreSQL chooses the plan for the values.
  if (words === null) return await ctx.query<Matched>(withoutWords(match, page), { freshPlan: true });
  const known = await match.memory?.find(words.need, page, words.rank?.ranking ?? null);
  if (known !== undefined) return known;
  // There are too many filters to keep their statements prepared.
  return await ctx.query<Matched>(await withWords(ctx, match, words, page), { freshPlan: filter !== null });
}
