/**
 * Lets units that change one record take turns. When a unit's guard fails because another one changed the record first, it
 * queues for the record, and so does every later unit that is about to change it, until the queue is empty. Otherwise many units
 * would write on the same revision at the same time, and all but one would do their work in vain.
 *
 * A unit queues when its rights are checked and its rows are planned, and starts again when its turn comes. So callers without
 * rights never wait, nor make others wait, and answers that need no write come at once.
 *
 * The newest and the oldest unit of a queue alternate. The newest most likely expects the current revision, so changes go on
 * while units with an old revision are refused; the oldest does not wait for ever.
 *
 * This only saves work within one process. The guards of the statements decide which change is made.
 */

/** After this time a unit goes on without its turn, in milliseconds. */
const PATIENCE_MS = 5000;

interface Queue {
  waiting: (() => void)[];
  isNewestNext: boolean;
}

/** Record → the units that wait while another has its turn. */
export type Queues = Map<string, Queue>;

/** A unit waited for its turn: it starts again, with the current time and the record as it is now. */
export class TurnAwaited extends Error {}

/** The turn of one unit of work. It waits for one turn at most, so that units cannot wait for each other. */
export class Turn {
  readonly #queues: Queues;
  #first: string | undefined;
  #queue: Queue | undefined;
  #record: string | undefined;

  constructor(queues: Queues) {
    this.#queues = queues;
  }

  /** The unit loads a record. The first one that it loads is the one that it may compete for. */
  load(id: string): void {
    this.#first ??= id;
  }

  /**
   * The unit is about to change the record.
   *
   * @throws TurnAwaited if it had to wait for others that compete for it
   */
  async take(): Promise<void> {
    const id = this.#first;
    if (id === undefined || this.#record !== undefined || !this.#queues.has(id)) return;
    await this.#enter(id);
    throw new TurnAwaited('the unit starts again');
  }

  /** A guard of the unit failed: it is about to be retried. */
  async retry(): Promise<void> {
    if (this.#first !== undefined && this.#record === undefined) await this.#enter(this.#first);
  }

  async #enter(id: string): Promise<void> {
    this.#record = id;
    const queue = this.#queues.get(id);
    if (queue === undefined) {
      this.#queue = { waiting: [], isNewestNext: true };
      this.#queues.set(id, this.#queue);
    } else if (await waitIn(queue)) {
      this.#queue = queue;
    }
  }

  /** The unit has ended: another one takes its turn. */
  end(): void {
    const queue = this.#queue;
    if (queue === undefined || this.#record === undefined) return;
    this.#queue = undefined;
    const next = queue.isNewestNext ? queue.waiting.pop() : queue.waiting.shift();
    queue.isNewestNext = !queue.isNewestNext;
    if (next === undefined) this.#queues.delete(this.#record);
    else next();
  }
}

/** @returns whether the turn came in time */
function waitIn({ waiting }: Queue): Promise<boolean> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(patience);
      resolve(true);
    };
    const patience = setTimeout(() => {
      waiting.splice(waiting.indexOf(go), 1);
      resolve(false);
    }, PATIENCE_MS);
    waiting.push(go);
  });
}
