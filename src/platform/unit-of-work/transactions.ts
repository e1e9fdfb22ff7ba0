/** Transactions of units of work, savepoints, and the errors that retry a transaction or replay a stored response. */
import sql from 'sql-template-tag';
import { type Database, limitTime, timeLimitOf, type Transaction } from '../database/pool.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';

/** How long a dry run waits for one lock, and how long it runs, in milliseconds. */
export interface DryRunLimits {
  lockMs: number;
  totalMs: number;
}

/** A place in the journal that no event has. A change of a subscription in a dry run must not draw one from the sequence. */
const NO_PLACE = String(Number.MAX_SAFE_INTEGER);

/**
 * Runs `fn` in a transaction that is rolled back. It sets `docket.dry_run`, so that no sequence numbers are used up. It gives
 * way: once another transaction has waited for its locks for 50 ms, its statements fail until what took the locks is undone.
 *
 * @throws Fault OVERLOADED if it gave way outside a part that is undone, or if `limits.totalMs` are over
 */
export async function inDryRun<T>(
  db: Database,
  fn: (tx: Transaction) => Promise<T>,
  limits?: DryRunLimits,
): Promise<T> {
  return await db.transaction(
    'BEGIN',
    async (tx) => {
      await tx.query(sql`
        SELECT set_config('docket.dry_run', 'on', true), set_config('docket.period_seq', ${NO_PLACE}, true)`);
      if (limits !== undefined) await tx.query(sql`SELECT set_config('lock_timeout', ${String(limits.lockMs)}, true)`);
      const yielding = givingWay(tx);
      const own = limits === undefined ? yielding : limited(yielding, limits.totalMs);
      const result = await fn(own);
      // Results that its own limits made are no prediction. After one was reached, this fails as well.
      await own.query(sql`SELECT`);
      return result;
    },
    () => false,
  );
}

/** How long others wait before a dry run gives way, and the time between two looks at who waits, in milliseconds. */
const PATIENCE_MS = 50;
/** How long a part of several items waits for one lock, since it may hold locks of the others meanwhile, in milliseconds. */
const PART_LOCK_MS = 50;

const ENDS_SAVEPOINT = /^(?:ROLLBACK TO|RELEASE) /;
const UNDO = sql`ROLLBACK TO SAVEPOINT undone`;

/** Looks before a statement whether others wait for the transaction. Then all statements fail until the next undo. */
function givingWay(tx: Transaction): Transaction {
  let looked = performance.now();
  let gave = false;
  return {
    transaction: true,
    query: async (statement, options) => {
      if (statement.text === UNDO.text) {
        gave = false;
        looked = performance.now();
      }
      if (ENDS_SAVEPOINT.test(statement.text)) return await tx.query(statement, options);
      if (!gave && performance.now() - looked >= PATIENCE_MS) {
        gave = await isWaitedFor(tx);
        looked = performance.now();
      }
      if (gave) throw gaveWay();
      return await tx.query(statement, options);
    },
  };
}

