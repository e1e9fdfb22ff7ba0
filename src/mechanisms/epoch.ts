/**
 * Freshness of rights, keys and configuration (architecture, section 3d): one epoch row is raised by every change of them, in
 * its transaction; each process reads it every 300 ms and drops what it remembered. A process that could not read it for a
 * second answers 503 rather than use what may no longer hold.
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
/** How long a request waits for a read that is due, unless said otherwise. */
const PATIENCE_MS = 300;

export interface EpochOptions {
  db: Queryable;
  /** Given the database's time with each reading. */
  clock: Clock;
  /** Called with each new snapshot before it is used, for example to create what it needs in the database. */
  prepare?: (snapshot: ConfigSnapshot) => Promise<void>;
  /** Told how far the database had got when the epoch was read; where there is a replica. */
  onPosition?: (position: string | null) => void;
  onError?: (error: unknown) => void;
  /** Milliseconds that a request waits for a read that is due; 300 unless said. */
  patienceMs?: number | undefined;
}

export class Epoch {
  readonly #options: EpochOptions;
  #snapshot: ConfigSnapshot | undefined;
  #rights = -1;
  /** When the newest answer was asked for; what it says held at that moment at least. */
  #asOf = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #dropRights: () => void = () => {};
  /** How often configuration was read anew, and how often rights were forgotten. */
  readonly reads = { config: 0, rights: 0 };

  constructor(options: EpochOptions) {
    this.#options = options;
  }

  /** Says what to forget when rights may have changed. */
  onRights(drop: () => void): void {
    this.#dropRights = drop;
  }

  /** Reads the epoch now. Calls during a running read wait for a further one, which sees their own commit. */
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

  /** Milliseconds since which what is remembered is known to hold. */
  get age(): number {
    return performance.now() - this.#asOf;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * The configuration in force, read anew first when it may be older than a second: a busy machine makes a request wait a
   * moment rather than be refused.
   *
   * @throws Fault DATABASE_UNAVAILABLE when it cannot be read in time
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
      // An answer that took a second itself is too old when it comes: it is asked for anew.
      while (patient && this.age > STALE_MS) await Promise.race([this.refresh().catch(giveUp), late.promise]);
      clearTimeout(timer);
    }
    return this.current();
  }

  /** The configuration in force. @throws Fault DATABASE_UNAVAILABLE when it may be older than a second */
  current(): ConfigSnapshot {
    // The monotonic clock: a jump of the wall clock must not make old rights look fresh.
    if (this.#snapshot === undefined || performance.now() - this.#asOf > STALE_MS) {
      throw new Fault('DATABASE_UNAVAILABLE', 'The database does not answer; retry shortly.', [], {
        headers: { 'Retry-After': '1' },
      });
    }
    return this.#snapshot;
  }
}
