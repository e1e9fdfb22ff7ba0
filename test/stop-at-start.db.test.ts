/** A stop signal at any moment of the start ends everything that was started. At length: `npm run test:stop-at-start`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Form, sweep } from './harness/stop-at-start.ts';

const MOMENTS: Readonly<Partial<Record<Form, number>>> = {
  'docket serve': 4,
  'docket serve --processes 2': 2,
  'docket keys list': 2,
  'npm start': 2,
};

describe('a stop signal during the start', () => {
  for (const [form, moments] of Object.entries(MOMENTS) as [Form, number][]) {
    it(`${form}: leaves no process and no lock, and the folder remains usable`, async () => {
      assert.deepEqual(await sweep(form, moments), []);
    });
  }
});
