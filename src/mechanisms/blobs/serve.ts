/** What all that serve content share. */
import { buffer } from 'node:stream/consumers';
import { Reply } from '../../contract/operation.ts';
import { Fault } from '../../lib/fault.ts';
import type { RequestFacts, Runner } from '../binding.ts';
import type { ReadContext } from '../context.ts';
import { BlobMissing, type BlobStore, type ByteRange } from './store.ts';

/** Whether the client has the content already: `If-None-Match` holds its tag, or any will do (RFC 9110, 13.1.2). */
export function isKnown(header: string | undefined, etag: string): boolean {
  const tags = new Set((header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, '')));
  return tags.has(etag) || tags.has('*');
}

/**
 * Content in memory, bounded over all answers of the process: nothing may be sent before rights were asked once more, so each
 * content is read whole, and a slow client keeps it until it took all of it.
 */
export class ContentHolder {
  readonly #most: number;
  #held = 0;

  /** @param most bytes that may be held at once */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * The content, or the part of it, and how to let go of it.
   *
   * @param size bytes of the whole
   * @throws Fault OVERLOADED where too much is held
   * @throws BlobMissing also where there is less or more than there should be: a file that lost its end must not look whole
   */
  async read(
    blobs: BlobStore,
    { sha256, size }: { sha256: string; size: number },
    range?: ByteRange,
  ): Promise<{ bytes: Buffer; release: () => void }> {
    const expected = range === undefined ? size : range.end - range.start + 1;
    // One content passes whatever its size, or a limit set too low would let none out.
    if (this.#held > 0 && this.#held + expected > this.#most) {
      throw new Fault('OVERLOADED', 'Too many files are being read at once; retry after Retry-After.', [], {
        headers: { 'Retry-After': '1' },
      });
    }
    let held = expected;
    this.#held += held;
    const release = (): void => {
      this.#held -= held;
      held = 0;
    };
    try {
      const bytes = (await blobs.bytes?.(sha256, expected, range)) ?? (await buffer(await blobs.read(sha256, range)));
      if (bytes.length !== expected) throw new BlobMissing(sha256);
      return { bytes, release };
    } catch (error) {
      release();
      throw error;
    }
  }
}

/** What handlers that serve content are given. */
export interface ContentParts<Caller> {
  blobs: BlobStore;
  holder: ContentHolder;
  /** The same caller with the rights that hold now. */
  freshCaller(caller: Caller): Promise<Caller>;
}

/**
 * An image that a text shows, named by its hash. `find` gives its row where the caller may see it: rights are asked before
 * storage is read and, as they are then, again after it.
 *
 * @throws Fault what `find` throws, OVERLOADED
 */
export async function serveImage(
  { work, caller }: Runner,
  { blobs, holder, freshCaller }: ContentParts<Runner['caller']>,
  find: (ctx: ReadContext) => Promise<{ sha256: string; size: number; mediaType: string }>,
  request: RequestFacts,
): Promise<Reply> {
  const image = await work.read(caller, find);
  const headers = {
    'Content-Type': image.mediaType,
    'Content-Disposition': 'inline',
    'Content-Security-Policy': 'sandbox',
    'Cache-Control': 'private, no-cache',
    ETag: `"${image.sha256}"`,
  };
  if (isKnown(request.ifNoneMatch, headers.ETag)) return new Reply(Buffer.alloc(0), headers, 304);
  const { bytes, release } = await holder.read(blobs, image);
  try {
    await work.read(await freshCaller(caller), find);
  } catch (error) {
    release();
    throw error;
  }
  return new Reply(bytes, headers, 200, release);
}
