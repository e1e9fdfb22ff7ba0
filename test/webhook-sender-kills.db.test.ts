/** At least once, the quick tier of `node tools/at-least-once.ts`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { killSenders } from './proofs/webhook-sender-kills.ts';

describe('killed webhook senders', () => {
  it('lose nothing, send nothing forbidden, and repeat under the same id', async () => {
    const report = await killSenders({
      events: 500,
      kills: 5,
      pauseMs: 400,
      limitMs: 4000,
      leaseMs: 6000,
      patienceMs: 30_000,
      say: () => {},
    });
    assert.deepEqual(report.problems.slice(0, 5), []);
    assert.equal(report.expected, 500 * 3 + 333 + 250);
    assert.ok(report.requests > report.expected, 'failures were met and repeated');
    // Only deliveries that were running during a kill are repeated.
    assert.ok(report.duplicates <= 5 * 5 * 64, `${report.duplicates} came twice`);
  });
});
