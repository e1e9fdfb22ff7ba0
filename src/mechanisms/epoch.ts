/**
 * Keeps rights, keys and configuration fresh. Every change of them increments a version in one shared row, in the same
 * transaction. Each process polls the row every 300 ms and drops its caches when a version changed. A process that could not
 * read the row for one second answers 503 rather than use stale rights.
 */
import sql, { raw } from 'sql-template-tag';
import { Fault } from '../lib/fault.ts';
import type { Clock } from './clock.ts';
import { databaseNow } from './db/clock.ts';
import type { Queryable } from './db/pool.ts';
import { positionColumn } from './db/position.ts';
import { type ConfigSnapshot, loadSnapshot } from './snapshot.ts';

const POLL_MS = 300;
const STALE_MS = 1000;
/** Default time that a request waits for an overdue read. */
const PATIENCE_MS = 300;

export interface EpochOptions {
  db: Queryable;
  /** Gets the database's time with each reading. */
  clock: Clock;
  /** Called with each new snapshot before it is used, for example to create indexes that it needs in the database. */
  prepare?: (snapshot: ConfigSnapshot) => Promise<void>;
  /** Gets the position of the database's write-ahead log with each reading; set if there is a replica. */
  onPosition?: (position: string | null) => void;
  onError?: (error: unknown) => void;
  /** Milliseconds that a request waits for an overdue read; default 300. */
  patienceMs?: number | undefined;
}

export class Epoch {
  readonly #options: EpochOptions;
  #snapshot: ConfigSnapshot | undefined;
  #rights = -1;
  /** Time at which the latest successful read was sent. Its result was valid at that time or later. */
  #asOf = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #dropRights: () => void = () => {};
  /** How often configuration was reloaded, and how often cached rights were dropped. */
  readonly reads = { config: 0, rights: 0 };

  constructor(options: EpochOptions) {
    this.#options = options;
  }

  /** Sets the callback that drops the caches which depend on rights. */
  onRights(drop: () => void): void {
    this.#dropRights = drop;
  }

  /** Reads the versions now. A call during a running read waits for another read, which sees the caller's own commit. */
  async refresh(): Promise<void> {
    if (this.#running !== undefined) await this.#running.catch(() => {});
    this.#running ??= this.#read().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #read(): Promise<void> {
    const asked = performance.now();
    const { onPosition } = this.#options;
    const place = onPosition === undefined ? raw('NULL::text') : positionColumn;
    const [row] = await this.#options.db.query<{
      config: number;
      rights: number;
      now: number;
      position: string | null;
    }>(sql`SELECT config, rights, ${databaseNow} AS now, ${place} AS position FROM epoch`);
    if (row === undefined) throw new Error('the epoch row is missing');
    this.#options.clock.saw?.(row.now, asked, performance.now());
    onPosition?.(row.position);
    if (this.#snapshot === undefined || this.#snapshot.epoch !== row.config) {
      const snapshot = await loadSnapshot(this.#options.db);
      await this.#options.prepare?.(snapshot);
      this.#snapshot = snapshot;
      this.reads.config++;
      this.#rights = -1;
    }
    if (this.#rights !== row.rights) {
      this.#rights = row.rights;
      this.reads.rights++;
      this.#dropRights();
    }
    this.#asOf = asked;
  }

  async start(): Promise<void> {
    await this.refresh();
    const tick = (): void => {
      this.#timer = setTimeout(() => {
        this.refresh()
          .catch((error: unknown) => this.#options.onError?.(error))
          .finally(() => {
            if (this.#timer !== undefined) tick();
          });
      }, POLL_MS);
    };
    tick();
  }

  /** Milliseconds since the cached values were last known to be valid. */
  get age(): number {
    return performance.now() - this.#asOf;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * The current configuration. If it may be older than a second, it is read first: on a busy machine, a short wait is better
   * than an error.
   *
   * @throws Fault DATABASE_UNAVAILABLE if it cannot be read in time
   */
  async fresh(): Promise<ConfigSnapshot> {
    if (this.age > STALE_MS) {
      let patient = true;
      const late = Promise.withResolvers<void>();
      const giveUp = (): void => {
        patient = false;
        late.resolve();
      };
      const timer = setTimeout(giveUp, this.#options.patienceMs ?? PATIENCE_MS);
      // A read that took more than a second is stale on arrival, so it is repeated.
      while (patient && this.age > STALE_MS) await Promise.race([this.refresh().catch(giveUp), late.promise]);
      clearTimeout(timer);
    }
    return this.current();
  }

  /**
   * The current configuration.
   *
   * @throws Fault DATABASE_UNAVAILABLE if it may be older than a second
   */
  current(): ConfigSnapshot {
    // Uses the monotonic clock: a jump of the wall clock must not make stale rights look fresh.
    if (this.#snapshot === undefined || performance.now() - this.#asOf > STALE_MS) {
      throw new Fault('DATABASE_UNAVAILABLE', 'The database does not answer; retry shortly.', [], {
        headers: { 'Retry-After': '1' },
      });
    }
    return this.#snapshot;
  }
}
