/** What the console's first load weighs: scripts that signing in and a list of records need, compressed as they travel. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';

const ROOT = path.join(import.meta.dirname, '..');
const ASSETS = path.join(ROOT, 'web', 'dist', 'assets');
const MAX = 250_000;
/** The parts that are loaded on their own when one signs in and sees a list. */
const FIRST = ['index', 'sign-in', 'records-page'];

/** The file and everything that it imports statically; dynamic imports do not count. */
function closure(names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    const source = readFileSync(path.join(ASSETS, name), 'utf8');
    for (const [, imported] of source.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g))
      visit(imported as string);
  };
  for (const name of names) visit(name);
  return found;
}

describe('the first load of the console', () => {
  before(() => {
    // npm ci builds it; a folder without it builds it here.
    execFileSync(process.execPath, [path.join(ROOT, 'tools', 'console.mjs'), '--if-absent']);
  });

  it('is less than 250 kB of compressed script', () => {
    const all = readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
    const page = readFileSync(path.join(ROOT, 'web', 'dist', 'index.html'), 'utf8');
    const named = [...page.matchAll(/\/assets\/([^"']+\.js)/g)].map(([, name]) => name as string);
    assert.ok(named.length > 0, 'the page names its scripts');
    const first = FIRST.map((part) => {
      const own = all.filter((name) => new RegExp(`^${part}-[\\w-]{8}\\.js$`).test(name));
      assert.equal(own.length, 1, `${part}: ${own.join(' ')}`);
      return own[0] as string;
    });
    const files = closure([...named, ...first]);
    assert.ok(files.size > 5, [...files].join(' '));
    const bytes = [...files].reduce((sum, name) => sum + gzipSync(readFileSync(path.join(ASSETS, name))).length, 0);
    assert.ok(bytes > 50_000 && bytes < MAX, `${bytes} bytes in ${files.size} files`);
  });
});
