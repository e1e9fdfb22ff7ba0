/** Order and limits of a list. */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { OrderedWindow } from '../../contract/paging.ts';

/** `ORDER BY` the columns, with the limits of the window; without a window, all rows in ascending order. */
export function inWindow(window: OrderedWindow | undefined, columns: readonly string[]): Sql {
  const order = columns.map((column) => raw(window?.newestFirst === true ? `${column} DESC` : column));
  const limits = window === undefined ? empty : sql`LIMIT ${window.limit}::int OFFSET ${window.offset}::int`;
  return sql`ORDER BY ${join(order)} ${limits}`;
}
