/** Limits how many long pieces of work run at once, and shares the slots among callers: dry runs, and long reads. */
import type { Waiter } from '../platform/unit-of-work/binding.ts';
import type { Fault } from '../lib/fault.ts';
import { ClientGone } from './errors.ts';

interface Waiting {
  waiter: Waiter;
  let: () => void;
}

export class Slots {
  readonly #mostEach: number;
  readonly #mostWaiting: number;
  readonly #mostWaitMs: number | undefined;
  readonly #refusal: () => Fault;
  readonly #waiting: Waiting[] = [];
  /** Number of slots that each caller holds. */
  readonly #running = new Map<string, number>();
  #free: number;

  /**
   * @param most maximum number that run at once
   * @param mostEach maximum number of each caller that run at once; below `most`, so that others need not wait for one caller
   * @param mostWaiting maximum number of each caller that wait
   * @param mostWaitMs how long they wait; without a limit if absent
   * @param refusal for those who may not wait, or waited too long
   */
  constructor({
    most,
    mostEach,
    mostWaiting,
    mostWaitMs,
    refusal,
  }: {
    most: number;
    mostEach: number;
    mostWaiting: number;
    mostWaitMs?: number;
    refusal: () => Fault;
  }) {
    this.#mostWaitMs = mostWaitMs;
    this.#refusal = refusal;
    this.#mostEach = mostEach;
    this.#mostWaiting = mostWaiting;
    this.#free = most;
  }

  /**
   * Runs the work when a slot is free.
   *
   * @throws Fault the refusal; ClientGone if nobody waits for the result any more
   */
  async run<T>(work: () => Promise<T>, waiter: Waiter): Promise<T> {
    await this.enter(waiter);
    try {
      return await work();
    } finally {
      this.leave(waiter.callerId);
    }
  }

  /**
   * Waits for a slot, which must be left. Of those who wait, the caller with the fewest slots is first, then the one who came
   * first.
   *
   * @throws Fault the refusal; ClientGone if nobody waits for the result any more
   */
  async enter(waiter: Waiter): Promise<void> {
    const { callerId } = waiter;
    if (this.#free > 0 && this.#mayBegin(callerId)) this.take(callerId);
    else await this.#wait(waiter);
    if (!waiter.isGone()) return;
    this.leave(callerId);
    throw new ClientGone();
  }

  /** Whether the caller holds or awaits a slot. */
  isUsedBy(callerId: string): boolean {
    return this.#runningOf(callerId) > 0 || this.#waiting.some(({ waiter }) => waiter.callerId === callerId);
  }

  async #wait(waiter: Waiter): Promise<void> {
    const own = this.#waiting.filter((one) => one.waiter.callerId === waiter.callerId && !one.waiter.isGone());
    if (own.length >= this.#mostWaiting) throw this.#refusal();
    waiter.rest();
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = { waiter, let: resolve };
      this.#waiting.push(waiting);
      if (this.#mostWaitMs === undefined) return;
      timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(this.#refusal());
      }, this.#mostWaitMs);
      timer.unref();
    }).finally(() => clearTimeout(timer));
  }

  /** Takes a slot, even if none is free, for work that has begun. It must be left. */
  take(callerId: string): void {
    this.#free--;
    this.#running.set(callerId, this.#runningOf(callerId) + 1);
  }

  leave(callerId: string): void {
    this.#free++;
    const left = this.#runningOf(callerId) - 1;
    if (left > 0) this.#running.set(callerId, left);
    else this.#running.delete(callerId);
    if (this.#free <= 0) return;
    let next: Waiting | undefined;
    for (const one of this.#waiting) {
      if (!this.#mayBegin(one.waiter.callerId)) continue;
      if (next === undefined || this.#runningOf(one.waiter.callerId) < this.#runningOf(next.waiter.callerId))
        next = one;
    }
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.take(next.waiter.callerId);
    next.let();
  }

  #mayBegin(callerId: string): boolean {
    return this.#runningOf(callerId) < this.#mostEach;
  }

  #runningOf(callerId: string): number {
    return this.#running.get(callerId) ?? 0;
  }
}
