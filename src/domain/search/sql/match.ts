/**
 * The statements that find the records of a question. Nothing unbounded is ranked or counted. Rights are part of the statement,
 * before every LIMIT. Estimates choose among the statements; each gives the same answer.
 */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { whereState } from '../../objects/index.ts';
import type { Matched, Page, Ranking, Scope, Words } from '../query.ts';
import { type Estimates, shareOf } from './estimates.ts';
import { whereRule } from './rules.ts';
import { type Classes, predicateOf, rankOf, type TextPredicate } from './words.ts';

/** How many times more records are read than should contain the wanted matches. */
const SPARE = 1.2;
/** Processor time in microseconds: of an entry of an index of records, of the word index, and of sorting a match by an index. */
const ENTRY = 0.15;
const POSTING = 0.25;
const IN_ORDER = 5;
/** Up to this number of matches per wanted one, reading all of them is cheaper than sorting them first. */
const AT_ONCE = 4;
/** Up to this number of records, reading all that rights and filter admit costs hardly anything. */
const FEW = 1000;
/** Beyond it, a record that rights and filter admit is worth reading if it saves this many others. */
const SAVED = 4;
/** At least this many last updated records are read, and this many times more if none of them matches. */
const LEAST_DEPTH = 200;
const DEEPER = 4;
/** Maximum number of records that are read because rights and filter admit them, however wrong the estimates are. */
export const MAX_ADMITTED = 10_000;

/** The conditions of a scope on a record `o` and its row `s`, each compiled once, when a statement needs it. */
export class ScopeSql {
  readonly scope: Scope;
  readonly #ctx: ReadContext;
  #admitted: Sql | undefined;
  #classes: Classes | undefined;

  constructor(ctx: ReadContext, scope: Scope) {
    this.#ctx = ctx;
    this.scope = scope;
  }

  /** The records that the caller may read. */
  get readable(): Sql {
    return this.#ctx.actor.visible('o', 'read', this.#ctx.now, this.scope.typeIds) ?? sql`false`;
  }

