/**
 * Answers concurrent requests in batches. A batch is whatever waits at the end of a turn of the event loop, while few batches are
 * under way. Requests that arrive together thus share a batch, a request that comes alone is sent in the same turn, and none
 * waits for a timer.
 *
 *     requests    a        b c d e        f g h
 *     batches     |-- a --|-- b c d e ---|-- f g h --|
 *
 * (drawn with one batch under way at a time)
 */
import { AsyncResource } from 'node:async_hooks';

/** After this time a batch does not count as under way, so that a broken connection does not hold up all requests. */
const OVERDUE_MS = 1000;

export interface BatchLimits {
  /** Requests in one batch. */
  size: number;
  /** Batches under way at a time. */
  underWay: number;
}

interface Waiting<Item, Answer> {
  item: Item;
  /** The asynchronous context of the request. */
  context: AsyncResource;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** How a batch is answered. */
export interface BatchRun<Item, Answer> {
  /** Answers one or more requests, in their order. */
  together(items: readonly Item[]): Promise<readonly Answer[]>;
  /** Answers one request of a failed batch. */
  alone(item: Item): Promise<Answer>;
  /** Whether the requests of a failed batch are answered one by one. Otherwise each fails with the error of the batch. */
  isSeparable(error: unknown, count: number): boolean;
  /** Whether the request can be in a batch with these; if absent, it can. */
  joins?(batch: readonly Item[], item: Item): boolean;
}

export class Batches<Item, Answer> {
  readonly #run: BatchRun<Item, Answer>;
  readonly #limits: BatchLimits;
  #waiting: Waiting<Item, Answer>[] = [];
  #underWay = 0;
  #isScheduled = false;
  /** The present limit: halved when a batch fails and raised by one when one succeeds. */
  #size: number;

  constructor(limits: BatchLimits, run: BatchRun<Item, Answer>) {
    this.#limits = limits;
    this.#size = limits.size;
    this.#run = run;
  }

  /** Answers the request with a statement that is sent after this call. */
  ask(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, context: new AsyncResource('BatchRequest'), resolve, reject });
      this.#schedule();
    });
  }

  /** Sends at the end of this turn of the event loop, after the requests that arrived in it. */
  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= this.#limits.underWay) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    while (this.#underWay < this.#limits.underWay && this.#waiting.length > 0) {
      const batch = this.#take();
      this.#underWay++;
      let ended = false;
      const end = (): void => {
        if (ended) return;
        ended = true;
        clearTimeout(overdue);
        this.#underWay--;
        if (this.#waiting.length > 0) this.#schedule();
      };
      const overdue = setTimeout(end, OVERDUE_MS);
      // Spans of the statement belong to the first request.
      void batch[0]?.context.runInAsyncScope(() => this.#answer(batch)).finally(end);
    }
  }

  /** The request that has waited longest, and others that can be in a batch with it. */
  #take(): Waiting<Item, Answer>[] {
    const { joins } = this.#run;
    if (joins === undefined) return this.#waiting.splice(0, this.#size);
    const batch: Waiting<Item, Answer>[] = [];
    const items: Item[] = [];
    this.#waiting = this.#waiting.filter((one) => {
      if (batch.length >= this.#size || (batch.length > 0 && !joins(items, one.item))) return true;
      batch.push(one);
      items.push(one.item);
      return false;
    });
    return batch;
  }

  async #answer(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#run.together(batch.map(({ item }) => item));
      this.#size = Math.min(this.#size + 1, this.#limits.size);
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (batch.length > 1) this.#size = Math.ceil(this.#size / 2);
      // The next batch does not wait for these: each may wait for a lock.
      for (const { item, context, resolve, reject } of batch) {
        if (!this.#run.isSeparable(error, batch.length)) reject(error);
        else context.runInAsyncScope(() => this.#run.alone(item)).then(resolve, reject);
      }
    }
  }
}
