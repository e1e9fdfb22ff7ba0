/**
 * Rate limiting shared by several processes, without a database query in most requests. The database keeps each caller's
 * budget. A process leases a part of it for about a second and counts it down locally. Callers with few requests are admitted
 * on credit and never wait for a lease. Credit is settled once a second.
 *
 * All processes together may exceed the budget by their unsettled credit: 0.5 % each, so 10 % with twenty processes. Later
 * requests pay it off.
 */
import type { Settled, Settlement } from '../platform/database/rate-budgets.ts';
import { type RateAnswer, type RateLimiter, seconds } from './rate.ts';

const WINDOW_MS = 60_000;
const SETTLE_MS = 1000;
/** Default for the milliseconds that a request waits for a lease. After that, this process decides from its own state. */
const PATIENCE_MS = 150;
/** After an empty budget, the database is queried again after this many milliseconds. */
const EMPTY_MS = 100;
/** Milliseconds without leases after the database was unreachable or too slow. */
const BLIND_MS = 1000;
const CREDIT_SHARE = 200;
const LARGEST_SHARE = 8;
const MAX_CALLERS = 100_000;

interface Budget {
  /** When the whole budget is available again, as far as this process knows. Monotonic milliseconds. */
  full: number;
  lease: number;
  /** Requests admitted on credit and not yet reported, and the time at which the refilled budget covers them. */
  spent: number;
  spentUntil: number;
  /** Requests admitted since the last settlement of all callers. */
  used: number;
  /** Size of the next lease. */
  size: number;
  asking: Promise<void> | undefined;
  emptyUntil: number;
}

export interface SharedOptions {
  settle(interval: number, settlements: readonly Settlement[]): Promise<Settled[]>;
  /** Monotonic milliseconds. */
  now?: () => number;
  /** Milliseconds that a request waits for a lease. Default 150. */
  patienceMs?: number | undefined;
}

export class SharedRateLimiter implements RateLimiter {
  readonly quota: number;
  readonly windowSeconds = WINDOW_MS / 1000;
  readonly #interval: number;
  readonly #credit: number;
  readonly #settle: SharedOptions['settle'];
  readonly #now: () => number;
  readonly #patienceMs: number;
  readonly #budgets = new Map<string, Budget>();
  readonly #timer: NodeJS.Timeout;
  #settling: Promise<void> | undefined;
  #blindUntil = Number.NEGATIVE_INFINITY;

  constructor(perMinute: number, options: SharedOptions) {
    this.quota = perMinute;
    this.#interval = WINDOW_MS / perMinute;
    this.#credit = Math.floor(perMinute / CREDIT_SHARE);
    this.#settle = options.settle;
    this.#now = options.now ?? (() => performance.now());
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
    this.#timer = setInterval(() => void this.settleAll(), SETTLE_MS);
    this.#timer.unref();
  }

