/** Writes of comments. A comment has its own revision; the revision of the record does not change. */
import { isArchived, type ItemState } from '../../contract/state.ts';
import { hash } from 'node:crypto';
import { type CommentVisibility, DEFAULT_VISIBILITY, rightForVisibility } from '../../contract/comment-visibility.ts';
import { Fault, invalidValues } from '../../lib/fault.ts';
import { problemAt } from '../../lib/problem.ts';
import { hasLongMarkRun, isWellFormedText, nfc } from '../../lib/text.ts';
import { ServicePart } from '../../platform/module.ts';
import type { UnitPart, WriteContext } from '../../platform/unit-of-work/context.ts';
import {
  changedSince,
  planHold,
  planOn,
  requireAction,
  requireActive,
  requireGranted,
  type Authorized,
  type VisibleObject,
} from '../objects/index.ts';
import { fireOnReply } from '../workflow/index.ts';
import { type CommentAnswer, commentAnswer, rememberComment, requireComment } from './queries.ts';
import { type CommentRow, changeComment, insertComment, listChanges } from './store.ts';

export interface NewComment {
  objectId: string;
  body: string;
  visibility?: CommentVisibility;
}

/** @throws Fault INVALID_VALUES */
function text(body: string): string {
  if (isWellFormedText(body) && !hasLongMarkRun(body)) return nfc(body);
  throw invalidValues([problemAt('/body', 'COMMENT_TEXT')]);
}

/** Only who may see comments of a visibility may write them. @throws Fault RIGHT_MISSING */
function requireVisibility(object: VisibleObject, visibility: CommentVisibility): void {
  const right = rightForVisibility(visibility);
  if (right !== null) requireAction(object, right);
}

function bodyHash(body: string): string {
  return hash('sha256', body);
}

/** Adds a comment that takes files. The module of files provides it, which depends on this one. */
export const addWithFiles = new ServicePart<
  (
    ctx: WriteContext,
    input: NewComment & { attachmentIds?: readonly string[] },
    unit: UnitPart,
  ) => Promise<CommentAnswer>
>('comments with files');

/**
 * Adds a comment. Without a visibility it is internal, so that an omission never makes a comment public. If the caller may not
 * add internal comments, it is refused.
 *
 * A public comment of who waits for help can fire a transition (`fireOnReply`).
 *
 * @param input `attachmentIds`: files that the same unit of work gives to the comment
 * @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, INVALID_VALUES
 */
export async function addComment(
  ctx: WriteContext,
  input: NewComment & { attachmentIds?: readonly string[] },
  unit: UnitPart = {},
): Promise<CommentAnswer> {
  const object = await requireGranted(ctx, input.objectId, 'comment.create');
  const { visibility = DEFAULT_VISIBILITY, attachmentIds = [] } = input;
  requireVisibility(object, visibility);
  ctx.markAuthorized(unit);
  requireActive(object);
  const row: CommentRow = {
    id: ctx.newId(),
    objectId: object.row.id,
    revision: 1,
    body: text(input.body),
    visibility,
    state: 'ACTIVE',
    authorId: ctx.actor.userId,
    authorName: ctx.actor.displayName,
    createdAt: ctx.now,
    updatedAt: ctx.now,
  };
  planHold(ctx, object.row.id);
  planOn(ctx, object, insertComment, row);
  rememberComment(ctx, row);
  ctx.emit({
    type: 'CommentAdded',
    objectId: row.objectId,
    data: { commentId: row.id, visibility, ...(attachmentIds.length === 0 ? {} : { attachmentIds }) },
    stored: { body: bodyHash(row.body) },
  });
  if (rightForVisibility(visibility) === null) await fireOnReply(ctx, object);
  return commentAnswer(row);
}

/** @throws Fault NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT */
async function requireEditable(
  ctx: WriteContext,
  commentId: string,
  expectedRevision: number,
  becomes?: CommentVisibility,
): Promise<{ row: CommentRow; object: Authorized<'comment.edit'> }> {
  const { row, object: visible } = await requireComment(ctx, commentId);
  const object = requireAction(visible, 'comment.edit');
  if (becomes !== undefined) requireVisibility(object, becomes);
  ctx.markAuthorized();
  requireActive(object);
  if (isArchived(row)) throw new Fault('ARCHIVED', 'The comment is archived and cannot be changed.');
  if (row.revision !== expectedRevision) {
    const changes = await listChanges(ctx, row, expectedRevision);
    const message = 'The comment was changed after the expected revision. Read it again.';
    throw new Fault('REVISION_CONFLICT', message, changedSince(changes));
  }
  return { row, object };
}

export async function editComment(
  ctx: WriteContext,
  input: { commentId: string; expectedRevision: number; body?: string; visibility?: CommentVisibility },
): Promise<CommentAnswer> {
  const { row, object } = await requireEditable(ctx, input.commentId, input.expectedRevision, input.visibility);
  const body = input.body === undefined ? row.body : text(input.body);
  const visibility = input.visibility ?? row.visibility;
  if (body === row.body && visibility === row.visibility) return commentAnswer(row);
  const next: CommentRow = { ...row, body, visibility, revision: row.revision + 1, updatedAt: ctx.now };
  change(ctx, object, next);
  const changed = [...(body === row.body ? [] : ['body']), ...(visibility === row.visibility ? [] : ['visibility'])];
  ctx.emit({
    type: 'CommentUpdated',
    objectId: row.objectId,
    data: { commentId: row.id, visibility, changed, commentRevision: next.revision },
    stored: { body: bodyHash(next.body) },
  });
  return commentAnswer(next);
}

export async function archiveComment(
  ctx: WriteContext,
  input: { commentId: string; expectedRevision: number },
): Promise<{ id: string; state: ItemState; revision: number }> {
  const { row, object } = await requireEditable(ctx, input.commentId, input.expectedRevision);
  const next: CommentRow = { ...row, state: 'ARCHIVED', revision: row.revision + 1, updatedAt: ctx.now };
  change(ctx, object, next);
  ctx.emit({
    type: 'CommentArchived',
    objectId: row.objectId,
    data: { commentId: row.id, visibility: row.visibility },
  });
  return { id: next.id, state: next.state, revision: next.revision };
}

function change(ctx: WriteContext, object: Authorized<'comment.edit'>, next: CommentRow): void {
  planHold(ctx, object.row.id);
  planOn(ctx, object, changeComment, next);
  rememberComment(ctx, next);
}
