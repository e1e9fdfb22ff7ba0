/** A lock by name that lasts as long as the process that holds it: whatever ends the process gives it back. */
import type { Database } from './pool.ts';

export interface SessionLock {
  release(): Promise<void>;
}

/** Takes the lock, on a connection of its own; undefined when another holds it. */
export async function trySessionLock(db: Database, name: string): Promise<SessionLock | undefined> {
  const client = await db.connect();
  const number = `('x' || substr(encode(sha256(convert_to($1, 'UTF8')), 'hex'), 1, 16))::bit(64)::bigint`;
  try {
    const { rows } = await client.query<{ got: boolean }>(`SELECT pg_try_advisory_lock(${number}) AS got`, [name]);
    if (rows[0]?.got !== true) {
      client.release();
      return undefined;
    }
  } catch (error) {
    client.release(true);
    throw error;
  }
  return {
    // The session ends with the connection, and the lock with the session.
    release: async () => client.release(true),
  };
}
