/**
 * Lets units that compete for a record take turns. When a unit's guard fails because another one changed the record first, it
 * queues for the record, and so does every later unit that loads it, until the queue is empty. Otherwise many units would read
 * the same revision at the same time, and all but one would do their work in vain.
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

/** A unit waited for its turn while it loaded a record: it starts again, with the current time. Nothing is planned by then. */
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

  /**
   * The unit is about to load this record.
   *
   * @throws TurnAwaited if it had to wait
   */
  async load(id: string): Promise<void> {
    this.#first ??= id;
    if (!this.#queues.has(id) || this.#record !== undefined) return;
    await this.#enter(id);
    throw new TurnAwaited('the unit starts again');
  }

  /** A guard of the unit failed: it is about to be retried. */
  async retry(): Promise<void> {
    if (this.#first !== undefined) await this.#enter(this.#first);
  }

  async #enter(id: string): Promise<void> {
    if (this.#record !== undefined) return;
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
