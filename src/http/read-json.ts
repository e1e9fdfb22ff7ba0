/** Reads JSON bodies. What takes long about a large one is done in a worker thread; the event loop only builds the value. */
import { setImmediate as turn } from 'node:timers/promises';
import { fingerprint, parseStrictJson } from '../lib/json.ts';
import { type ThreadTask, threads } from '../mechanisms/threads.ts';
import { overloaded } from './gate.ts';

interface Given {
  bytes: Uint8Array;
  /** Whether the fingerprint for an idempotency key is wanted, and the revision that `If-Match` adds to the body. */
  keyed: boolean;
  revision: number | undefined;
}

export interface ReadBody {
  value: unknown;
  /** Present where it was wanted and the body is large; else the caller makes it of the value. */
  fingerprint?: Buffer;
}

/** Judges a body and makes its fingerprint. Its size is in bytes; a body of that size takes about 10 ms at most. */
export const checkJsonTask: ThreadTask<Given, Uint8Array | null> = {
  name: 'http.json',
  inline: 65_536,
  run: ({ bytes, keyed, revision }) => {
    const value = parseStrictJson(bytes);
    return keyed ? fingerprint(withRevision(value, revision)) : null;
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
 * The value of a body, which other requests need not wait for.
 *
 * @throws Fault INVALID_JSON, OVERLOADED
 */
export async function readJsonBody(given: Given, caller: string | null): Promise<ReadBody> {
  const { bytes } = given;
  const size = bytes.length;
  if (size <= checkJsonTask.inline) return { value: parseStrictJson(bytes) };
  const checked = await threads.run(checkJsonTask, given, { size, caller });
  if (!checked.ok) throw overloaded('The body took too long to read; retry later or send less.');
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, size).toString('utf8'));
  // The check of the schema is work of its own.
  await turn();
  return checked.value === null ? { value } : { value, fingerprint: Buffer.from(checked.value) };
}
