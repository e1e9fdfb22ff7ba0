/** Reads JSON from outside. What takes long about a large text is done in a worker thread; the event loop only builds the value. */
import { setImmediate as turn } from 'node:timers/promises';
import { Fault } from '../lib/fault.ts';
import { fingerprint, parseReadJson, parseStrictJson, readStrictJson } from '../lib/json.ts';
import { type ThreadTask, threads } from './threads.ts';

interface Given {
  bytes: Uint8Array;
  /** Whether the fingerprint for an idempotency key is wanted, and the revision that `If-Match` adds to the body. */
  keyed?: boolean;
  revision?: number | undefined;
}

interface Checked {
  fingerprint: Uint8Array | null;
  /** Where the numbers stand that no double holds. */
  inexact: readonly number[];
}

export interface ReadJson {
  value: unknown;
  /** Present where it was wanted and the body is large; else the caller makes it of the value. */
  fingerprint?: Buffer;
}

/** Judges a text and makes its fingerprint. Its size is in bytes; a text of that size takes about 10 ms at most. */
export const checkJsonTask: ThreadTask<Given, Checked> = {
  name: 'json',
  inline: 65_536,
  run: ({ bytes, keyed, revision }) => {
    const { value, inexact } = readStrictJson(bytes);
    return { fingerprint: keyed === true ? fingerprint(withRevision(value, revision)) : null, inexact };
  },
};

/** The body with the revision of `If-Match`, where it is an object that has none. */
export function withRevision(body: unknown, revision: number | undefined): unknown {
  if (revision === undefined || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return (body as { expectedRevision?: unknown }).expectedRevision === undefined
    ? { ...body, expectedRevision: revision }
    : body;
}

/**
 * The value of a JSON text, which other requests need not wait for.
 *
 * @param caller whose turn it takes
 * @throws Fault INVALID_JSON, OVERLOADED
 */
export async function readJson(given: Given, caller: string | null): Promise<ReadJson> {
  const { bytes } = given;
  const size = bytes.length;
  if (size <= checkJsonTask.inline) return { value: parseStrictJson(bytes) };
  const checked = await threads.run(checkJsonTask, given, { size, caller });
  if (!checked.ok) throw new Fault('OVERLOADED', 'The JSON took too long to read; retry later or send less.');
  const { inexact, fingerprint: made } = checked.value;
  const value = parseReadJson(Buffer.from(bytes.buffer, bytes.byteOffset, size), inexact);
  // What is done with the value is work of its own.
  await turn();
  return made === null ? { value } : { value, fingerprint: Buffer.from(made) };
}
