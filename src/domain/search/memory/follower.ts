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
   *
   * @param columns names of the columns whose values are read
   */
  load(
    columns: ReadonlySet<string>,
    after: LoadMark | null,
    limit: number,
  ): Promise<{ documents: IndexedDocument[]; next: LoadMark | null }>;
  /** Ids of the records that changed since, at most `limit`, and what has been seen with them. */
  changesSince(seen: Seen, limit: number): Promise<Seen & { ids: string[] }>;
  /** The records with these ids as they are now, those that are active. */
  read(columns: ReadonlySet<string>, ids: readonly string[]): Promise<IndexedDocument[]>;
}

const LOADED_AT_ONCE = 8000;
/** With more changes at once, everything is read again. */
const MOST_CHANGES = 20_000;
/** Number of changed records that are read in one statement. */
const READ_AT_ONCE = 1000;
/** The pause before everything is read again, as a multiple of the time that it took. */
const RELOAD_PAUSE = 2;

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
  readonly #columns: Set<string>;
  #index = new MemoryIndex();
  #seen: Seen | undefined;
  #mark: LoadMark | null = null;
  #state: FollowerState = 'loading';
  #running: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;
  #loadBegan = 0;
  #loadMs = 0;
  #loadAfter = 0;

  /** @param columns names of the columns that the index has from the beginning */
  constructor(source: RecordSource, limits: FollowerLimits, columns: Iterable<string> = []) {
    this.#source = source;
    this.#limits = limits;
    this.#columns = new Set(columns);
  }

  get state(): FollowerState {
    return this.#state;
  }

  get columns(): ReadonlySet<string> {
    return this.#columns;
  }

  /** A new object after everything was read again. */
  get index(): MemoryIndex {
    return this.#index;
  }

  /** Milliseconds until the load should begin; 0 if now. Loading again and again would leave nothing for questions. */
  get pauseMs(): number {
    return this.#seen === undefined ? Math.max(0, this.#loadAfter - performance.now()) : 0;
  }

  addColumns(names: readonly string[]): void {
    const before = this.#columns.size;
    for (const name of names) this.#columns.add(name);
    if (this.#columns.size > before && this.#state !== 'too-large') this.#restart();
  }

  /** Reads the next records of the first load. @returns whether there are more */
  async loadStep(): Promise<boolean> {
    if (this.#state !== 'loading') return false;
    const index = this.#index;
    if (this.#seen === undefined) {
      this.#loadBegan = performance.now();
      const seen = await this.#source.seenNow();
      if (index !== this.#index) return true;
      this.#seen = seen;
    }
    const limit = this.#limits.loaded ?? LOADED_AT_ONCE;
    const { documents, next } = await this.#source.load(this.#columns, this.#mark, limit);
    // Begun again meanwhile, with other columns.
    if (index !== this.#index) return true;
    index.apply(documents);
    this.#mark = next;
    if (next === null) {
      this.#state = 'ready';
      this.#loadMs = performance.now() - this.#loadBegan;
    }
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
    const index = this.#index;
    const { ids, ...seen } = await this.#source.changesSince(this.#seen, MOST_CHANGES + 1);
    if (index !== this.#index) return false;
    if (seen.epoch !== this.#seen.epoch || ids.length > MOST_CHANGES) {
      this.#restart();
      return false;
    }
    for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
      const some = ids.slice(at, at + READ_AT_ONCE);
      const documents = await this.#source.read(this.#columns, some);
      if (index !== this.#index) return false;
      const present = new Set(documents.map(({ id }) => id));
      index.apply(
        documents,
        some.filter((id) => !present.has(id)),
      );
    }
    // Only now: if a read fails, the same changes are read again.
    this.#seen = seen;
    this.#giveUpIfTooLarge();
    return this.#isReady();
  }

  #isReady(): boolean {
    return this.#state === 'ready';
  }

  #restart(): void {
    this.#index = new MemoryIndex();
    this.#seen = undefined;
    this.#mark = null;
    this.#state = 'loading';
    this.#loadAfter = performance.now() + RELOAD_PAUSE * this.#loadMs;
  }

  #giveUpIfTooLarge(): void {
    if (this.#index.bytes <= this.#limits.bytes) return;
    this.#restart();
    this.#state = 'too-large';
  }
}
