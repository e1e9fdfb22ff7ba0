import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { program } from '../src/cli.ts';
import { PAGES } from '../tools/docs.ts';
import { blocksOf, fileOf } from '../tools/guides.ts';
import { anchorsIn } from './support/markdown.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** All pages that a reader of a clone finds. */
function pagesOf(): string[] {
  return [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'CHANGELOG.md',
    ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
      name.endsWith('.md') ? [`docs/${name}`] : [],
    ),
  ];
}

/** All texts in a YAML value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** What the command line does not know in `docket …`; empty if it would run. */
function unknownIn(line: string): string[] {
  const [name = '', ...args] = line.replace(/ >.*$/, '').replaceAll("'", '').split(' ').slice(1);
  const docket = program({
    inherited: {},
    settings: () => {
      throw new Error('no command runs here');
    },
  });
  const command = docket.commands.find((one) => one.name() === name);
  if (command === undefined) return [name];
  const { operands, unknown } = command.parseOptions(args);
  return operands.length === command.registeredArguments.length
    ? unknown
    : [...unknown, `${operands.length} arguments`];
}

describe('documents', () => {
  it('match the source (npm run docs writes them)', () => {
    for (const [file, write] of Object.entries(PAGES)) assert.equal(read(file), write(), file);
  });

  it('keep only those logs of measurements that another page cites', () => {
    const pages = pagesOf().filter((page) => !page.startsWith('docs/benchmarks/'));
    const cited = pages.map(read).join('');
    const logs = readdirSync(path.join(root, 'docs', 'benchmarks')).filter((name) => name !== 'README.md');
    assert.deepEqual(
      logs.filter((name) => !cited.includes(`benchmarks/${name}`)),
      [],
    );
  });

  it('link only to existing files and headings', () => {
    let links = 0;
    for (const page of pagesOf()) {
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

  it('show tests that are run', () => {
    const shown = read('src/domain/objects/empty-title.db.test.ts');
    assert.ok(read('docs/how-to/write-a-test.md').includes(`\`\`\`ts\n${shown}\`\`\`\n`));
  });

  it('name only existing files and npm scripts', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const page of pagesOf()) {
      const text = read(page);
      // Files that the reader saves.
      const made = new Set(blocksOf(text).map(fileOf));
      for (const [, script = ''] of text.matchAll(/npm run ([\w:-]+)/g))
        assert.ok(script in scripts, `${page}: npm run ${script}`);
      const places =
        /`((?:src|test|tools|bench|deploy|web|config|examples|platform|domain|http|lib|cli|contract)\/[\w./-]+\.\w+)`/g;
      for (const [, file = ''] of text.matchAll(places)) {
        const known = existsSync(path.join(root, file)) || existsSync(path.join(root, 'src', file)) || made.has(file);
        assert.ok(known, `${page} names ${file}`);
      }
    }
  });

  it('are listed in the index of their folder', () => {
    for (const page of pagesOf().filter((name) => name.startsWith('docs/') && name !== 'docs/README.md')) {
      const own = path.join(path.dirname(page), 'README.md');
      const index = existsSync(path.join(root, own)) && own !== page ? own : 'docs/README.md';
      const link = path.relative(path.dirname(index), page);
      assert.ok(read(index).includes(`](${link})`), `${index} does not list ${page}`);
    }
  });

  it('show CI pipelines that are valid YAML and run commands that exist', () => {
    const blocks = [...read('docs/how-to/configuration-in-ci.md').matchAll(/^```yaml\n([^]*?)^```$/gm)];
    const pipelines = blocks.map(([, text = '']) => parse(text, { strict: true, uniqueKeys: true }) as object);
    assert.equal(pipelines.length, 2);
    const [github, gitlab] = pipelines as [Record<string, any>, Record<string, any>];
    assert.deepEqual(Object.keys(github['jobs']), ['plan', 'apply']);
    assert.deepEqual(Object.keys(gitlab).sort(), ['apply', 'default', 'plan']);
    for (const pipeline of pipelines) {
      const lines = textsIn(pipeline).flatMap((text) => text.split('\n').filter((line) => line.startsWith('docket ')));
      assert.deepEqual(lines.map((line) => line.split(' ')[1]).sort(), ['apply', 'plan']);
      for (const line of lines) assert.deepEqual(unknownIn(line), [], line);
    }
    assert.deepEqual(unknownIn('docket plan dir --unheard-of'), ['--unheard-of']);
  });
});
