import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Estimate, plansFor } from './plan.ts';

const MILLION: Estimate = { rows: 1_000_000, share: 0.03, admitted: 0.75, wanted: 1001 };
const first = (estimate: Partial<Estimate>): string | undefined => plansFor({ ...MILLION, ...estimate })[0]?.by;

describe('query plans', () => {
  it('reads all matches if they are few', () => {
    assert.equal(first({ share: 0.001 }), 'matches');
    assert.equal(first({ share: 0.004 }), 'matches');
  });

  it('reads the last changed records if there are many matches', () => {
    assert.equal(first({ share: 0.03 }), 'since');
    assert.equal(first({ share: 0.03, admitted: 0.15 }), 'since');
    assert.equal(first({ share: 0.4 }), 'recent');
  });

  it('reads the permitted records if they are few, for any word', () => {
    for (const share of [0.01, 0.1, 0.6]) {
      const [plan] = plansFor({ ...MILLION, share, admitted: 0.002 });
      assert.equal(plan?.by, 'admitted');
      assert.ok((plan?.depth ?? 0) >= 2000);
    }
  });

  it('never reads much more than needed and always offers a plan that terminates', () => {
    for (const share of [1e-6, 0.001, 0.05, 0.5, 1]) {
      for (const admitted of [1e-6, 0.001, 0.05, 0.5, 1]) {
        for (const wanted of [26, 1001, 30_000]) {
          const plans = plansFor({ rows: 1_000_000, share, admitted, wanted });
          assert.ok(plans.some(({ by }) => by === 'matches'));
          for (const { by, depth } of plans) if (by === 'walk') assert.ok(depth <= 100_000);
        }
      }
    }
  });

  it('reads more per query if queries are expensive', () => {
    const depth = (spare?: number): number =>
      plansFor({ ...MILLION, spare }).find(({ by }) => by === 'since')?.depth ?? 0;
    assert.ok(depth() > 1001 / 0.03 / 0.75, 'a little more than seems to be needed');
    assert.equal(Math.round(depth(4.6) / depth()), 4);
    assert.equal(first({ share: 0.01, spare: 5 }), 'matches', 'hardly less than all records');
  });

  it('works without statistics', () => {
    assert.equal(plansFor({ rows: 0, share: 0, admitted: 0, wanted: 1001 })[0]?.by, 'matches');
  });
});
