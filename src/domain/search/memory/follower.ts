/** Keeps the index in memory equal to the committed records. */
import { MemoryIndex } from './memory-index.ts';
import type { IndexedDocument } from './segment.ts';

/** Which transactions a reader has seen. */
export interface Seen {
  /** A `pg_snapshot`. */
  snapshot: string;
  /**
   * Identifies the storage and the start of the server. If it changes, changes that were read may be lost, and transaction ids
   * may mean others: everything must be read again.
   */
  epoch: string;
}

/** A place in the order of a load. */
export interface LoadMark {
  at: string;
  id: string;
}

/** Where committed records are read; `../store-memory.ts` reads them from the database. */
export interface RecordSource {
  /** What a statement that begins now sees. */
  seenNow(): Promise<Seen>;
  /**
   * The next active records, last updated first. Records that change during the load may be missed or read twice; they are among
   * the changes since its beginning.
   */
  load(after: LoadMark | null, limit: number): Promise<{ documents: IndexedDocument[]; next: LoadMark | null }>;
  /** Ids of the records that changed since, at most `limit`, and what has been seen with them. */
  changesSince(seen: Seen, limit: number): Promise<Seen & { ids: string[] }>;
  /** The records with these ids as they are now, those that are active. */
  read(ids: readonly string[]): Promise<IndexedDocument[]>;
}

const LOADED_AT_ONCE = 4000;
/** Maximum number of changed records that are read before a question. */
const MOST_CHANGES = 1000;

/**
 * - `loading`: records are still missing.
 * - `ready`: the index has everything that was seen.
 * - `too-large`: the index would exceed its limit of memory; it was given up until the process restarts.
 */
export type FollowerState = 'loading' | 'ready' | 'too-large';

export interface FollowerLimits {
  /** Memory of the index. */
  bytes: number;
  /** Number of records that are loaded in one statement. */
  loaded?: number;
}

export class MemoryFollower {
  readonly #source: RecordSource;
  readonly #limits: FollowerLimits;
  #index = new MemoryIndex();
  #seen: Seen | undefined;
  #mark: LoadMark | null = null;
  #state: FollowerState = 'loading';
  #running: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;

  constructor(source: RecordSource, limits: FollowerLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  get state(): FollowerState {
    return this.#state;
  }

  /** A new object after everything was read again. */
  get index(): MemoryIndex {
    return this.#index;
  }

  /** Reads the next records of the first load. @returns whether there are more */
  async loadStep(): Promise<boolean> {
    if (this.#state !== 'loading') return false;
    this.#seen ??= await this.#source.seenNow();
    const { documents, next } = await this.#source.load(this.#mark, this.#limits.loaded ?? LOADED_AT_ONCE);
    this.#index.apply(documents);
    this.#mark = next;
    if (next === null) this.#state = 'ready';
    this.#giveUpIfTooLarge();
    return next !== null;
  }

  /**
   * Applies what was committed since the last time. Afterwards the index has every change that was acknowledged before the call,
   * if this returns true. If not, the statement must answer.
   *
   * One read runs at a time, so that no older state is applied after a newer one. Callers that come meanwhile share the next one.
   */
  catchUp(): Promise<boolean> {
    if (this.#running === undefined) {
      this.#running = this.#read().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const again = (): Promise<boolean> => {
      this.#next = undefined;
      return this.catchUp();
    };
    this.#next ??= this.#running.then(again, again);
    return this.#next;
  }

  async #read(): Promise<boolean> {
    if (this.#state !== 'ready' || this.#seen === undefined) return false;
    const { ids, ...seen } = await this.#source.changesSince(this.#seen, MOST_CHANGES + 1);
    if (seen.epoch !== this.#seen.epoch || ids.length > MOST_CHANGES) {
      this.#restart();
      return false;
    }
    if (ids.length > 0) {
      const documents = await this.#source.read(ids);
      const present = new Set(documents.map(({ id }) => id));
      const gone = ids.filter((id) => !present.has(id));
      this.#index.apply(documents, gone);
    }
    this.#seen = seen;
    this.#giveUpIfTooLarge();
    return this.#state === 'ready';
  }

  #restart(): void {
    this.#index = new MemoryIndex();
    this.#seen = undefined;
    this.#mark = null;
    this.#state = 'loading';
  }

  #giveUpIfTooLarge(): void {
    if (this.#index.bytes <= this.#limits.bytes) return;
    this.#restart();
    this.#state = 'too-large';
  }
}
