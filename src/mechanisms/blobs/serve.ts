/** What all that serve content share. */
import { Reply } from '../../contract/operation.ts';
import { Fault } from '../../lib/fault.ts';
import { SharedBudget } from '../../lib/shared-budget.ts';
import type { RequestFacts, Runner } from '../binding.ts';
import type { ReadContext } from '../context.ts';
import { BlobDamaged, BlobMissing, type BlobStore } from './store.ts';

/** A part of some content: its first and last byte, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Whether the client has the content already: `If-None-Match` holds its tag, or any will do (RFC 9110, 13.1.2). */
export function isKnown(header: string | undefined, etag: string): boolean {
  const tags = new Set((header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, '')));
  return tags.has(etag) || tags.has('*');
}

/**
 * Content in memory, bounded over all answers of the process: nothing may be sent before rights were asked once more, so each
 * content is read whole, and a slow client keeps it until it took all of it. One caller may hold half of the bound at most, so
 * that no caller keeps the others from their files.
 */
export class ContentHolder {
  readonly #budget: SharedBudget;
  /** How often content could not be given because the store had lost or changed it. */
  readonly flaws = { damaged: 0, missing: 0 };

  /** @param most bytes that may be held at once */
  constructor(most: number) {
    this.#budget = new SharedBudget(most);
  }

  /**
   * The content, or the part of it, and how to let go of it. A part is cut from the whole, which was compared with its hash: no
   * byte of damaged content is given.
   *
   * @param owner on whose account it is held
   * @param size bytes of the whole
   * @throws Fault OVERLOADED where too much is held
   * @throws BlobMissing, BlobDamaged
   */
  async read(
    blobs: BlobStore,
    owner: string,
    { sha256, size }: { sha256: string; size: number },
    range?: ByteRange,
  ): Promise<{ bytes: Buffer; release: () => void }> {
    const budget = this.#budget;
    // One content passes whatever its size, or a limit set too low would let none out.
    if (budget.held === 0) budget.add(owner, size);
    else if (!budget.take(owner, size)) {
      throw new Fault('OVERLOADED', 'Too many files are being read at once; retry after Retry-After.', [], {
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
      if (error instanceof BlobMissing) this.flaws.missing++;
      if (error instanceof BlobDamaged) this.flaws.damaged++;
      throw error;
    }
  }
}

/** On whose account content is held that a caller asked for: all keys of a person together. */
export function ownerOf({ actor }: Runner['caller']): string {
  return actor.userId ?? '';
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
  const { bytes, release } = await holder.read(blobs, ownerOf(caller), image);
  try {
    await work.read(await freshCaller(caller), find);
  } catch (error) {
    release();
    throw error;
  }
  return new Reply(bytes, headers, 200, release);
}
