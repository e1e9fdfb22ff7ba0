/**
 * Queues: rows of a table that are attempted until they succeed or are given up. Any number of processes may run one. A row is
 * claimed for an attempt until its lease ends; after a crash another process attempts it again, so none is lost. Only the process
 * that holds the claim can store a result.
 */
import sql, { raw, type Sql } from 'sql-template-tag';
import { type Clock, instant } from '../clock.ts';

/** The columns of a queue, besides `id`, `status` (PENDING until it is finished), `finished_at` and `error`. */
export interface QueueTable {
  name: string;
  /** When the next attempt is due; during an attempt, when its lease ends. */
  due: string;
  /** Its value identifies a claim. */
  claim: string;
  /** The order of the rows `x` that are due. */
  order: Sql;
}

/** Those of the selected rows that no other process has locked, locked until the transaction ends. */
function unlocked(select: Sql): Sql {
  return sql`${select} FOR UPDATE SKIP LOCKED`;
}

/** Takes rows of a table off it, whichever come first. */
export function takeRows(name: string, limit: number): Sql {
  const rows = unlocked(sql`SELECT ctid FROM ${raw(name)} LIMIT ${limit}::int`);
  return sql`DELETE FROM ${raw(name)} WHERE ctid IN (${rows}) RETURNING *`;
}

/** The ids of the next rows `x` that are due, without those that another process is claiming. */
export function dueRows({ name, due, order }: QueueTable, where: Sql, now: string, limit: Sql): Sql {
  return unlocked(sql`SELECT x.id FROM ${raw(name)} x
    WHERE ${where} AND x.status = 'PENDING' AND x.${raw(due)} <= ${now}::timestamptz ORDER BY ${order} LIMIT ${limit}`);
}

/** The beginning of a statement that claims the rows. They are in `claimed`. @param claim the value of the claim of row `d` */
export function claimRows({ name, due, claim }: QueueTable, ids: Sql, value: Sql, until: string): Sql {
  return sql`WITH due AS MATERIALIZED (${ids}), claimed AS (
      UPDATE ${raw(name)} d SET ${raw(claim)} = ${value}, ${raw(due)} = ${until}::timestamptz
      FROM due WHERE d.id = due.id RETURNING d.*)`;
}

/** The result of an attempt. The column of the claim stands beside. */
export interface Result {
  id: string;
  status: string;
  /** When the attempt ended. */
  ended_at: string;
  /** When the next one is due. */
  due_at: string;
  error: string | null;
}

/**
 * The beginning of a statement that stores results: those of rows whose claim this process still holds are in `done`.
 *
 * @param more further columns of the results `r`
 * @param set what is set besides
 */
export function finishRows<R extends Result>(
  { name, due, claim }: QueueTable,
  results: readonly R[],
  more: Sql,
  set: Sql,
): Sql {
  return sql`WITH r AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(results)}::jsonb) AS r (id uuid, ${raw(claim)} text, status text,
        ended_at timestamptz, due_at timestamptz, error text ${more})
    ), done AS (
      UPDATE ${raw(name)} d SET status = r.status, ${raw(due)} = r.due_at,
        finished_at = CASE WHEN r.status <> 'PENDING' THEN r.ended_at END, ${set}
      FROM r WHERE d.id = r.id AND d.${raw(claim)}::text = r.${raw(claim)} AND d.status = 'PENDING' RETURNING d.*)`;
}

/** Deletes rows whose last attempt was before `before`, unless they are attempted again meanwhile. @param rows their `ctid` */
export function purgeRows({ name, due }: QueueTable, rows: Sql, before: string): Sql {
  return sql`DELETE FROM ${raw(name)} x WHERE x.ctid = ANY (ARRAY(${rows}))
    AND coalesce(x.finished_at, x.${raw(due)}) < ${before}::timestamptz RETURNING x.id`;
}

export interface QueueLimits {
  /** Maximum number of concurrent attempts in total. */
  total: number;
  /** Maximum number of concurrent attempts per group. */
  each: number;
  /** The same for a group whose attempts are slow or get no answer. */
  eachTroubled: number;
  /** Lease duration. Another process may repeat an attempt afterwards, so it must be well above the time limit of an attempt. */
  leaseMs: number;
}

export interface ClaimRequest {
  now: string;
  until: string;
  /** Maximum number of rows, in total and per group. */
  total: number;
  each: number;
  /** Groups with another limit than `each`: how many more of their rows may be in progress. */
  capacities: readonly { id: string; free: number }[];
}

/**
 * Notes the result of a job; only the first one counts. Without a result, the job is put off.
 *
 * @param retryMs after how long its next attempt is due; absent if there is none
 */
export type Settle<Job, R> = (job: Job, result?: R, retryMs?: number) => void;

