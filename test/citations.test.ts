/** Comments and messages cite documents of this repository by file and heading; each cited file and heading must exist. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { filesBelow, ROOT } from './support/source-files.ts';
import { anchorsIn } from './support/markdown.ts';

const CITING = [
  'src',
  'test',
  'web/src',
  'client/src',
  'bench',
  'tools',
  'acceptance',
  'examples',
  'deploy',
  'db',
  'config',
];
const TEXTS = ['.ts', '.tsx', '.mjs', '.sql', '.yaml', '.md'];
const CITATION = /\bdocs\/[\w./-]+\.md(?:#[\w-]+)?/g;
const DECISIONS = readdirSync(path.join(ROOT, 'docs/decisions'))
  .filter((name) => /^\d{4}-/.test(name))
  .toSorted();

const DOCUMENT = '(?:api|architecture|configuration|decisions|extensions|reliability|security)';
/** Citations in comments that a reader of a clone cannot look up: a document without its path, or a number of a section. */
const BARE = [
  new RegExp(String.raw`(?<![\w./-])${DOCUMENT}(?:\.md)?[,;] ?(?:["“§]|[Ss]ections?\b|\d|[A-Z]{1,3}\d)`, 'g'),
  new RegExp(String.raw`(?<![\w./-])\(${DOCUMENT}(?:\.md)?\)`, 'g'),
  /(?<!\bRFC \d{3,5},? )(?:\b[Ss]ections? |§ ?)\d+[a-z]?\b/g,
  /\b(?:CR|IN)\d{1,2}\b/g,
];
/** Documents that are not part of the repository; no text may name them. */
const OUTSIDE = /(?<![\w./-])(?:api|decisions|extensions)\.md\b/g;

/** The text of the comments; the whole text of a Markdown file. */
function commentsOf(file: string, text: string): string {
  if (file.endsWith('.md')) return text;
  const comment = file.endsWith('.yaml')
    ? /(?<!\S)#.*$/gm
    : file.endsWith('.sql')
      ? /--.*$/gm
      : /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm;
  return [...text.matchAll(comment)].map(([found]) => found).join('\n');
}

function bareCitations(file: string, text: string): string[] {
  const comments = commentsOf(file, text);
  return [...BARE.flatMap((bare) => [...comments.matchAll(bare)]), ...text.matchAll(OUTSIDE)].map(
    ([found]) => `${file} cites "${found}"; write the path and the heading, for example docs/spec/search.md#search`,
  );
}

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
    .concat(decisions, bareCitations(file, text));
}

describe('citations', () => {
  it('name existing documents and headings', () => {
    const files = CITING.flatMap((folder) => filesBelow(folder, TEXTS));
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

  it('have a path', () => {
    for (const bare of [
      'Replayed for 24 hours (decisions, "Idempotency").',
      'See configuration, section 6.',
      'As api.md says.',
      'One transaction (configuration, 2).',
      'Not repeated (reliability, CR5).',
      'Defined in section 4.',
      'Rights come from roles (decisions).',
    ]) {
      assert.equal(problemsOf('a.ts', `/** ${bare} */`).length > 0, true, bare);
      assert.equal(problemsOf('a.sql', `-- ${bare}`).length > 0, true, bare);
      assert.equal(problemsOf('a.md', bare).length > 0, true, bare);
    }
    assert.deepEqual(problemsOf('a.ts', 'load(configuration, 2); // docs/spec/search.md#search'), []);
    assert.deepEqual(problemsOf('a.ts', '// RFC 9110, section 8'), []);
  });
});
