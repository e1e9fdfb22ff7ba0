/** Places in the write-ahead log: how far a database has got, and how far a reader has seen. */
import sql, { type Sql } from 'sql-template-tag';

/** A place in the log; grows with every change. */
export type Position = bigint;

const FORM = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/;

/** Undefined for what is no position. */
export function readPosition(text: string): Position | undefined {
  const [, high, low] = FORM.exec(text) ?? [];
  if (high === undefined || low === undefined) return undefined;
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function writePosition(position: Position): string {
  return `${(position >> 32n).toString(16).toUpperCase()}/${(position & 0xffff_ffffn).toString(16).toUpperCase()}`;
}

/**
 * A column of a statement on the primary: everything that the statement sees lies before it. What is committed is on disk
 * before it is seen, unless the session says that it need not be; then the end of what was written counts.
 */
export const positionColumn: Sql = sql`CASE WHEN pg_is_in_recovery() THEN NULL
  WHEN current_setting('synchronous_commit') = 'off' THEN pg_current_wal_insert_lsn()
  ELSE pg_current_wal_flush_lsn() END::text`;
