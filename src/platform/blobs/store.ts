/**
 * Storage of file content, addressed by SHA-256: equal content is stored once, and an incomplete file is never mistaken for a
 * complete one. Implementations: the file system and S3-compatible stores. A store verifies content against its key before it
 * returns it. It never returns a range, which could not be verified.
 */
import { createHash, type Hash, hash as hashOf, subtle } from 'node:crypto';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { Fault } from '../../lib/fault.ts';

export interface BlobStore {
  /**
   * Stores the bytes; they are durable when the promise resolves. Storing existing content is not an error; damaged content is
   * replaced.
   */
  put(sha256: string, bytes: Uint8Array): Promise<void>;
  /** The content as a stream. It fails with BlobDamaged at its end if the bytes do not match the key. @throws BlobMissing */
  read(sha256: string): Promise<Readable>;
  /** The content as one buffer of `size` bytes. @throws BlobMissing, BlobDamaged */
  bytes(sha256: string, size: number): Promise<Buffer>;
  /** Removes content. Missing content is not an error. */
  remove(sha256: string): Promise<void>;
  /** Keys of content stored for longer than `olderThanMs`, in batches. Also deletes the remains of interrupted puts. */
  list(olderThanMs: number, now: number): AsyncIterable<string[]>;
  /** Writes, reads and removes a small probe. @throws Error that names the operation that failed */
  check(): Promise<void>;
}

/** A row exists but its content does not. This is a defect of the store, never caused by an invalid request. */
export class BlobMissing extends Error {
  constructor(sha256: string) {
    super(`blob ${sha256} is missing from the store`);
    this.name = 'BlobMissing';
  }
}

/** The stored bytes do not match the key. Uploading the same content again or restoring a copy repairs it. */
export class BlobDamaged extends Error {
  constructor(sha256: string) {
    super(`blob ${sha256} is damaged: its stored bytes have another SHA-256`);
    this.name = 'BlobDamaged';
  }
}

/** Passes the content through and verifies it against its key at the end. */
export class CheckedContent extends Transform {
  readonly #sha256: string;
  readonly #hash: Hash = createHash('sha256');

  constructor(sha256: string) {
    super();
    this.#sha256 = sha256;
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#hash.update(chunk);
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    done(this.#hash.digest('hex') === this.#sha256 ? null : new BlobDamaged(this.#sha256));
  }
}

/** Longer content is hashed outside the event loop. */
const HASHED_AT_ONCE = 64 * 1024;

/** Returns the bytes if they match the key. @throws BlobDamaged */
export async function checkedBytes(sha256: string, bytes: Buffer<ArrayBuffer>): Promise<Buffer> {
  const digest =
    bytes.length <= HASHED_AT_ONCE
      ? hashOf('sha256', bytes, 'hex')
      : Buffer.from(await subtle.digest('SHA-256', bytes)).toString('hex');
  if (digest !== sha256) throw new BlobDamaged(sha256);
  return bytes;
}

const KEY = /^[0-9a-f]{64}$/;

export function isBlobKey(text: string): boolean {
  return KEY.test(text);
}

/**
 * Stores all contents. @throws Fault OVERLOADED if the store is full, fails or does not respond; no row refers to the content
 * yet
 */
export async function putAll(blobs: BlobStore, contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
  try {
    await Promise.all([...contents].map(([sha256, bytes]) => blobs.put(sha256, bytes)));
  } catch (error) {
    throw storeUnavailable('The file store accepts no content now. Retry after the time in Retry-After.', error);
  }
}

/** What a call is answered that needs the store while it cannot be used: 503, with the reason for the log. */
export function storeUnavailable(message: string, cause: unknown): Fault {
  return new Fault('OVERLOADED', message, [], { cause, headers: { 'Retry-After': '1' } });
}
