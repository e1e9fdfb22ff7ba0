/** When background work is due next, so that nothing has to look for due rows again and again. */
import sql, { join, type Sql } from 'sql-template-tag';
import type { Queryable } from './database/pool.ts';

/** The interval of tasks while nothing is written to the database: a net for what was missed. In milliseconds. */
export const IDLE_MS = 300_000;

/** The earliest moment at which a task has work. */
export interface Moment {
  task: string;
  /** A scalar of type `timestamptz`: the first moment after `since`, or null. It must read only the first entries of an index. */
  next(since: string): Sql;
}

/** The moments of the tasks that have one, in one statement. */
export async function readMoments(
  db: Queryable,
  moments: readonly Moment[],
  since: string,
): Promise<{ task: string; at: string }[]> {
  const rows = moments.map(({ task, next }) => sql`SELECT ${task}::text AS task, ${next(since)} AS at`);
  return await db.query(sql`SELECT task, at FROM (${join(rows, ' UNION ALL ')}) AS m WHERE at IS NOT NULL`);
}
