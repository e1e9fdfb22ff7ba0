/** Keeps the index in memory equal to the committed records. */
import { MemoryIndex } from './memory-index.ts';
import type { SegmentFiles } from './files.ts';
import type { LoadMark, RecordSource, Seen } from './record-source.ts';
import { restore } from './restore.ts';

const LOADED_AT_ONCE = 8000;
/** With more changes at once, everything is read again. */
const MAX_CHANGES = 20_000;
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
  /** Segments of an earlier process; undefined: everything is read from the database. */
  files?: SegmentFiles | undefined;
}

export class MemoryFollower {
  readonly #source: RecordSource;
  readonly #limits: FollowerLimits;
  readonly #columns: Set<string>;
  #index = new MemoryIndex();
  #seen: Seen | undefined;
  /** The steps of the load. */
  #steps: AsyncGenerator<undefined, void>;
  #hasBegun = false;
  #state: FollowerState = 'loading';
  #running: Promise<boolean> | undefined;
  #next: Promise<boolean> | undefined;
  #loadMs = 0;
  #loadAfter = 0;

  /** @param columns names of the columns that the index has from the beginning */
  constructor(source: RecordSource, limits: FollowerLimits, columns: Iterable<string> = []) {
    this.#source = source;
    this.#limits = limits;
    this.#columns = new Set(columns);
    this.#steps = this.#load(this.#index);
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
    return this.#hasBegun ? 0 : Math.max(0, this.#loadAfter - performance.now());
  }

  addColumns(names: readonly string[]): void {
    const before = this.#columns.size;
    for (const name of names) this.#columns.add(name);
    if (this.#columns.size > before && this.#state !== 'too-large') this.#restart();
  }

  /** Reads the next records of a load. @returns whether there are more */
  async loadStep(): Promise<boolean> {
    if (this.#state !== 'loading') return false;
    const steps = this.#steps;
    this.#hasBegun = true;
    try {
      await steps.next();
    } catch (error) {
      // The steps have ended.
      if (steps === this.#steps) this.#restart();
      throw error;
    }
    // Begun again meanwhile, with other columns.
    if (steps !== this.#steps) return true;
    this.#giveUpIfTooLarge();
    return this.#state === 'loading';
  }

  async *#load(index: MemoryIndex): AsyncGenerator<undefined, void> {
    const began = performance.now();
    const seen = await this.#source.seenNow();
    const { files, loaded: limit = LOADED_AT_ONCE } = this.#limits;
    const isRestored =
      files !== undefined && (yield* restore(index, this.#source, this.#columns, files, builtFor(seen, this.#columns)));
    for (let mark: LoadMark | null = null; !isRestored; ) {
      const { documents, next }: Awaited<ReturnType<RecordSource['load']>> = await this.#source.load(
        this.#columns,
        mark,
        limit,
      );
      index.apply(documents);
      if (next === null) break;
      mark = next;
      yield;
    }
    if (index !== this.#index) return;
    this.#seen = seen;
    this.#state = 'ready';
    this.#loadMs = performance.now() - began;
  }

  /** Writes the segments that no file has yet. */
  async save(): Promise<void> {
    const { files } = this.#limits;
    if (files === undefined || this.#seen === undefined || this.#state !== 'ready') return;
    const segments = this.#index.segments.map(({ segment }) => segment);
    await files.write(segments, builtFor(this.#seen, this.#columns));
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
    const { ids, ...seen } = await this.#source.changesSince(this.#seen, MAX_CHANGES + 1);
    if (index !== this.#index) return false;
    if (seen.epoch !== this.#seen.epoch || ids.length > MAX_CHANGES) {
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
    this.#steps = this.#load(this.#index);
    this.#hasBegun = false;
    this.#state = 'loading';
    this.#loadAfter = performance.now() + RELOAD_PAUSE * this.#loadMs;
  }

  #giveUpIfTooLarge(): void {
    if (this.#index.bytes <= this.#limits.bytes) return;
    this.#restart();
    this.#state = 'too-large';
  }
}

/** What segments are built for: files for anything else are of no use. */
function builtFor({ storage }: Seen, columns: ReadonlySet<string>): string {
  return JSON.stringify([storage, ...[...columns].sort()]);
}
