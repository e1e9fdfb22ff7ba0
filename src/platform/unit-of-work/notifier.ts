/**
 * Wakes background work when data is committed in this or another process, instead of at the next poll. A lost notification
 * only delays work until the next poll, so no code waits for notifications or relies on them.
 */
import sql from 'sql-template-tag';
import { ListeningConnection } from '../database/listening-connection.ts';
import type { Database } from '../database/pool.ts';

const CHANNEL = 'docket_wake';
/** Minimum interval between notifications of one process: a notification takes a lock that all notifying commits share. */
const QUIET_MS = 20;
/** A process that has not written for so long tells the others when it writes again: they look rarely while nothing is written. */
const LONG_QUIET_MS = 1000;

export class Notifier {
  readonly #db: Database;
  readonly #connection: ListeningConnection;
  #onWake: (() => void) | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #emittedAt = Number.NEGATIVE_INFINITY;
  /** Whether another notification became due during the interval. */
  #again = false;
  #stopped = false;

  constructor(db: Database) {
    this.#db = db;
    // Behind a pooler nothing is notified; the timers must suffice.
    this.#connection = new ListeningConnection(db, CHANNEL, { notified: () => this.#onWake?.() });
  }

  /**
   * Reports a commit that background work should process. Wakes this process if it does background work, otherwise notifies the
   * others.
   */
  notify(): void {
    if (this.#onWake !== undefined) this.#onWake();
    else if (this.#quiet !== undefined) this.#again = true;
    else if (!this.#stopped) this.#say();
  }

  /** A unit was committed that emitted events. @param isUrgent whether others must learn of each such unit at once */
  emitted(isUrgent: () => boolean): void {
    const wasQuiet = performance.now() - this.#emittedAt >= LONG_QUIET_MS;
    this.#emittedAt = performance.now();
    if (wasQuiet || isUrgent()) this.notify();
  }

  #say(): void {
    this.#again = false;
    this.#db.query(sql`SELECT pg_notify(${CHANNEL}, '')`).catch(() => {});
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      if (this.#again && !this.#stopped) this.#say();
    }, QUIET_MS);
  }

  /** Makes this process a background worker: `onWake` is called for its own commits and those of others. */
  listen(onWake: () => void): void {
    this.#onWake = onWake;
    if (!this.#stopped) this.#connection.start();
  }

  stop(): void {
    this.#stopped = true;
    this.#onWake = undefined;
    clearTimeout(this.#quiet);
    this.#connection.stop();
  }
}
