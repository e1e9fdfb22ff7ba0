/**
 * The register of stored content (table `blobs`), and the removal of content that has been unused for a day
 * (docs/spec/around-records.md). Rows of other tables that name content refer to its row there.
 */
import sql, { join, type Sql } from 'sql-template-tag';
import type { Database, Queryable } from '../database/pool.ts';
import { instant } from '../clock.ts';
import type { BlobStore } from './store.ts';

/** Whether rows of a module refer to the content: a predicate over the column with its SHA-256. */
export type BlobUse = (sha256: Sql) => Sql;

/** Announces that content is about to be stored. The sweeper will not remove it for one day. */
export async function touchBlobs(db: Queryable, keys: readonly string[], at: string): Promise<void> {
  await db.query(sql`
    INSERT INTO blobs AS b (sha256, touched_at)
    SELECT key, ${at}::timestamptz FROM unnest(${[...keys].sort()}::text[]) AS keys (key)
    ON CONFLICT (sha256) DO UPDATE SET touched_at = greatest(b.touched_at, excluded.touched_at)`);
}

/**
 * Registers content that is in the store but has no row, with `at` as the time of its last use. Existing rows are not changed.
 */
export async function adoptBlobs(db: Queryable, keys: readonly string[], at: string): Promise<void> {
  await db.query(sql`
    INSERT INTO blobs (sha256, touched_at)
    SELECT key, ${at}::timestamptz FROM unnest(${[...keys].sort()}::text[]) AS keys (key) ON CONFLICT DO NOTHING`);
}

function forgettable(before: string, uses: readonly BlobUse[]): Sql {
  return join(
    [sql`b.touched_at < ${before}::timestamptz`, ...uses.map((use) => sql`NOT ${use(sql`b.sha256`)}`)],
    ' AND ',
  );
}

/** Unused content that was not touched since `before`. */
export async function listForgettable(
  db: Queryable,
  before: string,
  uses: readonly BlobUse[],
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ sha256: string }>(
    sql`SELECT b.sha256 FROM blobs b WHERE ${forgettable(before, uses)} LIMIT ${limit}::int`,
  );
  return rows.map((row) => row.sha256);
}

/**
 * Deletes the row of unused content and calls `remove` before the deletion commits. A concurrent `touchBlobs` waits for the
 * commit, then inserts a new row, and the content is stored again. Does nothing if another transaction holds `lock`.
 */
export async function forgetBlob(
  db: Database,
  sha256: string,
  before: string,
  uses: readonly BlobUse[],
  lock: number,
  remove: () => Promise<void>,
): Promise<boolean> {
  return await db.transaction('BEGIN', async (tx) => {
    const [held] = await tx.query<{ got: boolean }>(sql`SELECT pg_try_advisory_xact_lock(${lock}::bigint) AS got`);
    if (held?.got !== true) return false;
    const rows = await tx.query<{ one: number }>(
      sql`DELETE FROM blobs b WHERE b.sha256 = ${sha256} AND ${forgettable(before, uses)} RETURNING 1 AS one`,
    );
    if (rows.length === 1) await remove();
    return rows.length === 1;
  });
}

/** Keys of all registered content, 64 characters each; only for tools. */
export async function knownBlobs(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ sha256: string }>(sql`SELECT sha256 FROM blobs ORDER BY sha256`);
  return rows.map((row) => row.sha256);
}

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
