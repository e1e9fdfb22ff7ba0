/**
 * The first guides work as written, in a clean clone with only the system's programs on the PATH. `npm run test:guides` runs
 * all guides with a real `npm ci`, which takes minutes; here the packages are linked.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { blocksOf, fileOf, GUIDES, jsonFits, RECIPES, runGuides, textFits } from '../tools/guides.ts';

const root = path.join(import.meta.dirname, '..');
const FIRST = ['README.md', 'client/README.md', 'docs/tutorial/first-hour.md'];

describe('guides', () => {
  it('contain programs and state what they demonstrate', () => {
    for (const name of [...GUIDES, ...RECIPES.keys()]) {
      const blocks = blocksOf(readFileSync(path.join(root, name), 'utf8'));
      const having = (word: string): number => blocks.filter(({ words }) => words.includes(word)).length;
      assert.ok(having('run') >= 1 && having('shows') >= 1, name);
      for (const { words, line } of blocks) {
        const odd = words.filter(
          (word) => !['install', 'serve', 'run', 'shows'].includes(word) && !word.startsWith('file='),
        );
        assert.deepEqual(odd, [], `${name}:${line}`);
      }
    }
  });

  it('are all run', () => {
    const pages = ['tutorial', 'how-to'].flatMap((folder) =>
      readdirSync(path.join(root, 'docs', folder)).map((name) => `docs/${folder}/${name}`),
    );
    for (const page of pages) {
      const isRunnable = blocksOf(readFileSync(path.join(root, page), 'utf8')).some(({ words }) =>
        words.includes('run'),
      );
      assert.equal(GUIDES.includes(page) || RECIPES.has(page), isRunnable, page);
    }
  });

  it('tell the reader where to save each file and how to run each program', () => {
    for (const name of [...GUIDES, ...RECIPES.keys()]) {
      for (const block of blocksOf(readFileSync(path.join(root, name), 'utf8'))) {
        const file = fileOf(block);
        const place = `${name}:${block.line}`;
        if (file !== undefined) assert.ok(block.before.includes(`\`${file}\``), `${place}: ${block.before}`);
        // What a reader can run unchanged is a command; a program in another language is saved first.
        if (block.words.includes('run')) assert.equal(block.language, 'sh', place);
        if (block.language === 'sh')
          assert.doesNotMatch(
            block.text,
            /^docket |\$\(docket |npx docket|bin\/docket\.mjs/m,
            `${place}: use ./docket`,
          );
      }
    }
  });

  it('work as written', async () => {
    const seen: string[] = [];
    await runGuides(FIRST, true, (name, problem) => {
      assert.equal(problem, '', name);
      seen.push(name);
    });
    assert.deepEqual(seen, FIRST);
  });

  it('match the printed output', () => {
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
