/** Parses external JSON. A large text is validated in a worker thread; the event loop only builds the value. */
import { setImmediate as turn } from 'node:timers/promises';
import { Fault } from '../lib/fault.ts';
import { fingerprint, isObject, parseReadJson, parseStrictJson, readStrictJson } from '../lib/json.ts';
import { type ThreadTask, threads } from './threads.ts';

interface LongJsonInput {
  bytes: Uint8Array;
  /** Whether to compute the fingerprint for an idempotency key, and the revision that `If-Match` adds to the body. */
  keyed?: boolean;
  revision?: number | undefined;
}

interface Checked {
  fingerprint: Uint8Array | null;
  /** Byte offsets of the numbers that no double represents exactly. */
  inexact: readonly number[];
}

export interface ReadJson {
  value: unknown;
  /** Present if requested and the body is large; otherwise the caller computes it from the value. */
  fingerprint?: Buffer;
}

/** Validates a text and computes its fingerprint. `inline` is in bytes; a text of that size takes at most about 10 ms. */
export const checkJsonTask: ThreadTask<LongJsonInput, Checked> = {
  name: 'json',
  inline: 65_536,
  run: ({ bytes, keyed, revision }) => {
    const { value, inexact } = readStrictJson(bytes);
    return { fingerprint: keyed === true ? fingerprint(withRevision(value, revision)) : null, inexact };
  },
};

/** Adds the revision of `If-Match` to the body if it is an object without one. */
export function withRevision(body: unknown, revision: number | undefined): unknown {
  if (revision === undefined || !isObject(body) || body['expectedRevision'] !== undefined) return body;
  return { ...body, expectedRevision: revision };
}

/**
 * Parses a JSON text without blocking other requests.
 *
 * @param caller the caller whose share of the worker threads is used
 * @throws Fault INVALID_JSON, OVERLOADED
 */
export async function readJson(given: LongJsonInput, caller: string | null): Promise<ReadJson> {
  const { bytes } = given;
  const size = bytes.length;
  if (size <= checkJsonTask.inline) return { value: parseStrictJson(bytes) };
  const checked = await threads.run(checkJsonTask, given, { size, caller });
  if (!checked.ok) throw new Fault('OVERLOADED', 'The JSON took too long to parse. Retry later or send less.');
  const { inexact, fingerprint: made } = checked.value;
  const value = parseReadJson(Buffer.from(bytes.buffer, bytes.byteOffset, size), inexact);
  // Let other requests run before the value is processed.
  await turn();
  return made === null ? { value } : { value, fingerprint: Buffer.from(made) };
}
