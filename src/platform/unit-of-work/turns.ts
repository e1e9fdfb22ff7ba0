/**
 * Lets units that change one record take turns. Otherwise many units would write on the same revision at the same time, and all
 * but one would do their work in vain.
 *
 *     turn     |-- a --|      |-- d --|
 *     line     b, c    |- b -|        |- c -|        b, c: refused on revision 1, which a has changed; d knows revision 2
 *
 * - A unit takes the turn when its rights are checked and its change is planned. So callers without rights never wait, nor make
 *   others wait.
 * - If another unit has the turn, it waits in line, and then starts again: the record has most likely changed.
 * - A unit that is refused because the record was changed first waits in the same line. Clients often try again at once, and would
 *   otherwise take the processor from the changes.
 * - While nobody has the turn, units leave the line one after another. A new unit may take the turn meanwhile, so changes on the
 *   current revision do not wait until those on older ones are refused.
 *
 * This only saves work within one process. The guards of the statements decide which change is made.
 */

/** After this time a unit waits no longer, in milliseconds. */
const PATIENCE_MS = 5000;

interface Queue {
  hasTurn: boolean;
  line: (() => void)[];
  /** Whether a unit has left the line and has not ended yet. */
  isLeaving: boolean;
}

/** Record → its queue, while a unit has the turn or waits. */
export type Queues = Map<string, Queue>;

/** A unit waited in line: it starts again, with the current time and the record as it is now. */
export class TurnAwaited extends Error {}

/** The turn of one unit of work. It waits for one record only, so that units cannot wait for each other. */
export class QueueTicket {
  readonly #queues: Queues;
  readonly #onWait: () => void;
  #record: string | undefined;
  #queue: Queue | undefined;
  #hasTurn = false;
  #isLeaving = false;
  #until = 0;

  /** @param onWait called when the unit starts to wait */
  constructor(queues: Queues, onWait: () => void = () => {}) {
    this.#queues = queues;
    this.#onWait = onWait;
  }

  /**
   * The unit is about to change the record.
   *
   * @throws TurnAwaited if it had to wait
   */
  async take(record: string): Promise<void> {
    const queue = this.#enter(record, true);
    if (queue === undefined || this.#hasTurn) return;
    if (!queue.hasTurn) {
      queue.hasTurn = this.#hasTurn = true;
    } else if (await this.#wait(queue)) {
      throw new TurnAwaited('the unit starts again');
    }
  }

  /** The unit is refused because another one changed the record first. */
  async refuse(record: string): Promise<void> {
    const queue = this.#enter(record, false);
    if (queue !== undefined && !this.#hasTurn && !this.#isLeaving) await this.#wait(queue);
  }

  #enter(record: string, makes: boolean): Queue | undefined {
    if (this.#record !== undefined) return this.#record === record ? this.#queue : undefined;
    let queue = this.#queues.get(record);
    if (queue === undefined) {
      if (!makes) return undefined;
      queue = { hasTurn: false, line: [], isLeaving: false };
      this.#queues.set(record, queue);
    }
    this.#record = record;
    return (this.#queue = queue);
  }

  /** @returns false if the unit did not wait, because its waiting time was used up */
  async #wait(queue: Queue): Promise<boolean> {
    this.#leave(queue);
    if (this.#until === 0) {
      this.#until = performance.now() + PATIENCE_MS;
      this.#onWait();
    }
    const left = this.#until - performance.now();
    if (left <= 0) return false;
    this.#isLeaving = await waitIn(queue.line, left);
    return true;
  }

  #leave(queue: Queue): void {
    if (!this.#isLeaving) return;
    this.#isLeaving = queue.isLeaving = false;
  }

  /** The unit has ended: the next one leaves the line. */
  end(): void {
    const queue = this.#queue;
    if (queue === undefined || this.#record === undefined) return;
    this.#queue = undefined;
    this.#leave(queue);
    if (this.#hasTurn) queue.hasTurn = false;
    if (queue.hasTurn || queue.isLeaving) return;
    const next = queue.line.shift();
    if (next === undefined) {
      // A unit whose waiting time was used up may end after its queue.
      if (this.#queues.get(this.#record) === queue) this.#queues.delete(this.#record);
      return;
    }
    queue.isLeaving = true;
    next();
  }
}

/** @returns whether it was let go in time */
function waitIn(line: (() => void)[], ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(patience);
      resolve(true);
    };
    const patience = setTimeout(() => {
      line.splice(line.indexOf(go), 1);
      resolve(false);
    }, ms);
    line.push(go);
  });
}
