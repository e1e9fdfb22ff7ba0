/**
 * A lock that lasts as long as the process that holds it: whatever ends the process gives it back. It is held by a
 * transaction that does nothing, since a pooler gives a session to others between transactions; without a snapshot, such a
 * transaction is in nobody's way.
 */
import { createHash } from 'node:crypto';
import type { Database } from './pool.ts';

export interface SessionLock {
  release(): Promise<void>;
}

/** Takes the lock, on a connection of its own; undefined when another holds it. */
export async function trySessionLock(db: Pick<Database, 'connect'>, name: string): Promise<SessionLock | undefined> {
  return await tryNumberedLock(db, createHash('sha256').update(name).digest().readBigInt64BE(0));
}

/** The same for a lock that has a number. */
export async function tryNumberedLock(db: Pick<Database, 'connect'>, lock: bigint): Promise<SessionLock | undefined> {
  const client = await db.connect();
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    // Without parameters: a statement with some would keep its portal, with a snapshot, for which index builds wait.
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
        // The transaction ends with the connection, and the lock with the transaction, though at a moment of the server's.
        client.release(true);
      }
    },
  };
}
