/**
 * Tells the readers of the changes feed in this process that there are new places. While there are readers, one connection
 * listens to notifications. Behind a pooler, which passes on none, new places are found when the process notices commits. So an
 * idle reader costs no statement.
 */
import type { Database, DatabaseClient, Queryable } from '../database/pool.ts';
import type { Changes } from '../unit-of-work/changes.ts';
import { lastPlace, PLACES_CHANNEL } from './places.ts';

const RECONNECT_MS = 1000;
/** The connection is kept for this long after the last reader: a client that polls comes again. */
const IDLE_MS = 60_000;
/** A notification usually comes sooner than this after a commit; then nothing needs to be read. */
const LOOK_MS = 200;

/** @param hasPlaces whether there are new places; otherwise rights, keys or other data may have changed */
export type PlaceListener = (hasPlaces: boolean) => void;

export class PlaceWatch {
  readonly #db: Queryable & Pick<Database, 'session'>;
  readonly #changes: Pick<Changes, 'listen'>;
  readonly #listeners = new Set<PlaceListener>();
  #unlisten: (() => void) | undefined;
  #client: DatabaseClient | undefined;
  #retry: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #place = -1;

  constructor(db: Queryable & Pick<Database, 'session'>, changes: Pick<Changes, 'listen'>) {
    this.#db = db;
    this.#changes = changes;
  }

  /** @returns ends the listening */
  listen(listener: PlaceListener): () => void {
    clearTimeout(this.#idle);
    this.#listeners.add(listener);
    if (this.#unlisten === undefined) {
      this.#unlisten = this.#changes.listen(() => this.#lookSoon());
      void this.#connect();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => this.stop(), IDLE_MS);
      this.#idle.unref();
    };
  }

  #fire(hasPlaces: boolean): void {
    for (const listener of this.#listeners) listener(hasPlaces);
  }

  #saw(place: number): void {
    if (place === this.#place) return;
    this.#place = place;
    this.#fire(true);
  }

  #lookSoon(): void {
    if (this.#look !== undefined || this.#listeners.size === 0) return;
    this.#look = setTimeout(() => void this.#lookNow(), LOOK_MS);
    this.#look.unref();
  }

  async #lookNow(): Promise<void> {
    try {
      this.#saw(await lastPlace(this.#db));
      this.#fire(false);
    } catch {
      // A database that restarts is read again at the next signal.
    } finally {
      this.#look = undefined;
    }
  }

  async #connect(): Promise<void> {
    try {
      const client = await this.#db.session();
      if (client === undefined) return;
      if (this.#unlisten === undefined || this.#client !== undefined) {
        client.release();
        return;
      }
      this.#client = client;
      client.on('notification', ({ payload }) => this.#saw(Number(payload)));
      client.on('end', () => this.#lost(client));
      await client.query(`LISTEN ${PLACES_CHANNEL}`);
      // Places may have been given before the connection listened.
      this.#fire(true);
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
    if (this.#unlisten === undefined) return;
    this.#retry = setTimeout(() => void this.#connect(), RECONNECT_MS);
    this.#retry.unref();
  }

  /** Closes the connection until a reader listens again. */
  stop(): void {
    this.#unlisten?.();
    this.#unlisten = undefined;
    clearTimeout(this.#retry);
    clearTimeout(this.#look);
    clearTimeout(this.#idle);
    this.#look = undefined;
    const client = this.#client;
    this.#client = undefined;
    // A listening connection must not return to the pool.
    client?.release(true);
  }
}
