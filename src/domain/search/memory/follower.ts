/** Keeps the index in memory equal to the committed records. */
import type { Queryable } from '../../../platform/database/pool.ts';
import {
  changesSince,
  type LoadMark,
  loadRecords,
  MOST_CHANGES,
  readRecords,
  type Seen,
  seenNow,
} from '../store-memory.ts';
import { MemoryIndex } from './memory-index.ts';

const LOADED_AT_ONCE = 4000;

/**
 * - `loading`: records are still missing.
 * - `ready`: the index has everything that was seen.
 * - `too-large`: the index would exceed its limit of memory; it was given up until the process restarts.
 */
export type FollowerState = 'loading' | 'ready' | 'too-large';

export class MemoryFollower {
  #index = new MemoryIndex();
  readonly #codes: readonly string[];
  readonly #mostBytes: number;
  #seen: Seen | undefined;
  #mark: LoadMark | null = null;
  #state: FollowerState = 'loading';
  #running: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;

  /** @param codes stored codes of the fields whose values are kept */
  constructor(codes: readonly string[], mostBytes: number) {
    this.#codes = codes;
    this.#mostBytes = mostBytes;
  }

  get state(): FollowerState {
    return this.#state;
  }

  get index(): MemoryIndex {
    return this.#index;
  }

  /** Reads the next records of the first load. @returns whether there are more */
  async loadStep(db: Queryable): Promise<boolean> {
    if (this.#state !== 'loading') return false;
    this.#seen ??= await seenNow(db);
    const { documents, next } = await loadRecords(db, this.#codes, this.#mark, LOADED_AT_ONCE);
    this.#index.apply(documents);
    this.#mark = next;
    if (next === null) this.#state = 'ready';
    this.#limit();
    return next !== null;
  }

  /**
   * Applies what was committed since the last time. Afterwards the index has every change that was acknowledged before the call,
   * if this returns true. If not, the statement must answer.
   *
   * One read runs at a time, so that no older state is applied after a newer one. Callers that come meanwhile share the next one.
   */
  catchUp(db: Queryable): Promise<boolean> {
    if (this.#running === undefined) {
      this.#running = this.#read(db).finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const again = (): Promise<boolean> => {
      this.#next = undefined;
      return this.catchUp(db);
    };
    this.#next ??= this.#running.then(again, again);
    return this.#next;
  }

  async #read(db: Queryable): Promise<boolean> {
    if (this.#state !== 'ready' || this.#seen === undefined) return false;
    const { ids, ...seen } = await changesSince(db, this.#seen);
    if (seen.epoch !== this.#seen.epoch || ids.length > MOST_CHANGES) {
      this.#restart();
      return false;
    }
    if (ids.length > 0) {
      const documents = await readRecords(db, this.#codes, ids);
      const present = new Set(documents.map(({ id }) => id));
      this.#index.apply(
        documents,
        ids.filter((id) => !present.has(id)),
      );
    }
    this.#seen = seen;
    this.#limit();
    return this.#state === 'ready';
  }

  #restart(): void {
    this.#index = new MemoryIndex();
    this.#seen = undefined;
    this.#mark = null;
    this.#state = 'loading';
  }

  #limit(): void {
    if (this.#index.bytes <= this.#mostBytes) return;
    this.#restart();
    this.#state = 'too-large';
  }
}
