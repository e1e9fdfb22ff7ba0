/**
 * Wakes background work when data is committed in this or another process, instead of at the next poll. A lost notification
 * only delays work until the next poll, so no code waits for notifications or relies on them.
 */
import sql from 'sql-template-tag';
import type { Database, DatabaseClient } from '../database/pool.ts';

const CHANNEL = 'docket_wake';
const LISTEN = `LISTEN ${CHANNEL}`;
/** Minimum interval between notifications of one process: a notification takes a lock that all notifying commits share. */
const QUIET_MS = 20;
const RECONNECT_MS = 1000;

export class Notifier {
  readonly #db: Database;
  #onWake: (() => void) | undefined;
  #client: DatabaseClient | undefined;
  #retry: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;
  /** Whether another notification became due during the interval. */
  #again = false;
  #stopped = false;

  constructor(db: Database) {
    this.#db = db;
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
    // Connect only once: a second connection would never be used or released.
    const first = this.#onWake === undefined;
    this.#onWake = onWake;
    if (first) void this.#connect();
  }

  async #connect(): Promise<void> {
    try {
      const client = await this.#db.session();
      // Notifications do not pass through a pooler; the timers must suffice.
      if (client === undefined) return;
      if (this.#stopped) {
        client.release();
        return;
      }
      this.#client = client;
      client.on('notification', () => this.#onWake?.());
      client.on('end', () => this.#lost(client));
      await client.query(LISTEN);
    } catch {
      if (this.#client === undefined) this.#reconnect();
      else this.#lost(this.#client);
    }
  }

  #lost(client: DatabaseClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.release(true);
    this.#reconnect();
  }

  #reconnect(): void {
    if (!this.#stopped) this.#retry = setTimeout(() => void this.#connect(), RECONNECT_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#onWake = undefined;
    clearTimeout(this.#retry);
    clearTimeout(this.#quiet);
    const client = this.#client;
    this.#client = undefined;
    // A listening connection must not return to the pool.
    client?.release(true);
  }
}
