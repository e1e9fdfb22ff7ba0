/** The database's clock, read. A service follows it with each reading of the epoch; a command reads it once. */
import sql from 'sql-template-tag';
import { DatabaseClock } from '../clock.ts';
import type { Queryable } from './pool.ts';

/** A column: the database's time in milliseconds since the epoch. */
export const databaseNow = sql`extract(epoch FROM clock_timestamp())::float8 * 1000`;

/** A clock that was set by the database's. */
export async function readClock(db: Queryable): Promise<DatabaseClock> {
  const clock = new DatabaseClock();
  const asked = performance.now();
  const [row] = await db.query<{ now: number }>(sql`SELECT ${databaseNow} AS now`);
  if (row !== undefined) clock.saw(row.now, asked, performance.now());
  return clock;
}
