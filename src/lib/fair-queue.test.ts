import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from './fair-queue.ts';
import { SharedBudget } from './shared-budget.ts';

describe('a shared budget', () => {
  it('gives one owner at most half and always keeps a share for the next', () => {
    const budget = new SharedBudget(100);
    let taken = 0;
    while (budget.take('a', 1)) taken++;
    assert.equal(taken, 50);
    let others = 0;
    while (budget.take('b', 1)) others++;
    assert.equal(others, 25);
    for (let one = 0; one < 5; one++) assert.ok(budget.take(`c${one}`, 1));
    budget.release('a', 50);
    assert.equal(budget.held, 30);
    assert.ok(budget.take('a', 30));
  });

  it('rejects an amount that is larger than what is free', () => {
    const budget = new SharedBudget(10);
    assert.ok(!budget.take('a', 11));
    assert.ok(budget.take('a', 10));
    budget.release('a', 10);
    assert.equal(budget.held, 0);
  });
});

describe('a fair queue', () => {
  it('runs up to its concurrency and serves owners in turn', async () => {
    const queue = new FairQueue({ running: 1, places: 100 });
    const order: string[] = [];
    let running = 0;
    const job = (name: string) => async (): Promise<void> => {
      assert.equal(++running, 1);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      order.push(name);
      running--;
    };
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'].map((name) => queue.run(name[0] as string, job(name)));
    await Promise.all(all);
    assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'a4']);
    assert.equal(queue.size, 0);
  });

  it('rejects an owner who fills it, accepts another, and continues after a failure', async () => {
    const queue = new FairQueue({ running: 1, places: 8, rest: 1 });
    const gate = Promise.withResolvers<void>();
    const held = Array.from({ length: 10 }, () => queue.run('flood', () => gate.promise));
    assert.equal(held.filter((one) => one === undefined).length, 6);
    const other = queue.run('other', async () => 'done');
    assert.ok(other !== undefined);
    const broken = queue.run('third', async () => {
      throw new Error('failed');
    });
    assert.ok(broken !== undefined);
    gate.resolve();
    await assert.rejects(broken, /failed/);
    assert.equal(await other, 'done');
    await Promise.all(held);
    assert.equal(await queue.run('flood', async () => 'again'), 'again');
  });
});
