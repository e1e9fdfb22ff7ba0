/** Slices of long work in the event loop, so that other requests can run in between, and intervals between reports. */
import { setImmediate } from 'node:timers/promises';

/** Maximum duration of a slice, in milliseconds. */
const PIECE_MS = 8;

/** Create it when the work begins, and await `next` between short steps. */
export class Yielder {
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

/** Maps a long list in slices. */
export async function mapInTurns<Item, Result>(items: readonly Item[], map: (item: Item) => Result): Promise<Result[]> {
  const yielder = new Yielder();
  const results: Result[] = [];
  for (const item of items) {
    const turn = yielder.next();
    if (turn !== undefined) await turn;
    results.push(map(item));
  }
  return results;
}

/** Runs a calculation in slices. It yields where other requests may run, and needs to wait for nothing. */
export async function inTurns<Result>(calculation: Generator<undefined, Result>): Promise<Result> {
  const yielder = new Yielder();
  for (let step = calculation.next(); ; step = calculation.next()) {
    if (step.done === true) return step.value;
    const turn = yielder.next();
    if (turn !== undefined) await turn;
  }
}

/**
 * Returns a function that is true at most once in `ms` milliseconds.
 *
 * @param since when the first interval begins, as `performance.now()`; -Infinity makes the first call true
 */
export function atMostEvery(ms: number, since = performance.now()): () => boolean {
  let last = since;
  return () => {
    const now = performance.now();
    if (now - last < ms) return false;
    last = now;
    return true;
  };
}
