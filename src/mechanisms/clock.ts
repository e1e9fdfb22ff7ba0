/** The only readers of the wall clock and of randomness; both are parameters everywhere else. */
import { randomUUIDv7 } from 'node:crypto';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** RFC 3339 UTC with milliseconds (decisions, "Requests, envelope, errors"). */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** A new lower-case UUID of version 7. */
export function newId(): string {
  return randomUUIDv7();
}
