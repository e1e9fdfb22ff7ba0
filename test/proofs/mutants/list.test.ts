import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { MUTANTS } from './list.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

describe('the list of mutants', () => {
  it('is complete and matches the current source', () => {
    assert.ok(MUTANTS.length >= 60, `${MUTANTS.length} mutants`);
    for (const { file, find, replace, killedBy } of MUTANTS) {
      const parts = readFileSync(path.join(ROOT, file), 'utf8').split(find);
      assert.equal(parts.length, 2, `${file} holds exactly once: ${find}`);
      assert.notEqual(find, replace);
      for (const test of killedBy) assert.ok(existsSync(path.join(ROOT, test)), test);
    }
    assert.equal(new Set(MUTANTS.map(({ file, find }) => `${file} ${find}`)).size, MUTANTS.length, 'each once');
  });
});
