/**
 * Cache invalidation for rights, keys and configuration (docs/decisions/0004-one-row-invalidates-all-caches.md). Every change
 * increments a version in one row, in its own transaction. Each process reads this row every 300 ms, every 2 s while it is not
 * used, and drops its caches if a version changed, or only the rights of the users of plain memberships (ADR 0024). If a process could not read the row for a second, its requests wait until it can.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import sql, { raw } from 'sql-template-tag';
import { Fault } from '../../lib/fault.ts';
import type { Clock } from '../clock.ts';
import { databaseNow, positionColumn } from '../database/readings.ts';
import type { Queryable } from '../database/pool.ts';
import { isConnectionLost } from '../database/sqlstate.ts';
import { journalColumns, type JournalReading } from './changes.ts';
import type { Invalidated } from './context.ts';
import { type ConfigSnapshot, loadSnapshot } from './snapshot.ts';

const POLL_MS = 300;
/** The interval while there is nobody who could notice: no request, no listener, no write of any process. */
const IDLE_POLL_MS = 2000;
/** How long the process polls often after the last use. */
const USED_MS = 5000;
const STALE_MS = 1000;
/** The time of an ordinary request. */
const PATIENCE_MS = 30_000;
/** A database that restarts or fails over refuses connections for a moment. */
const LOST_MS = 1000;
const RETRY_MS = 100;

export interface VersionWatcherOptions {
  db: Queryable;
  /** Gets the database's time with each reading. */
  clock: Clock;
  /** Called with each new snapshot before it is used, for example to create indexes that it needs in the database. */
  prepare?: (snapshot: ConfigSnapshot) => Promise<void>;
  /** Gets the position of the database's write-ahead log with each reading; set if there is a replica. */
  onPosition?: (position: string | null) => void;
  /** Gets the state of the journal with each reading. */
  onJournal?: (reading: JournalReading) => void;
  onError?: (error: unknown) => void;
  /** Whether somebody waits for news of the journal. */
  isListened?: () => boolean;
  /** Maximum time that a request waits for an overdue read, in milliseconds. Default: the request's own time limit. */
  patienceMs?: number | undefined;
}

interface VersionsRow {
  config: number;
  /** Changes with everything that rights depend on, except plain memberships (ADR 0024). */
  structure: number;
  /** The number of plain memberships so far, and the users of the latest of them, newest last. */
  memberships: number;
  recent_members: readonly string[];
}

export class VersionWatcher {
  readonly #options: VersionWatcherOptions;
  #snapshot: ConfigSnapshot | undefined;
  /** The versions that the cached rights belong to: that of everything but plain memberships, and the number of these. */
  #structure = -1;
  #memberships = -1;
  /** Time at which the latest successful read was sent. Its result was valid at that time or later. */
  #asOf = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #usedAt = performance.now();
  #running: Promise<void> | undefined;
  readonly #dropRights: ((userIds?: readonly string[]) => void)[] = [];
  /** How often configuration was reloaded, and how often cached rights were dropped. */
  readonly reads = { config: 0, rights: 0 };

  constructor(options: VersionWatcherOptions) {
    this.#options = options;
  }

  /** Adds a callback that drops the caches which depend on rights: all, or only the rights of these users. */
  onRights(drop: (userIds?: readonly string[]) => void): void {
    this.#dropRights.push(drop);
  }

