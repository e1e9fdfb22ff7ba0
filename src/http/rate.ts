/**
 * Rate limit per caller (docs/spec/conventions.md#limits): the generic cell rate algorithm (GCRA), which has no fixed windows.
 */

export interface RateAnswer {
  allowed: boolean;
  /** Requests that may follow immediately. */
  remaining: number;
  /** Seconds until the full quota is available again, or until the next request if none remains. */
  resetSeconds: number;
  /** Seconds to wait before the next request; 0 if one is allowed now. */
  retryAfter: number;
}

/** An interface, so that several processes can share a limiter. `now` is monotonic, in milliseconds. */
export interface RateLimiter {
  /** Requests per `windowSeconds`. */
  readonly quota: number;
  readonly windowSeconds: number;
  take(callerId: string, now: number): RateAnswer | Promise<RateAnswer>;
}

const WINDOW_MS = 60_000;
const SWEEP_FROM = 10_000;
const MAX_CALLERS = 100_000;

/**
 * Counts in this process only. A caller may send `quota` requests at once and regains one every `60 s / quota`. The state per
 * caller is one number: the time at which the whole quota is available again.
 */
export class MemoryRateLimiter implements RateLimiter {
  readonly quota: number;
  readonly windowSeconds = WINDOW_MS / 1000;
  readonly #interval: number;
  readonly #full = new Map<string, number>();
  #sweepAt = SWEEP_FROM;

  constructor(perMinute: number) {
    this.quota = perMinute;
    this.#interval = WINDOW_MS / perMinute;
  }

  take(callerId: string, now: number): RateAnswer {
    const full = Math.max(this.#full.get(callerId) ?? now, now) + this.#interval;
    const spare = now + WINDOW_MS - full;
    // The tolerance absorbs rounding errors, which could otherwise reject the last request of the quota.
    if (spare < -1e-6) {
      const wait = seconds(-spare);
      return { allowed: false, remaining: 0, resetSeconds: wait, retryAfter: wait };
    }
    this.#full.set(callerId, full);
    if (this.#full.size > this.#sweepAt) this.#sweep(now);
    const remaining = Math.floor(spare / this.#interval + 1e-6);
    const reset = remaining > 0 ? full - now : this.#interval - spare;
    return { allowed: true, remaining, resetSeconds: seconds(reset), retryAfter: 0 };
  }

  /** Removes callers whose quota is full again, then the oldest ones if there are still too many. */
  #sweep(now: number): void {
    for (const [callerId, full] of this.#full) if (full <= now) this.#full.delete(callerId);
    for (const callerId of this.#full.keys()) {
      if (this.#full.size <= MAX_CALLERS) break;
      this.#full.delete(callerId);
    }
    this.#sweepAt = Math.max(SWEEP_FROM, this.#full.size * 2);
  }

  get size(): number {
    return this.#full.size;
  }
}

/** Rounds up to whole seconds, at least one, so that clients do not retry too early. */
export function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
