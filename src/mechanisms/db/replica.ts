/**
 * A streaming replica for reads that may come from one, and when it may answer (decision 0014): it must have got as far as
 * the rights by which the answer is judged, and as far as the caller's own writes. A replica that is not there yet is waited
 * for briefly; one that is late, or gone, is not asked, and the primary answers.
 */
import sql from 'sql-template-tag';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './pool.ts';
import { type Position, positionColumn, readPosition } from './position.ts';

/** Of one request: who reads, and what they must see. */
export interface Standpoint {
  /** The key, or the person of a session. */
  readonly callerId: string;
  /** Whether the operation may be answered by a replica. */
  readonly mayLag: boolean;
  /** What the caller says to have seen. */
  readonly seen: Position | undefined;
  /** Whether the caller may have written through another process without saying so. */
  readonly mayHaveWritten: boolean;
  /** The place after the last write of this request, once there was one. */
  wrote: Position | undefined;
}

export interface ReplicaOptions {
  primary: Database;
  replica: Database;
  /** How long a read waits for the replica to get as far as it must. */
  patienceMs?: number;
  /** A replica that is further behind is not waited for. */
  latestMs?: number;
  onChange?: (state: 'used' | 'late' | 'gone') => void;
}

const LOOK_MS = 300;
const REST_MS = 1000;
const MOST_REMEMBERED = 20_000;

/** For figures. */
export interface ReplicaFigures {
  state: 'used' | 'late' | 'gone';
  /** Reads that the replica answered; those that it might have, and the primary did; those repeated there after a failure. */
  readonly reads: Readonly<{ replica: number; primary: number; failed: number }>;
  /** Reads that had to wait for it, whoever answered in the end; in all so many ms. */
  readonly waits: number;
  readonly waitedMs: number;
  /** Bytes of the log between the place that it must have reached and the one that it had when last asked. */
  readonly behindBytes: number;
  /** For how long it has been short of such a place, in ms. */
  readonly behindMs: number;
}

