/** Processes that share rate budgets through the database: the total that they admit, and what a caller sees. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { Database } from '../platform/database/pool.ts';
import { purgeBudgets, settleBudgets } from '../platform/database/rate-budgets.ts';
import { MemoryRateLimiter, type RateAnswer } from './rate.ts';
import { SharedRateLimiter } from './rate-shared.ts';

/** A budget is exact while the database answers in time. A stalled test machine must not count as an unreachable database. */
const PATIENCE_MS = 20_000;

describe('the rate limit shared by several processes', () => {
  let database: TestDatabase;
  let db: Database;
  const limiters: SharedRateLimiter[] = [];

  before(async () => {
    database = await createTestDatabase();
    db = new Database({ url: database.url, max: 6, acquireMs: PATIENCE_MS });
  });

  after(async () => {
    for (const limiter of limiters) await limiter.stop();
    await db.close();
    await database.drop();
  });

  function limiter(
    perMinute: number,
    settle = settleBudgets.bind(null, db),
    patienceMs: number | undefined = PATIENCE_MS,
  ): SharedRateLimiter {
    const made = new SharedRateLimiter(perMinute, { settle, patienceMs });
    limiters.push(made);
    return made;
  }

  const take = async (one: SharedRateLimiter, caller: string): Promise<RateAnswer> =>
    await one.take(caller, performance.now());

  /**
   * Sends as many requests as possible through all processes for a while, until each has rejected one. @returns admitted
   * requests by process
   */
  async function flood(processes: readonly SharedRateLimiter[], caller: string, ms: number): Promise<number[]> {
    const began = performance.now();
    return await Promise.all(
      processes.map(async (one) => {
        let admitted = 0;
        let refused = false;
        while (!refused || performance.now() - began < ms) {
          for (let i = 0; i < 20; i++) {
            if ((await take(one, caller)).allowed) admitted++;
            else refused = true;
          }
          await sleep(1);
        }
        return admitted;
      }),
    );
  }

  for (const quota of [60, 12_000]) {
    it(`lets one flooding key use ${quota} a minute over three processes, within 10 %`, async () => {
      const processes = [limiter(quota), limiter(quota), limiter(quota)];
      const began = performance.now();
      const admitted = await flood(processes, `flood-${quota}`, 1800);
      const budget = quota + ((performance.now() - began) / 60_000) * quota;
      const sum = admitted.reduce((a, b) => a + b, 0);
      assert.ok(sum <= budget * 1.1, `${sum} of ${budget}: ${admitted}`);
      assert.ok(sum >= quota * 0.9, `${sum} of ${budget}: ${admitted}`);
    });
  }

  it('applies a budget that one process used up to the others', async () => {
    const [a, b] = [limiter(100), limiter(100)];
    for (let i = 0; i < 100; i++) assert.equal((await take(a, 'up')).allowed, true);
    const answer = await take(b, 'up');
    assert.deepEqual([answer.allowed, answer.remaining], [false, 0]);
    assert.ok(answer.retryAfter >= 1);
  });

  it('returns unused leased budget to the others within two seconds', async () => {
    const [a, b] = [limiter(1200), limiter(1200)];
    // Enough for a lease that is only partly used.
    for (let i = 0; i < 30; i++) await take(a, 'left');
    await a.settleAll();
    await a.settleAll();
    let admitted = 0;
    while (admitted < 2000 && (await take(b, 'left')).allowed) admitted++;
    assert.ok(admitted >= 1165 && admitted <= 1200, String(admitted));
  });

  it('behaves in a single process like a local limit', async () => {
    for (const quota of [60, 600]) {
      const shared = limiter(quota);
      const own = new MemoryRateLimiter(quota);
      for (let i = 0; i < quota + 3; i++) {
        const now = performance.now();
        const wanted = own.take('x', now);
        const given = await shared.take(`alone-${quota}`, now);
        assert.equal(given.allowed, wanted.allowed, `request ${i} of ${quota}`);
        // A request takes time, in which one may be regained.
        assert.ok(Math.abs(given.remaining - wanted.remaining) <= 1 + quota / 600, `${i}: ${given.remaining}`);
        if (i % 100 === 50) await shared.settleAll();
      }
    }
  });

  it('never rejects a caller that keeps exactly to the rate, however often processes settle', async () => {
    let now = 1000;
    const quota = 600;
    const settle = settleBudgets.bind(null, db);
    const shared = new SharedRateLimiter(quota, { settle, now: () => now, patienceMs: PATIENCE_MS });
    limiters.push(shared);
    const began = performance.now();
    for (let i = 0; i < quota; i++) assert.equal((await shared.take('steady', now)).allowed, true);
    // The database's clock advances by itself; this process's clock follows.
    for (let i = 0; i < 15; i++) {
      await sleep(105);
      now = 1000 + performance.now() - began;
      assert.equal((await shared.take('steady', now)).allowed, true, `request ${i}`);
      if (i % 3 === 0) await shared.settleAll();
    }
  });

  it('continues with local state while the database does not respond, without a long wait', async () => {
    for (const how of ['error', 'silence'] as const) {
      let broken = false;
      let asked = 0;
      const silence = Promise.withResolvers<never>();
      silence.promise.catch(() => {});
      const settle: typeof settleBudgets = async (_, interval, list) => {
        if (!broken) return await settleBudgets(db, interval, list);
        asked++;
        if (how === 'error') throw new Error('gone');
        return await silence.promise;
      };
      // Its clock stands still, so that no requests are regained; its patience is that of a real process.
      const one = new SharedRateLimiter(60, { settle: settle.bind(null, db), now: () => 1000 });
      limiters.push(one);
      const ask = async (): Promise<RateAnswer> => await one.take(`blind-${how}`, 1000);
      broken = true;
      let last = await ask();
      for (let i = 1; i < 60; i++) last = await ask();
      assert.deepEqual([last.allowed, last.remaining], [true, 0]);
      assert.equal((await ask()).allowed, false, 'its own count still holds');
      // Once, and the settlement once a second.
      assert.ok(asked >= 1 && asked < 30, `asked ${asked} times: it does not wait for each request`);
      silence.reject(new Error('gone'));
      broken = false;
    }
  });

  it('forgets budgets that are full again', async () => {
    await settleBudgets(db, 5, [{ callerId: 'old', spent: 1, spentFor: -200_000, returned: 0, wanted: 0 }]);
    await settleBudgets(db, 5, [{ callerId: 'new', spent: 1, spentFor: 10, returned: 0, wanted: 0 }]);
    assert.ok((await purgeBudgets(db)) >= 1);
    const [kept] = await settleBudgets(db, 1000, [
      { callerId: 'new', spent: 0, spentFor: null, returned: 0, wanted: 100 },
    ]);
    assert.ok((kept?.granted ?? 0) >= 59);
  });
});
