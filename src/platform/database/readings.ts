/** Readings of a database server: its clock, and its position in the write-ahead log (written, replayed, or seen by a reader). */
import sql, { type Sql } from 'sql-template-tag';
import { DatabaseClock } from '../clock.ts';
import type { Queryable } from './pool.ts';

/** A position in the log; grows with every change. */
export type Position = bigint;

const FORM = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/;

/** Parses a position; undefined if the text is not one. */
export function readPosition(text: string): Position | undefined {
  const [, high, low] = FORM.exec(text) ?? [];
  if (high === undefined || low === undefined) return undefined;
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function writePosition(position: Position): string {
  return `${(position >> 32n).toString(16).toUpperCase()}/${(position & 0xffff_ffffn).toString(16).toUpperCase()}`;
}

/**
 * A column for statements on the primary: all data visible to the statement lies before this position. A commit is flushed to
 * disk before it becomes visible, unless the session uses asynchronous commits; the insert position applies then.
 */
export const positionColumn: Sql = sql`CASE WHEN pg_is_in_recovery() THEN NULL
  WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
  ELSE pg_current_wal_flush_lsn() END::text`;

/** A column: the database's time in milliseconds since the Unix epoch. */
export const databaseNow = sql`extract(epoch FROM clock_timestamp())::float8 * 1000`;

/** Returns a clock that is set from the database's. */
export async function readClock(db: Queryable): Promise<DatabaseClock> {
  const clock = new DatabaseClock();
  const asked = performance.now();
  const [row] = await db.query<{ now: number }>(sql`SELECT ${databaseNow} AS now`);
  if (row !== undefined) clock.saw(row.now, asked, performance.now());
  return clock;
}
