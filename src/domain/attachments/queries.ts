/** The reads on files: the record decides who comes near. */
import { Reply } from '../../contract/operation.ts';
import { Fault } from '../../lib/fault.ts';
import type { RequestFacts, Runner } from '../../mechanisms/binding.ts';
import { type ContentParts, isKnown, ownerOf } from '../../mechanisms/blobs/serve.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import { findVisible, readableRecord, requireVisible, type VisibleObject } from '../objects/door.ts';
import { contentHeaders, requestedRange } from './rules.ts';
import { type AttachmentRow, findAttachment, findServed, listAttachments as listRows } from './store.ts';

export type AttachmentAnswer = Omit<AttachmentRow, 'createdBy' | 'createdByName'> & {
  createdBy: { id: string; displayName: string } | null;
};

export function attachmentAnswer({ createdBy, createdByName, ...row }: AttachmentRow): AttachmentAnswer {
  return { ...row, createdBy: createdBy === null ? null : { id: createdBy, displayName: createdByName ?? '' } };
}

/** @throws Fault NOT_FOUND */
export async function listAttachments(ctx: ReadContext, objectId: string): Promise<AttachmentAnswer[]> {
  await requireVisible(ctx, objectId);
  return (await listRows(ctx, objectId)).map(attachmentAnswer);
}

/** The file with its record; a file of a record out of sight is not there. @throws Fault NOT_FOUND */
export async function requireAttachment(
  ctx: ReadContext,
  id: string,
): Promise<{ row: AttachmentRow; object: VisibleObject }> {
  const row = await findAttachment(ctx, id);
  const object = row === undefined ? undefined : await findVisible(ctx, row.objectId);
  if (row === undefined || object === undefined) {
    throw new Fault('NOT_FOUND', 'There is no such file, or you may not see it.');
  }
  return { row, object };
}

/** Archived files are not served. @throws Fault NOT_FOUND */
async function requireServed(ctx: ReadContext, id: string): Promise<AttachmentRow> {
  const readable = readableRecord(ctx, 'a.object_id');
  const row = readable === null ? undefined : await findServed(ctx, id, readable);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such file, or you may not see it.');
  return row;
}

/**
 * The bytes of a file. Rights are asked before storage is read and, with the rights that hold then, again after it and before
 * the first byte is sent.
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
  // Another version than the one that the client has a part of is sent whole.
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

/** A kept answer of an addition: given again while the caller may still see the file. @throws Fault NOT_FOUND */
export async function replayAttachment(ctx: ReadContext, data: unknown): Promise<unknown> {
  await requireAttachment(ctx, (data as AttachmentAnswer).id);
  return data;
}
