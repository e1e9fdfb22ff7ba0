/** Samples of stored rows for the impact of a plan. */
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext } from '../platform/unit-of-work/context.ts';

/** Up to this many rows, all are examined. */
export const MAX_EXACT = 100_000;
/** The rows that are examined of more. */
export const SAMPLE = 20_000;
/** The share of a sample of m rows deviates from that of all by more than this / sqrt(m) in 5 % of the cases (Hoeffding). */
const BOUND_95 = 1.36;

/**
 * The largest error, with a probability of 95 %, of a count that was projected from a random sample onto all rows; null if nothing
 * was examined.
 */
export function sampleError(total: number, examined: number): number | null {
  if (examined >= total) return 0;
  return examined === 0 ? null : Math.min(total, Math.ceil((total * BOUND_95) / Math.sqrt(examined)));
}

/** The error of a sum; null if a part of it was not counted. */
export function sumErrors(errors: readonly (number | null)[]): number | null {
  return errors.reduce((sum, error) => (sum === null || error === null ? null : sum + error), 0);
}

/**
 * The number of rows, and the ids of a random sample if there are more than `exact`. The same rows give the same sample.
 *
 * @param rows what follows FROM: a table with the alias `x`, and its WHERE. It has only rows that the caller may count, because
 *   the number of rows shows in errors and projected counts
 */
export async function sampleOf(
  ctx: Pick<ReadContext, 'query'>,
  rows: Sql,
  { exact = MAX_EXACT, size = SAMPLE }: { exact?: number; size?: number } = {},
): Promise<{ total: number; ids: string[] | null }> {
  const [row] = await ctx.query<{ total: number }>(sql`SELECT count(*)::int AS total FROM ${rows}`);
  const total = row?.total ?? 0;
  return { total, ids: total <= exact ? null : await shuffledIds(ctx, rows, size) };
}

/** Ids in an order that is random and always the same: the first m of them are a sample. */
async function shuffledIds(ctx: Pick<ReadContext, 'query'>, rows: Sql, limit: number): Promise<string[]> {
  const found = await ctx.query<{ id: string }>(sql`
    SELECT x.id FROM ${rows} ORDER BY md5(x.id::text) LIMIT ${limit}::int`);
  return found.map(({ id }) => id);
}

/**
 * The rows to examine, in a random order: all of them up to `MAX_EXACT`, a sample of more. The rows that were examined before
 * the time was over are a smaller sample.
 */
export async function shuffled(
  ctx: Pick<ReadContext, 'query'>,
  rows: Sql,
): Promise<{ total: number; ids: readonly string[] }> {
  const { total, ids } = await sampleOf(ctx, rows);
  return { total, ids: ids ?? (await shuffledIds(ctx, rows, MAX_EXACT)) };
}

/** A count of the examined rows, projected onto all. */
export function projected(count: number, total: number, examined: number): number {
  return examined === 0 ? 0 : Math.round((count * total) / examined);
}
