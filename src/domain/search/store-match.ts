/**
 * The text predicate of a question (a `tsquery`, SQL if it depends on the record, and the same for the index in memory), and the
 * statement that finds the matching records. Nothing unbounded is ranked or counted. Rights are part of the statement, before every
 * LIMIT.
 */
import type { Operand } from './lexemes.ts';
import type { Need } from './memory/need.ts';
import { type Labels, type Numbers, type TermQuery, termQuery, widest } from './terms.ts';
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
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

/** Number of newest records on which the frequency of the words is measured; a literal, so that every plan is made for it. */
const SEEN = raw('250');
/** How many times more records are read in order than should contain the wanted matches. Reading ends when there are enough. */
const SPARE = 3;
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

/** Additional result columns: the words of a match are already read, and reading them again would cost more than ranking. */
function ranked({ rank }: Words): Sql {
  return rank === null ? empty : sql`, ${rank.sql} AS rank, s.size`;
}

function exactly({ exact }: Words): Sql {
  return exact === null ? empty : sql`AND ${exact}`;
}

/** Without words; the planner of PostgreSQL chooses the plan. */
function withoutWords(match: Match, page: Page): Sql {
  return sql`SELECT o.id FROM objects o WHERE ${isVisible(match)} ${paged(match, page)}`;
}

function column(order: Order): Sql {
  return order === 'updated_at' ? sql`o.updated_at` : sql`o.created_at`;
}

/** The words of a record `m`, and the record itself. By key, because the planner cannot estimate the number of records. */
const ITS_WORDS = sql`JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = m.id OFFSET 0) s ON true`;
const ITSELF = sql`JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = m.id OFFSET 0) o`;

/**
 * One statement for any words, rights and filter. It measures on the newest records how frequent matches are, and then reads the
 * first of these that gives the page:
 *
 * 1. `few`: all records that rights and filter admit, if an index finds them and they are fewer than the others would read. If
 *    many of the newest records are among them, this is not tried;
 * 2. `walked`: the last updated records until there are enough matches, if matches are frequent;
 * 3. the word index: all records with the words are sorted by an index only (`objects_order`), then checked in this order.
 *
 * What is measured decides how much is read, never what is found: a part that does not give the whole page is discarded. The CTEs
 * that are not needed are not run.
 */
