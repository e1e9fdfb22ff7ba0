/**
 * Tells listeners of this process that changes were committed, by this or any other process. It only says that there may be
 * something new: listeners read what their callers may see. No change is missed for good: one that commits late, after changes
 * with higher places in the journal, is signalled too.
 *
 * Other processes are noticed by the reading of cache versions, which every process makes every 300 ms anyway. So an idle
 * listener costs no statement, and it works behind poolers, which pass on no notifications.
 */
import sql from 'sql-template-tag';
import { TRANSACTIONS } from '../journal/positions.ts';

/** Columns of a reading: the last place given in the journal, and which transactions had ended. */
export const journalColumns = sql`(SELECT last_value::float8 FROM journal_seq_seq) AS "lastPlace",
  ${TRANSACTIONS}`;

export interface JournalReading {
  lastPlace: number;
  /** Transactions with lower ids have ended. */
  oldestRunning: number;
  /** No transaction with this id or a higher one has begun. */
  nextId: number;
}

/** A transaction gets its id a moment after its place. So a second reading must confirm that those in doubt have ended. */
const CONFIRMATIONS = 2;

export class Changes {
  readonly #listeners = new Set<() => void>();
  #lastPlace: number | undefined;
  /** Transactions below this id may have a place and not be committed; undefined if all have ended. */
  #inDoubt: number | undefined;
  #confirmed = 0;
  #nextId: number | undefined;

  /** Whether anybody listens. */
  get isListened(): boolean {
    return this.#listeners.size > 0;
  }

  /** @returns ends the listening */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** This process has committed a change. */
  signal(): void {
    for (const listener of this.#listeners) listener();
  }

  /**
   * Takes a reading, and signals if changes were committed since the one before, or may have been.
   *
   * @returns whether anything was written to the database since then, changes or not
   */
  read(reading: JournalReading): boolean {
    const written = this.#nextId !== reading.nextId || reading.oldestRunning < reading.nextId;
    this.#nextId = reading.nextId;
    this.#compare(reading);
    return written;
  }

  #compare({ lastPlace, oldestRunning, nextId }: JournalReading): void {
    const before = this.#lastPlace;
    this.#lastPlace = lastPlace;
    if (before === undefined) return;
    if (lastPlace !== before) {
      this.#inDoubt = nextId;
      this.#confirmed = 0;
    } else if (this.#inDoubt === undefined) {
      return;
    } else if (oldestRunning >= this.#inDoubt && ++this.#confirmed >= CONFIRMATIONS) {
      this.#inDoubt = undefined;
    }
    this.signal();
  }
}
