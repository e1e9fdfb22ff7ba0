/** Comments and messages cite documents of this repository by file and heading; each cited file and heading must exist. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { filesBelow, ROOT } from './harness/load-sources.ts';

const CITING = ['src', 'test', 'web/src', 'client/src', 'bench', 'tools', 'acceptance', 'examples', 'deploy', 'db'];
const CITATION = /\bdocs\/[\w./-]+\.md(?:#[\w-]+)?/g;

/** The anchor that a Markdown heading gets: lower case, blanks as hyphens, without other signs. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function anchorsIn(markdown: string): Set<string> {
  return new Set([...markdown.matchAll(/^#{1,6} (.+)$/gm)].map((found) => anchorOf(found[1] ?? '')));
}

function problemsOf(file: string, text: string): string[] {
  return [...text.matchAll(CITATION)].flatMap(([citation]) => {
    const [document = '', anchor] = citation.split('#');
    const place = path.join(ROOT, document);
    if (!existsSync(place)) return [`${file} cites ${document}, which does not exist`];
    if (anchor === undefined || anchorsIn(readFileSync(place, 'utf8')).has(anchor)) return [];
    return [`${file} cites ${citation}, but ${document} has no such heading`];
  });
}

describe('citations', () => {
  it('name existing documents and headings', () => {
    const files = CITING.flatMap((folder) => filesBelow(folder, ['.ts', '.tsx', '.sql']));
    const texts = files.filter((file) => file !== 'test/citations.test.ts');
    assert.ok(texts.length > 500, `only ${texts.length} files were found`);
    assert.deepEqual(
      texts.flatMap((file) => problemsOf(file, readFileSync(path.join(ROOT, file), 'utf8'))),
      [],
    );
  });

  it('are compared with exact headings', () => {
    assert.deepEqual(problemsOf('a.ts', 'see docs/spec/none.md'), [
      'a.ts cites docs/spec/none.md, which does not exist',
    ]);
    assert.deepEqual(problemsOf('a.ts', 'see docs/spec/README.md#none'), [
      'a.ts cites docs/spec/README.md#none, but docs/spec/README.md has no such heading',
    ]);
    assert.deepEqual(problemsOf('a.ts', 'see docs/spec/README.md#versioning'), []);
  });

  it('name no document outside the repository', () => {
    const outside =
      /\((?:api\.md|decisions|configuration, section|architecture, (?:section )?\d|reliability, [A-Z0-9])/;
    const files = ['src', 'web/src', 'client/src'].flatMap((folder) => filesBelow(folder, ['.ts', '.tsx']));
    const citing = files.filter((file) => outside.test(readFileSync(path.join(ROOT, file), 'utf8')));
    assert.deepEqual(citing, []);
  });
});
