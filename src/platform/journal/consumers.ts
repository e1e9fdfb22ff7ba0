/**
 * Consumers of the journal: each handles the committed events in the order of their places, some at a time, and keeps its place in the
 * table `journal_consumers`. A place is given after commit and without gaps (`places.ts`), so a place that is kept skips no event,
 * however late its transaction is committed.
 *
 * What a consumer writes in the transaction that moves its place is written exactly once; what it does outside is done at least once.
 * One process at a time handles a consumer: it holds the row. After a kill, another one takes the same events again. A backup has
 * places and events as of the same moment, so a consumer goes on after a restore, though transaction ids start again there. What a
 * consumer has made is rebuilt from the beginning by setting its place to 0.
 *
 * A new consumer needs a row in the table, from a migration: with place 0 it gets all events that ever were.
 */
import sql, { raw, type Sql } from 'sql-template-tag';
import { rowCheck } from '../audit/checks.ts';
import type { Database, Queryable, Transaction } from '../database/pool.ts';
import { boundedCount, COUNT_BOUND, type DatabaseMetric, secondsSince } from '../observability/database-metrics.ts';
import type { TableWrite, WriteContext } from '../unit-of-work/context.ts';
import type { Backlog } from './journal.ts';
import { placingIsBehind, unplaced, unplacedRows } from './places.ts';

/** The events that a consumer handles next: those after place `after`, up to and including place `upTo`. */
export interface Batch {
  after: number;
  upTo: number;
  /** Where the last batch ended inside the first event, if it did. */
  within: string | null;
  /** Whether there are events after these. */
  hasMore: boolean;
}

/** Predicate: the journal row `alias` is one of these events. */
export function isOf(alias: string, { after, upTo }: Pick<Batch, 'after' | 'upTo'>): Sql {
  return sql`${raw(alias)}.seq IN (SELECT seq FROM journal_places WHERE place > ${after}::bigint AND place <= ${upTo}::bigint)`;
}

/** Predicate: the consumer has handled the event of the journal row `alias`. */
export function isHandled(alias: string, name: string): Sql {
  return sql`EXISTS (SELECT 1 FROM journal_places p JOIN journal_consumers c ON c.place >= p.place
    WHERE c.name = ${name} AND p.seq = ${raw(alias)}.seq)`;
}

/** Whether there are events for the consumer. Without a lock, which would be a write: an idle consumer writes nothing. */
export async function isBehind(db: Queryable, name: string): Promise<boolean> {
  const [row] = await db.query(
    sql`SELECT 1 FROM journal_consumers c JOIN journal_placing p ON p.place > c.place WHERE c.name = ${name}`,
  );
  return row !== undefined;
}

interface Locked {
  after: number;
  within: string | null;
  last: number;
}

/** Locks the consumer until the transaction ends, and gives its place and the last one, unless another process has it. */
const locking = (name: string): Sql => sql`
  SELECT c.place AS after, c.within, p.place AS last FROM journal_consumers c CROSS JOIN journal_placing p
  WHERE c.name = ${name} FOR UPDATE OF c SKIP LOCKED`;

/** @returns undefined if there are no events, or another process handles them */
async function lockBatch(
  lock: (statement: Sql) => Promise<Locked[]>,
  name: string,
  places: number,
): Promise<Batch | undefined> {
  const [row] = await lock(locking(name));
  // The last place is that of the snapshot, and may be older than the place of a consumer that was moved just before.
  if (row === undefined || row.last <= row.after) return undefined;
  const upTo = Math.min(row.last, row.after + places);
  return { after: row.after, upTo, within: row.within, hasMore: upTo < row.last };
}

/**
 * Handles the next events in one transaction.
 *
 * @param places maximum number of events
 * @returns whether there are more
 */
