/** Reads JSON from outside. What takes long about a large text is done in a worker thread; the event loop only builds the value. */
import { setImmediate as turn } from 'node:timers/promises';
import { Fault } from '../lib/fault.ts';
import { fingerprint, parseStrictJson } from '../lib/json.ts';
import { type ThreadTask, threads } from './threads.ts';

interface Given {
  bytes: Uint8Array;
  /** Whether the fingerprint for an idempotency key is wanted, and the revision that `If-Match` adds to the body. */
  keyed?: boolean;
  revision?: number | undefined;
}

export interface ReadJson {
  value: unknown;
  /** Present where it was wanted and the body is large; else the caller makes it of the value. */
  fingerprint?: Buffer;
}

/** Judges a text and makes its fingerprint. Its size is in bytes; a text of that size takes about 10 ms at most. */
export const checkJsonTask: ThreadTask<Given, Uint8Array | null> = {
  name: 'json',
  inline: 65_536,
  run: ({ bytes, keyed, revision }) => {
    const value = parseStrictJson(bytes);
    return keyed === true ? fingerprint(withRevision(value, revision)) : null;
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
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, size).toString('utf8'));
  // What is done with the value is work of its own.
  await turn();
  return checked.value === null ? { value } : { value, fingerprint: Buffer.from(checked.value) };
}
