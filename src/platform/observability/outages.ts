/**
 * Logs the failures of repeated work as events: one line when a cause begins, one when it ends, with the number of failed
 * attempts. An unavailable database is one cause, however many kinds of work it stops.
 */
import { isFault } from '../../lib/fault.ts';
import { isConnectionLost, isOverdue } from '../database/sqlstate.ts';

/** `database`: the database did not respond. `own`: any other failure of the work. */
export type FailureCause = 'database' | 'own';

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

interface OutagesOptions {
  log: Log;
  /** Asks the database for anything. @throws any error if it does not respond */
  probe(): Promise<void>;
  /** Milliseconds; tests set it. */
  now?: () => number;
}

interface Outage {
  since: number;
  lastAt: number;
  attempts: number;
  /** What was logged last, and when. */
  reason: string;
  saidAt: number;
}

/** After this time without a failure, a success ends an outage. Work with several parts may succeed in one and fail in another. */
const QUIET_MS = 10_000;
/** Another reason of a failure that continues is logged as well, but not more often than this. */
const OTHER_REASON_MS = 60_000;

/** The poll of the versions of rights and configuration. */
const POLL = 'versions';

function keyOf(task: string, part: string | undefined): string {
  return part === undefined ? task : `${task} ${part}`;
}

function fieldsOf(task: string, part: string | undefined): { task: string; part?: string } {
  return part === undefined ? { task } : { task, part };
}

function mayBeDatabase(error: unknown): boolean {
  return (
    isFault(error, 'DATABASE_UNAVAILABLE') ||
    isFault(error, 'OVERLOADED') ||
    isConnectionLost(error) ||
    isOverdue(error)
  );
}

function reasonOf(error: unknown): string {
  const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
  return [name, code, message].map(String).join(' ');
}

export class Outages {
  /** Number of failed attempts by task and cause. */
  readonly failures = new Map<string, Record<FailureCause, number>>([['none', { database: 0, own: 0 }]]);
  readonly #options: OutagesOptions;
  readonly #now: () => number;
  /** By task and part. */
  readonly #failing = new Map<string, Outage>();
  #database: Outage | undefined;
  #databaseEndedAt = Number.NEGATIVE_INFINITY;

  constructor(options: OutagesOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * An attempt failed. Asks the database whether it is the cause where the error does not exclude that.
   *
   * @param part what failed of a task with several parts that succeed apart from each other
   */
  async failed(task: string, error: unknown, part?: string): Promise<void> {
    const cause = mayBeDatabase(error) && (await this.#isDatabaseDown(error)) ? 'database' : 'own';
    const counts = this.failures.get(task) ?? { database: 0, own: 0 };
    counts[cause]++;
    this.failures.set(task, counts);
    if (cause === 'own') this.#ownFailure(task, error, part);
    else if (this.#database !== undefined) this.#database.attempts++;
  }

  /** An attempt succeeded. */
  succeeded(task: string, part?: string): void {
    const key = keyOf(task, part);
    const outage = this.#failing.get(key);
    if (outage === undefined || this.#now() - outage.lastAt < QUIET_MS) return;
    this.#failing.delete(key);
    this.#ended('background task works again', outage, fieldsOf(task, part));
  }

  /** The poll of the database failed, which runs all the time in every process. */
  pollFailed(error: unknown): void {
    if (mayBeDatabase(error)) this.#databaseFailed(error);
    else this.#ownFailure(POLL, error);
  }

  /** The poll succeeded. */
  pollSucceeded(): void {
    this.succeeded(POLL);
    const outage = this.#database;
    if (outage === undefined) return;
    this.#database = undefined;
    this.#databaseEndedAt = this.#now();
    this.#ended('database available again', outage, {});
  }

  #databaseFailed(error: unknown): void {
    if (this.#database !== undefined) {
      this.#database.attempts++;
      return;
    }
    this.#database = this.#begun(error);
    this.#options.log.warn({ err: error }, 'database unavailable');
  }

  async #isDatabaseDown(error: unknown): Promise<boolean> {
    // An attempt may take longer to fail than the outage lasted.
    if (this.#database !== undefined || this.#now() - this.#databaseEndedAt < QUIET_MS) return true;
    try {
      await this.#options.probe();
      return false;
    } catch {
      this.#databaseFailed(error);
      return true;
    }
  }

  #ownFailure(task: string, error: unknown, part?: string): void {
    const outage = this.#failing.get(keyOf(task, part));
    const reason = reasonOf(error);
    const now = this.#now();
    if (outage !== undefined) {
      outage.attempts++;
      outage.lastAt = now;
      if (outage.reason === reason || now - outage.saidAt < OTHER_REASON_MS) return;
      outage.reason = reason;
      outage.saidAt = now;
    } else this.#failing.set(keyOf(task, part), this.#begun(error));
    this.#options.log.warn({ err: error, ...fieldsOf(task, part) }, 'background task failed, will retry');
  }

  #begun(error: unknown): Outage {
    const now = this.#now();
    return { since: now, lastAt: now, attempts: 1, reason: reasonOf(error), saidAt: now };
  }

  #ended(what: string, { since, attempts }: Outage, fields: object): void {
    const seconds = Math.round((this.#now() - since) / 1000);
    this.#options.log.info(
      { ...fields, seconds, attempts },
      `${what} after ${seconds} s; ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} failed`,
    );
  }
}
