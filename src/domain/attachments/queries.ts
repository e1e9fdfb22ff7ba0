/** Reads of attachments. The caller must be able to read the record. */
import { COMMENT_RIGHTS } from '../../contract/comment-visibility.ts';
import { Reply } from '../../contract/operation.ts';
import { answerInWindows } from '../../contract/paging.ts';
import { Fault } from '../../lib/fault.ts';
import type { RequestFacts, Runner } from '../../platform/unit-of-work/binding.ts';
import { type ContentParts, isKnown, ownerOf } from '../../platform/blobs/serve.ts';
import type { RowWindow } from '../../platform/database/window.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type EventFilter, findVisible, visibleRecord, requireVisible, type VisibleObject } from '../objects/index.ts';
import { contentHeaders, requestedRange } from './rules.ts';
import { type AttachmentRow, findAttachment, attachmentWindows, findServed, listHidden } from './store.ts';
import { findDraft, listDrafts } from './store-drafts.ts';

export type AttachmentAnswer = Omit<AttachmentRow, 'commentId' | 'createdBy' | 'createdByName'> & {
  commentId?: string;
  draft?: true;
  createdBy: { id: string; displayName: string } | null;
};

export function attachmentAnswer(
  { createdBy, createdByName, commentId, ...row }: AttachmentRow,
  isDraft = false,
): AttachmentAnswer {
  const of = { ...(commentId === null ? {} : { commentId }), ...(isDraft ? { draft: true as const } : {}) };
  return { ...row, ...of, createdBy: createdBy === null ? null : { id: createdBy, displayName: createdByName ?? '' } };
}

/** The attachments that the caller may see, then the caller's drafts. @throws Fault NOT_FOUND */
export async function listAttachments(ctx: ReadContext, objectId: string): Promise<unknown> {
  await requireVisible(ctx, objectId);
  return await answerInWindows(answers(ctx, objectId), undefined);
}

async function* answers(ctx: ReadContext, objectId: string): AsyncGenerator<RowWindow<AttachmentAnswer>> {
  for await (const { rows, isLast } of attachmentWindows(ctx, objectId)) {
    const drafts = isLast ? await listDrafts(ctx, objectId) : [];
    const shown = [...rows.map((row) => attachmentAnswer(row)), ...drafts.map((row) => attachmentAnswer(row, true))];
    yield { rows: shown, isLast };
  }
}

/** The attachment with its record. An attachment of a hidden record or comment counts as missing. @throws Fault NOT_FOUND */
export async function requireAttachment(
  ctx: ReadContext,
  id: string,
): Promise<{ row: AttachmentRow; object: VisibleObject; isDraft: boolean }> {
  const added = await findAttachment(ctx, id);
  const row = added ?? (await findDraft(ctx, id));
  const object = row === undefined ? undefined : await findVisible(ctx, row.objectId);
  if (row === undefined || object === undefined) {
    throw new Fault('NOT_FOUND', 'There is no such attachment, or you may not see it.');
  }
  return { row, object, isDraft: added === undefined };
}

/** Archived attachments are not served. @throws Fault NOT_FOUND */
async function requireServed(ctx: ReadContext, id: string): Promise<AttachmentRow> {
  const visible = visibleRecord(ctx, 'a.object_id');
  const ofDraft = visibleRecord(ctx, 'd.object_id');
  const isBlind = visible === null || ofDraft === null;
  const row = isBlind ? undefined : ((await findServed(ctx, id, visible)) ?? (await findDraft(ctx, id, ofDraft)));
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such attachment, or you may not see it.');
  return row;
}

/**
 * The content of an attachment. Rights are checked before the storage is read, and again, with the current rights, before the
 * first byte is sent.
 *
 * @throws Fault NOT_FOUND, RANGE_NOT_SATISFIABLE, OVERLOADED
 */
export async function readContent(
  { work, caller }: Runner,
  { blobs, holder, freshCaller }: ContentParts<Runner['caller']>,
  id: string,
  request: RequestFacts,
): Promise<Reply> {
  const row = await work.read(caller, (ctx) => requireServed(ctx, id));
  const headers = contentHeaders(row);
  if (isKnown(request.ifNoneMatch, headers['ETag'] as string)) return new Reply(Buffer.alloc(0), headers, 304);
  // If the client has a part of another version, the whole file is sent.
  const wanted = request.ifRange === undefined || request.ifRange === headers['ETag'];
  const range = wanted ? requestedRange(request.range, row.size) : undefined;
  const { bytes, release } = await holder.read(blobs, ownerOf(caller), row, range);
  try {
    await work.read(await freshCaller(caller), (ctx) => requireServed(ctx, id));
  } catch (error) {
    release();
    throw error;
  }
  if (range === undefined) return new Reply(bytes, headers, 200, release);
  const contentRange = `bytes ${range.start}-${range.end}/${row.size}`;
  return new Reply(bytes, { ...headers, 'Content-Range': contentRange }, 206, release);
}

/** Returns a stored answer of `addAttachment` if the caller may still see the attachment. @throws Fault NOT_FOUND */
export async function replayAttachment(ctx: ReadContext, data: unknown): Promise<unknown> {
  await requireAttachment(ctx, (data as AttachmentAnswer).id);
  return data;
}

/** Selects the history events of files whose comment the caller may not see now, also of those that got it later. */
export const attachmentEvents: EventFilter = async (ctx, object, events) => {
  const about = events.flatMap(({ id, data }) =>
    typeof data?.attachmentId === 'string' ? [{ id, file: data.attachmentId }] : [],
  );
  if (about.length === 0 || COMMENT_RIGHTS.every((right) => object.right.can(right))) return new Set();
  const hidden = await listHidden(ctx, object.row.id, [...new Set(about.map(({ file }) => file))]);
  return new Set(about.flatMap(({ id, file }) => (hidden.has(file) ? [id] : [])));
};
