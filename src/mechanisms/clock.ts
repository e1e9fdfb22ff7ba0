/** The only readers of the wall clock and of randomness; both are parameters everywhere else. */
import { randomUUIDv7 } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Takes a reading of the database's clock, where this clock follows it.
   *
   * @param databaseMs what the database's clock said, in milliseconds since the epoch
   * @param asked, answered `performance.now()` before the question and after the answer
   */
  saw?(databaseMs: number, asked: number, answered: number): void;
}

/** The clock of this machine. Nothing that is stored, or compared with what another process stored, may come from it. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * The clock of the database, which all processes of a service share: a machine whose own clock is set back or differs writes the
 * same times as the others. Between readings it advances by the monotonic clock of the process.
 */
export class DatabaseClock implements Clock {
  /** Database time less `performance.now()`; undefined before the first reading. */
  #offset: number | undefined;

  now(): number {
    return this.#offset === undefined ? systemClock.now() : Math.floor(performance.now() + this.#offset);
  }

  saw(databaseMs: number, asked: number, answered: number): void {
    // The reading was taken somewhere between the two. A clock of this machine that it does not contradict is taken for right;
    // else what was known is moved no further than need be, so that times do not jump to and fro with each reading.
    const [least, most] = [databaseMs - answered, databaseMs - asked];
    const own = systemClock.now() + 0.5 - performance.now();
    const known = own >= least && own <= most ? own : (this.#offset ?? (least + most) / 2);
    this.#offset = Math.min(Math.max(known, least), most);
  }
}

/** RFC 3339 UTC with milliseconds (decisions, "Requests, envelope, errors"). */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** A new lower-case UUID of version 7. */
export function newId(): string {
  return randomUUIDv7();
}
