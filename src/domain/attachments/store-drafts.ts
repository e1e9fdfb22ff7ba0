/**
 * SQL on the table `attachment_drafts`: files that wait for a comment. They are in a table of their own, so that nothing that reads
 * the files of a record shows, counts or keeps them. Each read is limited to the uploader.
 */
import sql, { type Sql } from 'sql-template-tag';
import type { BlobUse } from '../../platform/blobs/register.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type GuardedWrite, guarded } from '../objects/index.ts';
import type { AttachmentRow } from './store.ts';

/** A draft is kept for a day. */
const FRESH = (now: string): Sql => sql`d.created_at > ${now}::timestamptz - interval '1 day'`;

async function select(ctx: ReadContext, where: Sql): Promise<AttachmentRow[]> {
  const { userId, displayName } = ctx.actor;
  if (userId === null) return [];
  return await ctx.query<AttachmentRow>(sql`
    SELECT d.id, d.object_id AS "objectId", NULL AS "commentId", d.original_filename AS "originalFilename",
      d.media_type AS "mediaType", d.size, d.sha256, 1 AS revision, 'ACTIVE' AS state, d.created_at AS "createdAt",
      d.created_by AS "createdBy", ${displayName}::text AS "createdByName"
    FROM attachment_drafts d WHERE d.created_by = ${userId}::uuid AND ${FRESH(ctx.now)} AND ${where}
    ORDER BY d.created_at, d.id`);
}

/** The draft, if it is the caller's. @param visible predicate on `d`; absent: the record is not checked */
export async function findDraft(ctx: ReadContext, id: string, visible?: Sql): Promise<AttachmentRow | undefined> {
  return (await select(ctx, sql`d.id = ${id}::uuid AND ${visible ?? sql`true`}`))[0];
}

/** The caller's drafts for comments on the record, or those of them with these ids. */
export async function listDrafts(
  ctx: ReadContext,
  objectId: string,
  ids: readonly string[] | null = null,
): Promise<AttachmentRow[]> {
  const wanted = ids === null ? sql`true` : sql`d.id = ANY(${[...ids]}::uuid[])`;
  return await select(ctx, sql`d.object_id = ${objectId}::uuid AND ${wanted}`);
}

export const insertDraft: GuardedWrite<
  {
    id: string;
    object_id: string;
    original_filename: string;
    media_type: string;
    size: number;
    sha256: string;
    at: string;
    by: string;
  },
  'attachment.add'
> = guarded({
  name: 'insert_attachment_draft',
  guard: true,
  records: ({ object_id }) => [object_id],
  sql: (rows: Sql) => sql`
    INSERT INTO attachment_drafts (id, object_id, original_filename, media_type, size, sha256, created_at, created_by)
    SELECT id, object_id, original_filename, media_type, size, sha256, at, by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, object_id uuid, original_filename text, media_type text, size integer,
      sha256 text, at timestamptz, by uuid) RETURNING 1`,
});

/** A comment takes the draft, or its uploader removes it. The database decides which of several does. */
export const deleteDraft: GuardedWrite<{ id: string; object_id: string }, 'attachment.add'> = guarded({
  name: 'delete_attachment_draft',
  guard: true,
  records: ({ object_id }) => [object_id],
  sql: (rows: Sql) => sql`
    DELETE FROM attachment_drafts d USING jsonb_to_recordset(${rows}) AS r (id uuid) WHERE d.id = r.id RETURNING 1`,
});

/** Removes drafts that no comment took within a day. */
export async function sweepDrafts(db: Queryable, now: string): Promise<void> {
  await db.query(sql`DELETE FROM attachment_drafts d WHERE NOT ${FRESH(now)}`);
}

export const draftUse: BlobUse = (sha256) => sql`EXISTS (SELECT 1 FROM attachment_drafts d WHERE d.sha256 = ${sha256})`;
