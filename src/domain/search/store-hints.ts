/**
 * How frequent words are, as the planner knows it: a hint about which way to a result is the shorter one, never a part of the
 * result, since it counts what the caller may not see.
 */
import sql from 'sql-template-tag';
import type { ReadContext } from '../../mechanisms/context.ts';

const FRESH_MS = 60_000;

interface Frequencies {
  rows: number;
  /** Stored lexeme → share of the rows; only the most frequent ones. */
  shares: ReadonlyMap<string, number>;
}

/** Remembered for a minute; one value for the whole process. */
export class WordHints {
  #known: Frequencies = { rows: 0, shares: new Map() };
  #asOf = Number.NEGATIVE_INFINITY;

  async read(ctx: ReadContext): Promise<Frequencies> {
    if (performance.now() - this.#asOf < FRESH_MS) return this.#known;
    this.#asOf = performance.now();
    const [row] = await ctx.query<{ rows: number; words: string[] | null; shares: number[] | null }>(sql`
      SELECT (SELECT greatest(reltuples, 0)::float8 FROM pg_class WHERE oid = 'search_records'::regclass) AS rows,
        s.most_common_elems::text::text[] AS words, s.most_common_elem_freqs::float8[] AS shares
      FROM (SELECT 1) AS one LEFT JOIN pg_stats s
        ON s.schemaname = current_schema() AND s.tablename = 'search_records' AND s.attname = 'words'`);
    const shares = new Map<string, number>();
    for (const [index, word] of (row?.words ?? []).entries()) shares.set(word, row?.shares?.[index] ?? 0);
    this.#known = { rows: row?.rows ?? 0, shares };
    return this.#known;
  }
}

/** Estimated share of all rows that hold one of the lexemes, under one of the labels, or a word that begins with a beginning. */
export function shareOf(
  known: Frequencies,
  lexemes: readonly string[],
  labels: readonly string[],
  beginnings: readonly string[],
): number {
  let share = 0;
  for (const label of labels) {
    for (const lexeme of lexemes) share += known.shares.get(label + lexeme) ?? 0;
  }
  for (const beginning of beginnings) {
    for (const [word, frequency] of known.shares) if (word.startsWith(beginning)) share += frequency;
  }
  return Math.min(1, share);
}
