/**
 * Reads the database's clock. A service reads it with each poll of the rights and configuration versions; a command reads it
 * once.
 */
import sql from 'sql-template-tag';
import { DatabaseClock } from '../clock.ts';
import type { Queryable } from './pool.ts';

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
