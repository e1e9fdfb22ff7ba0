/** The largest inputs of the operations, which `npm run test:event-loop` sends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { operationsOf } from '../src/platform/module.ts';
import { MODULES } from '../src/modules.ts';
import { LARGE } from './harness/largest-inputs.ts';

describe('the largest inputs', () => {
  it('have one case for every operation and no other', () => {
    const ids = operationsOf(MODULES).map(({ id }) => id);
    assert.deepEqual(Object.keys(LARGE).sort(), ids.sort());
  });
});
