/** When tasks run: at their interval, when they are woken, and rarely while nothing is written. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { type Loop, startLoop } from './loop.ts';
import type { Task } from '../platform/tasks.ts';

describe('background tasks', () => {
  let loop: Loop | undefined;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    mock.method(performance, 'now', () => now);
    pass = async (ms) => {
      for (let step = 0; step < ms; step += 10) {
        now += 10;
        mock.timers.tick(10);
        for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      }
    };
  });
  afterEach(async () => {
    mock.timers.reset();
    mock.restoreAll();
    await loop?.stop();
  });

  let pass: (ms: number) => Promise<void>;
  /** @returns how often the task ran */
  const start = (task: Partial<Task>, results: (boolean | number)[] = []): (() => number) => {
    let runs = 0;
    const run = async (): Promise<boolean | number | undefined> => results[runs++];
    loop = startLoop([{ name: 'task', everyMs: 100, run, ...task }], { failed: async () => {}, succeeded: () => {} });
    return () => runs;
  };

  it('run at their interval', async () => {
    const runs = start({});
    await pass(1050);
    assert.equal(runs(), 10);
  });

  it('run rarely while nothing is written, and at their interval again after a write', async () => {
    const runs = start({ idleMs: 1000 });
    await pass(120);
    assert.equal(runs(), 1);
    await pass(800);
    assert.equal(runs(), 1);
    loop?.written();
    await pass(20);
    assert.equal(runs(), 2, 'the interval is over');
    await pass(900);
    assert.equal(runs(), 2);
    await pass(200);
    assert.equal(runs(), 3);
    loop?.written();
    loop?.written();
    await pass(150);
    assert.equal(runs(), 4);
  });

  it('run when they have work again, as they said', async () => {
    const runs = start({ idleMs: 1000 }, [300, 10, 5000]);
    await pass(120);
    assert.equal(runs(), 1);
    await pass(310);
    assert.equal(runs(), 2);
    await pass(60);
    assert.equal(runs(), 2, 'not more often than their interval');
    await pass(50);
    assert.equal(runs(), 3);
    await pass(900);
    assert.equal(runs(), 3);
    await pass(120);
    assert.equal(runs(), 4, 'the net');
  });

  it('run again at once while they have more work, and soon when they are woken', async () => {
    const runs = start({ idleMs: 1000, gapMs: 20 }, [true, true, false]);
    await pass(110);
    assert.equal(runs(), 3);
    loop?.wake('task');
    await pass(30);
    assert.equal(runs(), 4);
  });
});
