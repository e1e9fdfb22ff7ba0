/**
 * The statements that find the records of a question, and the estimates that choose among them. Nothing unbounded is ranked or
 * counted. Rights are part of the statement, before every LIMIT.
 */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { ItemState } from '../../../contract/state.ts';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { whereState } from '../../objects/index.ts';
import type { Operand } from '../indexing/lexemes.ts';
import type { Need } from '../memory/need.ts';
import type { Matched, MemoryQuestion } from '../memory/backend.ts';
import { type AccessFilter, trustedRows } from './access.ts';
import type { Rank, TextPredicate } from './words.ts';

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
  statistics: Pick<SearchStatistics, 'frequencies' | 'admitted' | 'momentOf'>;
  /** The index in memory; null if only statements can answer. */
  memory: MemoryQuestion | null;
}

export interface Words extends TextPredicate {
  /** Null without ranking. */
  rank: Rank | null;
}

interface Page {
  limit: number;
  offset: number;
  /** Ids to leave out. */
  except: readonly string[];
}

/** Predicate on `o` for the records that the caller may read and the filter permits. */
function isVisible(match: Match): Sql {
  const parts = [whereState(match.state), match.accessFilter.visible];
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
function partsOf(match: Match, words: Words, { except }: Page): Record<'at' | 'holds' | 'rights' | 'rank', Sql> {
  const unlisted = except.length === 0 ? empty : sql`AND s.id <> ALL(${[...except]}::uuid[])`;
  return {
    at: match.order === 'updated_at' ? sql`o.updated_at` : sql`o.created_at`,
    holds: sql`s.words @@ ${words.query}::tsquery ${unlisted}`,
    rights: sql`${isVisible(match)} ${trustedRows(match.accessFilter)} ${words.exact === null ? empty : sql`AND ${words.exact}`}`,
    // The words of a match are already read, and reading them again would cost more than ranking.
    rank: words.rank === null ? empty : sql`, ${words.rank.sql()} AS rank, s.size`,
  };
}

/** Reads all matches among the rows, then sorts them. PostgreSQL ranks those of the page only. */
function allAmong(match: Match, words: Words, page: Page, rows: Sql, also = empty): Sql {
  const { at, holds, rights, rank } = partsOf(match, words, page);
  return sql`SELECT s.id ${rank} FROM (SELECT s.* FROM ${rows} WHERE ${holds} OFFSET 0) s ${ITSELF} WHERE ${rights} ${also}
    ORDER BY ${at} DESC, s.id DESC LIMIT ${page.limit}::int OFFSET ${page.offset}::int`;
}

/** Sorts all records with the words by an index only (`objects_order`), and checks them in this order until there are enough. */
function inOrder(match: Match, words: Words, page: Page): Sql {
  const { at, holds, rights, rank } = partsOf(match, words, page);
  const last = sql`ORDER BY m.at DESC, m.id DESC`;
  // If rights and words do not depend on each other, the words are read only for the page.
  const isLater = words.exact === null && (words.rank === null || match.accessFilter.classes.length === 0);
  const row = isLater ? sql`CROSS JOIN LATERAL (SELECT m.id, m.profile_id) s` : ITS_WORDS;
  const found = sql`SELECT m.id, m.at ${isLater ? empty : rank}
    FROM (SELECT s.id, s.profile_id, o.at
        FROM (SELECT s.id, s.profile_id FROM search_records s WHERE ${holds} OFFSET 0) s
          JOIN LATERAL (SELECT ${at} AS at FROM objects o WHERE o.id = s.id AND ${whereState(match.state)} OFFSET 0) o ON true
        ORDER BY o.at DESC, s.id DESC OFFSET 0) m
      ${row} ${ITSELF} WHERE ${rights} ${last} LIMIT ${page.limit}::int OFFSET ${page.offset}::int`;
  return isLater && words.rank !== null
    ? sql`SELECT m.id ${rank} FROM (${found}) AS m ${ITS_WORDS} ${last}`
    : sql`SELECT m.id ${words.rank === null ? empty : sql`, m.rank, m.size`} FROM (${found}) AS m ${last}`;
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
function within(match: Match, words: Words, page: Page, { from, until }: Range, indexed: boolean): Sql {
  const { at, holds } = partsOf(match, words, page);
  const [first, last] = [firstIdSince(from), until === null ? null : firstIdSince(until)];
  const created = sql`s.id >= ${first}::uuid ${last === null ? empty : sql`AND s.id < ${last}::uuid`}`;
  const others = last === null ? sql`o.id < ${first}::uuid` : sql`(o.id < ${first}::uuid OR o.id >= ${last}::uuid)`;
  const isWithin = sql`${at} >= ${from}::timestamptz ${until === null ? empty : sql`AND ${at} < ${until}::timestamptz`}`;
  const rows = indexed ? sql`search_records s` : sql`(SELECT s.* FROM search_records s WHERE ${created} OFFSET 0) s`;
  return allAmong(
    match,
    words,
    page,
    sql`(SELECT s.id, s.profile_id, s.size, s.words FROM ${rows} WHERE ${holds} AND ${created}
      UNION ALL SELECT s.id, s.profile_id, s.size, s.words
      FROM (SELECT o.id FROM objects o WHERE ${whereState(match.state)} AND ${isWithin} AND ${others} OFFSET 0) m ${ITS_WORDS}) s`,
    sql`AND ${isWithin}`,
  );
}

/** The smallest id of a record created at this moment. */
function firstIdSince(moment: string): string {
  const hex = Math.max(0, Date.parse(moment)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
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
 * Runs the statement that should read least: all records with rare words; all records that rights and filter admit, if an index
 * finds them and they are few; the last updated records; or all in order. Each gives the same answer, and one that does not give
 * the page is followed by the last, so estimates decide only how much is read.
 */
async function withWords(ctx: ReadContext, match: Match, words: Words, page: Page): Promise<Matched[]> {
  // There are too many filters to keep their statements prepared.
  const query = (statement: Sql): Promise<Matched[]> =>
    ctx.query<Matched>(statement, { freshPlan: match.filter !== null });
  const known = await match.statistics.frequencies(ctx);
  const share = shareOf(known, words.need);
  const wanted = page.limit + page.offset;
  const byWords = share * known.rows;
  if (byWords <= AT_ONCE * wanted) return await query(allAmong(match, words, page, sql`search_records s`));
  const admitted = await match.statistics.admitted(ctx, isVisible(match));
  const depth = Math.ceil((SPARE * wanted) / (share * admitted));
  const worth = Math.floor(Math.min(MAX_ADMITTED, Math.max(FEW, Math.min(byWords, depth) / SAVED)));
  if (match.indexed && admitted * known.rows <= worth) {
    const ids = await fewAdmitted(ctx, match, worth);
    const rows = sql`unnest(${ids ?? []}::uuid[]) AS m (id) ${ITS_WORDS}`;
    if (ids !== undefined) return await query(allAmong(match, words, page, rows));
  }
  return (await lastUpdated(ctx, match, words, page, byWords, depth)) ?? (await query(inOrder(match, words, page)));
}

/** The page from about as many last updated records as estimated, or more if these have too few matches; undefined if others are cheaper. */
async function lastUpdated(
  ctx: ReadContext,
  match: Match,
  words: Words,
  page: Page,
  byWords: number,
  estimate: number,
): Promise<Matched[] | undefined> {
  const found: Matched[] = [];
  let depth = Math.max(LEAST_DEPTH, estimate);
  for (let until: string | null = null; ; ) {
    const byIndex = depth * ENTRY + byWords * POSTING;
    if (depth * ENTRY + Math.min(byIndex, depth) >= byWords * IN_ORDER) return undefined;
    const from = await match.statistics.momentOf(ctx, match.order, depth);
    if (from === undefined || (until !== null && Date.parse(from) >= Date.parse(until))) return undefined;
    const rest = until === null ? page : { limit: page.limit - found.length, offset: 0, except: page.except };
    const statement = within(match, words, rest, { from, until }, byIndex < depth);
    // The best plan depends on the time.
    found.push(...(await ctx.query<Matched>(statement, { freshPlan: true })));
    if (found.length === page.limit) return found;
    // It is unknown how many matches precede the page.
    if (found.length === 0 && page.offset > 0) return undefined;
    until = from;
    const missing = SPARE * (page.limit - found.length) + 1;
    depth = Math.ceil(depth * (found.length === 0 ? DEEPER : 1 + missing / (page.offset + found.length)));
  }
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
  // Without words, the planner of PostgreSQL chooses the plan for the values.
  if (words === null) return await ctx.query<Matched>(withoutWords(match, page), { freshPlan: true });
  const known = await match.memory?.find(words.need, page, words.rank?.ranking ?? null);
  if (known !== undefined) return known;
  return await withWords(ctx, match, words, page);
}

const FRESH_MS = 60_000;
/** Maximum number of cached conditions. */
const MAX_CONDITIONS = 1000;
/** Number of last updated records on which a condition is measured. */
const SEEN = 1000;

/** Up to this number of records, the moment is read; beyond it, it is estimated. */
const READ = 20_000;

export type Order = 'updated_at' | 'created_at';

export interface Frequencies {
  /** Number of records. */
  rows: number;
  /** Stored lexeme → share of the records that contain it; only the most frequent lexemes. */
  shares: ReadonlyMap<string, number>;
}

/** Times between which equally many records lie, earliest first, in milliseconds. */
type Moments = Readonly<Record<Order, readonly number[]>>;

/** Cached for a minute; one instance per process. */
export class SearchStatistics {
  #known: Frequencies & { moments: Moments } = {
    rows: 0,
    shares: new Map(),
    moments: { updated_at: [], created_at: [] },
  };
  #asOf = Number.NEGATIVE_INFINITY;
  readonly #admitted = new Map<string, { share: number; asOf: number }>();

  /** From the statistics of the planner. */
  async frequencies(ctx: ReadContext): Promise<Frequencies & { moments: Moments }> {
    if (performance.now() - this.#asOf < FRESH_MS) return this.#known;
    this.#asOf = performance.now();
    const bounds = (name: Order): Sql => sql`ARRAY(SELECT extract(epoch FROM at)::float8 * 1000 FROM pg_stats,
      unnest(histogram_bounds::text::timestamptz[]) WITH ORDINALITY AS b (at, n)
      WHERE schemaname = current_schema() AND tablename = 'objects' AND attname = ${name} ORDER BY n) AS ${raw(name)}`;
    const [row] = await ctx.query<{ rows: number; words: string[] | null; shares: number[] | null } & Moments>(sql`
      SELECT (SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'search_records'::regclass) AS rows,
        s.most_common_elems::text::text[] AS words, s.most_common_elem_freqs::float8[] AS shares,
        ${bounds('updated_at')}, ${bounds('created_at')}
      FROM (SELECT 1) AS one LEFT JOIN pg_stats s
        ON s.schemaname = current_schema() AND s.tablename = 'search_records' AND s.attname = 'words'`);
    const shares = new Map((row?.words ?? []).map((word, index) => [word, row?.shares?.[index] ?? 0]));
    const moments = { updated_at: row?.updated_at ?? [], created_at: row?.created_at ?? [] };
    this.#known = { rows: row?.rows ?? 0, shares, moments };
    return this.#known;
  }

  /** Share of the last updated active records that satisfy a predicate on `o`; never 0. */
  async admitted(ctx: ReadContext, predicate: Sql): Promise<number> {
    const key = `${predicate.text} ${JSON.stringify(predicate.values)}`;
    const known = this.#admitted.get(key);
    if (known !== undefined && performance.now() - known.asOf < FRESH_MS) return known.share;
    const [row] = await ctx.query<{ seen: number; admitted: number }>(
      sql`SELECT count(*) AS seen, count(*) FILTER (WHERE ${predicate}) AS admitted
        FROM (SELECT o.* FROM objects o WHERE o.state = 'ACTIVE' ORDER BY o.updated_at DESC, o.id DESC LIMIT ${SEEN}::int) AS o`,
      { freshPlan: true },
    );
    const share = ((row?.admitted ?? 0) + 0.5) / ((row?.seen ?? 0) + 1);
    if (this.#admitted.size >= MAX_CONDITIONS) this.#admitted.clear();
    this.#admitted.set(key, { share, asOf: performance.now() });
    return share;
  }

  /** A moment since which about this many active records were updated or created; undefined if there are fewer. */
  async momentOf(ctx: ReadContext, order: Order, depth: number): Promise<string | undefined> {
    const { rows, moments } = await this.frequencies(ctx);
    if (depth > READ) {
      const at = momentAmong(moments[order], (depth / Math.max(1, rows)) * (moments[order].length - 1));
      return at === undefined ? undefined : new Date(at).toISOString();
    }
    const at = raw(`o.${order}`);
    const [row] = await ctx.query<{ at: number }>(
      sql`SELECT extract(epoch FROM ${at})::float8 * 1000 AS at FROM objects o WHERE o.state = 'ACTIVE'
        ORDER BY ${at} DESC, o.id DESC OFFSET ${depth}::int LIMIT 1`,
      { freshPlan: true },
    );
    return row === undefined ? undefined : new Date(row.at).toISOString();
  }
}

/** The moment this many distances before the last one, interpolated; undefined if there is none. */
function momentAmong(moments: readonly number[], back: number): number | undefined {
  const place = moments.length - 1 - back;
  const [before, behind] = [moments[Math.floor(place)], moments[Math.floor(place) + 1]];
  if (before === undefined || behind === undefined) return undefined;
  return before + (behind - before) * (place - Math.floor(place));
}

/** Estimated share of all records that satisfy the need. Words that are not frequent count as 0. */
export function shareOf(frequencies: Frequencies, need: Need): number {
  const known = new Map<Need, number>();
  const of = (one: Need): number => {
    const share = known.get(one) ?? estimate(one);
    known.set(one, share);
    return share;
  };
  const estimate = (one: Need): number => {
    if (one.kind === 'lexemes') return anyOf(one.operands.flatMap((operand) => frequenciesOf(frequencies, operand)));
    const parts = one.needs.map(of);
    return one.kind === 'any' ? anyOf(parts) : together(parts);
  };
  return of(need);
}

function frequenciesOf({ rows, shares }: Frequencies, { lexeme, prefix, most }: Operand): number[] {
  if (most !== undefined) return [Math.min(1, most / Math.max(1, rows))];
  if (!prefix) return [shares.get(lexeme) ?? 0];
  return [...shares].flatMap(([word, share]) => (word.startsWith(lexeme) ? [share] : []));
}

/** As if words were independent. */
function anyOf(shares: readonly number[]): number {
  return 1 - shares.reduce((without, share) => without * (1 - share), 1);
}

/** Between independent and fully correlated words. */
function together(shares: readonly number[]): number {
  const [least = 0, ...others] = [...shares].sort((a, b) => a - b);
  return others.reduce((share, other) => share * Math.sqrt(other), least);
}
