/** Shared by clients of the fault tests: repeatable random numbers and one request attempt. */

/** A repeatable source of numbers from 0 to 1, so that a failing run can be repeated by its seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface LoadAnswer {
  status: number;
  headers: Headers;
  body: { data?: Record<string, unknown>; error?: { code: string } };
}

const TRY_MS = 8000;

/** One attempt; undefined if no response came, so that the outcome is unknown. */
export async function attempt(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  tryMs = TRY_MS,
): Promise<LoadAnswer | undefined> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(tryMs),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as LoadAnswer['body'] };
  } catch {
    return undefined;
  }
}
