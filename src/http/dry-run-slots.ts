/** Limits how many dry runs run at once, and shares the slots among callers. Dry runs hold locks and a connection until they end. */
import type { Waiter } from '../platform/unit-of-work/binding.ts';
import { overloaded } from './admission.ts';
import { ClientGone } from './errors.ts';

interface Waiting {
  waiter: Waiter;
  let: () => void;
}

export class DryRunSlots {
  readonly #mostEach: number;
  readonly #mostWaiting: number;
  readonly #waiting: Waiting[] = [];
  /** Number of running dry runs of each caller. */
  readonly #running = new Map<string, number>();
  #free: number;

  /**
   * @param most maximum number that run at once
   * @param mostEach maximum number of each caller that run at once; below `most`, so that others need not wait for one caller
   * @param mostWaiting maximum number of each caller that wait
   */
  constructor({ most, mostEach, mostWaiting }: { most: number; mostEach: number; mostWaiting: number }) {
    this.#mostEach = mostEach;
    this.#mostWaiting = mostWaiting;
    this.#free = most;
  }

  /**
   * Runs the work when a slot is free. Of those who wait, the caller with the fewest running dry runs is first, then the one who
   * came first.
   *
   * @throws Fault OVERLOADED if the caller has too many waiting; ClientGone if nobody waits for the result any more
   */
  async run<T>(work: () => Promise<T>, waiter: Waiter): Promise<T> {
    const { callerId } = waiter;
    if (this.#free > 0 && this.#mayBegin(callerId)) this.#begin(callerId);
    else await this.#wait(waiter);
    try {
      if (waiter.isGone()) throw new ClientGone();
      return await work();
    } finally {
      this.#end(callerId);
    }
  }

  async #wait(waiter: Waiter): Promise<void> {
    const own = this.#waiting.filter((one) => one.waiter.callerId === waiter.callerId && !one.waiter.isGone());
    if (own.length >= this.#mostWaiting) {
      throw overloaded(`You have ${this.#mostWaiting} waiting dry runs. Retry after the time in Retry-After.`);
    }
    waiter.rest();
    await new Promise<void>((resolve) => {
      this.#waiting.push({ waiter, let: resolve });
    });
  }

  #begin(callerId: string): void {
    this.#free--;
    this.#running.set(callerId, this.#runningOf(callerId) + 1);
  }

  #end(callerId: string): void {
    this.#free++;
    const left = this.#runningOf(callerId) - 1;
    if (left > 0) this.#running.set(callerId, left);
    else this.#running.delete(callerId);
    let next: Waiting | undefined;
    for (const one of this.#waiting) {
      if (!this.#mayBegin(one.waiter.callerId)) continue;
      if (next === undefined || this.#runningOf(one.waiter.callerId) < this.#runningOf(next.waiter.callerId))
        next = one;
    }
    if (next === undefined) return;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.#begin(next.waiter.callerId);
    next.let();
  }

  #mayBegin(callerId: string): boolean {
    return this.#runningOf(callerId) < this.#mostEach;
  }

  #runningOf(callerId: string): number {
    return this.#running.get(callerId) ?? 0;
  }
}
