/** SQL on the table `attachments`. */
import { userName } from '../../platform/journal/journal.ts';
import sql, { raw, type Sql } from 'sql-template-tag';
import { type RowWindow, readInOrder } from '../../platform/database/window.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { ofVisibleComment } from '../comments/index.ts';
import { guarded } from '../objects/index.ts';
import { columns } from '../../platform/database/table.ts';
import { type AttachmentsRow, tables } from '../../platform/database/tables.ts';
import { insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import type { BlobUse } from '../../platform/blobs/register.ts';

export interface AttachmentRow extends AttachmentsRow {
  createdByName: string | null;
}

const COLUMNS = sql`${columns(tables.attachments, 'a')}, ${userName('a.created_by')} AS "createdByName"`;

/** The attachment, unless it belongs to a comment that the caller may not see. The record is not checked. */
export async function findAttachment(ctx: ReadContext, id: string): Promise<AttachmentRow | undefined> {
  const [row] = await ctx.query<AttachmentRow>(sql`
    SELECT ${COLUMNS} FROM attachments a WHERE a.id = ${id}::uuid AND ${ofVisibleComment(ctx, 'a.comment_id')}`);
  return row;
}

/** The attachment if it is active and `visible` holds: one statement reads it and checks the rights to its record. */
export async function findServed(ctx: ReadContext, id: string, visible: Sql): Promise<AttachmentRow | undefined> {
  const rows = await ctx.query<AttachmentRow>(
    sql`SELECT ${COLUMNS} FROM attachments a WHERE a.id = ${id}::uuid AND a.state = 'ACTIVE' AND ${visible}
      AND ${ofVisibleComment(ctx, 'a.comment_id')}`,
  );
  return rows[0];
}

/** The active attachments that the caller may see, oldest first, in windows. */
export function attachmentWindows(ctx: ReadContext, objectId: string): AsyncGenerator<RowWindow<AttachmentRow>> {
  const from = sql`attachments a WHERE a.object_id = ${objectId}::uuid AND a.state = 'ACTIVE'
    AND ${ofVisibleComment(ctx, 'a.comment_id')}`;
  const order = { by: sql`a.created_at`, byType: 'timestamptz', id: sql`a.id`, idType: 'uuid' } as const;
  return readInOrder<AttachmentRow>(ctx, { columns: COLUMNS, from }, order);
}

export const insertAttachment = guarded(
  'attachment.add',
  insertInto(tables.attachments, { name: 'insert_attachment', records: ({ objectId }) => [objectId] }),
);

export const archiveAttachment = guarded(
  'attachment.delete',
  update(tables.attachments, {
    name: 'archive_attachment',
    next: 'revision',
    also: { state: sql`'ARCHIVED'` },
    where: sql`t.state = 'ACTIVE'`,
  }),
);

/** Archived attachments keep their content. */
export const attachmentUse: BlobUse = (sha256) => sql`EXISTS (SELECT 1 FROM attachments a WHERE a.sha256 = ${sha256})`;

/** Of these attachments of the record, those that belong to a comment that the caller may not see. */
export async function listHidden(ctx: ReadContext, objectId: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT a.id FROM attachments a WHERE a.object_id = ${objectId}::uuid AND a.id = ANY(${[...ids]}::uuid[])
      AND NOT ${ofVisibleComment(ctx, 'a.comment_id', true)}`);
  return new Set(rows.map(({ id }) => id));
}

/** The comment to which the file of an event belongs now. @param data column with the data of the event */
export function commentOfFile(data: string): Sql {
  return sql`(SELECT f.comment_id FROM attachments f WHERE f.id = (${raw(data)} ->> 'attachmentId')::uuid)`;
}

/** Those of the files that the caller added to the record and that no comment has. */
export async function listFree(ctx: ReadContext, objectId: string, ids: readonly string[]): Promise<AttachmentRow[]> {
  return await ctx.query<AttachmentRow>(sql`
    SELECT ${COLUMNS} FROM attachments a WHERE a.id = ANY(${[...ids]}::uuid[]) AND a.object_id = ${objectId}::uuid
      AND a.created_by = ${ctx.actor.userId}::uuid AND a.comment_id IS NULL AND a.state = 'ACTIVE'`);
}

/** Of two comments that take a file at once, one gets it. */
export const giveToComment = guarded(
  'attachment.add',
  update(tables.attachments, {
    name: 'give_to_comment',
    records: ({ objectId }) => [objectId],
    key: ['id', 'objectId'],
    set: ['commentId'],
    where: sql`t.comment_id IS NULL AND t.state = 'ACTIVE'`,
  }),
);
