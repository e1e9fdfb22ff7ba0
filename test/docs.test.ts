import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { errorsPage, eventsPage, settingsPage } from '../tools/docs.ts';
import { anchorsIn } from './harness/markdown.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

describe('documents', () => {
  it('match the source (npm run docs writes them)', () => {
    assert.equal(read('docs/reference/errors.md'), errorsPage());
    assert.equal(read('docs/reference/settings.md'), settingsPage());
    assert.equal(read('docs/reference/events.md'), eventsPage());
  });

  it('link only to existing files and headings', () => {
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CHANGELOG.md',
      ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
        name.endsWith('.md') ? [`docs/${name}`] : [],
      ),
    ];
    let links = 0;
    for (const page of pages) {
      for (const [, target = ''] of read(page)
        .replaceAll(/`[^`\n]*`/g, '')
        .matchAll(/\]\(([^)\s]+)\)/g)) {
        if (target.includes('://')) continue;
        links++;
        const [file = '', anchor] = target.split('#');
        const place = file === '' ? page : path.join(path.dirname(page), file);
        assert.ok(existsSync(path.join(root, place)), `${page} links to ${target}`);
        if (anchor !== undefined) assert.ok(anchorsIn(read(place)).has(anchor), `${page} links to ${target}`);
      }
    }
    assert.ok(links > 10, 'the pages hold links');
  });
});
