/** Shared code of the operations that serve content. */
import { Reply } from '../../contract/operation.ts';
import { Fault } from '../../lib/fault.ts';
import { SharedBudget } from '../../lib/shared-budget.ts';
import type { RequestFacts, Runner } from '../unit-of-work/binding.ts';
import type { ReadContext } from '../unit-of-work/context.ts';
import { BlobDamaged, BlobMissing, type BlobStore, storeUnavailable } from './store.ts';

/** A byte range of some content; both ends are inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Whether the client already has the content: `If-None-Match` contains its ETag or `*` (RFC 9110, 13.1.2). */
export function isKnown(header: string | undefined, etag: string): boolean {
  const tags = new Set((header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, '')));
  return tags.has(etag) || tags.has('*');
}

/**
 * Limits the content held in memory by all responses of the process. Rights are checked again after storage was read, so
 * content is read as a whole before it is sent, and a slow client keeps it in memory until it has received all of it. One
 * caller may hold at most half of the limit, so that no caller blocks the others.
 */
export class ContentHolder {
  readonly #budget: SharedBudget;
  /** Number of reads that failed because the stored content was damaged or missing. */
  readonly errors = { damaged: 0, missing: 0 };

  /** @param most maximum number of bytes held at once */
  constructor(most: number) {
    this.#budget = new SharedBudget(most);
  }

  /**
   * Reads the content or a range of it, and returns it with a function that releases its memory. A range is cut from the whole
   * content after its hash was verified, so damaged bytes are never returned.
   *
   * @param owner on whose account it is held
   * @param size bytes of the whole
   * @throws Fault OVERLOADED where too much is held, or where the store does not answer
   * @throws BlobMissing, BlobDamaged
   */
  async read(
    blobs: BlobStore,
    owner: string,
    { sha256, size }: { sha256: string; size: number },
    range?: ByteRange,
  ): Promise<{ bytes: Buffer; release: () => void }> {
    const budget = this.#budget;
    // A single content is admitted regardless of its size; otherwise a limit that is too low would block it for ever.
    if (budget.held === 0) budget.add(owner, size);
    else if (!budget.take(owner, size)) {
      throw new Fault('OVERLOADED', 'Too many files are being read at once. Retry after the time in Retry-After.', [], {
        headers: { 'Retry-After': '1' },
      });
    }
    let held = size;
    const keep = (bytes: number): void => {
      budget.release(owner, held - bytes);
      held = bytes;
    };
    try {
      const whole = await blobs.bytes(sha256, size);
      if (whole.length !== size) throw new BlobDamaged(sha256);
      const bytes = range === undefined ? whole : Buffer.from(whole.subarray(range.start, range.end + 1));
      keep(bytes.length);
      return { bytes, release: () => keep(0) };
    } catch (error) {
      keep(0);
      if (error instanceof BlobMissing) this.errors.missing++;
      if (error instanceof BlobDamaged) this.errors.damaged++;
      if (error instanceof BlobMissing || error instanceof BlobDamaged) throw error;
      throw storeUnavailable('The file store does not respond. Retry after the time in Retry-After.', error);
    }
  }
}

/** The account that a caller's content is charged to: all keys of a user share one. */
export function ownerOf({ actor }: Runner['caller']): string {
  return actor.userId ?? '';
}

/** Dependencies of handlers that serve content. */
export interface ContentParts<Caller> {
  blobs: BlobStore;
  holder: ContentHolder;
  /** The same caller with current rights. */
  freshCaller(caller: Caller): Promise<Caller>;
}

/**
 * Serves an image embedded in a text, identified by its hash. `find` returns its row if the caller may see it. It runs before
 * storage is read and again afterwards, with the rights of that time.
 *
 * @throws Fault errors of `find`, OVERLOADED
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
  const { bytes, release } = await holder.read(blobs, ownerOf(caller), image);
  try {
    await work.read(await freshCaller(caller), find);
  } catch (error) {
    release();
    throw error;
  }
  return new Reply(bytes, headers, 200, release);
}
