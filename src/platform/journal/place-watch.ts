/**
 * Tells the readers of the changes feed in this process that there are new places. While there are readers, one connection
 * listens to notifications. Behind a pooler, which passes on none, new places are found when the process notices commits, and once a second.
 * Otherwise an idle reader costs no statement.
 */
import { ListeningConnection } from '../database/listening-connection.ts';
import type { Database, Queryable } from '../database/pool.ts';
import type { Changes } from '../unit-of-work/changes.ts';
import { lastPlace, PLACES_CHANNEL } from './places.ts';

/** The connection is kept for this long after the last reader: a client that polls comes again. */
const IDLE_MS = 60_000;
/** A notification usually comes sooner than this after a commit; then nothing needs to be read. */
const LOOK_MS = 200;
/** How often new places are looked for without a listening connection: a place may be given long after its commit. */
const POLL_MS = 1000;

/** @param hasPlaces whether there are new places; otherwise rights, keys or other data may have changed */
export type PlaceListener = (hasPlaces: boolean) => void;

export class PlaceWatch {
  readonly #db: Queryable & Pick<Database, 'session'>;
  readonly #changes: Pick<Changes, 'listen'>;
  readonly #connection: ListeningConnection;
  readonly #listeners = new Set<PlaceListener>();
  #unlisten: (() => void) | undefined;
  #poll: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #place = -1;

  constructor(db: Queryable & Pick<Database, 'session'>, changes: Pick<Changes, 'listen'>) {
    this.#db = db;
    this.#changes = changes;
    this.#connection = new ListeningConnection(db, PLACES_CHANNEL, {
      notified: (payload) => this.#saw(Number(payload)),
      connected: () => this.#fire(true),
    });
  }

  /** Whether a reader waits, or one did within the last minute. Otherwise places may be given later. */
  get isUsed(): boolean {
    return this.#unlisten !== undefined;
  }

  /** @returns ends the listening */
  listen(listener: PlaceListener): () => void {
    clearTimeout(this.#idle);
    this.#listeners.add(listener);
    if (this.#unlisten === undefined) {
      this.#unlisten = this.#changes.listen(() => this.#lookSoon());
      this.#connection.start();
      this.#poll = setInterval(() => {
        if (!this.#connection.isOpen) this.#lookSoon();
      }, POLL_MS);
      this.#poll.unref();
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

  /** Closes the connection until a reader listens again. */
  stop(): void {
    this.#unlisten?.();
    this.#unlisten = undefined;
    clearInterval(this.#poll);
    clearTimeout(this.#look);
    clearTimeout(this.#idle);
    this.#look = undefined;
    this.#connection.stop();
  }
}
