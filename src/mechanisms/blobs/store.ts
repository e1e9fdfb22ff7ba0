/**
 * Where file content lives: content-addressed by SHA-256, so that equal content is kept once and a half-written file can never be
 * taken for a whole one. Stores: the file system and any S3-compatible store. No store gives content without comparing it
 * with its key, and none gives a part of it: a part cannot be compared.
 */
import { createHash, type Hash, hash as hashOf, subtle } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import type { Readable } from 'node:stream';
import { Fault } from '../../lib/fault.ts';

export interface BlobStore {
  /** Keeps the bytes, safely on disk when this resolves. Putting what is there already is no error; damaged content is replaced. */
  put(sha256: string, bytes: Uint8Array): Promise<void>;
  /** The content. The stream fails with BlobDamaged at its end when the bytes are not those of the key. @throws BlobMissing */
  read(sha256: string): Promise<Readable>;
  /** The content in one piece, of `size` bytes. @throws BlobMissing, BlobDamaged */
  bytes(sha256: string, size: number): Promise<Buffer>;
  /** Removes content; what is not there is no error. */
  remove(sha256: string): Promise<void>;
  /** Keys of content kept for longer than `olderThanMs`, in portions. What interrupted puts left behind goes on the way. */
  list(olderThanMs: number, now: number): AsyncIterable<string[]>;
  /** @throws Error when the store cannot be written to */
  check(): Promise<void>;
}

/** The row is there, the content is not: a defect of the store, never an answer to a client's mistake. */
export class BlobMissing extends Error {
  constructor(sha256: string) {
    super(`blob ${sha256} is missing from the store`);
    this.name = 'BlobMissing';
  }
}

/** The stored bytes are not those that the key names. Uploading the same content again, or a restored copy, repairs it. */
export class BlobDamaged extends Error {
  constructor(sha256: string) {
    super(`blob ${sha256} is damaged: its stored bytes have another SHA-256`);
    this.name = 'BlobDamaged';
  }
}

/** Passes the content on and compares it with its key at the end. */
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

/** Longer content is hashed beside the event loop. */
const HASHED_AT_ONCE = 64 * 1024;

/** The bytes, if they are those of the key. @throws BlobDamaged */
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

/** Keeps all of it. @throws Fault OVERLOADED for a full or failing disk, or a store that does not answer: nothing names the content yet */
export async function putAll(blobs: BlobStore, contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
  try {
    await Promise.all([...contents].map(([sha256, bytes]) => blobs.put(sha256, bytes)));
  } catch (error) {
    throw new Fault('OVERLOADED', 'The file store takes no content now; retry shortly.', [], {
      cause: error,
      headers: { 'Retry-After': '1' },
    });
  }
}
