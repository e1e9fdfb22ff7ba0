/**
 * Lets units that compete for a record take turns. When a unit's guard fails because another one changed the record first, it
 * queues for the record, and so does every later unit that loads it, until the queue is empty. Otherwise many units would read
 * the same revision at the same time, and all but one would do their work in vain.
 *
 * This only saves work within one process. The guards of the statements decide which change is made.
 */

/** After this time a unit goes on without its turn, in milliseconds. */
const PATIENCE_MS = 5000;

interface Queue {
  size: number;
  /** Resolves when the last unit in the queue has ended. */
  last: Promise<void>;
}

export type Queues = Map<string, Queue>;

/** The turn of one unit of work. It has at most one, so that units cannot wait for each other. */
export class Turn {
  readonly #queues: Queues;
  #first: string | undefined;
  #end: (() => void) | undefined;

  constructor(queues: Queues) {
    this.#queues = queues;
  }

  /** The unit is about to load this record. */
  async load(id: string): Promise<void> {
    this.#first ??= id;
    if (this.#queues.has(id)) await this.#enter(id);
  }

  /** A guard of the unit failed: it is about to be retried. */
  async retry(): Promise<void> {
    if (this.#first !== undefined) await this.#enter(this.#first);
  }

  async #enter(id: string): Promise<void> {
    if (this.#end !== undefined) return;
    const ended = Promise.withResolvers<void>();
    const queue = this.#queues.get(id) ?? { size: 0, last: Promise.resolve() };
    const before = queue.last;
    this.#queues.set(id, { size: queue.size + 1, last: ended.promise });
    this.#end = () => {
      const { size = 0, last = before } = this.#queues.get(id) ?? {};
      if (size <= 1) this.#queues.delete(id);
      else this.#queues.set(id, { size: size - 1, last });
      ended.resolve();
    };
    let patience: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      patience = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([before, limit]);
    clearTimeout(patience);
  }

  /** The unit has ended: the next one takes its turn. */
  end(): void {
    this.#end?.();
    this.#end = undefined;
  }
}
