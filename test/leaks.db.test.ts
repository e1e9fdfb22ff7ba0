/** The short version of `npm run test:leaks`: hidden data does not affect responses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compare } from './proofs/leaks/compare.ts';

describe('every read operation and the changes feed on two services that differ only in hidden data', () => {
  for (const differ of ['values', 'existence'] as const) {
    it(`responds equally where the ${differ} of hidden data differ`, async () => {
      const { differences, byStatus, feedSteps } = await compare({
        differ,
        records: 20,
        questions: 250,
        feedSteps: 45,
        seed: 11,
      });
      assert.deepEqual(differences, []);
      assert.ok((byStatus['200'] ?? 0) > 60, JSON.stringify(byStatus));
      assert.equal(feedSteps, 45);
    });
  }
});
