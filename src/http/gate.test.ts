import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFault } from '../lib/fault.ts';
import { Gate } from './gate.ts';

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
function visit(gate: Gate, callerId: string): { state: () => 'runs' | 'waits' | 'refused'; leave(): void } {
  let state: 'runs' | 'waits' | 'refused' = 'runs';
  const visitor = gate.enter();
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

describe('the gate', () => {
  it('counts what is in flight', () => {
    const gate = new Gate({ most: 2 });
    const first = gate.enter();
    gate.enter();
    assert.ok(refused(() => gate.enter()));
    first.leave();
    gate.enter();
    assert.equal(gate.inFlight, 2);
    gate.stop();
  });

  it('gives nobody more than a quarter once half is taken', () => {
    const gate = new Gate({ most: 16 });
    const flood = Array.from({ length: 20 }, () => visit(gate, 'flood')).filter((one) => one.state() !== 'refused');
    assert.equal(flood.length, 8);
    assert.deepEqual(
      ['a', 'b', 'a'].map((caller) => visit(gate, caller).state()),
      ['runs', 'runs', 'runs'],
    );
    for (const one of flood) one.leave();
    assert.equal(visit(gate, 'flood').state(), 'runs');
    gate.stop();
  });

  it('keeps a quarter of the turns for others, and gives the next one to who has the least', async () => {
    const gate = new Gate({ most: 100, running: 8 });
    const flood = Array.from({ length: 30 }, () => visit(gate, 'flood'));
    const running = (): number => flood.filter((one) => one.state() === 'runs').length;
    assert.equal(running(), 6);
    const others = ['a', 'b', 'c', 'd'].map((caller) => visit(gate, caller));
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
    gate.stop();
  });

  it('refuses on arrival who would wait too long, and nobody else', async () => {
    const gate = new Gate({ most: 1000, running: 4 });
    const flood = Array.from({ length: 40 }, () => visit(gate, 'flood'));
    assert.ok(
      flood.every((one) => one.state() !== 'refused'),
      'a burst is worked off',
    );
    // One admission per 20 ms with a queue that is never empty: after a second this is no burst.
    for (const began = performance.now(); performance.now() - began < 1300; await rest(20)) {
      const done = flood.find((one) => one.state() === 'runs');
      if (done !== undefined) flood.splice(flood.indexOf(done), 1);
      done?.leave();
      const more = visit(gate, 'flood');
      if (more.state() !== 'refused') flood.push(more);
    }
    for (let waiting = 0; waiting < 40; waiting++) visit(gate, 'flood');
    assert.equal(visit(gate, 'flood').state(), 'refused');
    assert.notEqual(visit(gate, 'other').state(), 'refused');
    gate.stop();
  });

  it('takes what runs for long off the turns, and only so many', async () => {
    const gate = new Gate({ most: 100, running: 8, sampleMs: 20 });
    const exports = Array.from({ length: 6 }, () => visit(gate, 'slow'));
    const next = visit(gate, 'slow');
    assert.equal(next.state(), 'waits');
    await rest(1200);
    assert.equal(next.state(), 'runs');
    // Two of the six no longer count as running. A service that became slow must not admit more because of that.
    const more = Array.from({ length: 3 }, () => visit(gate, 'slow'));
    assert.deepEqual(
      more.map((one) => one.state()),
      ['runs', 'waits', 'waits'],
    );
    for (const one of exports) one.leave();
    gate.stop();
  });

  it('lets next to nobody wait when the event loop is late again and again, and not for one long step', async () => {
    const gate = new Gate({ most: 100, running: 2, sampleMs: 5, lateMs: 20 });
    visit(gate, 'a');
    const second = visit(gate, 'b');
    await block(60);
    const third = visit(gate, 'c');
    assert.equal(third.state(), 'waits');
    for (let i = 0; i < 6; i++) await block(40);
    assert.equal(visit(gate, 'a').state(), 'refused');
    assert.equal(visit(gate, 'd').state(), 'waits');
    second.leave();
    await rest(0);
    assert.equal(third.state(), 'runs', 'who waited is next');
    // Once the event loop is on time again, which may take a while on a busy machine.
    const until = performance.now() + 20_000;
    let last = visit(gate, 'a').state();
    for (; last === 'refused' && performance.now() < until; last = visit(gate, 'a').state()) await rest(20);
    assert.equal(last, 'waits');
    gate.stop();
  });
});
