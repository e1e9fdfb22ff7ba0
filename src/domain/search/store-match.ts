/**
 * Which records match, in steps that are bounded whatever the words: nothing
 * unbounded is ranked or counted. Rights are part of the statement, before every LIMIT.
 */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { millisecondsOf, type Order, type TermStatistics } from './store-statistics.ts';
import { type AccessFilter, trustedRows } from './store-access-filter.ts';
import { type QueryPlan, plansFor } from './plan.ts';

/** A way that found too few is left for another, once it is known how far the matches lie apart. */
const MOST_TRIES = 3;
/** A page of which so much was found is gone on with. */
const MOSTLY = 0.4;
/** Gone on, a little further than seems to be needed. */
const SPARE = 1.3;

/** Matches that cost as much to look at all as one that is wanted costs when they are in order; and where it is ranked, too. */
const RECORDS_A_LOOK = 2;
const RANKED_A_LOOK = 4;

/** What records must be and hold. */
export interface Match {
  accessFilter: AccessFilter;
  state: 'ACTIVE' | 'ARCHIVED';
  /** Null: whatever their state in the workflow. */
  workflowStateIds: readonly string[] | null;
  /** Further predicate over `o`. */
  filter: Sql | null;
  /** Null: whatever their words. */
  words: Words | null;
  order: Order;
  /** What is known of how many there are. */
  statistics: TermStatistics;
}

export interface Words {
  /** `tsquery` that every match satisfies. */
  query: string;
  /** Predicate over `s` and `o` beyond `query`; null: none. */
  exact: Sql | null;
  /** Estimated share of all rows that satisfy `query`: which way is the shorter one. */
  share: number;
  /** Whether so many match that the way matters. */
  common: boolean;
  /** How much further than seems to be needed a way goes; as far as usual unless said. */
  spare?: number | undefined;
  /** What ranks a match, over `s` and `o`; null: nothing is to be ranked. */
  rank: Sql | null;
}

/** A match, with what ranks it where the way read its words at once. */
export interface Matched {
  id: string;
  rank?: number;
  /** Words of the record. */
  size?: number;
}

interface Page {
  limit: number;
  offset: number;
  /** Ids that are listed elsewhere. */
  except: readonly string[];
}

function inState({ state }: Match): Sql {
  return state === 'ACTIVE' ? sql`o.state = 'ACTIVE'` : sql`o.state = 'ARCHIVED'`;
}

/** The records that come into question, whatever their words: a predicate over `o` alone. */
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

/** Columns of the row `s` that the statement needs. */
function rowOf({ exact, rank }: Words): Sql {
  if (rank !== null) return sql`s.id, s.profile_id, s.size, s.words`;
  return exact === null ? sql`s.id, s.profile_id` : sql`s.id, s.profile_id, s.words`;
}

/** Further columns of the answer: the words of a match are at hand, and reading them again would cost more than ranking. */
function ranked({ rank }: Words): Sql {
  return rank === null ? empty : sql`, ${rank} AS rank, s.size`;
}

function exactly({ exact }: Words): Sql {
  return exact === null ? empty : sql`AND ${exact}`;
}

/** Whatever their words, by whatever way the planner finds. */
function withoutWords(match: Match, page: Page): Sql {
  return sql`SELECT o.id FROM objects o WHERE ${isVisible(match)} ${paged(match, page)}`;
}

/**
 * By the index of words, each match with its record by key: left to itself the planner, which cannot know how many will match,
 * joins in ways that are a thousand times dearer. The matches are brought into order by an index alone (`objects_order`), and
 * looked at in that order, with rights and filter, until there are enough.
 */
