/** Writes of attachments. Content is stored durably before the row that refers to it commits. */
import { isArchived, type ItemState } from '../../contract/state.ts';
import { createHash } from 'node:crypto';
import { Fault, faultAt } from '../../lib/fault.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { registry } from '../metadata/index.ts';
import { type Authorized, planHold, planOn, requireAction, requireActive, requireGranted } from '../objects/index.ts';
import { type AttachmentAnswer, attachmentAnswer, requireAttachment } from './queries.ts';
import { checkFilename, checkMediaType, decodeContent } from './rules.ts';
import * as store from './store.ts';

export interface AddInput {
  objectId: string;
  filename: string;
  contentBase64: string;
  mediaType?: string;
  /** Must equal the id of the record if given. */
  bodyObjectId?: string;
}

/**
 * Adds an attachment (docs/spec/around-records.md#attachments).
 *
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, INVALID_REQUEST, ATTACHMENT_EMPTY, ATTACHMENT_TOO_LARGE
 */
export async function addAttachment(ctx: WriteContext, input: AddInput): Promise<AttachmentAnswer> {
  if (input.bodyObjectId !== undefined && input.bodyObjectId !== input.objectId) {
    throw faultAt('INVALID_REQUEST', '/objectId', 'OBJECT_ID_MISMATCH');
  }
  return await addFile(ctx, input, (most) => decodeContent(input.contentBase64, most));
}

/**
 * Adds a file whose content is known already, such as one that came by mail.
 *
 * @param input `commentId`: only who may see this comment of the record may see the file
 * @param read the content; its argument is the maximum number of bytes
 * @throws Fault as `addAttachment`
 */
export async function addFile(
  ctx: WriteContext,
  input: Pick<AddInput, 'objectId' | 'filename' | 'mediaType'> & { commentId?: string | undefined },
  read: (most: number) => Uint8Array,
): Promise<AttachmentAnswer> {
  // Checked before the content is stored: callers without the right must not fill the blob store.
  const object = await requireGranted(ctx, input.objectId, 'attachment.add');
  ctx.markAuthorized();
  requireActive(object);
  const originalFilename = checkFilename(input.filename);
  const mediaType = checkMediaType(input.mediaType);
  const bytes = read(registry(ctx).settings.attachmentMaxBytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const row: store.AttachmentRow = {
    id: ctx.newId(),
    objectId: object.row.id,
    commentId: input.commentId ?? null,
    originalFilename,
    mediaType,
    size: bytes.byteLength,
    sha256,
    revision: 1,
    state: 'ACTIVE',
    createdAt: ctx.now,
    createdBy: ctx.actor.userId,
    createdByName: ctx.actor.displayName,
  };
  ctx.storeBlob(sha256, bytes);
  planRow(ctx, object, row);
  return attachmentAnswer(row);
}

function planRow(ctx: WriteContext, object: Authorized<'attachment.add'>, row: store.AttachmentRow): void {
  planHold(ctx, object.row.id);
  planOn(ctx, object, store.insertAttachment, {
    id: row.id,
    object_id: row.objectId,
    comment_id: row.commentId,
    original_filename: row.originalFilename,
    media_type: row.mediaType,
    size: row.size,
    sha256: row.sha256,
    at: ctx.now,
    by: row.createdBy,
  });
  const { id, commentId, originalFilename, mediaType, size, sha256 } = row;
  ctx.emit({
    type: 'AttachmentAdded',
    objectId: row.objectId,
    data: { attachmentId: id, ...ofComment(commentId), originalFilename, mediaType, size, sha256 },
  });
}

/** Events that name a comment are shown to those who may see it. */
function ofComment(commentId: string | null): { commentId?: string } {
  return commentId === null ? {} : { commentId };
}

/** @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT */
export async function archiveAttachment(
  ctx: WriteContext,
  input: { attachmentId: string; expectedRevision: number },
): Promise<{ id: string; state: ItemState; revision: number }> {
  const { row, object: visible } = await requireAttachment(ctx, input.attachmentId);
  const object = requireAction(visible, 'attachment.delete');
  ctx.markAuthorized();
  requireActive(object);
  if (isArchived(row)) throw new Fault('ARCHIVED', 'The attachment is already archived.');
  if (row.revision !== input.expectedRevision) {
    throw new Fault(
      'REVISION_CONFLICT',
      'The attachment was changed after the expected revision. Read the list again.',
      {
        changedSince: [],
      },
    );
  }
  planHold(ctx, object.row.id);
  planOn(ctx, object, store.archiveAttachment, { id: row.id, expected: row.revision });
  ctx.emit({
    type: 'AttachmentArchived',
    objectId: row.objectId,
    data: { attachmentId: row.id, ...ofComment(row.commentId), originalFilename: row.originalFilename },
  });
  return { id: row.id, state: 'ARCHIVED', revision: row.revision + 1 };
}
