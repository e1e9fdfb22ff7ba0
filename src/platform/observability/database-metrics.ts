/**
 * Metrics computed from the database: sizes of queues and their ages. Each module defines its metrics as small queries. All of
 * them run in one statement, at most every few seconds however often they are read, and no count exceeds a bound.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Clock, instant } from '../clock.ts';
import type { Queryable } from '../database/pool.ts';

export interface DatabaseMetric {
  /** Name in Prometheus format. */
  name: string;
  help: string;
  /** A query that returns one number; null counts as 0. `now` is the current time. */
  sql(now: Sql): Sql;
}

export interface DatabaseMetricValue {
  name: string;
  help: string;
  value: number;
}

/** Upper bound of every count: metrics must stay cheap in the event of a backlog. */
export const COUNT_BOUND = 10_000;
const KEPT_MS = 2000;
const PATIENCE_MS = 1500;

/** Seconds since the instant that a query returns. */
export function secondsSince(now: Sql, found: Sql): Sql {
  return sql`SELECT greatest(0, extract(epoch FROM ${now} - (${found})))`;
}

/** Number of rows, up to the bound. `from` starts with a table and may include a WHERE clause. */
export function boundedCount(from: Sql): Sql {
  return sql`SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT ${raw(String(COUNT_BOUND))}) AS bounded`;
}

export interface DatabaseMetricsOptions {
  db: Queryable;
  clock: Clock;
  metrics: readonly DatabaseMetric[];
}

/** Queries all metrics at once and caches the result briefly. */
export class DatabaseMetrics {
  readonly #options: DatabaseMetricsOptions;
  #asked = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #values: readonly DatabaseMetricValue[] = [];

  constructor(options: DatabaseMetricsOptions) {
    this.#options = options;
  }

  /** The latest values. `docket_database_up` reports whether the database answered in time. */
  async read(): Promise<readonly DatabaseMetricValue[]> {
    const asked = performance.now();
    if (this.#running === undefined && asked - this.#asked > KEPT_MS) {
      this.#running = this.#ask(asked).finally(() => {
        this.#running = undefined;
      });
    }
    if (this.#running !== undefined) await patiently(this.#running);
    const up = performance.now() - this.#asked <= KEPT_MS + PATIENCE_MS;
    const health = { name: 'docket_database_up', help: '1 if the database answers.', value: up ? 1 : 0 };
    return up ? [health, ...this.#values] : [health];
  }

  async #ask(asked: number): Promise<void> {
    const { db, clock, metrics } = this.#options;
    const now = sql`${instant(clock.now())}::timestamptz`;
    const columns = metrics.map((metric, at) => sql`(${metric.sql(now)})::float8 AS ${raw(`f${at}`)}`);
    const [row] = await db.query<Record<string, number | null>>(sql`SELECT ${join(columns, ',\n')}`);
    this.#values = metrics.map(({ name, help }, at) => ({ name, help, value: row?.[`f${at}`] ?? 0 }));
    this.#asked = asked;
  }
}

/** Waits until it settles, but no longer than a scrape can wait. */
async function patiently(running: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, PATIENCE_MS);
  await Promise.race([running.catch(() => {}), late.promise]);
  clearTimeout(timer);
}
