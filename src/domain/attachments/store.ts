/** SQL on the tables `attachments` and `blobs`. */
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../mechanisms/context.ts';
import type { Database, Queryable } from '../../mechanisms/db/pool.ts';

export interface AttachmentRow {
  id: string;
  objectId: string;
  originalFilename: string;
  mediaType: string;
  size: number;
  sha256: string;
  revision: number;
  state: 'ACTIVE' | 'ARCHIVED';
  createdAt: string;
  createdBy: string | null;
  createdByName: string | null;
}

const COLUMNS = sql`a.id, a.object_id AS "objectId", a.original_filename AS "originalFilename", a.media_type AS "mediaType", a.size,
  a.sha256, a.revision, a.state, a.created_at AS "createdAt", a.created_by AS "createdBy",
  (SELECT display_name FROM users WHERE id = a.created_by) AS "createdByName"`;

export async function findAttachment(ctx: ReadContext, id: string): Promise<AttachmentRow | undefined> {
  const rows = await ctx.query<AttachmentRow>(sql`SELECT ${COLUMNS} FROM attachments a WHERE a.id = ${id}::uuid`);
  return rows[0];
}

export async function listAttachments(ctx: ReadContext, objectId: string): Promise<AttachmentRow[]> {
  return await ctx.query<AttachmentRow>(sql`
    SELECT ${COLUMNS} FROM attachments a WHERE a.object_id = ${objectId}::uuid AND a.state = 'ACTIVE'
    ORDER BY a.created_at, a.id`);
}

/** Says that content is about to be put: from now on for a day, the sweeper leaves it alone. */
export const touchBlob: TableWrite<{ sha256: string; at: string }> = {
  name: 'touch_blob',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO blobs AS b (sha256, touched_at)
    SELECT sha256, at FROM jsonb_to_recordset(${rows}) AS r (sha256 text, at timestamptz)
    ON CONFLICT (sha256) DO UPDATE SET touched_at = greatest(b.touched_at, excluded.touched_at) RETURNING 1`,
};

export const insertAttachment: TableWrite<{
  id: string;
  object_id: string;
  original_filename: string;
  media_type: string;
  size: number;
  sha256: string;
  at: string;
  by: string | null;
}> = {
  name: 'insert_attachment',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO attachments (id, object_id, original_filename, media_type, size, sha256, revision, created_at, created_by)
    SELECT id, object_id, original_filename, media_type, size, sha256, 1, at, by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, object_id uuid, original_filename text, media_type text, size integer,
      sha256 text, at timestamptz, by uuid) RETURNING 1`,
};

export const archiveAttachment: TableWrite<{ id: string; expected: number }> = {
  name: 'archive_attachment',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE attachments a SET state = 'ARCHIVED', revision = a.revision + 1
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, expected integer)
    WHERE a.id = r.id AND a.revision = r.expected AND a.state = 'ACTIVE' RETURNING 1`,
};

/** Which of the keys are known and referred to or touched since `before`; the rest nobody misses. */
export async function listKept(db: Queryable, keys: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ sha256: string }>(
    sql`SELECT sha256 FROM blobs WHERE sha256 = ANY(${[...keys]}::text[])`,
  );
  return new Set(rows.map((row) => row.sha256));
}

/**
 * Forgets one piece of content that nothing refers to, and removes it by `remove` before the row's end is committed: whoever
 * touches the row meanwhile waits, finds it gone and puts the content anew.
 *
 * @returns false when there was none
 */
export async function forgetOne(
  db: Database,
  before: string,
  remove: (sha256: string) => Promise<void>,
): Promise<boolean> {
  return await db.transaction('BEGIN', async (tx) => {
    const [row] = await tx.query<{ sha256: string }>(sql`
      DELETE FROM blobs WHERE sha256 = (
        SELECT b.sha256 FROM blobs b WHERE b.touched_at < ${before}::timestamptz
          AND NOT EXISTS (SELECT 1 FROM attachments a WHERE a.sha256 = b.sha256)
        ORDER BY b.touched_at LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING sha256`);
    if (row === undefined) return false;
    await remove(row.sha256);
    return true;
  });
}
