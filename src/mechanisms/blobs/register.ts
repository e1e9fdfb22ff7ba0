/** Which content the service knows of: the table `blobs`. Every row of another table that names content refers to its row here. */
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { Database, Queryable } from '../db/pool.ts';

/** Whether rows of a room name the content: a predicate over the column that holds its SHA-256. */
export type BlobUse = (sha256: Sql) => Sql;

/** Says that content is about to be put: for a day from now on, the sweeper leaves it alone. */
export async function touchBlobs(db: Queryable, keys: readonly string[], at: string): Promise<void> {
  await db.query(sql`
    INSERT INTO blobs AS b (sha256, touched_at)
    SELECT key, ${at}::timestamptz FROM unnest(${[...keys].sort()}::text[]) AS keys (key)
    ON CONFLICT (sha256) DO UPDATE SET touched_at = greatest(b.touched_at, excluded.touched_at)`);
}

/** Takes content in that lies in the store and has no row, as if it had been touched then; what has a row stays as it is. */
export async function adoptBlobs(db: Queryable, keys: readonly string[], at: string): Promise<void> {
  await db.query(sql`
    INSERT INTO blobs (sha256, touched_at)
    SELECT key, ${at}::timestamptz FROM unnest(${[...keys].sort()}::text[]) AS keys (key) ON CONFLICT DO NOTHING`);
}

/**
 * Forgets one piece of content that nobody uses and nobody touched since `before`, and removes it by `remove` before the end of
 * its row is committed: whoever touches it meanwhile waits, finds it gone and puts it anew.
 *
 * @returns false when there was none
 */
export async function forgetBlob(
  db: Database,
  before: string,
  uses: readonly BlobUse[],
  remove: (sha256: string) => Promise<void>,
): Promise<boolean> {
  const used = uses.map((use) => sql`AND NOT ${use(sql`b.sha256`)}`);
  return await db.transaction('BEGIN', async (tx) => {
    const [row] = await tx.query<{ sha256: string }>(sql`
      DELETE FROM blobs WHERE sha256 = (
        SELECT b.sha256 FROM blobs b WHERE b.touched_at < ${before}::timestamptz ${used.length === 0 ? empty : join(used, ' ')}
        ORDER BY b.touched_at LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING sha256`);
    if (row === undefined) return false;
    await remove(row.sha256);
    return true;
  });
}
