/** The sweeper: removes content that has been unused for a day (docs/spec/around-records.md). */
import { instant } from '../clock.ts';
import type { Database } from '../database/pool.ts';
import { adoptBlobs, type BlobUse, forgetBlob, listForgettable } from './register.ts';
import type { BlobStore } from './store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const PORTION = 1000;

/** Lock number. Removals take it exclusively; code that needs content to stay takes it in shared mode. */
const SWEEP_LOCK = 7_236_823_421;

/**
 * Blocks the sweeper until the returned function is called. For backups, which read content long after they determined what is
 * used. Waits for a removal in progress. The lock belongs to a transaction, so that it also works behind a pooler.
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
 * Removes content that has been unused for a day, including content that a crash left without a row. Such content first gets a
 * row, so that all removals follow the same locking and a concurrent use is noticed.
 *
 * @returns the number of removed blobs
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
    // Another sweeper may be processing the rest.
    if (keys.length < PORTION || gone === 0) return removed;
  }
}
