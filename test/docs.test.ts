import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { errorsPage, settingsPage } from '../tools/docs.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

describe('generated documents', () => {
  it('match the source (npm run docs writes them)', () => {
    assert.equal(read('docs/errors.md'), errorsPage());
    assert.equal(read('docs/settings.md'), settingsPage());
  });

  it('link only to existing files', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
        name.endsWith('.md') ? [`docs/${name}`] : [],
      ),
    ];
    let links = 0;
    for (const page of pages) {
      for (const [, target = ''] of read(page)
        .replaceAll(/`[^`\n]*`/g, '')
        .matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
        if (target.includes('://')) continue;
        links++;
        assert.ok(existsSync(path.join(root, path.dirname(page), target)), `${page} links to ${target}`);
      }
    }
    assert.ok(links > 10, 'the pages hold links');
  });
});