export class Replica {
  readonly database: Database;
  readonly #primary: Database;
  readonly #patienceMs: number;
  readonly #latestMs: number;
  readonly #onChange: (state: 'used' | 'late' | 'gone') => void;
  readonly #written = new Map<string, Position>();
  /** Answers given by each, for figures. */
  readonly counts = { replica: 0, primary: 0 };
  readonly #waited = { times: 0, ms: 0 };
  #failures = 0;
  #floor: Position | undefined;
  #replayed: Position = 0n;
  /** The oldest place that the replica was found short of, and since when. */
  #short: { position: Position; since: number } | undefined;
  #restUntil = Number.NEGATIVE_INFINITY;
  #state: 'used' | 'late' | 'gone' = 'gone';
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<Position> | undefined;
  #next: Promise<Position> | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: ReplicaOptions) {
    this.#primary = options.primary;
    this.database = options.replica;
    this.#patienceMs = options.patienceMs ?? 50;
    this.#latestMs = options.latestMs ?? 2000;
    this.#onChange = options.onChange ?? (() => {});
  }

  /** Looks after the replica from now on. It may be gone: then the primary answers until it comes. */
  start(): void {
    const tick = (): void => {
      this.#timer = setTimeout(() => {
        void this.#look().finally(() => {
          if (this.#timer !== undefined) tick();
        });
      }, LOOK_MS);
      this.#timer.unref();
    };
    void this.#look();
    tick();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Rights and configuration were read at this place: no answer may come from before it. */
  saw(position: string | null): void {
    const place = position === null ? undefined : readPosition(position);
    if (place === undefined || (this.#floor !== undefined && place <= this.#floor)) return;
    this.#floor = place;
    if (this.#short === undefined && place > this.#replayed)
      this.#short = { position: place, since: performance.now() };
  }

  /** The same after something was read that no epoch was asked with. Where the primary does not say, the replica rests. */
  async advance(): Promise<void> {
    try {
      const place = await this.#now();
      if (this.#floor === undefined || place > this.#floor) this.#floor = place;
    } catch {
      this.#restUntil = performance.now() + REST_MS;
    }
  }

  /** The caller wrote, and it is committed: from now on they see it. */
  async wrote(standpoint: Standpoint): Promise<void> {
    try {
      const place = await this.#now();
      standpoint.wrote = place;
      this.#remember(standpoint.callerId, place);
    } catch {
      // Nobody knows how far: nothing is read from the replica before it is known again.
      this.#restUntil = performance.now() + REST_MS;
    }
  }

  #remember(callerId: string, place: Position): void {
    if (this.#written.size >= MOST_REMEMBERED) {
      for (const [known, position] of this.#written) if (position <= this.#replayed) this.#written.delete(known);
      const oldest = this.#written.keys().next().value;
      if (this.#written.size >= MOST_REMEMBERED && oldest !== undefined) this.#written.delete(oldest);
    }
    this.#written.set(callerId, place);
  }

  /** Where the primary is now; asked once for all who ask while a question is on its way. */
  async #now(): Promise<Position> {
    if (this.#asking !== undefined) {
      // What is on its way may have been answered before that of which the asker must know.
      const before = this.#asking;
      this.#next ??= before
        .catch(() => {})
        .then(() => {
          this.#next = undefined;
          return this.#now();
        });
      return await this.#next;
    }
    const asking = this.#primary
      .query<{ position: string | null }>(sql`SELECT ${positionColumn} AS position`)
      .then(([row]) => {
        const place = readPosition(row?.position ?? '');
        if (place === undefined) throw new Error('the primary is no primary');
        return place;
      });
    this.#asking = asking;
    try {
      return await asking;
    } finally {
      this.#asking = undefined;
    }
  }

  /** Whether the replica may answer, and is there; waits for it briefly. */
  async admits(standpoint: Standpoint): Promise<boolean> {
    const admitted = await this.#admits(standpoint);
    this.counts[admitted ? 'replica' : 'primary']++;
    return admitted;
  }

  async #admits(standpoint: Standpoint): Promise<boolean> {
    const floor = this.#floor;
    if (floor === undefined || this.#state !== 'used' || performance.now() < this.#restUntil) return false;
    let needed = floor;
    const own = this.#written.get(standpoint.callerId);
    if (own !== undefined && own > needed) needed = own;
    if (standpoint.seen !== undefined) {
      if (standpoint.seen > needed) needed = standpoint.seen;
    } else if (standpoint.mayHaveWritten) {
      try {
        const now = await this.#now();
        if (now > needed) needed = now;
      } catch {
        return false;
      }
    }
    if (this.#replayed >= needed) return true;
    const began = performance.now();
    try {
      return await this.#reaches(needed, began + this.#patienceMs);
    } finally {
      this.#waited.times += 1;
      this.#waited.ms += performance.now() - began;
    }
  }

  async #reaches(needed: Position, until: number): Promise<boolean> {
    for (let wait = 1; this.#replayed < needed; wait *= 2) {
      if (performance.now() >= until) return false;
      await this.#look();
      if (this.#replayed >= needed) break;
      if (this.#state !== 'used') return false;
      await sleep(Math.min(wait, 16));
    }
    return true;
  }

  /** A read failed there: for a moment nobody else tries. */
  failed(): void {
    this.#failures += 1;
    this.#restUntil = performance.now() + REST_MS;
    void this.#look();
  }

  figures(): ReplicaFigures {
    const missing = this.#floor === undefined ? 0n : this.#floor - this.#replayed;
    return {
      state: this.#state,
      reads: { ...this.counts, failed: this.#failures },
      waits: this.#waited.times,
      waitedMs: this.#waited.ms,
      // Before it was first reached, its place is not known.
      behindBytes: missing > 0n && this.#replayed > 0n ? Number(missing) : 0,
      behindMs: this.#short === undefined ? 0 : performance.now() - this.#short.since,
    };
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    try {
      const [row] = await this.database.query<{ standby: boolean; replayed: string | null }>(
        sql`SELECT pg_is_in_recovery() AS standby, pg_last_wal_replay_lsn()::text AS replayed`,
      );
      const replayed = readPosition(row?.replayed ?? '');
      // One that was made a primary goes its own way.
      if (row?.standby !== true || replayed === undefined) {
        this.#become('gone');
        return;
      }
      this.#replayed = replayed;
    } catch {
      this.#become('gone');
      return;
    }
    const now = performance.now();
    const floor = this.#floor;
    if (this.#short !== undefined && this.#replayed >= this.#short.position) {
      this.#short = floor !== undefined && floor > this.#replayed ? { position: floor, since: now } : undefined;
    }
    this.#become(this.#short !== undefined && now - this.#short.since > this.#latestMs ? 'late' : 'used');
  }

  #become(state: 'used' | 'late' | 'gone'): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#onChange(state);
  }
}
