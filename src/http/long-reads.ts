/**
 * Reads that may take long (docs/spec/conventions.md#limits). Each caller has two long ones at a time: one caller must not fill the
 * memory, nor take the database from others. Most are short, so a read begins at once while the caller has no long ones, and takes
 * a slot when it is found to be long.
 */
import { Fault } from '../lib/fault.ts';
import type { Waiter } from '../platform/unit-of-work/binding.ts';
import { Slots } from './slots.ts';

/** A read is long after this time, or if it does not fit in one window. */
const LONG_MS = 250;
const WAIT_MS = 10_000;

const LONG_READS = new Slots({
  most: 32,
  mostEach: 2,
  mostWaiting: 32,
  mostWaitMs: WAIT_MS,
  refusal: () => {
    const message =
      'You have too many long reads at once. Read their answers, or ask for pages. Retry after the time in Retry-After.';
    return new Fault('RATE_LIMITED', message, [], { headers: { 'Retry-After': String(WAIT_MS / 1000) } });
  },
});

export class LongRead {
  readonly #slots: Slots;
  readonly #waiter: Waiter;
  #timer: NodeJS.Timeout | undefined;
  #isHeld = false;
  #isEnded = false;

  private constructor(slots: Slots, waiter: Waiter) {
    this.#slots = slots;
    this.#waiter = waiter;
  }

  /** Begins a read that must be ended. @throws Fault RATE_LIMITED; ClientGone */
  static async begin(waiter: Waiter, { slots = LONG_READS, longMs = LONG_MS } = {}): Promise<LongRead> {
    const read = new LongRead(slots, waiter);
    if (slots.isUsedBy(waiter.callerId)) await read.becomeLong();
    else {
      read.#timer = setTimeout(() => read.#hold(() => slots.take(waiter.callerId)), longMs);
      read.#timer.unref();
    }
    return read;
  }

  /** Waits for a slot if the read does not have one. @throws Fault RATE_LIMITED; ClientGone */
  async becomeLong(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#isHeld) return;
    await this.#slots.enter(this.#waiter);
    this.#hold(() => {});
  }

  end(): void {
    clearTimeout(this.#timer);
    if (this.#isHeld && !this.#isEnded) this.#slots.leave(this.#waiter.callerId);
    this.#isEnded = true;
  }

  #hold(take: () => void): void {
    take();
    this.#isHeld = true;
    if (this.#isEnded) this.#slots.leave(this.#waiter.callerId);
  }
}
