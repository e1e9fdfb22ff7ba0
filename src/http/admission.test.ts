import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFault } from '../lib/fault.ts';
import { AdmissionControl, overloaded } from './admission.ts';
import { Slots } from './slots.ts';
import { ClientGone } from './errors.ts';

function refused(fn: () => void): boolean {
  try {
    fn();
    return false;
  } catch (error) {
    assert.ok(isFault(error, 'OVERLOADED'));
    return true;
  }
}

function block(ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until);
  return rest(0);
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Enters for a caller and proceeds as far as possible. @returns whether it runs, waits or was rejected, and how to leave */
function admission(
  admissionControl: AdmissionControl,
  callerId: string,
): { state: () => 'runs' | 'waits' | 'refused'; leave(): void } {
  let state: 'runs' | 'waits' | 'refused' = 'runs';
  const visitor = admissionControl.enter();
  if (refused(() => visitor.attribute(callerId))) state = 'refused';
  else {
    const turn = visitor.turn();
    if (turn !== undefined) {
      state = 'waits';
      const settle = async (): Promise<void> => {
        try {
          await turn;
          state = 'runs';
        } catch {
          state = 'refused';
        }
      };
      void settle();
    }
  }
  if (state === 'refused') visitor.leave();
  return { state: () => state, leave: () => visitor.leave() };
}

describe('admission control', () => {
  it('counts requests in flight', () => {
    const admissionControl = new AdmissionControl({ most: 2 });
    const first = admissionControl.enter();
    admissionControl.enter();
    assert.ok(refused(() => admissionControl.enter()));
    first.leave();
    admissionControl.enter();
    assert.equal(admissionControl.inFlight, 2);
    admissionControl.stop();
  });

  it('limits a caller to a quarter of the free places once half are taken', () => {
    const admissionControl = new AdmissionControl({ most: 16 });
    const flood = Array.from({ length: 20 }, () => admission(admissionControl, 'flood')).filter(
      (one) => one.state() !== 'refused',
    );
    assert.equal(flood.length, 8);
    assert.deepEqual(
      ['a', 'b', 'a'].map((caller) => admission(admissionControl, caller).state()),
      ['runs', 'runs', 'runs'],
    );
    for (const one of flood) one.leave();
    assert.equal(admission(admissionControl, 'flood').state(), 'runs');
    admissionControl.stop();
  });

  it('reserves a quarter of the running slots for others and serves the caller with the fewest next', async () => {
    const admissionControl = new AdmissionControl({ most: 100, running: 8 });
    const flood = Array.from({ length: 30 }, () => admission(admissionControl, 'flood'));
    const running = (): number => flood.filter((one) => one.state() === 'runs').length;
    assert.equal(running(), 6);
    const others = ['a', 'b', 'c', 'd'].map((caller) => admission(admissionControl, caller));
    assert.deepEqual(
      others.map((one) => one.state()),
      ['runs', 'runs', 'waits', 'waits'],
    );
    flood[0]?.leave();
    await rest(0);
    assert.deepEqual([others[2]?.state(), others[3]?.state()], ['runs', 'waits'], 'the flood waited longer');
    flood[1]?.leave();
    await rest(0);
    assert.equal(others[3]?.state(), 'runs');
    for (const one of others) one.leave();
    await rest(0);
    assert.equal(running(), 2 + 6, 'two are done, and six run again');
    admissionControl.stop();
  });

  it('rejects on arrival only requests that would wait too long', async () => {
    const admissionControl = new AdmissionControl({ most: 1000, running: 4 });
    const flood = Array.from({ length: 40 }, () => admission(admissionControl, 'flood'));
    assert.ok(
      flood.every((one) => one.state() !== 'refused'),
      'a burst is worked off',
    );
    // One admission per 20 ms with a queue that is never empty: after a second this is no burst.
    for (const began = performance.now(); performance.now() - began < 1300; await rest(20)) {
      const done = flood.find((one) => one.state() === 'runs');
      if (done !== undefined) flood.splice(flood.indexOf(done), 1);
      done?.leave();
      const more = admission(admissionControl, 'flood');
      if (more.state() !== 'refused') flood.push(more);
    }
    const more = Array.from({ length: 40 }, () => admission(admissionControl, 'flood').state());
    assert.ok(!more.includes('refused'), 'its queue delays nobody else');
    assert.equal(admission(admissionControl, 'other').state(), 'runs');
    assert.equal(admission(admissionControl, 'other').state(), 'waits');
    assert.equal(admission(admissionControl, 'flood').state(), 'refused');
    assert.notEqual(admission(admissionControl, 'third').state(), 'refused');
    admissionControl.stop();
  });

  it('stops counting long-running requests as running, up to a limit', async () => {
    const admissionControl = new AdmissionControl({ most: 100, running: 8, sampleMs: 20 });
    const exports = Array.from({ length: 6 }, () => admission(admissionControl, 'slow'));
    const next = admission(admissionControl, 'slow');
    assert.equal(next.state(), 'waits');
    await rest(1200);
    assert.equal(next.state(), 'runs');
    // Two of the six no longer count as running. A service that became slow must not admit more because of that.
    const more = Array.from({ length: 3 }, () => admission(admissionControl, 'slow'));
    assert.deepEqual(
      more.map((one) => one.state()),
      ['runs', 'waits', 'waits'],
    );
    for (const one of exports) one.leave();
    admissionControl.stop();
  });

  it('shortens the queue when the event loop is repeatedly late, but not for one long step', async () => {
    const admissionControl = new AdmissionControl({ most: 100, running: 2, sampleMs: 5, lateMs: 20 });
    admission(admissionControl, 'a');
    const second = admission(admissionControl, 'b');
    await block(60);
    const third = admission(admissionControl, 'c');
    assert.equal(third.state(), 'waits');
    for (let i = 0; i < 6; i++) await block(40);
    assert.equal(admission(admissionControl, 'a').state(), 'refused');
    assert.equal(admission(admissionControl, 'd').state(), 'waits');
    second.leave();
    await rest(0);
    assert.equal(third.state(), 'runs', 'who waited is next');
    // Once the event loop is on time again, which may take a while on a busy machine.
    const until = performance.now() + 20_000;
    let last = admission(admissionControl, 'a').state();
    for (; last === 'refused' && performance.now() < until; last = admission(admissionControl, 'a').state())
      await rest(20);
    assert.equal(last, 'waits');
    admissionControl.stop();
  });
});

