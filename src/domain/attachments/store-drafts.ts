/**
 * SQL on the table `attachment_drafts`: files that wait for a comment. They are in a table of their own, so that nothing that reads
 * the files of a record shows, counts or keeps them. Each read is limited to the uploader.
 */
import sql, { type Sql } from 'sql-template-tag';
import type { BlobUse } from '../../platform/blobs/register.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { guarded } from '../objects/index.ts';
import { columns } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto } from '../../platform/unit-of-work/table-writes.ts';
import type { AttachmentRow } from './store.ts';

/** A draft is kept for a day. */
const FRESH = (now: string): Sql => sql`d.created_at > ${now}::timestamptz - interval '1 day'`;

const COLUMNS = columns(tables.attachment_drafts, 'd');

async function select(ctx: ReadContext, where: Sql): Promise<AttachmentRow[]> {
  const { userId, displayName } = ctx.actor;
  if (userId === null) return [];
  return await ctx.query<AttachmentRow>(sql`
    SELECT ${COLUMNS}, NULL AS "commentId", 1 AS revision, 'ACTIVE' AS state, ${displayName}::text AS "createdByName"
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

export const insertDraft = guarded(
  'attachment.add',
  insertInto(tables.attachment_drafts, { name: 'insert_attachment_draft', records: ({ objectId }) => [objectId] }),
);

/** A comment takes the draft, or its uploader removes it. The database decides which of several does. */
export const deleteDraft = guarded(
  'attachment.add',
  deleteFrom(tables.attachment_drafts, {
    name: 'delete_attachment_draft',
    records: ({ objectId }) => [objectId],
    key: ['id', 'objectId'],
  }),
);

/** Removes drafts that no comment took within a day. */
export async function sweepDrafts(db: Queryable, now: string): Promise<void> {
  await db.query(sql`DELETE FROM attachment_drafts d WHERE NOT ${FRESH(now)}`);
}

export const draftUse: BlobUse = (sha256) => sql`EXISTS (SELECT 1 FROM attachment_drafts d WHERE d.sha256 = ${sha256})`;
