/**
 * Estimates of word frequencies, of the number of records that a condition permits, and of change times, from the planner's
 * statistics and small samples. They are used only to choose query plans and never affect a result, because they include data
 * that the caller may not read.
 */
import type { ItemState } from '../../contract/state.ts';
import { whereState } from '../objects/index.ts';
import sql, { raw, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

const FRESH_MS = 60_000;
/** Maximum number of cached conditions. */
const MOST_CONDITIONS = 1000;
/** Number of pages in a sample. */
const SAMPLED_PAGES = 120;
/** With fewer records, sampling is not worth it. */
const WORTH_SAMPLING = 20_000;
/** If a sample has fewer hits than this, the planner's estimate is used, too. */
const ENOUGH_HITS = 5;
/** Up to this number of records, the position is counted exactly; beyond it, the change time is estimated. */
const COUNTED_OFF = 20_000;

export type Order = 'updated_at' | 'created_at';

interface Frequencies {
  rows: number;
  /** Stored lexeme → share of the rows; only the most frequent lexemes. */
  shares: ReadonlyMap<string, number>;
  /** Histogram bounds: equally many records lie between two of them, earliest first. */
  moments: Readonly<Record<Order, readonly string[]>>;
}

/** Cached for a minute; one instance per process. */
export class TermStatistics {
  #known: Frequencies = { rows: 0, shares: new Map(), moments: { updated_at: [], created_at: [] } };
  #asOf = Number.NEGATIVE_INFINITY;
  readonly #admitted = new Map<string, { share: number; asOf: number }>();

  async read(ctx: ReadContext): Promise<Frequencies> {
    if (performance.now() - this.#asOf < FRESH_MS) return this.#known;
    this.#asOf = performance.now();
    const bounds = (name: Order): Sql => sql`(SELECT histogram_bounds::text::text[] FROM pg_stats
      WHERE schemaname = current_schema() AND tablename = 'objects' AND attname = ${name}) AS ${raw(name)}`;
    const [row] = await ctx.query<{
      rows: number;
      words: string[] | null;
      shares: number[] | null;
      updated_at: string[] | null;
      created_at: string[] | null;
    }>(sql`
      SELECT (SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'search_records'::regclass) AS rows,
        s.most_common_elems::text::text[] AS words, s.most_common_elem_freqs::float8[] AS shares,
        ${bounds('updated_at')}, ${bounds('created_at')}
      FROM (SELECT 1) AS one LEFT JOIN pg_stats s
        ON s.schemaname = current_schema() AND s.tablename = 'search_records' AND s.attname = 'words'`);
    const shares = new Map<string, number>();
    for (const [index, word] of (row?.words ?? []).entries()) shares.set(word, row?.shares?.[index] ?? 0);
    const moments = { updated_at: row?.updated_at ?? [], created_at: row?.created_at ?? [] };
    this.#known = { rows: row?.rows ?? 0, shares, moments };
    return this.#known;
  }

  /** Estimated share of all records that satisfy a predicate on `o`. */
  async admitted(ctx: ReadContext, predicate: Sql): Promise<number> {
    const { rows } = await this.read(ctx);
    if (rows < WORTH_SAMPLING) return 0.5;
    const key = `${predicate.text} ${JSON.stringify(predicate.values)}`;
    const known = this.#admitted.get(key);
    if (known !== undefined && performance.now() - known.asOf < FRESH_MS) return known.share;
    const share = Math.min(1, Math.max(await estimated(ctx, predicate), 1) / rows);
    const sampled = await sample(ctx, predicate);
    // With hardly any hits, the sample only gives an upper bound; with some, it is better than the planner's estimate.
    const measured = sampled.holding >= ENOUGH_HITS ? sampled.holding / sampled.of : undefined;
    const most = (sampled.holding + ENOUGH_HITS) / Math.max(1, sampled.of);
    const result = measured ?? Math.min(share, most);
    if (this.#admitted.size >= MOST_CONDITIONS) this.#admitted.clear();
    this.#admitted.set(key, { share: result, asOf: performance.now() });
    return result;
  }

  /** A moment since which about this many records were changed or created; undefined if there are fewer. */
  async momentOf(ctx: ReadContext, order: Order, state: ItemState, depth: number): Promise<string | undefined> {
    const { rows, moments } = await this.read(ctx);
    if (depth > COUNTED_OFF) {
      const moment = momentAmong(moments[order], (depth / Math.max(1, rows)) * (moments[order].length - 1));
      if (moment !== undefined) return moment;
    }
    const at = raw(`o.${order}`);
    const [row] = await ctx.query<{ at: string }>(
      sql`SELECT ${at}::text AS at FROM objects o WHERE ${whereState(state)}
        ORDER BY ${at} DESC, o.id DESC OFFSET ${depth}::int LIMIT 1`,
      { freshPlan: true },
    );
    return row?.at;
  }
}

/** The moment this many records before the last one, interpolated between the bounds. */
function momentAmong(moments: readonly string[], back: number): string | undefined {
  const place = moments.length - 1 - back;
  const [before, behind] = [moments[Math.floor(place)], moments[Math.floor(place) + 1]].map((moment) =>
    moment === undefined ? Number.NaN : millisecondsOf(moment),
  ) as [number, number];
  const at = before + (behind - before) * (place - Math.floor(place));
  return Number.isFinite(at) ? new Date(at).toISOString() : undefined;
}

/** Parses an instant as PostgreSQL writes it, in UTC. */
export function millisecondsOf(moment: string): number {
  return Date.parse(
    `${moment
      .slice(0, 23)
      .replace(' ', 'T')
      .replace(/[+Z].*$/, '')}Z`,
  );
}

/** The planner's estimate from its statistics; reads no rows. */
async function estimated(ctx: ReadContext, predicate: Sql): Promise<number> {
  const [row] = await ctx.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
    sql`EXPLAIN (FORMAT JSON) SELECT 1 FROM objects o WHERE ${predicate}`,
    { freshPlan: true },
  );
  return row?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
}

async function sample(ctx: ReadContext, predicate: Sql): Promise<{ of: number; holding: number }> {
  const [pages] = await ctx.query<{ n: number }>(
    sql`SELECT greatest(relpages, 1)::float8 AS n FROM pg_class WHERE oid = 'objects'::regclass`,
  );
  const percent = Math.min(100, (100 * SAMPLED_PAGES) / (pages?.n ?? 1));
  const [row] = await ctx.query<{ of: number; holding: number }>(
    sql`SELECT count(*) AS of, count(*) FILTER (WHERE ${predicate}) AS holding
      FROM objects o TABLESAMPLE SYSTEM (${percent}::float4) WHERE o.state = 'ACTIVE'`,
  );
  return row ?? { of: 0, holding: 0 };
}

/**
 * Estimated share of all rows that contain one of the lexemes under one of the field tokens, or a word with one of the
 * prefixes.
 */
export function shareOf(
  known: Pick<Frequencies, 'shares'>,
  lexemes: readonly string[],
  fieldTokens: readonly string[],
  beginnings: readonly string[],
): number {
  const asked = new Set(fieldTokens.flatMap((fieldToken) => lexemes.map((lexeme) => fieldToken + lexeme)));
  // Assumes that words are independent.
  let without = 1;
  for (const word of asked) {
    if (!beginnings.some((beginning) => word.startsWith(beginning))) without *= 1 - (known.shares.get(word) ?? 0);
  }
  if (beginnings.length > 0) {
    for (const [word, frequency] of known.shares) {
      if (beginnings.some((beginning) => word.startsWith(beginning))) without *= 1 - frequency;
    }
  }
  return 1 - without;
}
