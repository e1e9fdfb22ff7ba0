/**
 * Group commit: concurrent units of work are written by one statement (ADR 0001). Most of the cost of a small change is the fixed
 * cost of its statement and of its commit, and a group pays it once.
 *
 *     units      a   b c d x            e f
 *     groups     |-- a --|-- b c d ----|-- e f --|        x: a record that is being written
 *     alone           x  |-- x --------|
 *
 * - A group is the statement of one unit with more rows, and with the writes of all its units (`flush.ts`). If they plan different
 *   writes, rows are sent as JSON, so that there are few different texts to prepare.
 * - A unit whose record is being written by another unit is never in a group, so no group holds two units on one record.
 * - A group waits for a locked row for a short time only, so one locked record does not hold up the others.
 * - If the group fails, for any reason, nothing of it is stored, and each of its units is written alone. So the guards, claims and
 *   constraints of a unit decide about that unit. Groups are then smaller for a while (`Batches`).
 * - A unit that is retried after a failed guard is written alone, because it is likely to fail again.
 * - After a refused unit, the next units of its author are written alone until enough of them succeed, so an author whose units are
 *   refused again and again undoes few groups of others.
 * - Units in an open transaction, with invariants or with changes of cached versions are written alone, and those in dry runs.
 * - Plain memberships (ADR 0024) are grouped with each other if they were checked under the same structure version.
 */
import { Batches } from '../database/batches.ts';
import type { Queryable } from '../database/pool.ts';
import { isCancelled, isLockTimeout, isRefused } from '../database/sqlstate.ts';
import { type Flushed, flushStatement } from './flush.ts';
import { lockNumber } from './idempotency.ts';
import type { TableWrite } from './context.ts';
import type { Statements } from './statement.ts';
import { failedGuard, guardOf, STRUCTURE_GUARD } from './transactions.ts';

/** The largest group; also the default of `DOCKET_GROUP_COMMIT`. */
export const GROUP_SIZE = 16;
const UNDER_WAY = 2;
/** How long a group waits for a row, in milliseconds. It is below `deadlock_timeout`. */
export const LOCK_MS = 100;
/** How many units of an author must succeed alone after a refused one, and after many. */
const PROBATION = { each: 8, most: 64 };
/** Authors on probation that are remembered. */
const MAX_AUTHORS = 10_000;
/** Units with more rows gain nothing. */
const MAX_ROWS = 32;

interface Grouped {
  unit: Flushed;
  /** The write that returns a value, '' for none. A statement has one at most. */
  returning: string;
  /** The writes whose SQL differs from others of their name, '' for none. */
  variants: string;
}

/** Whether one statement can write both: what only one of them has does not matter. */
function fit(one: Grouped, other: Grouped): boolean {
  if (one.unit.plainMembers?.structure !== other.unit.plainMembers?.structure) return false;
  return (['returning', 'variants'] as const).every(
    (part) => one[part] === other[part] || one[part] === '' || other[part] === '',
  );
}

export class Groups {
  readonly #db: Queryable;
  readonly #statements: Statements;
  readonly #size: number;
  readonly #batches: Batches<Grouped, unknown>;
  /** Record → number of units that are writing it or wait to do so. */
  readonly #writing = new Map<string, number>();
  /** Write whose SQL differs from others of its name → its number. */
  readonly #variants = new WeakMap<object, number>();
  #lastVariant = 0;
  /** Units written since the start, the statements that wrote them, and groups that were refused and written one by one. */
  readonly counts = { units: 0, statements: 0, refused: 0 };
  /** Author → number of units that must still succeed alone. */
  readonly #probation = new Map<string, number>();
  /** Idempotency keys of the units that are being written. */
  readonly #claimed = new Set<string>();

  /** @param size the largest number of units in a group; 1 turns grouping off */
  constructor(db: Queryable, statements: Statements, size: number) {
    this.#db = db;
    this.#statements = statements;
    this.#size = size;
    this.#batches = new Batches<Grouped, unknown>(
      { size, underWay: UNDER_WAY },
      {
        together: (group) => this.#together(group.map(({ unit }) => unit)),
        alone: ({ unit }) => this.alone(this.#db, unit),
        // After the time limit of a statement, the clients wait no longer.
        isSeparable: (error, count) =>
          isRefused(error) &&
          !isCancelled(error) &&
          // Its units fail alone, too.
          guardOf(error) !== STRUCTURE_GUARD &&
          (count > 1 || isLockTimeout(error)),
        joins: (group, one) => group.every((other) => fit(one, other)),
      },
    );
  }

