/**
 * Finds matching records in bounded steps: nothing unbounded is ranked or counted. Rights are part of the statements, before
 * every LIMIT.
 */
import type { ItemState } from '../../contract/state.ts';
import { whereState } from '../objects/index.ts';
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { millisecondsOf, type Order, type TermStatistics } from './store-statistics.ts';
import { type AccessFilter, trustedRows } from './store-access-filter.ts';
import { type QueryPlan, plansFor } from './plan.ts';
import type { Need } from './memory/need.ts';
import type { Ranking } from './memory/search.ts';
import type { Matched, MemoryQuestion } from './memory-scope.ts';

/** If a plan returns too few rows, the next plan is tried with better estimates, at most this often. */
const MOST_TRIES = 3;
/** A result is extended if at least this share of the page was found. */
const MOSTLY = 0.4;
/** Safety factor for an extension. */
const SPARE = 1.3;

/**
 * If there are at most this many matches per wanted one, reading all of them is cheaper than sorting first; with ranking, the
 * second value.
 */
const RECORDS_A_LOOK = 2;
const RANKED_A_LOOK = 4;

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
  /** Estimates of the number of matches. */
  statistics: TermStatistics;
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
  /** Estimated share of all rows that satisfy `query`; decides which plan is chosen. */
  share: number;
  /** Whether there are so many matches that the plan matters. */
  common: boolean;
  /** Factor by which a plan reads more than the estimate requires. */
  spare?: number | undefined;
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

