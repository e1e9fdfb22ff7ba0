/**
 * Rebuilds of derived data while the service runs: in steps, each stored with its position in one unit of work. A rebuild can be
 * stopped at any time, and any process continues it. Of several processes, one runs a step.
 */
import sql, { empty, type Sql } from 'sql-template-tag';
import { instant } from '../clock.ts';
import type { Queryable } from '../database/pool.ts';
import { IDLE_MS } from '../moments.ts';
import type { Caller, ReadContext, TableWrite, WriteContext } from '../unit-of-work/context.ts';
import type { Task } from '../tasks.ts';
import type { Work } from '../unit-of-work/work.ts';

/** When a step that waits for nothing is due: a clock that was set back must not hold it up. */
const AT_ONCE = '-infinity';

/** What a step did. */
export interface RebuildStep<Position> {
  /** Number of rows that it handled. */
  made: number;
  /** Where the next step continues; null if this one was the last. */
  next: Position | null;
  /** Milliseconds that the next step waits at least. */
  waitMs?: number;
}

/** One step, from `position` on: null at the beginning. */
export type RebuildPart<Position> = (ctx: WriteContext, position: Position | null) => Promise<RebuildStep<Position>>;

export interface RebuildProgress {
  /** Number of rows that all steps so far handled. */
  done: number;
  finished: boolean;
}

/** Predicate: the rebuild is running. */
export function isRebuilding(name: string): Sql {
  return sql`EXISTS (SELECT FROM rebuilds WHERE name = ${name} AND next_at IS NOT NULL)`;
}

/** Rows that the steps of the running rebuild handled so far; no row if none is running. */
export function rebuiltRows(name: string): Sql {
  return sql`SELECT done FROM rebuilds WHERE name = ${name} AND next_at IS NOT NULL`;
}

/**
 * Starts rebuilds that are not running. One with a version is for what it is computed by, and starts once for each version: an older
 * one that is running starts again.
 */
export const startRebuild: TableWrite<{ name: string; version?: number; at: string }> = {
  name: 'start_rebuilds',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO rebuilds AS b (name, version, started_at, next_at)
    SELECT name, coalesce(version, 0), at, ${AT_ONCE}::timestamptz FROM jsonb_to_recordset(${rows}) AS r (name text, version bigint, at timestamptz)
    ORDER BY name
    ON CONFLICT (name) DO UPDATE SET version = EXCLUDED.version, position = NULL, done = 0, started_at = EXCLUDED.started_at,
      next_at = EXCLUDED.next_at
    WHERE b.version < EXCLUDED.version OR b.next_at IS NULL AND EXCLUDED.version = 0`,
};

const moveRebuild: TableWrite<{ name: string; position: unknown; done: number; next_at: string | null }> = {
  name: 'move_rebuilds',
  guard: false,
  sql: (rows: Sql) => sql`
    UPDATE rebuilds b SET position = r.position, done = r.done, next_at = r.next_at
    FROM jsonb_to_recordset(${rows}) AS r (name text, position jsonb, done bigint, next_at timestamptz) WHERE b.name = r.name`,
};

/** Rows that the running rebuild has handled; undefined if none is running. */
export async function findRebuild(ctx: Pick<ReadContext, 'query'>, name: string): Promise<number | undefined> {
  const [row] = await ctx.query<{ done: number }>(rebuiltRows(name));
  return row?.done;
}

/** Those of the rebuilds that were ever started. */
export async function listRebuilds(
  db: Queryable,
  names: readonly string[],
): Promise<{ name: string; version: number; isRunning: boolean }[]> {
  return await db.query(sql`
    SELECT name, version, next_at IS NOT NULL AS "isRunning" FROM rebuilds WHERE name = ANY(${[...names]}::text[])`);
}

/**
 * Runs the next step, if it is due and no other process runs one.
 *
 * @param waits whether to wait for the step of another process instead
 * @returns undefined if there was no step to run
 */
export async function stepRebuild<Position>(
  ctx: WriteContext,
  name: string,
  part: RebuildPart<Position>,
  { waits = false } = {},
): Promise<RebuildProgress | undefined> {
  const [state] = await ctx.lock<{ position: Position | null; done: number }>(sql`
    SELECT position, done FROM rebuilds WHERE name = ${name} AND next_at <= ${ctx.now}::timestamptz
    FOR UPDATE ${waits ? empty : sql`SKIP LOCKED`}`);
  if (state === undefined) return undefined;
  const { made, next, waitMs } = await part(ctx, state.position);
  const done = state.done + made;
  const nextAt = waitMs === undefined ? AT_ONCE : instant(Date.parse(ctx.now) + waitMs);
  ctx.plan(moveRebuild, { name, position: next, done, next_at: next === null ? null : nextAt });
  return { done, finished: next === null };
}

/** A background task that continues a rebuild, whichever process started it. */
export function rebuildTask<Position>(
  { name, task, part }: { name: string; task: string; part: RebuildPart<Position> },
  work: Work,
  system: () => Promise<Caller>,
): Task {
  return {
    name: task,
    everyMs: 2000,
    idleMs: IDLE_MS,
    run: async () => {
      const result = await work.write(await system(), (ctx) => stepRebuild(ctx, name, part));
      return result.kind === 'done' && result.data?.finished === false;
    },
  };
}

/** Forgets the versions of rebuilds whose names start with `prefix`, other than `kept`, where the predicate holds. */
export async function forgetRebuilds(
  db: Queryable,
  prefix: string,
  kept: readonly string[],
  where: Sql,
): Promise<void> {
  await db.query(sql`
    DELETE FROM rebuilds WHERE starts_with(name, ${prefix}) AND name <> ALL (${[...kept]}::text[]) AND ${where}`);
}
