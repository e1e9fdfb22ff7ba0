/** Reads of comments. The caller must be able to read the record and to see the comment (`canSeeComment`). */
import { isActive, isArchived, type ItemState } from '../../contract/state.ts';
import { COMMENT_VISIBILITIES, type CommentVisibility, seenVisibilities } from '../../contract/comment-visibility.ts';
import { answerInWindows, type ListPage, unknownAfter } from '../../contract/paging.ts';
import { Fault } from '../../lib/fault.ts';
import { eachOf } from '../../platform/database/window.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import {
  type EventFilter,
  findVisible,
  preload,
  requireVisible,
  visibleIds,
  type VisibleObject,
} from '../objects/index.ts';
import { type CommentRow, commentWindows, findComment, findComments, listHiddenIds } from './store.ts';
import { canSeeComment } from './visibility.ts';

export interface CommentAnswer {
  id: string;
  objectId: string;
  revision: number;
  body: string;
  visibility: CommentVisibility;
  state: ItemState;
  author: { id: string; displayName: string } | null;
  createdAt: string;
  updatedAt: string;
}

export function commentAnswer({ authorId, authorName, ...row }: CommentRow): CommentAnswer {
  return { ...row, author: authorId === null ? null : { id: authorId, displayName: authorName ?? '' } };
}

/** Keeps a planned row until the end of the transaction, for followers of the change. */
export function rememberComment(ctx: ReadContext, row: CommentRow): void {
  ctx.memo.set(`comments:${row.id}`, row);
}

/** The comment after the planned writes of this transaction; undefined if it plans none for the comment. */
export function plannedComment(ctx: ReadContext, id: string): CommentRow | undefined {
  return ctx.memo.get(`comments:${id}`) as CommentRow | undefined;
}

/** The comments that the caller may see: all, oldest first, or those of a page. @throws Fault NOT_FOUND, INVALID_REQUEST */
export async function listComments(ctx: ReadContext, objectId: string, page?: ListPage): Promise<unknown> {
  const object = await requireVisible(ctx, objectId);
  if (page?.after !== undefined) {
    const row = await findComment(ctx, page.after);
    if (row?.objectId !== objectId || !canSeeComment(object, row.visibility)) throw unknownAfter();
  }
  return await answerInWindows(
    eachOf(commentWindows(ctx, objectId, seenVisibilities(object.right.can), page ?? {}), ({ key: _key, ...row }) =>
      commentAnswer(row),
    ),
    page,
  );
}

/** The comment with its record. A comment that the caller may not see counts as missing. @throws Fault NOT_FOUND */
export async function requireComment(
  ctx: ReadContext,
  commentId: string,
): Promise<{ row: CommentRow; object: VisibleObject }> {
  const missing = new Fault('NOT_FOUND', 'There is no such comment, or you may not see it.');
  const row = await findComment(ctx, commentId);
  if (row === undefined) throw missing;
  const object = await findVisible(ctx, row.objectId);
  if (object === undefined || !canSeeComment(object, row.visibility)) throw missing;
  return { row, object };
}

/** A comment of the record for delivery to the caller; undefined if it is archived or the caller may not see it. */
export async function readComment(
  ctx: ReadContext,
  object: VisibleObject,
  commentId: string,
): Promise<Pick<CommentAnswer, 'id' | 'revision' | 'body' | 'visibility'> | undefined> {
  const row = await findComment(ctx, commentId);
  if (row?.objectId !== object.row.id || isArchived(row)) return undefined;
  if (!canSeeComment(object, row.visibility)) return undefined;
  const { id, revision, body, visibility } = row;
  return { id, revision, body, visibility };
}

/** Those of the comments that are active and visible to the caller, with their records. */
export async function findVisibleComments(
  ctx: ReadContext,
  ids: readonly string[],
): Promise<Map<string, { row: CommentRow; object: VisibleObject }>> {
  const found = new Map<string, { row: CommentRow; object: VisibleObject }>();
  if (ids.length === 0) return found;
  const rows = await findComments(ctx, ids);
  await preload(
    ctx,
    rows.map(({ objectId }) => objectId),
  );
  for (const row of rows) {
    const object = isActive(row) ? await findVisible(ctx, row.objectId) : undefined;
    if (object !== undefined && canSeeComment(object, row.visibility)) {
      found.set(row.id, { row, object });
    }
  }
  return found;
}

/** Those of the comments that the caller may not see: archived ones are judged like others. */
export async function hiddenComments(ctx: ReadContext, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const hidden = new Set<string>();
  if (ids.length === 0) return hidden;
  const rows = await findComments(ctx, ids);
  await preload(ctx, [...new Set(rows.map(({ objectId }) => objectId))]);
  for (const { id, objectId, visibility } of rows) {
    const object = await findVisible(ctx, objectId);
    if (object === undefined || !canSeeComment(object, visibility)) hidden.add(id);
  }
  return hidden;
}

/**
 * Rows of a log, such as received mails, with null for the ids of records and comments that the caller may not see. That a record got
 * a comment is hidden with the comment.
 */
export async function withoutHiddenIds<Row extends { objectId: string | null; commentId: string | null }>(
  ctx: ReadContext,
  rows: readonly Row[],
): Promise<Row[]> {
  const objects = await visibleIds(
    ctx,
    rows.flatMap(({ objectId }) => objectId ?? []),
  );
  const hidden = await hiddenComments(
    ctx,
    rows.flatMap(({ commentId }) => commentId ?? []),
  );
  return rows.map((row) => {
    const { objectId, commentId } = row;
    const isShown = objectId !== null && objects.has(objectId) && !hidden.has(commentId ?? '');
    return isShown ? row : { ...row, objectId: null, commentId: null };
  });
}

/** Selects the history events about comments that the caller may not see now. */
export const commentEvents: EventFilter = async (ctx, object, events) => {
  const about = events.filter((event) => typeof event.data?.commentId === 'string');
  const seen = seenVisibilities(object.right.can);
  if (about.length === 0 || seen.length === COMMENT_VISIBILITIES.length) return new Set();
  const ids = new Set(about.map((event) => event.data?.commentId as string));
  const hidden = await listHiddenIds(ctx, [...ids], seen);
  return new Set(about.flatMap((event) => (hidden.has(event.data?.commentId as string) ? [event.id] : [])));
};

/** Returns a stored answer of `addComment` if the caller may still see the comment. @throws Fault NOT_FOUND */
export async function replayComment(ctx: ReadContext, data: unknown): Promise<unknown> {
  await requireComment(ctx, (data as CommentAnswer).id);
  return data;
}
