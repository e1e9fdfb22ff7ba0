/** Runs asynchronous jobs with bounded concurrency and a bounded queue that serves its owners in turn. */
import { SharedBudget } from './shared-budget.ts';

export interface FairQueueOptions {
  /** Maximum number of concurrent jobs. */
  running: number;
  /** Maximum number of running and waiting jobs, shared among owners like a `SharedBudget`. */
  places: number;
  /** After a job that took t milliseconds, the next one starts t × `rest` milliseconds later. Default 0. */
  rest?: number;
}

export class FairQueue {
  readonly #most: number;
  readonly #rest: number;
  readonly #places: SharedBudget;
  /** Owners with waiting jobs; the first one is served next. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#most = options.running;
    this.#rest = options.rest ?? 0;
    this.#places = new SharedBudget(options.places);
  }

  /** Number of running and waiting jobs. */
  get size(): number {
    return this.#places.held;
  }

  /**
   * Runs the job as soon as a slot is free. @returns undefined if the queue is full for this owner; the job does not run then
   */
  run<T>(owner: string, job: () => Promise<T>): Promise<T> | undefined {
    if (!this.#places.take(owner, 1)) return undefined;
    return this.#run(owner, job);
  }

  async #run<T>(owner: string, job: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await this.#turn(owner);
    else this.#running++;
    const started = performance.now();
    try {
      return await job();
    } finally {
      this.#places.release(owner, 1);
      const pause = (performance.now() - started) * this.#rest;
      if (pause > 0) setTimeout(() => this.#next(), pause);
      else this.#next();
    }
  }

  #turn(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(owner);
      if (queue === undefined) this.#waiting.set(owner, [resolve]);
      else queue.push(resolve);
    });
  }

  /** Passes the slot of the finished job to the owner who has waited longest, or frees it. */
  #next(): void {
    for (const [owner, queue] of this.#waiting) {
      this.#waiting.delete(owner);
      const start = queue.shift();
      if (queue.length > 0) this.#waiting.set(owner, queue);
      start?.();
      return;
    }
    this.#running--;
  }
}