  /** The records of the scope. */
  get admitted(): Sql {
    const { state, workflowStateIds, filter } = this.scope;
    this.#admitted ??= join(
      [
        whereState(state),
        this.readable,
        ...(workflowStateIds === null ? [] : [sql`o.workflow_state_id = ANY(${[...workflowStateIds]}::uuid[])`]),
        ...(filter === null ? [] : [whereRule(this.#ctx, filter)]),
      ],
      ' AND ',
    );
    return this.#admitted;
  }

  /** The additional predicate of statements that use words. */
  get trusted(): Sql {
    const { trusted } = this.scope;
    if (trusted === null) return empty;
    const current = sql`s.profile_id = ANY(${[...trusted.profileIds]}::int[])`;
    if (trusted.typeIds.size === 0) return sql`AND ${current}`;
    return sql`AND (${current} OR o.type_id = ANY(${[...trusted.typeIds]}::uuid[]))`;
  }

  get classes(): Classes {
    return (this.#classes ??= this.scope.classes.map(({ rule }) => whereRule(this.#ctx, rule)));
  }
}

/** A match of words. The parts are on a record `o` and its row `s`. */
interface Match {
  scope: Scope;
  page: Page;
  words: Words;
  admitted: Sql;
  holds: Sql;
  rights: Sql;
  /** Further columns; empty without a ranking. */
  rank: Sql;
  at: Sql;
  /** Whether the words are read only for the page, because rights and words do not depend on each other. */
  isLater: boolean;
}

function matchOf(
  records: ScopeSql,
  words: Words,
  { query, exact }: TextPredicate,
  page: Page,
  ranking: Ranking | null,
): Match {
  const { scope, admitted, trusted } = records;
  const unlisted = page.except.length === 0 ? empty : sql`AND s.id <> ALL(${[...page.except]}::uuid[])`;
  return {
    scope,
    page,
    words,
    admitted,
    holds: sql`s.words @@ ${query}::tsquery ${unlisted}`,
    rights: sql`${admitted} ${trusted} ${exact === null ? empty : sql`AND ${exact}`}`,
    rank: ranking === null ? empty : sql`, ${rankOf(ranking, records.classes)} AS rank, s.size`,
    at: scope.order === 'updated_at' ? sql`o.updated_at` : sql`o.created_at`,
    isLater: exact === null && (ranking === null || scope.classes.length === 0),
  };
}

/** The words of a record `m`, and the record of a row. By key, because the planner cannot estimate the number of records. */
const ITS_WORDS = sql`JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = m.id OFFSET 0) s ON true`;
const ITSELF = sql`JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = s.id OFFSET 0) o ON true`;

/** Reads all matches among the rows, then sorts them. PostgreSQL ranks those of the page only. */
function allAmong({ holds, rank, rights, at, page }: Match, rows: Sql, also = empty): Sql {
  return sql`SELECT s.id ${rank} FROM (SELECT s.* FROM ${rows} WHERE ${holds} OFFSET 0) s ${ITSELF} WHERE ${rights} ${also}
    ORDER BY ${at} DESC, s.id DESC LIMIT ${page.limit}::int OFFSET ${page.offset}::int`;
}

/** Sorts all records with the words by an index only (`objects_order`), and checks them in this order until there are enough. */
function inOrder({ scope, holds, rank, rights, at, page, isLater }: Match): Sql {
  const last = sql`ORDER BY m.at DESC, m.id DESC`;
  const row = isLater ? sql`CROSS JOIN LATERAL (SELECT m.id, m.profile_id) s` : ITS_WORDS;
  const found = sql`SELECT m.id, m.at ${isLater ? empty : rank}
    FROM (SELECT s.id, s.profile_id, o.at
        FROM (SELECT s.id, s.profile_id FROM search_records s WHERE ${holds} OFFSET 0) s
          JOIN LATERAL (SELECT ${at} AS at FROM objects o WHERE o.id = s.id AND ${whereState(scope.state)} OFFSET 0) o ON true
        ORDER BY o.at DESC, s.id DESC OFFSET 0) m
      ${row} ${ITSELF} WHERE ${rights} ${last} LIMIT ${page.limit}::int OFFSET ${page.offset}::int`;
  if (rank === empty) return sql`SELECT m.id FROM (${found}) AS m ${last}`;
  return isLater
    ? sql`SELECT m.id ${rank} FROM (${found}) AS m ${ITS_WORDS} ${last}`
    : sql`SELECT m.id, m.rank, m.size FROM (${found}) AS m ${last}`;
}

/** From a time to another one, which is excluded and null if the range is open. */
interface Range {
  from: string;
  until: string | null;
}

/**
 * Reads the matches that were updated in a time range. Ids contain the time of creation, so a range of ids has the records that
 * were created in it; others are looked up by key. Both are checked for the time, so the result does not depend on the ids.
 *
 * @param indexed whether the word index is read; for frequent words, the planner underestimates its cost
 */
function within(match: Match, { from, until }: Range, indexed: boolean): Sql {
  const { scope, at, holds } = match;
  const [first, last] = [firstIdSince(from), until === null ? null : firstIdSince(until)];
  const created = sql`s.id >= ${first}::uuid ${last === null ? empty : sql`AND s.id < ${last}::uuid`}`;
  const others = last === null ? sql`o.id < ${first}::uuid` : sql`(o.id < ${first}::uuid OR o.id >= ${last}::uuid)`;
  const isWithin = sql`${at} >= ${from}::timestamptz ${until === null ? empty : sql`AND ${at} < ${until}::timestamptz`}`;
  const rows = indexed ? sql`search_records s` : sql`(SELECT s.* FROM search_records s WHERE ${created} OFFSET 0) s`;
  return allAmong(
    match,
    sql`(SELECT s.id, s.profile_id, s.size, s.words FROM ${rows} WHERE ${holds} AND ${created}
      UNION ALL SELECT s.id, s.profile_id, s.size, s.words
      FROM (SELECT o.id FROM objects o WHERE ${whereState(scope.state)} AND ${isWithin} AND ${others} OFFSET 0) m ${ITS_WORDS}) s`,
    sql`AND ${isWithin}`,
  );
}

/** The smallest id of a record created at this moment. */
function firstIdSince(moment: string): string {
  const hex = Math.max(0, Date.parse(moment)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The matches of a page in the order of the scope, with ranks if a ranking is given. @param words null for all records */
export async function findMatches(
  ctx: ReadContext,
  records: ScopeSql,
  statistics: Estimates,
  words: Words | null,
  page: Page,
  ranking: Ranking | null,
): Promise<Matched[]> {
  if (page.limit <= 0) return [];
  if (words !== null) {
    const predicate = predicateOf(words, records.classes);
    return predicate === null
      ? []
      : await withWords(ctx, matchOf(records, words, predicate, page, ranking), statistics);
  }
  const at = records.scope.order === 'updated_at' ? sql`o.updated_at` : sql`o.created_at`;
  const unlisted = page.except.length === 0 ? empty : sql`AND o.id <> ALL(${[...page.except]}::uuid[])`;
  // The planner of PostgreSQL chooses the plan for the values.
  return await ctx.query<Matched>(
    sql`SELECT o.id FROM objects o WHERE ${records.admitted} ${unlisted} ORDER BY ${at} DESC, o.id DESC
      LIMIT ${page.limit}::int OFFSET ${page.offset}::int`,
    { freshPlan: true },
  );
}

/**
 * Runs the statement that should read least: all records with rare words; all records that rights and filter admit, if an index
 * finds them and they are few; the last updated records; or all in order. One that does not give the page is followed by the last,
 * so estimates decide only how much is read.
 */
async function withWords(ctx: ReadContext, match: Match, statistics: Estimates): Promise<Matched[]> {
  const { scope, page, words, admitted: predicate } = match;
  // There are too many filters to keep their statements prepared.
  const query = (statement: Sql): Promise<Matched[]> =>
    ctx.query<Matched>(statement, { freshPlan: scope.filter !== null });
  const known = await statistics.frequencies(ctx);
  const share = shareOf(known, words);
  const wanted = page.limit + page.offset;
  const byWords = share * known.rows;
  if (byWords <= AT_ONCE * wanted) return await query(allAmong(match, sql`search_records s`));
  const admitted = await statistics.admitted(ctx, predicate);
  const depth = Math.ceil((SPARE * wanted) / (share * admitted));
  const worth = Math.floor(Math.min(MAX_ADMITTED, Math.max(FEW, Math.min(byWords, depth) / SAVED)));
  if (scope.indexed && admitted * known.rows <= worth) {
    const rows = await ctx.query<{ id: string }>(
      sql`SELECT o.id FROM objects o WHERE ${predicate} LIMIT ${worth + 1}::int`,
      { freshPlan: true },
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length <= worth) return await query(allAmong(match, sql`unnest(${ids}::uuid[]) AS m (id) ${ITS_WORDS}`));
  }
  return (await lastUpdated(ctx, match, statistics, byWords, depth)) ?? (await query(inOrder(match)));
}

/** The page from about as many last updated records as estimated, or more if these have too few matches; undefined if others are cheaper. */
async function lastUpdated(
  ctx: ReadContext,
  match: Match,
  statistics: Estimates,
  byWords: number,
  estimate: number,
): Promise<Matched[] | undefined> {
  const { page, scope } = match;
  const found: Matched[] = [];
  let depth = Math.max(LEAST_DEPTH, estimate);
  for (let until: string | null = null; ; ) {
    const byIndex = depth * ENTRY + byWords * POSTING;
    if (depth * ENTRY + Math.min(byIndex, depth) >= byWords * IN_ORDER) return undefined;
    const from = await statistics.momentOf(ctx, scope.order, depth);
    if (from === undefined || (until !== null && Date.parse(from) >= Date.parse(until))) return undefined;
    const rest = until === null ? match : { ...match, page: { ...page, limit: page.limit - found.length, offset: 0 } };
    // The best plan depends on the time.
    found.push(...(await ctx.query<Matched>(within(rest, { from, until }, byIndex < depth), { freshPlan: true })));
    if (found.length === page.limit) return found;
    // It is unknown how many matches precede the page.
    if (found.length === 0 && page.offset > 0) return undefined;
    until = from;
    const missing = SPARE * (page.limit - found.length) + 1;
    depth = Math.ceil(depth * (found.length === 0 ? DEEPER : 1 + missing / (page.offset + found.length)));
  }
}
