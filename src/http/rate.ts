/** Requests per caller (decisions, 429): a generic cell rate, so that there is no edge of a window to wait for. */

export interface RateAnswer {
  allowed: boolean;
  /** Requests that may follow at once. */
  remaining: number;
  /** Seconds until the full quota is back, or until the next request when none remains. */
  resetSeconds: number;
  /** Seconds to wait before the next request; 0 when one is allowed now. */
  retryAfter: number;
}

/** Behind an interface so that processes can share one. `now` is monotonic, in milliseconds. */
export interface RateLimiter {
  /** Requests in `windowSeconds`. */
  readonly quota: number;
  readonly windowSeconds: number;
  take(callerId: string, now: number): RateAnswer | Promise<RateAnswer>;
}

const WINDOW_MS = 60_000;
const SWEEP_FROM = 10_000;
const MOST_CALLERS = 100_000;

/**
 * Counts in this process alone. A caller may send `quota` requests at once and gets one back every `60 s / quota`. What is
 * kept per caller is one number: the instant at which the whole quota will be back.
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
    // The tolerance absorbs rounding: the last request of the quota must not fail by a billionth of a millisecond.
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

  /** Forgets callers whose quota is whole again; were there still too many, the ones that came first. */
  #sweep(now: number): void {
    for (const [callerId, full] of this.#full) if (full <= now) this.#full.delete(callerId);
    for (const callerId of this.#full.keys()) {
      if (this.#full.size <= MOST_CALLERS) break;
      this.#full.delete(callerId);
    }
    this.#sweepAt = Math.max(SWEEP_FROM, this.#full.size * 2);
  }

  get size(): number {
    return this.#full.size;
  }
}

/** Whole seconds, at least one: nobody should come back too early. */
export function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
