/** The guides can be tried (`npm run test:guides` does), and what compares them with what was printed is not content with anything. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { blocksOf, GUIDES, jsonFits, textFits } from '../tools/guides.ts';

const root = path.join(import.meta.dirname, '..');

describe('guides', () => {
  it('hold programs, and say what these show', () => {
    for (const name of GUIDES) {
      const blocks = blocksOf(readFileSync(path.join(root, name), 'utf8'));
      const having = (word: string): number => blocks.filter(({ words }) => words.includes(word)).length;
      assert.ok(having('run') >= 1 && having('shows') >= 1, name);
      for (const { words, line } of blocks) {
        const odd = words.filter((word) => !['run', 'shows'].includes(word) && !word.startsWith('file='));
        assert.deepEqual(odd, [], `${name}:${line}`);
      }
    }
  });

  it('are held against what was printed', () => {
    assert.ok(textFits('a … c', 'a b\nb c\n'));
    assert.ok(textFits('x.*', 'x.*'));
    for (const [shown, text] of [
      ['a … c', 'a b'],
      ['a', 'a b'],
      ['x.*', 'xyz'],
    ] as const)
      assert.ok(!textFits(shown, text), `${shown} | ${text}`);
    assert.ok(jsonFits({ a: 'INC…', b: [1, { c: null }] }, { a: 'INC01', b: [1, { c: null, d: 2 }], e: 1 }));
    for (const value of [{ a: 'X' }, { a: 'INC1', b: [1] }, { a: 'INC1', b: [1, { c: 0 }] }, null, 'INC'])
      assert.ok(!jsonFits({ a: 'INC…', b: [1, { c: null }] }, value), JSON.stringify(value));
    assert.ok(!jsonFits({ a: 1 }, { a: '1' }));
  });
});
