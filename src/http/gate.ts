/**
 * Refuses work before it makes everybody slow (decisions, "Other"): past a number of requests in flight, or when the event
 * loop has been late for a while, further ones get 503 at once. Near that bound no caller may hold more than a quarter, so
 * that one key's flood is refused before anybody else is.
 */
import { Fault } from '../lib/fault.ts';

const SAMPLE_MS = 100;
const LATE_MS = 250;
/** One long step of work is no overload; this many late samples in a row are. */
const LATE_SAMPLES = 3;

export function overloaded(message = 'The service has more work than it can do now; retry after Retry-After.'): Fault {
  return new Fault('OVERLOADED', message, [], { headers: { 'Retry-After': '1' } });
}

export class Gate {
  readonly #most: number;
  readonly #sampleMs: number;
  readonly #lateMs: number;
  readonly #share: number;
  readonly #callers = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #inFlight = 0;
  #late = 0;
  #expected: number;

  constructor(most: number, sampleMs = SAMPLE_MS, lateMs = LATE_MS) {
    this.#most = most;
    this.#sampleMs = sampleMs;
    this.#lateMs = lateMs;
    this.#share = Math.max(1, Math.floor(most / 4));
    this.#expected = performance.now() + sampleMs;
    this.#timer = setInterval(() => this.#sample(), sampleMs);
    this.#timer.unref();
  }

  #sample(): void {
    const now = performance.now();
    this.#late = now - this.#expected > this.#lateMs ? this.#late + 1 : 0;
    this.#expected = now + this.#sampleMs;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** @throws Fault OVERLOADED; else `leave` must follow */
  enter(): void {
    if (this.#inFlight >= this.#most || this.#late >= LATE_SAMPLES) throw overloaded();
    this.#inFlight++;
  }

  /** Counts the request against its caller. @throws Fault OVERLOADED; `leave` takes the caller either way */
  attribute(callerId: string): void {
    const held = (this.#callers.get(callerId) ?? 0) + 1;
    this.#callers.set(callerId, held);
    if (this.#inFlight * 2 > this.#most && held > this.#share) {
      throw overloaded('You have too many requests running at once; retry after Retry-After.');
    }
  }

  leave(callerId: string | undefined): void {
    this.#inFlight--;
    if (callerId === undefined) return;
    const held = (this.#callers.get(callerId) ?? 1) - 1;
    if (held === 0) this.#callers.delete(callerId);
    else this.#callers.set(callerId, held);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