  /**
   * Writes a unit, possibly with others.
   *
   * @param author whose unit it is
   * @param alone whether it is written by a statement of its own, and still keeps others away from its records and its key
   * @returns the value for `Flushed.returned`
   * @throws the error of the guard `idempotency-busy` while another unit of this process writes with the same key. A group that
   *   failed releases its keys for a moment, and another unit must not take them then.
   */
  async write(unit: Flushed, author: string, alone = false): Promise<unknown> {
    const key = unit.claimed === undefined ? undefined : lockNumber(unit.claimed.claim);
    if (key === undefined) return await this.#judged(unit, author, alone);
    if (this.#claimed.has(key)) throw failedGuard('idempotency-busy');
    this.#claimed.add(key);
    try {
      return await this.#judged(unit, author, alone);
    } finally {
      this.#claimed.delete(key);
    }
  }

  async #judged(unit: Flushed, author: string, alone: boolean): Promise<unknown> {
    const onProbation = this.#probation.get(author) ?? 0;
    try {
      const returned = await this.#write(unit, alone || onProbation > 0);
      if (onProbation > 0) this.#setProbation(author, (this.#probation.get(author) ?? 0) - 1);
      return returned;
    } catch (error) {
      // A unit that waited too long for a lock, or whose membership was checked under an old structure, did nothing wrong.
      const isOwn =
        isRefused(error) && !isCancelled(error) && !isLockTimeout(error) && guardOf(error) !== STRUCTURE_GUARD;
      if (isOwn) this.#setProbation(author, (this.#probation.get(author) ?? 0) + PROBATION.each);
      throw error;
    }
  }

  #setProbation(author: string, units: number): void {
    this.#probation.delete(author);
    if (units <= 0) return;
    this.#probation.set(author, Math.min(units, PROBATION.most));
    const [oldest] = this.#probation.keys();
    if (this.#probation.size > MAX_AUTHORS && oldest !== undefined) this.#probation.delete(oldest);
  }

  async #write(unit: Flushed, alone: boolean): Promise<unknown> {
    const records = this.#size > 1 ? recordsOf(unit) : undefined;
    if (records === undefined) return await this.alone(this.#db, unit);
    const isFree = !records.some((record) => this.#writing.has(record));
    for (const record of records) this.#writing.set(record, (this.#writing.get(record) ?? 0) + 1);
    try {
      if (alone || !isFree) return await this.alone(this.#db, unit);
      return await this.#batches.ask(this.#grouped(unit));
    } finally {
      for (const record of records) {
        const others = (this.#writing.get(record) ?? 1) - 1;
        if (others === 0) this.#writing.delete(record);
        else this.#writing.set(record, others);
      }
    }
  }

  #grouped(unit: Flushed): Grouped {
    const variants = unit.planned.flatMap(({ write }) => (write.varies === true ? [this.#variantOf(write)] : []));
    return { unit, returning: unit.returned?.value.write ?? '', variants: variants.join() };
  }

  #variantOf(write: TableWrite<unknown>): number {
    let variant = this.#variants.get(write);
    if (variant === undefined) this.#variants.set(write, (variant = ++this.#lastVariant));
    return variant;
  }

  /** Writes a unit by a statement of its own. */
  async alone(db: Queryable, unit: Flushed): Promise<unknown> {
    const [row] = await db.query<Row>(flushStatement(this.#statements, [unit]));
    this.#count(1);
    return returnedOf(unit, row);
  }

  #count(units: number): void {
    this.counts.units += units;
    this.counts.statements++;
  }

  async #together(units: readonly Flushed[]): Promise<unknown[]> {
    const [row] = await this.#db
      .query<Row>(flushStatement(this.#statements, units, LOCK_MS))
      .catch((error: unknown) => {
        if (units.length > 1) this.counts.refused++;
        throw error;
      });
    this.#count(units.length);
    return units.map((unit) => returnedOf(unit, row));
  }
}

interface Row {
  /** Id → value, for the rows of the writes that return one. */
  returned?: Record<string, unknown> | null;
}

function returnedOf({ returned }: Flushed, row: Row | undefined): unknown {
  return returned === undefined ? undefined : (row?.returned?.[returned.value.id] ?? null);
}

/** The records that the unit changes or locks; undefined if it cannot be written with others. */
function recordsOf({ planned, invalidated }: Flushed): string[] | undefined {
  if (invalidated.size > 0) return undefined;
  const records = new Set<string>();
  let count = 0;
  for (const { write, rows } of planned) {
    count += rows.length;
    if (write.records === undefined || count > MAX_ROWS) return undefined;
    for (const row of rows) for (const record of write.records(row)) if (record !== null) records.add(record);
  }
  return [...records];
}
