/** Order and limits of a list, and lists that are read in windows. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { OrderedWindow } from '../../contract/paging.ts';
import type { ReadContext } from '../unit-of-work/context.ts';

/** `ORDER BY` the columns, with the limits of the window; without a window, all rows in ascending order. */
export function inWindow(window: OrderedWindow | undefined, columns: readonly string[]): Sql {
  const order = columns.map((column) => raw(window?.newestFirst === true ? `${column} DESC` : column));
  const limits = window === undefined ? empty : sql`LIMIT ${window.limit}::int OFFSET ${window.offset}::int`;
  return sql`ORDER BY ${join(order)} ${limits}`;
}

/**
 * Bytes of the rows of one window, as the database counts them, one more row apart. A window is parsed in one turn of the event
 * loop when all of it has arrived.
 */
const WINDOW_BYTES = 1024 * 1024;
const FIRST_ROWS = 200;
const MOST_ROWS = 1000;

/** A part of a list. */
export interface Part<Row> {
  rows: Row[];
  isLast: boolean;
}

/**
 * Reads a list in windows. No connection is held between two of them.
 *
 * @param select the rows after a key in their order, with the columns `key` and `size` (bytes)
 */
export async function* readWindows<Row extends object>(
  ctx: ReadContext,
  select: (after: string | undefined, limit: number) => Sql,
): AsyncGenerator<Part<Row & { key: string }>> {
  let limit = FIRST_ROWS;
  for (let after: string | undefined; ; ) {
    const rows = await ctx.query<Row & { key: string; size: number; before: number; total: number }>(sql`
      SELECT * FROM (
        SELECT i.*, (sum(i.size) OVER (ROWS UNBOUNDED PRECEDING) - i.size)::bigint AS before, count(*) OVER ()::int AS total
        FROM (${select(after, limit)}) AS i) AS w
      WHERE w.before < ${WINDOW_BYTES}::bigint`);
    const total = rows[0]?.total ?? 0;
    const isCut = rows.length < total;
    const isLast = !isCut && total < limit;
    after = rows.at(-1)?.key;
    yield {
      rows: rows.map(({ size: _size, before: _before, total: _total, ...row }) => row as Row & { key: string }),
      isLast,
    };
    if (isLast) return;
    limit = isCut ? Math.max(1, rows.length * 2) : Math.min(MOST_ROWS, limit * 4);
  }
}

/** Bytes of a JSON column, or about as many. What is stored without compression need not be read for it. */
export function jsonSize(column: string): Sql {
  return raw(`CASE WHEN ${column} IS NULL THEN 0 WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
    ELSE octet_length(${column}::text) END`);
}
