/** Estimates by which a statement is chosen. They decide how much is read, never what is found. */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import type { Operand } from '../indexing/lexemes.ts';
import type { Order, Words } from '../query.ts';

const FRESH_MS = 60_000;
/** Maximum number of cached conditions. */
const MAX_CONDITIONS = 1000;
/** Number of last updated records on which a condition is measured. */
const SEEN = 1000;

/** Up to this number of records, the moment is read; beyond it, it is estimated. */
const READ = 20_000;

export interface Frequencies {
  /** Number of records. */
  rows: number;
  /** Stored lexeme → share of the records that contain it; only the most frequent lexemes. */
  shares: ReadonlyMap<string, number>;
}

/** Times between which equally many records lie, earliest first, in milliseconds. */
type Moments = Readonly<Record<Order, readonly number[]>>;

/** What a statement is chosen by. */
export type Estimates = Pick<SearchStatistics, 'frequencies' | 'admitted' | 'momentOf'>;

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

/** Estimated share of all records that have the words. Words that are not frequent count as 0. */
export function shareOf(frequencies: Frequencies, words: Words): number {
  const known = new Map<Words, number>();
  const of = (one: Words): number => {
    const share = known.get(one) ?? estimate(one);
    known.set(one, share);
    return share;
  };
  const ofOperands = (operands: readonly Operand[]): number =>
    either(operands.flatMap((operand) => frequenciesOf(frequencies, operand)));
  const estimate = (one: Words): number => {
    switch (one.kind) {
      case 'word':
      case 'title':
        return either([one.free, ...one.classes].map(({ matched }) => ofOperands(matched)));
      case 'number':
        return ofOperands([one.operand]);
      case 'any':
        return either(one.parts.map(of));
      case 'all':
        return together(one.parts.map(of));
    }
  };
  return of(words);
}

function frequenciesOf({ rows, shares }: Frequencies, { lexeme, prefix, most }: Operand): number[] {
  if (most !== undefined) return [Math.min(1, most / Math.max(1, rows))];
  if (!prefix) return [shares.get(lexeme) ?? 0];
  return [...shares].flatMap(([word, share]) => (word.startsWith(lexeme) ? [share] : []));
}

/** As if words were independent. */
function either(shares: readonly number[]): number {
  return 1 - shares.reduce((without, share) => without * (1 - share), 1);
}

/** Between independent and fully correlated words. */
function together(shares: readonly number[]): number {
  const [least = 0, ...others] = [...shares].sort((a, b) => a - b);
  return others.reduce((share, other) => share * Math.sqrt(other), least);
}
