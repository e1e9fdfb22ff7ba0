/** Comments and messages cite documents of this repository by file and heading; each cited file and heading must exist. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { filesBelow, ROOT } from './harness/source-files.ts';
import { anchorsIn } from './harness/markdown.ts';

const CITING = ['src', 'test', 'web/src', 'client/src', 'bench', 'tools', 'acceptance', 'examples', 'deploy', 'db'];
const CITATION = /\bdocs\/[\w./-]+\.md(?:#[\w-]+)?/g;
const DECISIONS = readdirSync(path.join(ROOT, 'docs/decisions'))
  .filter((name) => /^\d{4}-/.test(name))
  .toSorted();

function problemsOf(file: string, text: string): string[] {
  const decisions = [...text.matchAll(/\b(?:ADR|[Dd]ecision) (\d{4})\b/g)].flatMap(([citation, number]) =>
    citation.startsWith('ADR') && DECISIONS.some((name) => name.startsWith(`${number}-`))
      ? []
      : [`${file} cites ${citation}; write ADR and the number of a file in docs/decisions`],
  );
  return [...text.matchAll(CITATION)]
    .flatMap<string>(([citation]) => {
      const [document = '', anchor] = citation.split('#');
      const place = path.join(ROOT, document);
      if (!existsSync(place)) return [`${file} cites ${document}, which does not exist`];
      if (anchor === undefined || anchorsIn(readFileSync(place, 'utf8')).has(anchor)) return [];
      return [`${file} cites ${citation}, but ${document} has no such heading`];
    })
    .concat(decisions);
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
    assert.equal(problemsOf('a.ts', 'see ADR 9999').length, 1);
    assert.equal(problemsOf('a.ts', 'see decision 0001').length, 1);
    assert.deepEqual(problemsOf('a.ts', 'see ADR 0001'), []);
  });

  it('find decisions with consecutive numbers, one template and an entry in the index', () => {
    const index = readFileSync(path.join(ROOT, 'docs/decisions/README.md'), 'utf8');
    for (const [at, name] of DECISIONS.entries()) {
      const number = String(at + 1).padStart(4, '0');
      assert.ok(name.startsWith(`${number}-`), `${name} follows ${DECISIONS[at - 1]}`);
      const page = readFileSync(path.join(ROOT, 'docs/decisions', name), 'utf8');
      const title = new RegExp(`^# ${number} (.+)$`, 'm').exec(page)?.[1];
      assert.ok(index.includes(`| [${number}](${name}) | ${title} |`), `the index lacks ${name}`);
      const headings = [...page.matchAll(/^## (.+)$/gm)].map((found) => found[1]);
      assert.deepEqual(headings, ['Context', 'Decision', 'Consequences'], name);
    }
  });

  it('name no document outside the repository', () => {
    const outside =
      /\((?:api\.md|decisions|configuration, section|architecture, (?:section )?\d|reliability, [A-Z0-9])/;
    const files = ['src', 'web/src', 'client/src'].flatMap((folder) => filesBelow(folder, ['.ts', '.tsx']));
    const citing = files.filter((file) => outside.test(readFileSync(path.join(ROOT, file), 'utf8')));
    assert.deepEqual(citing, []);
  });
});
