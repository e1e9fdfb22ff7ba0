/**
 * Handles SIGTERM, SIGINT and SIGHUP for the process. The embedded database runs in its own process group and outlives this
 * process, so the process must not end before the database is stopped.
 *
 * Commands end by the signal after their cleanups (`beforeEnd`). `docket serve` handles the signal itself with
 * `stopGracefully`.
 */

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Reason of the abort signal after a stop signal. */
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

  /**
   * Aborted by the first stop signal, with an `Interrupted` as reason. After the first access, signals no longer end the
   * process.
   */
  get signal(): AbortSignal {
    if (!this.#watching) {
      this.#watching = true;
      // The listeners are never removed: a second signal must not interrupt the stop and leave the database running.
      for (const name of SIGNALS) process.on(name, () => void this.#interrupt(name));
    }
    return this.#controller.signal;
  }

  /** The same signal, for a command that stops gracefully and exits itself. */
  stopGracefully(): AbortSignal {
    this.#graceful = true;
    return this.signal;
  }

  /** Registers a cleanup that runs before a stop signal ends a command. */
  beforeEnd(cleanup: () => Promise<unknown>): void {
    this.#cleanups.push(cleanup);
  }

  /** True while a stop signal ends this command. Its exit code and error messages are then irrelevant. */
  get ending(): boolean {
    return this.#controller.signal.aborted && !this.#graceful;
  }

  async #interrupt(name: NodeJS.Signals): Promise<void> {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort(new Interrupted(name));
    if (this.#graceful) return;
    // In reverse order: a temporary folder is removed after the database in it was stopped.
    for (const cleanup of this.#cleanups.toReversed()) await cleanup().catch(() => {});
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  }
}

/** One instance per process, because signal handlers are global. */
export const stopSignals = new StopSignals();

/** Resolves when the signal is aborted, immediately if it already is. */
export function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}

/** The result of `work`, or a rejection with the signal's reason once it is aborted. `work` itself is not stopped. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {});
  const stopped = aborted(signal).then((): never => {
    throw signal.reason;
  });
  stopped.catch(() => {});
  return await Promise.race([work, stopped]);
}
