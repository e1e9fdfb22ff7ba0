/**
 * SIGTERM, SIGINT and SIGHUP for the whole process. The embedded database runs in a process group of its own and outlives
 * this process, so a stop signal must not end the process before the database is stopped.
 *
 * Commands end by the signal after their cleanups (`beforeEnd`). `docket serve` stops by itself: it takes the signal over
 * with `stopGracefully`.
 */

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The reason of the abort signal: a stop signal arrived. */
export class Interrupted extends Error {
  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.name = 'Interrupted';
  }
}

class StopSignals {
  readonly #controller = new AbortController();
  readonly #cleanups: (() => Promise<unknown>)[] = [];
  #watching = false;
  #graceful = false;

  /** Aborted by the first stop signal, with an `Interrupted` as reason. From the first read on, signals do not end the process. */
  get signal(): AbortSignal {
    if (!this.#watching) {
      this.#watching = true;
      // The listeners stay: a second signal must not cut the stop short and leave the database running.
      for (const name of SIGNALS) process.on(name, () => void this.#interrupt(name));
    }
    return this.#controller.signal;
  }

  /** The same, for a command that stops by itself and exits. */
  stopGracefully(): AbortSignal {
    this.#graceful = true;
    return this.signal;
  }

  /** Registers what must have run before a stop signal ends a command. */
  beforeEnd(cleanup: () => Promise<unknown>): void {
    this.#cleanups.push(cleanup);
  }

  /** Whether a stop signal is ending this command: then its own end and its error messages are of no interest. */
  get ending(): boolean {
    return this.#controller.signal.aborted && !this.#graceful;
  }

  async #interrupt(name: NodeJS.Signals): Promise<void> {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort(new Interrupted(name));
    if (this.#graceful) return;
    // The last registered first: a scratch folder is removed after the database in it was stopped.
    for (const cleanup of this.#cleanups.toReversed()) await cleanup().catch(() => {});
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  }
}

/** One for the process, as signals are. */
export const stopSignals = new StopSignals();

/** Resolves when the abort signal is aborted; at once if it was. */
export function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}

/** The result of `work`, or the rejection with the signal's reason as soon as it is aborted; `work` goes on then. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {});
  const stopped = aborted(signal).then((): never => {
    throw signal.reason;
  });
  stopped.catch(() => {});
  return await Promise.race([work, stopped]);
}
