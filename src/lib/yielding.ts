/** Splits long work in the event loop into short slices, so that other requests can run in between. */
import { setImmediate } from 'node:timers/promises';

/** Maximum duration of a slice, in milliseconds. */
const PIECE_MS = 8;

/** Create it when the work begins, and await `next` between short steps. */
export class Turns {
  #since = performance.now();

  /** Returns a promise if other requests should run now, otherwise undefined, which is cheap to await. */
  next(): Promise<void> | undefined {
    return performance.now() - this.#since < PIECE_MS ? undefined : this.#give();
  }

  async #give(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
