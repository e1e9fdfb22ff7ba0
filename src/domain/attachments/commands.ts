/** Writes of attachments. Content is stored durably before the row that refers to it commits. */
import { isArchived, type ItemState } from '../../contract/state.ts';
import { createHash } from 'node:crypto';
import { Fault, faultAt, invalidValues } from '../../lib/fault.ts';
import { problemAt } from '../../lib/problem.ts';
import type { UnitPart, WriteContext } from '../../platform/unit-of-work/context.ts';
import { addComment, type CommentAnswer, type NewComment, requireComment } from '../comments/index.ts';
import { registry } from '../metadata/index.ts';
import { type Authorized, planHold, planOn, requireAction, requireActive, requireGranted } from '../objects/index.ts';
import { type AttachmentAnswer, attachmentAnswer, requireAttachment } from './queries.ts';
import { checkFilename, checkMediaType, decodeContent } from './rules.ts';
import * as store from './store.ts';
import { deleteDraft, insertDraft, listDrafts } from './store-drafts.ts';

export interface AddInput {
  objectId: string;
  filename: string;
  contentBase64: string;
  mediaType?: string;
  /** Must equal the id of the record if given. */
  bodyObjectId?: string;
  /** Whether the file waits for a comment of its uploader. */
  draft?: boolean | undefined;
}

/** The comment to which a file belongs: only who may see it may see the file. */
type CommentOfFile = Pick<CommentAnswer, 'id' | 'visibility'>;

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
 * @param read the content; its argument is the maximum number of bytes
 * @throws Fault as `addAttachment`
 */
export async function addFile(
  ctx: WriteContext,
  input: Pick<AddInput, 'objectId' | 'filename' | 'mediaType' | 'draft'> & { comment?: CommentOfFile | undefined },
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
    commentId: input.comment?.id ?? null,
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
  if (input.draft === true && row.createdBy !== null) {
    planOn(ctx, object, insertDraft, { ...row, createdBy: row.createdBy });
    return attachmentAnswer(row, true);
  }
  planHold(ctx, object.row.id);
  planRow(ctx, object, row, input.comment);
  return attachmentAnswer(row);
}

function planRow(
  ctx: WriteContext,
  object: Authorized<'attachment.add'>,
  row: store.AttachmentRow,
  comment: CommentOfFile | undefined,
): void {
  planOn(ctx, object, store.insertAttachment, { ...row, commentId: comment?.id ?? null, createdAt: ctx.now });
  const { id, originalFilename, mediaType, size, sha256 } = row;
  ctx.emit({
    type: 'AttachmentAdded',
    objectId: row.objectId,
    data: { attachmentId: id, ...ofComment(comment), originalFilename, mediaType, size, sha256 },
  });
}

/** Events that name a comment are shown to those who may see it. */
function ofComment(comment: CommentOfFile | undefined): { commentId?: string; visibility?: string } {
  return comment === undefined ? {} : { commentId: comment.id, visibility: comment.visibility };
}

/**
 * Adds a comment that takes files which its author uploaded to the record: drafts, and attachments without a comment.
 *
 * @throws Fault as `addComment`; INVALID_VALUES for a file that is not there, of somebody else, or in a comment
 */
export async function addCommentWithFiles(
  ctx: WriteContext,
  { attachmentIds = [], ...input }: NewComment & { attachmentIds?: readonly string[] },
  unit: UnitPart = {},
): Promise<CommentAnswer> {
  if (attachmentIds.length === 0) return await addComment(ctx, input, unit);
  const object = await requireGranted(ctx, input.objectId, 'attachment.add');
  const comment = await addComment(ctx, { ...input, attachmentIds }, unit);
  const { id: objectId } = object.row;
  const drafts = byId(await listDrafts(ctx, objectId, attachmentIds));
  const free = byId(await store.listFree(ctx, objectId, attachmentIds));
  for (const [index, id] of attachmentIds.entries()) {
    const draft = drafts.get(id);
    if (draft !== undefined) {
      planOn(ctx, object, deleteDraft, { id, objectId });
      planRow(ctx, object, draft, comment);
    } else if (free.has(id)) {
      planOn(ctx, object, store.giveToComment, { id, objectId, commentId: comment.id });
    } else {
      throw invalidValues([problemAt(`/attachmentIds/${index}`, 'NO_FILE_FOR_COMMENT')]);
    }
    drafts.delete(id);
    free.delete(id);
  }
  return comment;
}

function byId(rows: readonly store.AttachmentRow[]): Map<string, store.AttachmentRow> {
  return new Map(rows.map((row) => [row.id, row]));
}

/** @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT */
export async function archiveAttachment(
  ctx: WriteContext,
  input: { attachmentId: string; expectedRevision: number },
): Promise<{ id: string; state: ItemState; revision: number }> {
  const { row, object: visible, isDraft } = await requireAttachment(ctx, input.attachmentId);
  if (isDraft) {
    // Nobody else has seen it, so nothing is left of it.
    const own = requireAction(visible, 'attachment.add');
    ctx.markAuthorized();
    requireRevision(row, input.expectedRevision);
    planOn(ctx, own, deleteDraft, row);
    return { id: row.id, state: 'ARCHIVED', revision: row.revision + 1 };
  }
  const object = requireAction(visible, 'attachment.delete');
  ctx.markAuthorized();
  requireActive(object);
  if (isArchived(row)) throw new Fault('ARCHIVED', 'The attachment is already archived.');
  requireRevision(row, input.expectedRevision);
  planHold(ctx, object.row.id);
  const comment = row.commentId === null ? undefined : (await requireComment(ctx, row.commentId)).row;
  planOn(ctx, object, store.archiveAttachment, { id: row.id, revision: row.revision + 1 });
  ctx.emit({
    type: 'AttachmentArchived',
    objectId: row.objectId,
    data: { attachmentId: row.id, ...ofComment(comment), originalFilename: row.originalFilename },
  });
  return { id: row.id, state: 'ARCHIVED', revision: row.revision + 1 };
}

/** @throws Fault REVISION_CONFLICT */
function requireRevision(row: store.AttachmentRow, expected: number): void {
  if (row.revision === expected) return;
  throw new Fault('REVISION_CONFLICT', 'The attachment was changed after the expected revision. Read the list again.', {
    changedSince: [],
  });
}