function byWords(match: Match, words: Words, page: Page): Sql {
  const { limit, offset, except } = page;
  const at = column(match.order);
  const unlisted = except.length === 0 ? empty : sql`AND s.id <> ALL(${[...except]}::uuid[])`;
  // The words themselves are wide: they are read again of those that are looked at.
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
 * The same where few records hold the words: each match is looked at once, its rights, its place in the order and what ranks it
 * together. To bring matches into order first would cost a look at an index each, and to rank them later a second reading.
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

/** Between two moments; `until` is not among them, and null where there is none. */
interface Stretch {
  since: string;
  until: string | null;
}

/**
 * The matches among the records that were changed (or made) last, in a stretch of time. Ids are of their records' time, so the
 * index of ids bounds what the index of words has found before any row is read; a record of another time that was changed in
 * the stretch is looked up by itself. The moments themselves are asked of each record, so the ids decide nothing.
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
  // The planner takes what the index of words finds for much cheaper than it is where a word is common.
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

/** The least id that a record of this moment can have. */
function firstIdOf(moment: string): string {
  const hex = Math.max(0, Math.floor(millisecondsOf(moment)))
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function column(order: Order): Sql {
  return order === 'updated_at' ? sql`o.updated_at` : sql`o.created_at`;
}

/** Along records, in order, no further than `most` of them; what they are is looked at where they hold the words. */
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

/** Along what rights and filter admit, by whatever index tells of it, no further than `most` of them. */
function alongAdmitted(match: Match, words: Words, most: number, page: Page): Sql {
  return sql`SELECT o.id ${ranked(words)}
    FROM (SELECT o.* FROM objects o WHERE ${isVisible(match)} ${ordered(match)} LIMIT ${most}::int OFFSET 0) o
      JOIN LATERAL (SELECT s.id, s.profile_id, s.size, s.words FROM search_records s WHERE s.id = o.id OFFSET 0) s ON true
    WHERE s.words @@ ${words.query}::tsquery ${trustedRows(match.accessFilter)} ${exactly(words)} ${paged(match, page)}`;
}

/** Whether rights and filter admit no more than `most` records. */
async function areFew(ctx: ReadContext, match: Match, most: number): Promise<boolean> {
  const [row] = await ctx.query<{ n: number }>(
    sql`SELECT count(*) AS n FROM (SELECT 1 FROM objects o WHERE ${isVisible(match)} LIMIT ${most + 1}::int) AS counted`,
    { freshPlan: true },
  );
  return (row?.n ?? 0) <= most;
}

/** Ids of matches in the match's order, from `offset` on, without those in `except`. */
export async function listMatches(
  ctx: ReadContext,
  match: Match,
  limit: number,
  offset = 0,
  except: readonly string[] = [],
): Promise<string[]> {
  return (await findMatches(ctx, match, limit, offset, except)).map(({ id }) => id);
}

/** The same with what ranks them, of all or of none. */
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
  // The best way hangs on the values: how many records a filter admits, how far the page lies.
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

/**
 * Whether to look at all matches costs less than to bring them into order, look at those wanted, and read their words again.
 */
function isFew({ share, common, rank }: Words, wanted: number, rows: number): boolean {
  return !common && share * rows <= (rank === null ? RECORDS_A_LOOK : RANKED_A_LOOK) * wanted;
}

const FRESH = { freshPlan: true };

/** What a way found. */
interface PlanResult {
  found: Matched[];
  /** Whether there are no more. */
  all: boolean;
  /** The moment up to which everything was found; null: the way goes by no moments. */
  since: string | null;
}

/** What one way finds. Null: the way cannot be gone. */
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

/** Where most of the page was found, what is missing lies in the stretch before: what is known is not looked for again. */
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

/** By the way that seems the shortest; where it ends too soon, by the next one, with what it told. Undefined where none is. */
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
    // Short of a page far behind, nothing tells how many there were.
    const there = result === null || result.found.length === 0 ? 0 : result.found.length + page.offset;
    const density = Math.max(there, 0.5) / plan.depth;
    // One gap among them is not believed to be everywhere.
    admitted = Math.min(admitted / 2, Math.max(density / words.share, admitted / 10));
  }
  return undefined;
}

/** From here on a statement of this transaction that takes longer is ended. */
export async function setTimeBudget(ctx: ReadContext, milliseconds: number): Promise<void> {
  await ctx.query(sql`SELECT set_config('statement_timeout', ${String(milliseconds)}, true)`);
}