  take(callerId: string, now: number): RateAnswer | Promise<RateAnswer> {
    let budget = this.#budgets.get(callerId);
    if (budget === undefined) {
      budget = {
        full: Number.NEGATIVE_INFINITY,
        lease: 0,
        spent: 0,
        spentUntil: Number.NEGATIVE_INFINITY,
        used: 0,
        size: Math.max(1, 2 * this.#credit),
        asking: undefined,
        emptyUntil: Number.NEGATIVE_INFINITY,
      };
      this.#budgets.set(callerId, budget);
    }
    return this.#answer(budget, now) ?? this.#asked(callerId, budget);
  }

  /** Undefined if the database must be asked. */
  #answer(budget: Budget, now: number): RateAnswer | undefined {
    const full = Math.max(budget.full, now) + this.#interval;
    const spare = now + WINDOW_MS - full;
    // The tolerance absorbs rounding, as in the in-process limiter.
    if (spare < -1e-6) return refused(-spare);
    if (budget.lease > 0) {
      budget.lease--;
    } else if (budget.spent < this.#credit || now < this.#blindUntil) {
      budget.spent++;
      budget.spentUntil = Math.max(budget.spentUntil, now) + this.#interval;
    } else if (now < budget.emptyUntil) {
      return refused(EMPTY_MS);
    } else {
      return undefined;
    }
    budget.full = full;
    budget.used++;
    const remaining = Math.floor(spare / this.#interval + 1e-6);
    const reset = remaining > 0 ? full - now : this.#interval - spare;
    return { allowed: true, remaining, resetSeconds: seconds(reset), retryAfter: 0 };
  }

  async #asked(callerId: string, budget: Budget): Promise<RateAnswer> {
    // Other requests may wait for the same lease and use it up.
    for (let round = 0; round < 3; round++) {
      budget.asking ??= this.#lease(callerId, budget).finally(() => {
        budget.asking = undefined;
      });
      await budget.asking;
      const answer = this.#answer(budget, this.#now());
      if (answer !== undefined) return answer;
    }
    return refused(EMPTY_MS);
  }

  async #lease(callerId: string, budget: Budget): Promise<void> {
    const wanted = budget.size;
    budget.size = Math.min(Math.max(1, Math.ceil(this.quota / LARGEST_SHARE)), budget.size * 2);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#blindUntil = this.#now() + BLIND_MS;
      late.resolve();
    }, this.#patienceMs);
    await Promise.race([this.#settleFor([[callerId, budget, wanted, 0]]), late.promise]);
    clearTimeout(timer);
  }

  async #settleFor(list: readonly [string, Budget, wanted: number, returned: number][]): Promise<void> {
    const sentAt = this.#now();
    const settlements = list.map(([callerId, budget, wanted, returned]): Settlement => {
      const { spent, spentUntil } = budget;
      budget.spent = 0;
      budget.spentUntil = Number.NEGATIVE_INFINITY;
      budget.lease -= returned;
      return { callerId, spent, spentFor: spent > 0 ? spentUntil - sentAt : null, returned, wanted };
    });
    let settled: Settled[];
    try {
      settled = await this.#settle(this.#interval, settlements);
    } catch {
      // It is unknown whether the settlement was stored. A caller must not pay twice.
      this.#blindUntil = this.#now() + BLIND_MS;
      return;
    }
    const answers = new Map(settled.map((one) => [one.callerId, one]));
    for (const [callerId, budget, wanted] of list) {
      const answer = answers.get(callerId);
      if (answer === undefined) continue;
      budget.lease += answer.granted;
      // Requests admitted since the settlement was sent are not in the answer.
      const known = sentAt + answer.fullIn + (budget.spent - budget.lease) * this.#interval;
      budget.full = Math.max(known, budget.spentUntil);
      if (wanted > 0 && answer.granted === 0) budget.emptyUntil = this.#now() + EMPTY_MS;
    }
  }

  /** Reports credit, returns unused leases, and reads what other processes used. */
  settleAll(): Promise<void> {
    this.#settling ??= this.#settleEach().finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  async #settleEach(): Promise<void> {
    const now = this.#now();
    const list: [string, Budget, number, number][] = [];
    for (const [callerId, budget] of this.#budgets) {
      const { used, lease, spent, asking } = budget;
      budget.used = 0;
      if (asking !== undefined) continue;
      if (used === 0 && lease === 0 && spent === 0) {
        if (budget.full <= now) this.#budgets.delete(callerId);
        continue;
      }
      const returned = Math.max(0, lease - used);
      if (returned > 0) budget.size = Math.max(1, Math.ceil(budget.size / 2));
      list.push([callerId, budget, 0, returned]);
    }
    this.#forget();
    if (list.length > 0) await this.#settleFor(list);
  }

  /** Bounds the memory: drops the oldest callers first. */
  #forget(): void {
    for (const callerId of this.#budgets.keys()) {
      if (this.#budgets.size <= MAX_CALLERS) break;
      this.#budgets.delete(callerId);
    }
  }

  /** Returns all leases. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#settling;
    for (const budget of this.#budgets.values()) budget.used = 0;
    await this.settleAll();
  }
}

function refused(waitMs: number): RateAnswer {
  const wait = seconds(waitMs);
  return { allowed: false, remaining: 0, resetSeconds: wait, retryAfter: wait };
}
