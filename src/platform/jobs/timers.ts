/**
 * Timers: rows with a moment at which something is done in a unit of work. Any number of processes may run them, and each may stop
 * at any time. The stored moment only selects candidates: what is fired decides by the record whether it is due.
 */
import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { type Fault, isFault } from '../../lib/fault.ts';
import type { Queryable } from '../database/pool.ts';
import type { Backlog } from '../journal/journal.ts';
import type { Moment } from '../moments.ts';
import type { WriteContext } from '../unit-of-work/context.ts';

export interface TimerTable {
  name: string;
  /** The name of a row in statements. */
  alias: string;
  /** The column of the moment. */
  due: string;
  /** Predicate on a row: its moment is to come. With `due`, it is that of an index. */
  pending: Sql;
}

function parts({ name, alias, due, pending }: TimerTable): { from: Sql; moment: Sql; pending: Sql } {
  return { from: raw(`${name} ${alias}`), moment: raw(`${alias}.${due}`), pending };
}

/** When the next timer is due. */
export function nextTimer(table: TimerTable, task: string): Moment {
  const { from, moment, pending } = parts(table);
  const next = (since: string): Sql =>
    sql`(SELECT min(${moment}) FROM ${from} WHERE ${pending} AND ${moment} > ${since}::timestamptz)`;
  return { task, next };
}

/** The oldest due timers. @param join further tables with their conditions */
export function dueTimers(table: TimerTable, columns: Sql, now: string, limit: number, join: Sql = empty): Sql {
  const { from, moment, pending } = parts(table);
  return sql`SELECT ${columns} FROM ${from} ${join} WHERE ${pending} AND ${moment} <= ${now}::timestamptz
    ORDER BY ${moment} LIMIT ${limit}::int`;
}

/** Those of the selected rows that no other process has locked, locked until the unit of work ends. */
export async function lockTimers<Row>(ctx: WriteContext, { alias }: TimerTable, select: Sql): Promise<Row[]> {
  return await ctx.lock<Row>(sql`${select} FOR NO KEY UPDATE OF ${raw(alias)} SKIP LOCKED`);
}

/** Due timers that have not fired yet, counted up to a limit. */
export async function dueBacklog(db: Queryable, table: TimerTable, now: string, limit: number): Promise<Backlog> {
  const due = dueTimers(table, sql`${parts(table).moment} AS at`, now, limit);
  const [row] = await db.query<Backlog>(sql`SELECT count(*)::int AS waiting, min(at) AS "oldestAt" FROM (${due}) AS t`);
  return row ?? { waiting: 0, oldestAt: null };
}

interface Firing<Key> {
  /** How many at the same time. */
  atOnce: number;
  /** Fires the timer if it is still due. */
  fire(key: Key): Promise<unknown>;
  /** Whether the fault is of what the timer fires, and not of the service. */
  isRefusal(fault: Fault): boolean;
  /** Takes a timer although what it fires is refused. */
  refused(key: Key, fault: Fault): Promise<unknown>;
  /** After an error of the service: so that failing timers do not hold up all others. */
  putOff?(key: Key): Promise<unknown>;
}

/** Fires timers, each in its own unit of work. Throws the errors of single ones after all of them. */
export async function fireEach<Key>(keys: readonly Key[], firing: Firing<Key>): Promise<void> {
  const errors: unknown[] = [];
  const fire = async (key: Key): Promise<void> => {
    try {
      await firing.fire(key);
    } catch (error) {
      if (isFault(error) && firing.isRefusal(error)) return void (await firing.refused(key, error));
      if (!isFault(error)) await firing.putOff?.(key);
      throw error;
    }
  };
  const left = keys.values();
  const takeNext = async (): Promise<void> => {
    for (const key of left) await fire(key).catch((error: unknown) => errors.push(error));
  };
  await Promise.all(Array.from({ length: firing.atOnce }, takeNext));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} timers could not be run`);
}

/**
 * Updates stored moments after a change of what they are computed from. The rows themselves show what is left to do, so it can be
 * interrupted and resumed.
 */
export class MomentUpdater {
  #upToDate = '';
  #checkedAt = Number.NEGATIVE_INFINITY;

  /**
   * Runs `update` if the key has changed since it was done, or was done so long ago: a unit of work that began before the change may
   * have written afterwards.
   *
   * @returns whether there is more to do at once
   */
  async run(
    { key, nowMs, recheckMs }: { key: string; nowMs: number; recheckMs: number },
    update: (isChanged: boolean) => Promise<'done' | 'more' | 'wait'>,
  ): Promise<boolean> {
    const isChanged = key !== this.#upToDate;
    if (!isChanged && Math.abs(nowMs - this.#checkedAt) < recheckMs) return false;
    const result = await update(isChanged);
    if (result === 'done') {
      this.#upToDate = key;
      this.#checkedAt = nowMs;
    }
    return result === 'more';
  }
}
