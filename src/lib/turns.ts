/** Cuts long work in the event loop into short pieces, so that other requests run between them. */
import { setImmediate } from 'node:timers/promises';

/** How long a piece may run before others get their turn. */
const PIECE_MS = 8;

/** Made where the work begins; `next` is awaited between any two steps that each take little. */
export class Turns {
  #since = performance.now();

  /** A promise where others should run now, else undefined, which costs nothing to await. */
  next(): Promise<void> | undefined {
    return performance.now() - this.#since < PIECE_MS ? undefined : this.#give();
  }

  async #give(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
