/** The only code that reads the wall clock and randomness. All other code takes them as parameters. */
import { randomUUIDv7 } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Takes a reading of the database's clock; implemented by clocks that follow it.
   *
   * @param databaseMs the time of the database, in milliseconds since the Unix epoch
   * @param asked, answered `performance.now()` before the query and after its response
   */
  saw?(databaseMs: number, asked: number, answered: number): void;
}

/** The clock of this machine. Do not use it for times that are stored or compared with times from another process. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * The clock of the database, which all processes of a service share. All machines thus write consistent times, even if the
 * local clock differs or is set back. Between readings it advances with the process's monotonic clock.
 */
export class DatabaseClock implements Clock {
  /** Database time minus `performance.now()`; undefined before the first reading. */
  #offset: number | undefined;

  now(): number {
    return this.#offset === undefined ? systemClock.now() : Math.floor(performance.now() + this.#offset);
  }

  saw(databaseMs: number, asked: number, answered: number): void {
    // The database was read at some time between `asked` and `answered`, which bounds the offset. If the local clock is within
    // the bounds, it is used. Otherwise the previous offset is moved no further than the nearest bound, so that times do not
    // jump back and forth with each reading.
    const [least, most] = [databaseMs - answered, databaseMs - asked];
    const own = systemClock.now() + 0.5 - performance.now();
    const known = own >= least && own <= most ? own : (this.#offset ?? (least + most) / 2);
    this.#offset = Math.min(Math.max(known, least), most);
  }
}

/** RFC 3339 UTC with milliseconds (docs/spec/conventions.md). */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** A new lower-case UUID of version 7. */
export function newId(): string {
  return randomUUIDv7();
}
