/** The reads on comments: the record decides who comes near, the right Private Comment who sees internal ones. */
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import { type EventFilter, findVisible, requireVisible, type VisibleObject } from '../objects/door.ts';
import { type CommentRow, findComment, listInternalIds, listComments as listRows } from './store.ts';

/** The right on a record without which internal comments do not exist (api.md, "Authentication" 3). */
export const PRIVATE = 'Private Comment';

export interface CommentAnswer {
  id: string;
  objectId: string;
  revision: number;
  body: string;
  visibility: string;
  state: string;
  author: { id: string; displayName: string } | null;
  createdAt: string;
  updatedAt: string;
}

export function commentAnswer({ authorId, authorName, ...row }: CommentRow): CommentAnswer {
  return { ...row, author: authorId === null ? null : { id: authorId, displayName: authorName ?? '' } };
}

/** @throws Fault NOT_FOUND */
export async function listComments(ctx: ReadContext, objectId: string): Promise<CommentAnswer[]> {
  const object = await requireVisible(ctx, objectId);
  const rows = await listRows(ctx, objectId, object.right.can(PRIVATE));
  return rows.map(commentAnswer);
}

/** The comment with its record; a comment that the caller may not see is not there. @throws Fault NOT_FOUND */
export async function requireComment(
  ctx: ReadContext,
  commentId: string,
): Promise<{ row: CommentRow; object: VisibleObject }> {
  const missing = new Fault('NOT_FOUND', 'There is no such comment, or you may not see it.');
  const row = await findComment(ctx, commentId);
  if (row === undefined) throw missing;
  const object = await findVisible(ctx, row.objectId);
  if (object === undefined || (row.visibility === 'internal' && !object.right.can(PRIVATE))) throw missing;
  return { row, object };
}

/** A comment of the record as it is sent out: what this caller may see of it now; undefined when that is nothing. */
export async function readComment(
  ctx: ReadContext,
  object: VisibleObject,
  commentId: string,
): Promise<Pick<CommentAnswer, 'id' | 'revision' | 'body' | 'visibility'> | undefined> {
  const row = await findComment(ctx, commentId);
  if (row?.objectId !== object.row.id || row.state === 'ARCHIVED') return undefined;
  if (row.visibility === 'internal' && !object.right.can(PRIVATE)) return undefined;
  const { id, revision, body, visibility } = row;
  return { id, revision, body, visibility };
}

/** History events about comments that are internal now are for those who may see internal comments. */
export const commentEvents: EventFilter = async (ctx, object, events) => {
  const about = events.filter((event) => typeof event.data?.commentId === 'string');
  if (about.length === 0 || object.right.can(PRIVATE)) return new Set();
  const internal = await listInternalIds(ctx, object.row.id);
  return new Set(about.flatMap((event) => (internal.has(event.data?.commentId as string) ? [event.id] : [])));
};

/** A kept answer of an addition: given again while the caller may still see the comment. @throws Fault NOT_FOUND */
export async function replayComment(ctx: ReadContext, data: unknown): Promise<unknown> {
  await requireComment(ctx, (data as CommentAnswer).id);
  return data;
}