interface QueueParts<Job, R> {
  clock: Clock;
  limits: QueueLimits;
  claim(request: ClaimRequest): Promise<Job[]>;
  /** The jobs of one group have a share of the total, so that a receiver that hangs does not hold up the others. */
  groupOf(job: Job): string;
  /** Makes the attempts and settles each. Those that are not settled at its end are put off. */
  attempt(jobs: readonly Job[], settle: Settle<Job, R>): Promise<void>;
  /** The result of a job that could not be attempted because of an error in this service. It does not count as an attempt. */
  putOff(job: Job, dueAt: string): R;
  store(results: readonly R[]): Promise<void>;
  onError(error: unknown): void;
  /** Called when further rows can be claimed, or a repeated attempt is due. */
  onRoom(): void;
}

/** Delay of a job that could not be attempted because of an error in this service. */
const OURS_MS = 1000;
/** Number of consecutive slow or failed attempts after which a group counts as troubled. */
const TROUBLED = 5;
/** Results that are not stored yet would be repeated after a crash, so above this number no attempt is started. */
const MAX_UNSTORED = 4096;
const STORED_AT_ONCE = 500;
/** Longer delays are left to the moments of the queue. */
const LONGEST_TIMER_MS = 60_000;

export class Queue<Job, R extends Result> {
  readonly #parts: QueueParts<Job, R>;
  /** Group → attempts in progress. */
  readonly #busy = new Map<string, number>();
  /** Group → consecutive attempts that were slow or got no answer. */
  readonly #troubles = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  #total = 0;
  #results: R[] = [];
  #storing: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: QueueParts<Job, R>) {
    this.#parts = parts;
  }

  /** Claims due rows and starts their attempts without waiting for them. @returns whether more may be due at once */
  async turn(): Promise<boolean> {
    const { clock, limits } = this.#parts;
    const total = limits.total - this.#total;
    if (this.#stopped || total <= 0 || this.#results.length > MAX_UNSTORED) return false;
    const now = clock.now();
    const jobs = await this.#parts.claim({
      now: instant(now),
      until: instant(now + limits.leaseMs),
      total,
      each: limits.each,
      capacities: this.#capacities(),
    });
    if (jobs.length === 0) return false;
    for (const job of jobs) this.#count(this.#parts.groupOf(job), 1);
    const attempts = this.#attempt(jobs).finally(() => this.#running.delete(attempts));
    this.#running.add(attempts);
    return true;
  }

  /** Notes whether an attempt of the group was slow or got no answer. */
  noteTrouble(group: string, isSlow: boolean): void {
    if (isSlow) this.#troubles.set(group, (this.#troubles.get(group) ?? 0) + 1);
    else this.#troubles.delete(group);
  }

  #capacities(): { id: string; free: number }[] {
    const { each, eachTroubled } = this.#parts.limits;
    return [...new Set([...this.#busy.keys(), ...this.#troubles.keys()])].map((id) => {
      const most = (this.#troubles.get(id) ?? 0) >= TROUBLED ? eachTroubled : each;
      return { id, free: Math.max(0, most - (this.#busy.get(id) ?? 0)) };
    });
  }

  #count(group: string, by: 1 | -1): void {
    const busy = (this.#busy.get(group) ?? 0) + by;
    if (busy === 0) this.#busy.delete(group);
    else this.#busy.set(group, busy);
    this.#total += by;
  }

  async #attempt(jobs: readonly Job[]): Promise<void> {
    const { clock, groupOf, attempt, putOff, onError } = this.#parts;
    const waiting = new Set(jobs);
    /** Each job is settled once. It no longer counts as in progress afterwards. */
    const settle: Settle<Job, R> = (job, result, retryMs = result === undefined ? OURS_MS : undefined) => {
      if (!waiting.delete(job)) return;
      this.#count(groupOf(job), -1);
      if (retryMs !== undefined) this.#wakeIn(retryMs);
      this.#results.push(result ?? putOff(job, instant(clock.now() + OURS_MS)));
      this.#startStoring();
    };
    try {
      await attempt(jobs, settle);
    } catch (error) {
      onError(error);
    }
    for (const job of waiting) settle(job);
  }

  /** Results are stored in batches: they accumulate while the previous statement runs. */
  #startStoring(): void {
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
      // A result may have arrived after the last check.
      if (this.#results.length > 0 && !this.#stopped) this.#startStoring();
    });
  }

  async #store(): Promise<void> {
    // Wait for results that arrive in the same iteration of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#results.length > 0) {
      const results = this.#results.splice(0, STORED_AT_ONCE);
      try {
        await this.#parts.store(results);
      } catch (error) {
        this.#parts.onError(error);
        // On shutdown do not retry: the leases expire and the attempts are repeated.
        if (this.#stopped) return;
        this.#results.unshift(...results);
        await new Promise((resolve) => {
          setTimeout(resolve, OURS_MS);
        });
      }
      this.#parts.onRoom();
    }
  }

  #wakeIn(ms: number): void {
    if (this.#stopped || ms > LONGEST_TIMER_MS) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#parts.onRoom();
    }, ms);
    this.#timers.add(timer);
  }

  /** Waits for the attempts in progress and until their results are stored. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
    await this.#storing;
  }

  /** Starts no further attempts, and does not try again to store results. */
  leave(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async stop(): Promise<void> {
    this.leave();
    await this.settled();
    if (this.#results.length > 0) await this.#store();
  }
}
