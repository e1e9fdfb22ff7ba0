import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../lib/fault.ts';
import { LongRead } from './long-reads.ts';
import { Slots } from './slots.ts';

describe('reads that may take long', () => {
  const refusal = (): Fault => new Fault('RATE_LIMITED', 'too many');
  const slotsOf = (mostWaitMs?: number): Slots =>
    new Slots({ most: 32, mostEach: 2, mostWaiting: 2, refusal, ...(mostWaitMs === undefined ? {} : { mostWaitMs }) });
  const waiterOf = (callerId: string) => ({ callerId, isGone: () => false, rest: () => {} });

  /** Begins a read; `state` tells whether it runs. */
  const begin = (slots: Slots, callerId = 'one', longMs = 0) => {
    const one: { state: string; read: LongRead | undefined } = { state: 'waits', read: undefined };
    LongRead.begin(waiterOf(callerId), { slots, longMs }).then(
      (read) => Object.assign(one, { state: 'runs', read }),
      (error: Fault) => Object.assign(one, { state: error.code }),
    );
    return one;
  };
  const pause = (): Promise<void> => sleep(10);

  it('run at once while none of the caller is long', async () => {
    const slots = slotsOf();
    const short = Array.from({ length: 40 }, () => begin(slots, 'one', 60_000));
    await pause();
    assert.deepEqual(new Set(short.map(({ state }) => state)), new Set(['runs']));
    assert.equal(slots.isUsedBy('one'), false);
    for (const { read } of short) read?.end();
  });

  it('wait while two are long, and are refused when too many wait or wait too long', async () => {
    const slots = slotsOf();
    const long = [begin(slots), begin(slots)];
    await pause();
    assert.equal(slots.isUsedBy('one'), true);
    const later = [begin(slots), begin(slots), begin(slots)];
    const other = begin(slots, 'other');
    await pause();
    assert.deepEqual(
      [...later, other].map(({ state }) => state),
      ['waits', 'waits', 'RATE_LIMITED', 'runs'],
    );
    long[0]?.read?.end();
    long[0]?.read?.end();
    await pause();
    assert.deepEqual([later[0]?.state, later[1]?.state], ['runs', 'waits']);
    long[1]?.read?.end();
    later[0]?.read?.end();
    await pause();
    later[1]?.read?.end();
    assert.equal(slots.isUsedBy('one'), false);
    const impatient = slotsOf(1);
    const held = [begin(impatient), begin(impatient)];
    await pause();
    const late = begin(impatient);
    await pause();
    assert.deepEqual([late.state, ...held.map(({ state }) => state)], ['RATE_LIMITED', 'runs', 'runs']);
  });

  it('take a slot before they are sent in windows, and only one', async () => {
    const slots = slotsOf();
    const [first, second, third] = Array.from({ length: 3 }, () => begin(slots, 'one', 60_000));
    await pause();
    await first?.read?.becomeLong();
    await first?.read?.becomeLong();
    await second?.read?.becomeLong();
    let isLong = false;
    const becoming = third?.read?.becomeLong().then(() => (isLong = true));
    await pause();
    assert.equal(isLong, false);
    first?.read?.end();
    await becoming;
    assert.equal(isLong, true);
    second?.read?.end();
    third?.read?.end();
    assert.equal(slots.isUsedBy('one'), false);
  });

  it('leave their slot when they end while they wait for it', async () => {
    const slots = slotsOf();
    const all = Array.from({ length: 3 }, () => begin(slots, 'one', 60_000));
    await pause();
    await all[0]?.read?.becomeLong();
    await all[1]?.read?.becomeLong();
    const becoming = all[2]?.read?.becomeLong();
    for (const { read } of all.toReversed()) read?.end();
    await becoming;
    assert.equal(slots.isUsedBy('one'), false);
  });
});
