/** Which content the service knows of: the table `blobs`. Every row of another table that names content refers to its row here. */
import sql, { join, type Sql } from 'sql-template-tag';
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

function forgettable(before: string, uses: readonly BlobUse[]): Sql {
  return join(
    [sql`b.touched_at < ${before}::timestamptz`, ...uses.map((use) => sql`NOT ${use(sql`b.sha256`)}`)],
    ' AND ',
  );
}

/** Content that nobody uses and nobody touched since `before`. */
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
 * Forgets the content if it still is forgettable, and removes it by `remove` before the end of its row is committed: whoever
 * touches it meanwhile waits, finds it gone and puts it anew. Does nothing while another holds `lock`.
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

/** All content that has a row; 64 characters each, so for tools alone. */
export async function knownBlobs(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ sha256: string }>(sql`SELECT sha256 FROM blobs ORDER BY sha256`);
  return rows.map((row) => row.sha256);
}
