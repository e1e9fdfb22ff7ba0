/** The quick form of `npm run test:leaks`: what somebody may not see changes nothing of what they are told. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compare } from './harness/leaks/compare.ts';

describe('every read operation on two services that differ only in hidden data', () => {
  for (const differ of ['values', 'existence'] as const) {
    it(`responds equally where the ${differ} of hidden data differ`, async () => {
      const { told, byStatus } = await compare({ differ, records: 20, questions: 250, seed: 11 });
      assert.deepEqual(told, []);
      assert.ok((byStatus['200'] ?? 0) > 60, JSON.stringify(byStatus));
    });
  }
});
