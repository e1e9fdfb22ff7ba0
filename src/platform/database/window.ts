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
const MAX_ROWS = 4000;

/** A part of a list. */
export interface RowWindow<Row> {
  rows: Row[];
  isLast: boolean;
}

/** Columns that say how much of a list a window is. */
interface InWindow {
  key: string;
  windowBytes: number;
  windowBefore: number;
  windowTotal: number;
}

function withoutWindow<Row extends object>(row: Row & InWindow): Row & { key: string } {
  const { windowBytes: _bytes, windowBefore: _before, windowTotal: _total, ...shown } = row;
  return shown as unknown as Row & { key: string };
}

/**
 * Reads a list in windows. No connection is held between two of them.
 *
 * @param select the rows after a key in their order, with the columns `key` and `windowBytes`
 */
export async function* readWindows<Row extends object>(
  ctx: ReadContext,
  select: (after: string | undefined, limit: number) => Sql,
): AsyncGenerator<RowWindow<Row & { key: string }>> {
  let limit = FIRST_ROWS;
  for (let after: string | undefined; ; ) {
    const rows = await ctx.query<Row & InWindow>(sql`
      SELECT * FROM (
        SELECT i.*, (sum(i."windowBytes") OVER (ROWS UNBOUNDED PRECEDING) - i."windowBytes")::bigint AS "windowBefore",
          count(*) OVER ()::int AS "windowTotal"
        FROM (${select(after, limit)}) AS i) AS w
      WHERE w."windowBefore" < ${WINDOW_BYTES}::bigint`);
    const total = rows[0]?.windowTotal ?? 0;
    const isCut = rows.length < total;
    const isLast = !isCut && total < limit;
    after = rows.at(-1)?.key;
    yield {
      rows: rows.map(withoutWindow<Row>),
      isLast,
    };
    if (isLast) return;
    limit = isCut ? Math.max(1, rows.length * 2) : Math.min(MAX_ROWS, limit * 4);
  }
}

/** An order of rows: by a value, and rows with the same value by another one that is theirs alone. */
export interface Order {
  by: Sql;
  byType: 'text' | 'timestamptz' | 'integer';
  id: Sql;
  idType: 'uuid' | 'integer';
}

/**
 * Reads a list in windows, in this order. A row that is moved or removed meanwhile takes no others with it.
 *
 * @param from what follows FROM, with its condition
 * @param size bytes of the row `i`
 */
export async function* readInOrder<Row extends object>(
  ctx: ReadContext,
  { columns, from, size = raw('pg_column_size(i.*)') }: { columns: Sql; from: Sql; size?: Sql },
  { by, byType, id, idType }: Order,
): AsyncGenerator<RowWindow<Row>> {
  const windows = readWindows<Row>(ctx, (after, limit) => {
    const [value, last] = after === undefined ? [] : (JSON.parse(after) as (string | number)[]);
    const behind =
      after === undefined
        ? empty
        : sql`AND (${by}, ${id}) > (${value}::text::${raw(byType)}, ${last}::text::${raw(idType)})`;
    // The key is made of the rows of the window alone, not of all that are sorted.
    return sql`SELECT i.*, ${size} AS "windowBytes", json_build_array(i."orderBy", i."orderId")::text AS key FROM (
      SELECT ${columns}, ${by} AS "orderBy", ${id} AS "orderId" FROM ${from} ${behind}
      ORDER BY ${by}, ${id} LIMIT ${limit}::int) AS i`;
  });
  yield* eachOf(windows, ({ key: _key, ...row }) => {
    const { orderBy: _by, orderId: _id, ...shown } = row as unknown as Row & { orderBy: unknown; orderId: unknown };
    return shown as unknown as Row;
  });
}

/** The windows with each row changed. */
export async function* eachOf<Row, Shown>(
  windows: AsyncGenerator<RowWindow<Row>>,
  show: (row: Row) => Shown,
): AsyncGenerator<RowWindow<Shown>> {
  for await (const { rows, isLast } of windows) yield { rows: rows.map(show), isLast };
}

/** All rows of a list that is read in windows. */
export async function allRows<Row>(windows: AsyncGenerator<RowWindow<Row>>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const { rows } of windows) for (const row of rows) all.push(row);
  return all;
}

/** Bytes of a JSON column, or about as many. What is stored without compression need not be read for it. */
export function jsonSize(column: string): Sql {
  return raw(`CASE WHEN ${column} IS NULL THEN 0 WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
    ELSE octet_length(${column}::text) END`);
}