function withWords(match: Match, words: Words, page: Page): Sql {
  const at = column(match.order);
  const wanted = sql`${page.offset + page.limit}::int`;
  const unlisted = (id: Sql): Sql =>
    page.except.length === 0 ? empty : sql`AND ${id} <> ALL(${[...page.except]}::uuid[])`;
  const holds = sql`s.words @@ ${words.query}::tsquery`;
  const usable = sql`${trustedRows(match.accessFilter)} ${exactly(words)}`;
  const rights = sql`${isVisible(match)} ${usable}`;
  const last = (most: Sql): Sql =>
    sql`(SELECT o.id, ${at} AS at FROM objects o WHERE ${inState(match)} ${ordered(match)} LIMIT ${most} OFFSET 0) m`;
  const few = match.indexed
    ? sql`SELECT o.id, ${at} AS at FROM objects o WHERE ${isVisible(match)} LIMIT (SELECT most + 1 FROM cost)`
    : sql`SELECT o.id, ${at} AS at FROM objects o WHERE false`;
  // Without rank and rights on words, the words of the matches are not read again.
  const row =
    words.rank === null && words.exact === null ? sql`CROSS JOIN LATERAL (SELECT m.id, m.profile_id) s` : ITS_WORDS;
  return sql`WITH seen AS MATERIALIZED (
      SELECT count(*) FILTER (WHERE h.holds)::float8 AS holding, count(*) FILTER (WHERE h.holds AND ${rights})::float8 AS matches,
        ${match.indexed ? sql`count(*) FILTER (WHERE ${isVisible(match)})::float8` : sql`0::float8`} AS admitted
      FROM ${last(SEEN)} ${ITS_WORDS} CROSS JOIN LATERAL (SELECT ${holds} AS holds OFFSET 0) h
        ${ITSELF} ON ${match.indexed ? sql`true` : sql`h.holds`}
    ), estimate AS MATERIALIZED (
      SELECT holding / ${SEEN} * size.records AS by_words, admitted / ${SEEN} * size.records AS admitted,
        CASE WHEN matches = 0 THEN 'Infinity' ELSE ${SEEN}::float8 * ${wanted} / matches END AS by_order
      FROM seen, (SELECT greatest(reltuples, 0) AS records FROM pg_class WHERE oid = 'search_records'::regclass) AS size
    ), cost AS MATERIALIZED (
      SELECT CASE WHEN admitted <= worth THEN worth ELSE -1 END::bigint AS most,
        CASE WHEN by_order <= by_words THEN ceil(${SPARE}::int * by_order)::bigint ELSE 0 END AS depth
      FROM estimate CROSS JOIN LATERAL (SELECT greatest(${FEW}::float8, least(by_words, by_order) / ${SAVED}::int) AS worth) w
    ), few AS MATERIALIZED (${few}
    ), chosen AS MATERIALIZED (
      SELECT depth, ${match.indexed ? sql`(SELECT count(*) FROM few) <= most` : sql`false`} AS are_few FROM cost
    ), walked AS MATERIALIZED (
      SELECT m.id, m.at ${ranked(words)}
      FROM ${last(sql`(SELECT CASE WHEN are_few THEN 0 ELSE depth END FROM chosen)`)} ${ITS_WORDS} ${ITSELF} ON ${holds}
      WHERE ${rights} ${unlisted(sql`m.id`)} ORDER BY m.at DESC, m.id DESC LIMIT ${wanted}
    )
    SELECT m.id ${words.rank === null ? empty : sql`, m.rank, m.size`} FROM (
      SELECT * FROM (
        SELECT m.id, m.at ${ranked(words)} FROM few m ${ITS_WORDS} ${ITSELF} ON ${holds}
        WHERE true ${usable} ${unlisted(sql`m.id`)} OFFSET 0) AS admitted
      WHERE (SELECT are_few FROM chosen)
      UNION ALL
      SELECT * FROM walked WHERE (SELECT count(*) FROM walked) >= ${wanted}
      UNION ALL
      SELECT * FROM (
        SELECT m.id, m.at ${ranked(words)}
        FROM (SELECT s.id, s.profile_id, o.at
            FROM (SELECT s.id, s.profile_id FROM search_records s WHERE ${holds} ${unlisted(sql`s.id`)} OFFSET 0) s
              JOIN LATERAL (SELECT ${at} AS at FROM objects o WHERE o.id = s.id AND ${inState(match)} OFFSET 0) o ON true
            ORDER BY o.at DESC, s.id DESC OFFSET 0) m
          ${row} ${ITSELF} ON true
        WHERE ${rights} ORDER BY m.at DESC, m.id DESC LIMIT ${wanted}) AS by_words
      WHERE NOT (SELECT are_few FROM chosen) AND (SELECT count(*) FROM walked) < ${wanted}
    ) AS m ORDER BY m.at DESC, m.id DESC LIMIT ${page.limit}::int OFFSET ${page.offset}::int`;
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
  const { words } = match;
  if (limit <= 0 || words?.query === '') return [];
  const page = { limit, offset, except };
  const known = words === null ? undefined : await match.memory?.find(words.need, page, words.rank?.ranking ?? null);
  if (known !== undefined) return known;
  // The best plan depends on the values: the selectivity of rights and filter, and the offset.
  const fresh = { freshPlan: words === null || match.filter !== null || match.indexed || offset > 0 };
  return await ctx.query<Matched>(words === null ? withoutWords(match, page) : withWords(match, words, page), fresh);
}
