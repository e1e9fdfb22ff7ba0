/** A stop signal at any moment of the start ends everything that was started. At length: `npm run test:stop-at-start`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Form, sweep } from './proofs/stop-at-start-parts.ts';

/** Forms besides `docket serve`, each stopped in the middle of its start. */
const OTHERS: readonly Form[] = ['docket serve --processes 2', 'docket keys list', 'npm start'];

describe('a stop signal during the start', () => {
  // All forms start the same database first, which takes most of the time.
  let lastsMs: number | undefined;

  it('docket serve: leaves no process and no lock, and the folder remains usable', async () => {
    const swept = await sweep('docket serve', { moments: 3 });
    assert.deepEqual(swept.failures, []);
    lastsMs = swept.lastsMs;
  });

  for (const form of OTHERS) {
    it(`${form}: leaves no process and no lock`, async () => {
      const { failures } = await sweep(form, { moments: 1, lastsMs, useAgain: false });
      assert.deepEqual(failures, []);
    });
  }
});
