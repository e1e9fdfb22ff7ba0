/** Transactions of units of work: opened on first use, always rolled back, and savepoints. */
import sql from 'sql-template-tag';
import type { Database, Transaction } from '../database/pool.ts';

/** Runs `fn` in a transaction that is rolled back. It sets `docket.rehearsal`, so that no sequence numbers are used up. */
export async function inDryRun<T>(db: Database, fn: (tx: Transaction) => Promise<T>): Promise<T> {
  return await db.transaction(
    'BEGIN',
    async (tx) => {
      await tx.query(sql`SELECT set_config('docket.rehearsal', 'on', true)`);
      return await fn(tx);
    },
    () => false,
  );
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
