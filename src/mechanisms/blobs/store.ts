/**
 * Where file content lives: content-addressed by SHA-256, so that equal content is kept once and a half-written file can never be
 * taken for a whole one. Keepers: the file system and any S3-compatible store.
 */
import type { Readable } from 'node:stream';
import { Fault } from '../../lib/fault.ts';

export interface ByteRange {
  /** First and last byte, both included. */
  start: number;
  end: number;
}

export interface BlobStore {
  /** Keeps the bytes, safely on disk when this resolves. Putting what is there already is no error. */
  put(sha256: string, bytes: Uint8Array): Promise<void>;
  /** The content, or a part of it. @throws BlobMissing */
  read(sha256: string, range?: ByteRange): Promise<Readable>;
  /** The same as bytes, where the keeper has a shorter way; at most one byte more than `most`. @throws BlobMissing */
  bytes?(sha256: string, most: number, range?: ByteRange): Promise<Buffer>;
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
