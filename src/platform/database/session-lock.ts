/**
 * A lock that ends with the process that holds it, however the process ends. It is held by an idle transaction, because a
 * pooler may give the session to other clients between transactions. The transaction has no snapshot, so it does not block
 * vacuum or index builds.
 */
import { createHash } from 'node:crypto';
import type { Database } from './pool.ts';

export interface SessionLock {
  release(): Promise<void>;
}

/** Takes the lock on a separate connection; undefined if another process holds it. */
export async function trySessionLock(db: Pick<Database, 'connect'>, name: string): Promise<SessionLock | undefined> {
  return await tryNumberedLock(db, createHash('sha256').update(name).digest().readBigInt64BE(0));
}

/** The same for a lock that is identified by a number. */
export async function tryNumberedLock(db: Pick<Database, 'connect'>, lock: bigint): Promise<SessionLock | undefined> {
  const client = await db.connect();
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    // No parameters: a parameterised statement would keep its portal and snapshot, and index builds wait for snapshots.
    const { rows } = await client.query<{ got: boolean }>(`SELECT pg_try_advisory_xact_lock(${lock}) AS got`);
    if (rows[0]?.got !== true) {
      await client.query('ROLLBACK');
      client.release();
      return undefined;
    }
  } catch (error) {
    client.release(true);
    throw error;
  }
  return {
    release: async () => {
      try {
        await client.query('ROLLBACK');
        client.release();
      } catch {
        // Closing the connection ends the transaction and the lock, as soon as the server notices.
        client.release(true);
      }
    },
  };
}