  /** Called after a unit of this process was committed: drops what it changed. Only plain memberships need no read for that. */
  async onCommitted({ invalidated, plainMembers }: Invalidated): Promise<void> {
    if (invalidated.size > 0) await this.refresh();
    else if (plainMembers !== undefined) this.#drop(plainMembers.userIds);
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
    const [row] = await this.#options.db.query<
      JournalReading & VersionsRow & { now: number; position: string | null }
    >(sql`SELECT config, rights - memberships AS structure, memberships, recent_members, ${databaseNow} AS now,
      ${place} AS position, ${journalColumns} FROM cache_versions`);
    if (row === undefined) throw new Error('the table cache_versions is empty');
    this.#options.clock.saw?.(row.now, asked, performance.now());
    onPosition?.(row.position);
    if (this.#snapshot === undefined || this.#snapshot.version !== row.config) {
      const snapshot = await loadSnapshot(this.#options.db);
      await this.#options.prepare?.(snapshot);
      this.#snapshot = snapshot;
      this.reads.config++;
      this.#structure = -1;
    }
    this.#dropChanged(row);
    this.#asOf = asked;
    this.#options.onJournal?.(row);
  }

  #dropChanged({ structure, memberships, recent_members: recent }: VersionsRow): void {
    const isSame = structure === this.#structure;
    const added = memberships - this.#memberships;
    if (isSame && added === 0) return;
    this.#structure = structure;
    this.#memberships = memberships;
    this.reads.rights++;
    // After a restore of the database the number may be lower than before.
    const userIds = isSame && added > 0 && added <= recent.length ? recent.slice(-added) : undefined;
    this.#drop(userIds);
  }

  #drop(userIds?: readonly string[]): void {
    for (const drop of this.#dropRights) drop(userIds);
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#tick(POLL_MS);
  }

  #tick(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.refresh()
        .catch((error: unknown) => this.#options.onError?.(error))
        .finally(() => {
          if (this.#timer !== undefined) this.#tick(this.#isUsed() ? POLL_MS : IDLE_POLL_MS);
        });
    }, ms);
  }

  #isUsed(): boolean {
    const { isListened, onPosition } = this.#options;
    return onPosition !== undefined || isListened?.() === true || performance.now() - this.#usedAt < USED_MS;
  }

  /** Somebody uses the service, or another process wrote: the rows are read often for some seconds. */
  used(): void {
    const isIdle = !this.#isUsed();
    this.#usedAt = performance.now();
    if (isIdle && this.#timer !== undefined) this.#tick(0);
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
   * The current configuration. If it may be older than a second, it is read first and the caller waits: a slow database delays
   * requests but fails none. A read that was sent after this call began is recent enough, however long it took.
   *
   * @param patienceMs maximum wait in milliseconds; default 30,000
   * @throws Fault DATABASE_UNAVAILABLE if the database refuses connections for a second, or does not answer within `patienceMs`
   */
  async fresh(patienceMs = PATIENCE_MS): Promise<ConfigSnapshot> {
    const began = performance.now();
    const until = began + Math.min(patienceMs, this.#options.patienceMs ?? patienceMs);
    const isFresh = (): boolean => this.#asOf >= began || this.age <= STALE_MS;
    let lostSince: number | undefined;
    while (!isFresh() && performance.now() < until) {
      const error = await this.#refreshUntil(until);
      if (error === undefined) continue;
      if (isConnectionLost(error)) lostSince ??= performance.now();
      if (lostSince !== undefined && performance.now() - lostSince >= LOST_MS) break;
      await sleep(Math.max(0, Math.min(RETRY_MS, until - performance.now())));
    }
    if (this.#snapshot === undefined || !isFresh()) throw unreadable();
    return this.#snapshot;
  }

  /** @returns the error of the read; undefined if it succeeded or is still running at that time */
  async #refreshUntil(until: number): Promise<unknown> {
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), until - performance.now());
    const read = this.refresh().then(
      () => undefined,
      (error: unknown) => error ?? new Error('the table cache_versions could not be read'),
    );
    const error = await Promise.race([read, late.promise]);
    clearTimeout(timer);
    return error;
  }

  /**
   * The current configuration.
   *
   * @throws Fault DATABASE_UNAVAILABLE if it may be older than a second
   */
  current(): ConfigSnapshot {
    const snapshot = this.recent();
    if (snapshot === undefined) throw unreadable();
    return snapshot;
  }

  /** The current configuration; undefined if it may be older than a second. */
  recent(): ConfigSnapshot | undefined {
    // Uses the monotonic clock: a jump of the wall clock must not make stale rights look fresh.
    return this.age > STALE_MS ? undefined : this.#snapshot;
  }
}

function unreadable(): Fault {
  return new Fault('DATABASE_UNAVAILABLE', 'The database does not respond. Retry after the time in Retry-After.', [], {
    headers: { 'Retry-After': '1' },
  });
}