/** The columns of the row `s` that the statement needs. */
function rowOf({ exact, rank }: Words): Sql {
  if (rank !== null) return sql`s.id, s.profile_id, s.size, s.words`;
  return exact === null ? sql`s.id, s.profile_id` : sql`s.id, s.profile_id, s.words`;
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

/**
 * Uses the word index and joins each match with its record by key. The planner cannot estimate the number of matches and would
 * choose joins that are a thousand times more expensive. Matches are sorted using only an index (`objects_order`), then checked
 * in that order against rights and filter until there are enough.
 */
function byWords(match: Match, words: Words, page: Page): Sql {
  const { limit, offset, except } = page;
  const at = column(match.order);
  const unlisted = except.length === 0 ? empty : sql`AND s.id <> ALL(${[...except]}::uuid[])`;
  // The words are wide, so they are read again only for the checked records.
  const row =
    words.exact === null
      ? sql`CROSS JOIN LATERAL (SELECT m.id, m.profile_id) AS s`
      : sql`JOIN LATERAL (SELECT s.id, s.profile_id, s.words FROM search_records s WHERE s.id = m.id OFFSET 0) s ON true`;
  return sql`SELECT m.id
    FROM (SELECT s.id, s.profile_id, o.at
        FROM (SELECT s.id, s.profile_id FROM search_records s WHERE s.words @@ ${words.query}::tsquery ${unlisted} OFFSET 0) s
          JOIN LATERAL (SELECT ${at} AS at FROM objects o WHERE o.id = s.id AND ${inState(match)} OFFSET 0) o ON true
        ORDER BY o.at DESC, s.id DESC OFFSET 0) m
      ${row}
      JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = m.id OFFSET 0) o ON true
    WHERE ${isVisible(match)} ${trustedRows(match.accessFilter)} ${exactly(words)}
    ORDER BY m.at DESC, m.id DESC LIMIT ${limit}::int OFFSET ${offset}::int`;
}

/**
 * The variant for words in few records: each match is read once, with rights, order and rank. Sorting first would cost an index
 * lookup per match, and ranking later a second read.
 */
function byFewWords(match: Match, words: Words, { limit, offset, except }: Page): Sql {
  const unlisted = except.length === 0 ? empty : sql`AND s.id <> ALL(${[...except]}::uuid[])`;
  return sql`SELECT m.id ${words.rank === null ? empty : sql`, m.rank, m.size`}
    FROM (SELECT s.id, ${column(match.order)} AS at ${ranked(words)}
        FROM (SELECT ${rowOf(words)} FROM search_records s WHERE s.words @@ ${words.query}::tsquery ${unlisted} OFFSET 0) s
          JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = s.id OFFSET 0) o ON true
        WHERE ${isVisible(match)} ${trustedRows(match.accessFilter)} ${exactly(words)} OFFSET 0) m
    ORDER BY m.at DESC, m.id DESC LIMIT ${limit}::int OFFSET ${offset}::int`;
}

/** A time range; `until` is exclusive, and null if the range is open. */
interface Stretch {
  since: string;
  until: string | null;
}

/**
 * The matches among the records that were changed (or created) in a time range. Ids contain the creation time, so the id index
 * limits the matches of the word index before any row is read. Records that were created at another time and changed in the
 * range are looked up separately. The times themselves are checked on each record, so the result does not depend on the ids.
 */
function inStretch(match: Match, words: Words, { since, until }: Stretch, page: Page, indexed: boolean): Sql {
  const { limit, offset, except } = page;
  const at = column(match.order);
  const first = sql`${firstIdOf(since)}::uuid`;
  const last = until === null ? null : sql`${firstIdOf(until)}::uuid`;
  const young = sql`s.id >= ${first} ${last === null ? empty : sql`AND s.id < ${last}`}`;
  const others = last === null ? sql`o.id < ${first}` : sql`(o.id < ${first} OR o.id >= ${last})`;
  const within = sql`${at} >= ${since}::timestamptz ${until === null ? empty : sql`AND ${at} < ${until}::timestamptz`}`;
  const row = rowOf(words);
  const unlisted = except.length === 0 ? empty : sql`AND o.id <> ALL(${[...except]}::uuid[])`;
  // For frequent words, the planner underestimates the cost of the word index.
  const rows = indexed
    ? sql`search_records s`
    : sql`(SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE ${young} OFFSET 0) s`;
  return sql`SELECT o.id ${ranked(words)}
    FROM (SELECT ${row} FROM ${rows} WHERE s.words @@ ${words.query}::tsquery ${indexed ? sql`AND ${young}` : empty}
        UNION ALL
        SELECT ${row} FROM (SELECT o.id FROM objects o WHERE ${inState(match)} AND ${within} AND ${others} OFFSET 0) o
          JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = o.id OFFSET 0) s ON true
        WHERE s.words @@ ${words.query}::tsquery) s
      JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = s.id OFFSET 0) o ON true
    WHERE ${within} AND ${isVisible(match)} ${trustedRows(match.accessFilter)} ${exactly(words)} ${unlisted}
    ORDER BY ${at} DESC, o.id DESC LIMIT ${limit}::int OFFSET ${offset}::int`;
}

/** The smallest id of a record created at this moment. */
function firstIdOf(moment: string): string {
  const hex = Math.max(0, Math.floor(millisecondsOf(moment)))
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function column(order: Order): Sql {
  return order === 'updated_at' ? sql`o.updated_at` : sql`o.created_at`;
}

/** Reads at most `most` records in order and checks those that contain the words. */
function alongRecords(match: Match, words: Words, most: number, page: Page): Sql {
  const at = column(match.order);
  return sql`SELECT o.id ${ranked(words)}
    FROM (SELECT o.id, ${at} AS at FROM objects o WHERE ${inState(match)} ${ordered(match)} LIMIT ${most}::int OFFSET 0) w
      JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = w.id OFFSET 0) s ON true
      JOIN LATERAL (SELECT o.* FROM objects o WHERE o.id = w.id OFFSET 0) o ON s.words @@ ${words.query}::tsquery
    WHERE ${isVisible(match)} ${trustedRows(match.accessFilter)} ${exactly(words)}
      ${page.except.length === 0 ? empty : sql`AND w.id <> ALL(${[...page.except]}::uuid[])`}
    ORDER BY w.at DESC, w.id DESC LIMIT ${page.limit}::int OFFSET ${page.offset}::int`;
}

/** Reads at most `most` records that rights and filter permit, by any index. */
function alongAdmitted(match: Match, words: Words, most: number, page: Page): Sql {
  return sql`SELECT o.id ${ranked(words)}
    FROM (SELECT o.* FROM objects o WHERE ${isVisible(match)} ${ordered(match)} LIMIT ${most}::int OFFSET 0) o
      JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = o.id OFFSET 0) s ON true
    WHERE s.words @@ ${words.query}::tsquery ${trustedRows(match.accessFilter)} ${exactly(words)} ${paged(match, page)}`;
}

/** Whether rights and filter permit at most `most` records. */
async function areFew(ctx: ReadContext, match: Match, most: number): Promise<boolean> {
  const [row] = await ctx.query<{ n: number }>(
    sql`SELECT count(*) AS n FROM (SELECT 1 FROM objects o WHERE ${isVisible(match)} LIMIT ${most + 1}::int) AS counted`,
    { freshPlan: true },
  );
  return (row?.n ?? 0) <= most;
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
  // The best plan depends on the values: the selectivity of the filter and the offset.
  const fresh = { freshPlan: words === null || match.filter !== null || offset > 0 };
  if (words === null) return await matchesOf(ctx, withoutWords(match, page), fresh);
  const found = words.common ? await byCheapestPlan(ctx, match, words, page) : undefined;
  const { rows } = await match.statistics.read(ctx);
  if (found !== undefined) return found;
  const statement = isFew(words, limit + offset, rows) ? byFewWords(match, words, page) : byWords(match, words, page);
  return await matchesOf(ctx, statement, fresh);
}

async function matchesOf(ctx: ReadContext, statement: Sql, options: { freshPlan: boolean }): Promise<Matched[]> {
  return await ctx.query<Matched>(statement, options);
}

/** Whether reading all matches is cheaper than sorting them, checking those needed and reading their words again. */
function isFew({ share, common, rank }: Words, wanted: number, rows: number): boolean {
  return !common && share * rows <= (rank === null ? RECORDS_A_LOOK : RANKED_A_LOOK) * wanted;
}

const FRESH = { freshPlan: true };

/** The result of a plan. */
interface PlanResult {
  found: Matched[];
  /** Whether there are no further matches. */
  all: boolean;
  /** The start of the time range that was searched completely; null if the plan does not use time ranges. */
  since: string | null;
}

/** Runs one plan. Null if the plan is not possible. */
async function runPlan(
  ctx: ReadContext,
  match: Match,
  words: Words,
  { by, depth }: QueryPlan,
  page: Page,
): Promise<PlanResult | null> {
  switch (by) {
    case 'since':
    case 'recent': {
      const since = await match.statistics.momentOf(ctx, match.order, match.state, depth);
      if (since === undefined) return null;
      const statement = inStretch(match, words, { since, until: null }, page, by === 'since');
      return await further(ctx, match, words, { by, depth }, page, {
        found: await matchesOf(ctx, statement, FRESH),
        all: false,
        since,
      });
    }
    case 'walk': {
      const found = await matchesOf(ctx, alongRecords(match, words, depth, page), { freshPlan: false });
      return { found, all: false, since: null };
    }
    case 'admitted': {
      const found = await matchesOf(ctx, alongAdmitted(match, words, depth, page), FRESH);
      return { found, all: found.length < page.limit && (await areFew(ctx, match, depth)), since: null };
    }
    case 'matches':
      return { found: await matchesOf(ctx, byWords(match, words, page), FRESH), all: true, since: null };
  }
}

/** If most of the page was found, searches the preceding time range for the rest instead of starting again. */
async function further(
  ctx: ReadContext,
  match: Match,
  words: Words,
  { by, depth }: QueryPlan,
  page: Page,
  result: PlanResult,
): Promise<PlanResult> {
  const found = [...result.found];
  let { since } = result;
  let reached = depth;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const missing = page.limit - found.length;
    const there = page.offset + found.length;
    if (missing === 0 || since === null || found.length === 0 || there < MOSTLY * (there + missing)) break;
    reached = Math.ceil(reached * (1 + ((words.spare ?? SPARE) * missing + 1) / there));
    const before = await match.statistics.momentOf(ctx, match.order, match.state, reached);
    if (before === undefined || millisecondsOf(before) >= millisecondsOf(since)) break;
    const rest = { limit: missing, offset: 0, except: page.except };
    const statement = inStretch(match, words, { since: before, until: since }, rest, by === 'since');
    found.push(...(await matchesOf(ctx, statement, FRESH)));
    since = before;
  }
  return { ...result, found, since };
}

/**
 * Runs the cheapest plan. If it returns too few rows, runs the next one with improved estimates. Undefined if no plan is left.
 */
async function byCheapestPlan(
  ctx: ReadContext,
  match: Match,
  words: Words,
  page: Page,
): Promise<Matched[] | undefined> {
  const { rows } = await match.statistics.read(ctx);
  const wanted = page.limit + page.offset + page.except.length;
  let admitted = await match.statistics.admitted(ctx, isVisible(match));
  const gone = new Set<QueryPlan['by']>();
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const plan = plansFor({ rows, share: words.share, admitted, wanted, spare: words.spare }).find(
      ({ by }) => by === 'since' || !gone.has(by),
    );
    if (plan === undefined) return undefined;
    const result = await runPlan(ctx, match, words, plan, page);
    if (result !== null && (result.all || result.found.length === page.limit)) return result.found;
    gone.add(plan.by);
    // If the page was not reached, the number of matches before it is unknown.
    const there = result === null || result.found.length === 0 ? 0 : result.found.length + page.offset;
    const density = Math.max(there, 0.5) / plan.depth;
    // Limits the correction, because one gap is not representative.
    admitted = Math.min(admitted / 2, Math.max(density / words.share, admitted / 10));
  }
  return undefined;
}
