import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { problemsOf } from './harness/bundle.ts';

const ROOT = path.join(import.meta.dirname, '..');

describe('the sample of SLA policies', () => {
  it('goes with the starter configuration', async () => {
    const files = ['config/itsm', 'config/sla'].flatMap((folder) =>
      readdirSync(path.join(ROOT, folder)).map((name) => ({
        name,
        text: readFileSync(path.join(ROOT, folder, name), 'utf8'),
      })),
    );
    assert.ok(files.some(({ text }) => text.includes('slaPolicies')));
    assert.deepEqual(await problemsOf(files), []);
  });
});