async function isWaitedFor(tx: Transaction): Promise<boolean> {
  const [found] = await tx.query<{ waits: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM pg_locks l
      WHERE NOT l.granted AND l.waitstart < clock_timestamp() - make_interval(secs => ${PATIENCE_MS / 1000}::float8)
        AND pg_backend_pid() = ANY (pg_blocking_pids(l.pid))) AS waits`);
  return found?.waits === true;
}

function gaveWay(): Fault {
  return new Fault('OVERLOADED', problem('DRY_RUN_GAVE_WAY'), [], { headers: { 'Retry-After': '1' } });
}

/** Milliseconds by which the time limit of a statement may exceed what is left of the transaction's time. */
const TIME_STEP = 500;

function limited(tx: Transaction, totalMs: number): Transaction {
  const ends = performance.now() + totalMs;
  let granted = Number.POSITIVE_INFINITY;
  return {
    transaction: true,
    query: async (statement, options) => {
      // After an error, PostgreSQL takes nothing else until the savepoint is restored. That restores an earlier limit, too.
      if (statement.text.startsWith('ROLLBACK TO ')) granted = Number.POSITIVE_INFINITY;
      if (ENDS_SAVEPOINT.test(statement.text)) return await tx.query(statement, options);
      const left = Math.ceil(ends - performance.now());
      if (left <= 0) throw tookTooLong(totalMs);
      const own = timeLimitOf(statement);
      if (own !== undefined || granted - left > TIME_STEP) {
        granted = Math.min(own ?? left, left);
        await limitTime(tx, granted);
      }
      if (own !== undefined) return [];
      return await tx.query(statement, options);
    },
  };
}

function tookTooLong(totalMs: number): Fault {
  const message = `The dry run took longer than ${totalMs / 1000} s. Retry later or ask for less.`;
  return new Fault('OVERLOADED', message, [], { headers: { 'Retry-After': '1' } });
}

/** Runs a part of the transaction in a savepoint. If it throws, only the part is rolled back; the error is rethrown. */
export async function savepoint<T>(tx: Transaction, part: () => Promise<T>): Promise<T> {
  await tx.query(sql`SAVEPOINT part`);
  try {
    const result = await part();
    await tx.query(sql`RELEASE SAVEPOINT part`);
    return result;
  } catch (error) {
    await tx.query(sql`ROLLBACK TO SAVEPOINT part`);
    await tx.query(sql`RELEASE SAVEPOINT part`);
    throw error;
  }
}

/** Runs a part of the transaction and rolls it back, whether or not it throws. Its locks are released then. */
export async function undone<T>(tx: Transaction, part: () => Promise<T>, items = 1): Promise<T> {
  await tx.query(sql`SAVEPOINT undone`);
  try {
    if (items > 1) await tx.query(sql`SELECT set_config('lock_timeout', ${String(PART_LOCK_MS)}, true)`);
    return await part();
  } finally {
    await tx.query(UNDO);
    await tx.query(sql`RELEASE SAVEPOINT undone`);
  }
}

/** A transaction that is opened on first use and closed by the unit. */
export class HeldTransaction {
  readonly #db: Database;
  #tx: Transaction | undefined;
  #done: ((keep: boolean) => void) | undefined;
  #ended: Promise<boolean> | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  async open(): Promise<Transaction> {
    if (this.#tx !== undefined) return this.#tx;
    const opened = Promise.withResolvers<Transaction>();
    const finish = Promise.withResolvers<boolean>();
    this.#done = finish.resolve;
    this.#ended = this.#db.transaction(
      'BEGIN',
      async (tx) => {
        opened.resolve(tx);
        return await finish.promise;
      },
      (keep) => keep,
    );
    this.#ended.catch((error: unknown) => opened.reject(error));
    this.#tx = await opened.promise;
    return this.#tx;
  }

  async close(keep: boolean): Promise<void> {
    if (this.#ended === undefined) return;
    this.#done?.(keep);
    const ended = this.#ended;
    this.#ended = undefined;
    try {
      await ended;
    } catch (error) {
      if (keep) throw error;
    }
  }
}

const GUARD_STATE = 'DK001';
/**
 * Fails if the structure version changed since a plain membership was checked. All units of a group fail by it together, and each
 * checks again. Unlike after other guards, they are not more likely to fail then.
 */
export const STRUCTURE_GUARD = 'structure';

/** A fault thrown after existence and rights were checked. A stored response for the same idempotency key replaces it. */
export class AuthorizedFault extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

export function isAuthorizedFault(error: unknown): boolean {
  // A unique violation means that the row exists; the first call with this key may have created it.
  return (
    (error instanceof AuthorizedFault && error.fault.code !== 'RIGHT_MISSING' && error.fault.code !== 'NOT_FOUND') ||
    (error as { code?: unknown }).code === '23505'
  );
}

/** Whether the caller may change the record, and another one changed it first. */
export function isRevisionConflict(error: unknown): boolean {
  return error instanceof AuthorizedFault && error.fault.code === 'REVISION_CONFLICT';
}

export function unwrapAuthorizedFault(error: unknown): unknown {
  return error instanceof AuthorizedFault ? error.fault : error;
}

export function guardOf(error: unknown): string | undefined {
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  return code === GUARD_STATE && typeof detail === 'string' ? detail : undefined;
}

/** The error of a guard that is known to fail, without asking the database. */
export function failedGuard(guard: string): Error {
  return Object.assign(new Error(`guard ${guard} not met`), { code: GUARD_STATE, detail: guard });
}

export function contended(): Fault {
  return new Fault(
    'OVERLOADED',
    'Too many concurrent changes of the same item. Retry after the time in Retry-After.',
    [],
    {
      headers: { 'Retry-After': '1' },
    },
  );
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