describe('the slots of dry runs', () => {
  /** Begins a dry run of the caller that lasts until `end` is called. */
  const begin = (slots: Slots, callerId: string) => {
    const work = Promise.withResolvers<void>();
    const one = { state: 'waits', isGone: false, rested: false, end: () => work.resolve() };
    const waiter = { callerId, isGone: () => one.isGone, rest: () => (one.rested = true) };
    const run = async (): Promise<void> => {
      try {
        await slots.run(async () => {
          one.state = 'runs';
          await work.promise;
        }, waiter);
        one.state = 'ended';
      } catch (error) {
        one.state = error instanceof ClientGone ? 'gone' : isFault(error, 'OVERLOADED') ? 'refused' : 'failed';
      }
    };
    void run();
    return one;
  };

  it('go to the caller with the fewest, never to a client that is gone, and one caller cannot fill the queue', async () => {
    const slots = new Slots({ most: 2, mostEach: 2, mostWaiting: 3, refusal: overloaded });
    const flood = Array.from({ length: 6 }, () => begin(slots, 'flood'));
    await rest(0);
    const states = (): string[] => flood.map(({ state }) => state);
    assert.deepEqual(states(), ['runs', 'runs', 'waits', 'waits', 'waits', 'refused']);
    assert.deepEqual([flood[1]?.rested, flood[2]?.rested], [false, true]);
    const other = begin(slots, 'other');
    flood[0]?.end();
    await rest(0);
    assert.equal(other.state, 'runs', 'it came last, but has the fewest');
    Object.assign(flood[2] ?? {}, { isGone: true });
    const later = begin(slots, 'flood');
    await rest(0);
    assert.equal(later.state, 'waits', 'a client that is gone does not count');
    flood[1]?.end();
    await rest(0);
    assert.deepEqual(states(), ['ended', 'ended', 'gone', 'runs', 'waits', 'refused']);
    other.end();
    flood[3]?.end();
    await rest(0);
    assert.deepEqual([flood[4]?.state, later.state], ['runs', 'runs']);
  });

  it('are never all held by one caller', async () => {
    const slots = new Slots({ most: 3, mostEach: 2, mostWaiting: 3, refusal: overloaded });
    const flood = Array.from({ length: 4 }, () => begin(slots, 'flood'));
    const other = begin(slots, 'other');
    await rest(0);
    const states = (): string[] => flood.map(({ state }) => state);
    assert.deepEqual([...states(), other.state], ['runs', 'runs', 'waits', 'waits', 'runs']);
    other.end();
    await rest(0);
    assert.deepEqual(states(), ['runs', 'runs', 'waits', 'waits'], 'a free slot is kept for others');
    flood[0]?.end();
    flood[1]?.end();
    await rest(0);
    assert.deepEqual(states(), ['ended', 'ended', 'runs', 'runs']);
  });
});
