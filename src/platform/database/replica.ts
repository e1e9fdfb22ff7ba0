/**
 * A streaming replica for reads that allow one (ADR 0011). It may serve a read only if it has replayed the rights version
 * that the read is checked with, and the caller's own writes. If the replica is not there yet, the read waits briefly for it.
 * If it lags too far or is unavailable, the primary answers.
 */
import sql from 'sql-template-tag';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './pool.ts';
import { type Position, positionColumn, readPosition } from './readings.ts';

/** The caller of one request, and what its reads must see. */
export interface ReadConsistency {
  /** Id of the key, or of the user of a session. */
  readonly callerId: string;
  /** Whether the operation may be served by a replica. */
  readonly replicaSafe: boolean;
  /** The position that the caller reports to have seen. */
  readonly seen: Position | undefined;
  /** Whether the caller may have written through another process without reporting a position. */
  readonly mayHaveWritten: boolean;
  /** The position after the last write of this request; undefined before one. */
  wrote: Position | undefined;
}

export interface ReplicaOptions {
  primary: Database;
  replica: Database;
  /** How long a read waits for the replica to reach the required position, in milliseconds. */
  patienceMs?: number;
  /** If the replica lags by more than this many milliseconds, reads do not wait for it. */
  latestMs?: number;
  onChange?: (state: 'used' | 'lagging' | 'unavailable') => void;
}

const LOOK_MS = 300;
const REST_MS = 1000;
const MAX_REMEMBERED = 20_000;

/** For metrics. */
export interface ReplicaMetrics {
  state: 'used' | 'lagging' | 'unavailable';
  /** Reads served by the replica; eligible reads served by the primary; reads repeated on the primary after a failure. */
  readonly reads: Readonly<{ replica: number; primary: number; failed: number }>;
  /**
   * Number of reads that waited for the replica, whichever server then answered, and their total waiting time in milliseconds.
   */
  readonly waits: number;
  readonly waitedMs: number;
  /** Bytes of the log between the required position and the last known position of the replica. */
  readonly behindBytes: number;
  /** How long the replica has been behind a required position, in milliseconds. */
  readonly behindMs: number;
}

export class Replica {
  readonly database: Database;
  readonly #primary: Database;
  readonly #patienceMs: number;
  readonly #latestMs: number;
  readonly #onChange: (state: 'used' | 'lagging' | 'unavailable') => void;
  readonly #written = new Map<string, Position>();
  /** Number of reads admitted to each, for metrics. */
  readonly counts = { replica: 0, primary: 0 };
  readonly #waited = { times: 0, ms: 0 };
  #failures = 0;
  #floor: Position | undefined;
  #replayed: Position = 0n;
  /** The oldest required position that the replica has not reached, and since when. */
  #short: { position: Position; since: number } | undefined;
  #restUntil = Number.NEGATIVE_INFINITY;
  #state: 'used' | 'lagging' | 'unavailable' = 'unavailable';
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

  /** Starts to monitor the replica. It may be unavailable; the primary answers until it is there. */
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

  /** Rights and configuration were read at this position: no read may be served from before it. */
  saw(position: string | null): void {
    const place = position === null ? undefined : readPosition(position);
    if (place === undefined || (this.#floor !== undefined && place <= this.#floor)) return;
    this.#floor = place;
    if (this.#short === undefined && place > this.#replayed)
      this.#short = { position: place, since: performance.now() };
  }

  /**
   * Requires the primary's current position, after a read that did not also read the rights version. If the primary does not
   * respond, the replica is not used for a moment.
   */
  async advance(): Promise<void> {
    try {
      const place = await this.#now();
      if (this.#floor === undefined || place > this.#floor) this.#floor = place;
    } catch {
      this.#restUntil = performance.now() + REST_MS;
    }
  }

  /** Records a committed write of the caller, which their later reads must see. */
  async wrote(consistency: ReadConsistency): Promise<void> {
    try {
      const place = await this.#now();
      consistency.wrote = place;
      this.#remember(consistency.callerId, place);
    } catch {
      // The position of the write is unknown, so the replica is not used for a moment.
      this.#restUntil = performance.now() + REST_MS;
    }
  }

  #remember(callerId: string, place: Position): void {
    if (this.#written.size >= MAX_REMEMBERED) {
      for (const [known, position] of this.#written) if (position <= this.#replayed) this.#written.delete(known);
      const oldest = this.#written.keys().next().value;
      if (this.#written.size >= MAX_REMEMBERED && oldest !== undefined) this.#written.delete(oldest);
    }
    this.#written.set(callerId, place);
  }

  /** The current position of the primary. Concurrent callers share one query. */
  async #now(): Promise<Position> {
    if (this.#asking !== undefined) {
      // The running query may have been answered before the event that this caller must see, so another one follows.
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
        if (place === undefined)
          throw new Error(
            'The primary reports no write position. Check that DOCKET_DATABASE_URL does not name a standby.',
          );
        return place;
      });
    this.#asking = asking;
    try {
      return await asking;
    } finally {
      this.#asking = undefined;
    }
  }

  /** Whether the replica may serve the read and has reached the required position; waits for it briefly. */
  async admits(consistency: ReadConsistency): Promise<boolean> {
    const admitted = await this.#admits(consistency);
    this.counts[admitted ? 'replica' : 'primary']++;
    return admitted;
  }

  async #admits(consistency: ReadConsistency): Promise<boolean> {
    const floor = this.#floor;
    if (floor === undefined || this.#state !== 'used' || performance.now() < this.#restUntil) return false;
    let needed = floor;
    const own = this.#written.get(consistency.callerId);
    if (own !== undefined && own > needed) needed = own;
    if (consistency.seen !== undefined) {
      if (consistency.seen > needed) needed = consistency.seen;
    } else if (consistency.mayHaveWritten) {
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

  /** A read on the replica failed: it is not used for a moment. */
  failed(): void {
    this.#failures += 1;
    this.#restUntil = performance.now() + REST_MS;
    void this.#look();
  }

  metrics(): ReplicaMetrics {
    const missing = this.#floor === undefined ? 0n : this.#floor - this.#replayed;
    return {
      state: this.#state,
      reads: { ...this.counts, failed: this.#failures },
      waits: this.#waited.times,
      waitedMs: this.#waited.ms,
      // Unknown until the replica was first reached.
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
      // A promoted replica has a timeline of its own.
      if (row?.standby !== true || replayed === undefined) {
        this.#become('unavailable');
        return;
      }
      this.#replayed = replayed;
    } catch {
      this.#become('unavailable');
      return;
    }
    const now = performance.now();
    const floor = this.#floor;
    if (this.#short !== undefined && this.#replayed >= this.#short.position) {
      this.#short = floor !== undefined && floor > this.#replayed ? { position: floor, since: now } : undefined;
    }
    this.#become(this.#short !== undefined && now - this.#short.since > this.#latestMs ? 'lagging' : 'used');
  }

  #become(state: 'used' | 'lagging' | 'unavailable'): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#onChange(state);
  }
}
