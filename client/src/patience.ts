/** Retry delays of the client. */

export interface Patience {
  /** Delay before the second, third … attempt: `firstDelayMs` × 2^(n−1), at most `maxDelayMs`. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** No attempt starts later than this after the first; 0 disables retries. */
  totalMs: number;
}

export const PATIENCE: Patience = { firstDelayMs: 200, maxDelayMs: 10_000, totalMs: 60_000 };

/**
 * Milliseconds to wait after attempt `attempt` (from 1). Half of the exponential delay is random, so that clients rejected
 * together do not retry together. A `Retry-After` of the service is a lower bound, with up to a tenth added.
 *
 * @param random from 0 up to 1
 */
export function delayMs(patience: Patience, attempt: number, askedMs: number | undefined, random: number): number {
  const grown = Math.min(patience.maxDelayMs, patience.firstDelayMs * 2 ** (attempt - 1));
  const own = grown / 2 + (grown / 2) * random;
  return askedMs === undefined ? own : Math.max(own, askedMs * (1 + random / 10));
}

/** Milliseconds in a `Retry-After` header, given as seconds or as a date; undefined if missing or malformed. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Waits, unless the signal is aborted. @throws the signal's reason */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
  });
}
