/** What all that serve content share. */
import { buffer } from 'node:stream/consumers';
import { BlobMissing, type BlobStore, type ByteRange } from './store.ts';

/** Whether the client has the content already: `If-None-Match` holds its tag, or any will do (RFC 9110, 13.1.2). */
export function isKnown(header: string | undefined, etag: string): boolean {
  const tags = new Set((header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, '')));
  return tags.has(etag) || tags.has('*');
}

/**
 * The content, or the part of it, in memory: nothing may be sent before rights were asked once more.
 *
 * @param size bytes of the whole
 * @throws BlobMissing also where there is less or more than there should be: a file that lost its end must not look whole
 */
export async function readWhole(
  blobs: BlobStore,
  { sha256, size }: { sha256: string; size: number },
  range?: ByteRange,
): Promise<Buffer> {
  const bytes = await buffer(await blobs.read(sha256, range));
  const expected = range === undefined ? size : range.end - range.start + 1;
  if (bytes.length !== expected) throw new BlobMissing(sha256);
  return bytes;
}
