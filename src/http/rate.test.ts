import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MemoryRateLimiter } from './rate.ts';

describe('the rate limit', () => {
  it('allows the quota at once and then one request per interval', () => {
    const limiter = new MemoryRateLimiter(60);
    for (let i = 0; i < 60; i++) assert.equal(limiter.take('a', 0).remaining, 59 - i);
    assert.deepEqual(limiter.take('a', 0), { allowed: false, remaining: 0, resetSeconds: 1, retryAfter: 1 });
    assert.equal(limiter.take('a', 999).allowed, false);
    assert.equal(limiter.take('a', 1000).allowed, true);
    assert.equal(limiter.take('b', 0).allowed, true);
  });

  it('loses no request to rounding', () => {
    for (const quota of [1, 7, 12_000, 99_991]) {
      const limiter = new MemoryRateLimiter(quota);
      let taken = 0;
      while (limiter.take('a', 123.456).allowed) taken++;
      assert.equal(taken, quota);
    }
  });

  it('never rejects a client that follows the response headers', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 5000 })), {
      maxLength: 50,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), steps, (quota, moves) => {
        const limiter = new MemoryRateLimiter(quota);
        let now = 1000;
        let known = limiter.take('a', now);
        for (const [wanted, idle] of moves) {
          now += idle;
          const burst = Math.min(wanted, known.remaining);
          for (let i = 0; i < burst; i++) {
            known = limiter.take('a', now);
            assert.ok(known.allowed);
          }
          if (known.remaining === 0) {
            now += known.resetSeconds * 1000;
            known = limiter.take('a', now);
            assert.ok(known.allowed);
          }
        }
      }),
    );
  });

  it('forgets callers whose quota is full again', () => {
    const limiter = new MemoryRateLimiter(60);
    for (let i = 0; i < 30_000; i++) limiter.take(`caller-${i}`, i * 10);
    assert.ok(limiter.size < 15_000, String(limiter.size));
  });
});
