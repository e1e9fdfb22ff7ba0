/**
 * Hastens the timers of background work: what commits here, or in another process, is looked at now rather than at the next
 * turn. A lost word costs a turn of waiting and nothing else, so none of it is ever waited for or relied on.
 */
import sql from 'sql-template-tag';
import type { Database } from './db/pool.ts';

type Client = Awaited<ReturnType<Database['connect']>>;

const CHANNEL = 'docket_wake';
const LISTEN = `LISTEN ${CHANNEL}`;
/** No process says more than one word in this time: a notification takes a lock that all commits of notifiers share. */
const QUIET_MS = 20;
const RECONNECT_MS = 1000;

export class Wake {
  readonly #db: Database;
  #onWake: (() => void) | undefined;
  #client: Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #quiet: NodeJS.Timeout | undefined;
  /** Something came while it was quiet. */
  #again = false;
  #stopped = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Something was committed that background work waits for. Tells this process, or, when it does no such work, the others. */
  poke(): void {
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

  /** From now on this process does background work: `onWake` is called for its own commits and those of others. */
  listen(onWake: () => void): void {
    // Once is enough: a second connection would be listened on by nobody, and given back by nobody.
    const first = this.#onWake === undefined;
    this.#onWake = onWake;
    if (first) void this.#connect();
  }

  async #connect(): Promise<void> {
    try {
      const client = await this.#db.session();
      // Behind a pooler nothing is heard: the timers do it all.
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

  #lost(client: Client): void {
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
    // A connection that listens must not go back to those that do other work.
    client?.release(true);
  }
}