export async function consume(
  db: Pick<Database, 'query' | 'transaction'>,
  name: string,
  places: number,
  handle: (batch: Batch, tx: Transaction) => Promise<void>,
): Promise<boolean> {
  if (!(await isBehind(db, name))) return false;
  return await db.transaction('BEGIN', async (tx) => {
    const batch = await lockBatch((statement) => tx.query(statement), name, places);
    if (batch === undefined) return false;
    await handle(batch, tx);
    await tx.query(sql`UPDATE journal_consumers SET place = ${batch.upTo}::bigint WHERE name = ${name}`);
    return batch.hasMore;
  });
}

/** Locks the consumer for other work on what it has made. @returns false if another process has it */
export async function lockConsumer(tx: Transaction, name: string): Promise<boolean> {
  return (await tx.query<Locked>(locking(name))).length > 0;
}

/** Locks the next events for a unit of work, which plans `moveConsumer` beside what it writes. */
export async function takeBatch(ctx: WriteContext, name: string, places: number): Promise<Batch | undefined> {
  return await lockBatch((statement) => ctx.lock(statement), name, places);
}

export const moveConsumer: TableWrite<{ name: string; place: number; within: string | null }> = {
  name: 'move_journal_consumers',
  guard: false,
  sql: (rows: Sql) => sql`
    UPDATE journal_consumers c SET place = r.place, within = r.within
    FROM jsonb_to_recordset(${rows}) AS r (name text, place bigint, within text) WHERE c.name = r.name`,
};

/**
 * The place of the consumer, for readers that correct what it has made by the events that it has not handled (`committedAfter`).
 * Undefined while places are given to rows of another storage.
 */
export async function consumerPlace(db: Queryable, name: string): Promise<number | undefined> {
  const [row] = await db.query<{ place: number }>(sql`
    SELECT c.place FROM journal_consumers c CROSS JOIN journal_placing p WHERE c.name = ${name} AND NOT ${placingIsBehind('p')}`);
  return row?.place;
}

/**
 * Query for the events `j` that were committed before the statement began and come after the place, whether they have a place or not;
 * some twice.
 */
export function committedAfter(place: number, { columns, where }: { columns: Sql; where: Sql }): Sql {
  return sql`
    SELECT ${columns} FROM journal_places p JOIN journal j ON j.seq = p.seq WHERE p.place > ${place}::bigint AND ${where}
    UNION ALL ${unplaced({ columns, where })}`;
}

/** Query for the times of the events that the consumer has not handled, oldest first, each part up to the limit. */
function unhandled(name: string, limit: number): Sql {
  return sql`
    (SELECT j.at FROM journal_consumers c JOIN journal_places p ON p.place > c.place JOIN journal j ON j.seq = p.seq
      WHERE c.name = ${name} ORDER BY p.place LIMIT ${raw(String(limit))})
    UNION ALL ${unplacedRows(limit)}`;
}

/** The events that the consumer has not handled. */
export async function consumerBacklog(db: Queryable, name: string, limit: number): Promise<Backlog> {
  const [row] = await db.query<Backlog>(sql`
    SELECT least(count(*), ${limit}::int)::int AS waiting, min(at) AS "oldestAt" FROM (${unhandled(name, limit)}) AS unhandled`);
  return row ?? { waiting: 0, oldestAt: null };
}

/**
 * The lag of a consumer.
 *
 * @param metric beginning of the names of its metrics
 * @param what what was not done with the events
 */
export function consumerMetrics(name: string, metric: string, what: string): DatabaseMetric[] {
  const events = unhandled(name, COUNT_BOUND);
  return [
    {
      name: `${metric}_pending`,
      help: `Events ${what}, counted up to 10,000.`,
      sql: () => boundedCount(sql`(${events}) AS unhandled`),
    },
    {
      name: `${metric}_lag_seconds`,
      help: `Age of the oldest event ${what}.`,
      sql: (now) => secondsSince(now, sql`SELECT min(at) FROM (${unhandled(name, 1)}) AS unhandled`),
    },
  ];
}

export const consumersCheck = rowCheck(
  'I14 a consumer of the journal is at a place that exists',
  sql`SELECT c.name || ' at place ' || c.place AS what FROM journal_consumers c CROSS JOIN journal_placing p WHERE c.place > p.place`,
);
