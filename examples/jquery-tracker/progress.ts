/** A progress bar on a terminal; elsewhere a line for every tenth. */

const WIDTH = 30;
const REDRAW_MS = 100;

export class Progress {
  readonly #label: string;
  readonly #total: number;
  readonly #started = performance.now();
  readonly #terminal = process.stderr.isTTY === true;
  #done = 0;
  #drawn = 0;
  #tenth = 0;

  constructor(label: string, total: number) {
    this.#label = label.padEnd(12);
    this.#total = total;
  }

  add(count = 1): void {
    this.#done += count;
    const now = performance.now();
    if (this.#terminal) {
      if (now - this.#drawn < REDRAW_MS && this.#done < this.#total) return;
      this.#drawn = now;
      process.stderr.write(`\r${this.#line()}`);
      return;
    }
    const tenth = Math.floor((this.#done * 10) / Math.max(1, this.#total));
    if (tenth === this.#tenth) return;
    this.#tenth = tenth;
    process.stderr.write(`${this.#line()}\n`);
  }

  /** Ends the bar. @returns milliseconds since it began */
  end(): number {
    if (this.#terminal) process.stderr.write(`\r${this.#line()}\n`);
    return performance.now() - this.#started;
  }

  #line(): string {
    const share = this.#total === 0 ? 1 : Math.min(1, this.#done / this.#total);
    const filled = Math.round(share * WIDTH);
    const seconds = (performance.now() - this.#started) / 1_000;
    const left = share > 0 && share < 1 ? `, ${Math.ceil(seconds / share - seconds)} s left` : '';
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
    return `${this.#label} ${bar} ${this.#done}/${this.#total} ${seconds.toFixed(0)} s${left}   `;
  }
}

/** Runs `work` on every item, `workers` at a time, in order of the items; the first error ends all. */
export async function inParallel<Item>(
  items: readonly Item[],
  workers: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const item = items[next++] as Item;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: workers }, worker));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}
