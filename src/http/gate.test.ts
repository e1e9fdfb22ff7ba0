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

describe('the gate', () => {
  it('counts what is in flight', () => {
    const gate = new Gate(2);
    gate.enter();
    gate.enter();
    assert.ok(refused(() => gate.enter()));
    gate.leave(undefined);
    gate.enter();
    assert.equal(gate.inFlight, 2);
    gate.stop();
  });

  it('gives nobody more than a quarter once half is taken', () => {
    const gate = new Gate(16);
    const enter = (caller: string): boolean => {
      gate.enter();
      const stopped = refused(() => gate.attribute(caller));
      if (stopped) gate.leave(caller);
      return stopped;
    };
    const flood = Array.from({ length: 20 }, () => enter('flood'));
    assert.equal(flood.filter((stopped) => !stopped).length, 8);
    assert.deepEqual([enter('a'), enter('b'), enter('a')], [false, false, false]);
    for (let i = 0; i < 8; i++) gate.leave('flood');
    assert.equal(enter('flood'), false);
    gate.stop();
  });

  it('refuses when the event loop is late again and again, and not for one long step', async () => {
    const gate = new Gate(100, 5, 20);
    await block(60);
    assert.ok(!refused(() => gate.enter()));
    for (let i = 0; i < 6; i++) await block(40);
    assert.ok(refused(() => gate.enter()));
    await rest(50);
    assert.ok(!refused(() => gate.enter()));
    gate.stop();
  });
});
