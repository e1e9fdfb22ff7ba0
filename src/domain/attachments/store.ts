/** SQL on the table `attachments`. */
import type { ItemState } from '../../contract/state.ts';
import { userName } from '../../platform/journal/journal.ts';
import sql, { raw, type Sql } from 'sql-template-tag';
import { type RowWindow, readInOrder } from '../../platform/database/window.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { ofVisibleComment } from '../comments/index.ts';
import { type GuardedWrite, guarded } from '../objects/index.ts';
import type { BlobUse } from '../../platform/blobs/register.ts';

export interface AttachmentRow {
  id: string;
  objectId: string;
  /** The comment that the file belongs to: only who may see it may see the file. */
  commentId: string | null;
  originalFilename: string;
  mediaType: string;
  size: number;
  sha256: string;
  revision: number;
  state: ItemState;
  createdAt: string;
  createdBy: string | null;
  createdByName: string | null;
}

const COLUMNS = sql`a.id, a.object_id AS "objectId", a.comment_id AS "commentId", a.original_filename AS "originalFilename", a.media_type AS "mediaType", a.size,
  a.sha256, a.revision, a.state, a.created_at AS "createdAt", a.created_by AS "createdBy",
  ${userName('a.created_by')} AS "createdByName"`;

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

export const insertAttachment: GuardedWrite<
  {
    id: string;
    object_id: string;
    comment_id: string | null;
    original_filename: string;
    media_type: string;
    size: number;
    sha256: string;
    at: string;
    by: string | null;
  },
  'attachment.add'
> = guarded({
  name: 'insert_attachment',
  guard: true,
  records: ({ object_id }) => [object_id],
  sql: (rows: Sql) => sql`
    INSERT INTO attachments (id, object_id, comment_id, original_filename, media_type, size, sha256, revision, created_at,
      created_by)
    SELECT id, object_id, comment_id, original_filename, media_type, size, sha256, 1, at, by
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, object_id uuid, comment_id uuid, original_filename text, media_type text, size integer,
      sha256 text, at timestamptz, by uuid) RETURNING 1`,
});

export const archiveAttachment: GuardedWrite<{ id: string; expected: number }, 'attachment.delete'> = guarded({
  name: 'archive_attachment',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE attachments a SET state = 'ARCHIVED', revision = a.revision + 1
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, expected integer)
    WHERE a.id = r.id AND a.revision = r.expected AND a.state = 'ACTIVE' RETURNING 1`,
});

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
export const giveToComment: GuardedWrite<{ id: string; object_id: string; comment_id: string }, 'attachment.add'> =
  guarded({
    name: 'give_to_comment',
    guard: true,
    records: ({ object_id }) => [object_id],
    sql: (rows: Sql) => sql`
      UPDATE attachments a SET comment_id = r.comment_id
      FROM jsonb_to_recordset(${rows}) AS r (id uuid, comment_id uuid)
      WHERE a.id = r.id AND a.comment_id IS NULL AND a.state = 'ACTIVE' RETURNING 1`,
  });
