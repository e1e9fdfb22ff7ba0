/**
 * Lists of more than one window, which are sent while they are read (docs/spec/conventions.md#limits). Each
 * caller has two at a time: one caller must not fill the memory, nor take the database from others.
 */
import { Fault } from '../lib/fault.ts';
import { Slots } from './slots.ts';

const WAIT_MS = 10_000;

export const LONG_READS = new Slots({
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
