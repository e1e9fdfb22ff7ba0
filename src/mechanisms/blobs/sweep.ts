/** The sweeper: content that nothing refers to goes after a day (decisions, "Comments, attachments, relations"). */
import { instant } from '../clock.ts';
import type { Database } from '../db/pool.ts';
import { adoptBlobs, type BlobUse, forgetBlob, listForgettable } from './register.ts';
import type { BlobStore } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const PORTION = 1000;

/** Held by each removal, and shared by all who must not have content removed meanwhile. */
const SWEEP_LOCK = 7_236_823_421;

/**
 * Lets nothing be swept until the function that it answers is called: for a backup, which reads content long after it saw who
 * uses it. A removal under way is waited for. The lock is a transaction's, so that it holds behind a pooler too.
 */
export async function holdSweeping(db: Database): Promise<() => Promise<void>> {
  const client = await db.connect();
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0');
    await client.query('SELECT pg_advisory_xact_lock_shared($1::bigint)', [SWEEP_LOCK]);
  } catch (error) {
    client.release(true);
    throw error;
  }
  return async () => {
    const lost = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    client.release(lost);
  };
}

/**
 * Removes content that has been without use for a day, left by a crash before its row included. There is one way out: content
 * without a row gets one first, so that nobody can begin to use it unseen.
 *
 * @returns how many pieces were removed
 */
export async function sweepBlobs(
  db: Database,
  blobs: BlobStore,
  uses: readonly BlobUse[],
  now: number,
): Promise<number> {
  const unknownSince = instant(now - DAY_MS - 1);
  for await (const keys of blobs.list(DAY_MS, now)) await adoptBlobs(db, keys, unknownSince);
  const before = instant(now - DAY_MS);
  let removed = 0;
  for (;;) {
    const keys = await listForgettable(db, before, uses, PORTION);
    let gone = 0;
    for (const key of keys) {
      if (await forgetBlob(db, key, before, uses, SWEEP_LOCK, () => blobs.remove(key))) gone++;
    }
    removed += gone;
    // Another sweeper may be at the rest.
    if (keys.length < PORTION || gone === 0) return removed;
  }
}
