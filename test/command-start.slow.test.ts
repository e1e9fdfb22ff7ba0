/** What a command loads before it knows its work: asking for help or the version must not load the service. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { program, run } from '../src/cli.ts';

const root = path.join(import.meta.dirname, '..');
const LAUNCHER = path.join(root, 'docket');

/** Names of all commands, such as `keys create`. */
function namesOf(command: Command, before = ''): string[] {
  return command.commands.flatMap((one) => {
    const name = `${before}${one.name()}`;
    return [name, ...namesOf(one, `${name} `)];
  });
}

describe('the start of a command', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'docket-start-'));
    writeFileSync(
      path.join(folder, 'log.mjs'),
      `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED, url + '\\n'); return next(url, context); } });`,
    );
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** The files that a command loads, relative to the repository. */
  const loadedBy = (args: readonly string[]): string[] => {
    const loaded = path.join(folder, 'loaded');
    writeFileSync(loaded, '');
    const hook = pathToFileURL(path.join(folder, 'log.mjs')).href;
    const env = { PATH: process.env['PATH'], NODE_OPTIONS: `--import=${hook}`, LOADED: loaded };
    const { status, stderr } = spawnSync(LAUNCHER, [...args], { cwd: folder, env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const base = `${pathToFileURL(root).href}/`;
    const urls = readFileSync(loaded, 'utf8').split('\n');
    return urls.flatMap((url) => (url.startsWith(base) ? url.slice(base.length) : []));
  };

  it('loads neither the domain nor a package but commander for the version and the help', () => {
    for (const args of [['--version'], ['--help'], ['apply', '--help'], ['serve', '--help']]) {
      const loaded = loadedBy(args);
      assert.ok(loaded.includes('src/main.ts'), args.join(' '));
      const heavy = loaded.filter(
        (file) =>
          /^src\/(?:domain|platform|http|worker|contract|app|modules)/.test(file) ||
          /^node_modules\/(?!commander\/)/.test(file),
      );
      assert.deepEqual(heavy, [], args.join(' '));
      assert.ok(loaded.length < 50, `${args.join(' ')} loads ${loaded.length} files`);
    }
  });

  it('loads no server for a command that needs none', () => {
    const loaded = loadedBy(['init', path.join(folder, 'start'), '--template', 'bugs']);
    assert.ok(
      loaded.some((file) => file.startsWith('src/domain/')),
      'the sections of a bundle come from the domain',
    );
    assert.deepEqual(
      loaded.filter((file) => file.includes('/fastify/')),
      [],
    );
  });

  it('describes every command without loading its work', async () => {
    const docket = program({
      inherited: {},
      settings: () => {
        throw new Error('help needs no settings');
      },
    });
    const names = namesOf(docket);
    assert.ok(names.length > 30);
    const { write } = process.stdout;
    let shown = '';
    process.stdout.write = ((text: string) => {
      shown += text;
      return true;
    }) as typeof write;
    try {
      for (const name of names) assert.equal(await run([...name.split(' '), '--help'], {}), 0, name);
    } finally {
      process.stdout.write = write;
    }
    for (const name of names) assert.ok(shown.includes(`Usage: docket ${name} `), name);
  });

  it('works by a link and from any folder', () => {
    const link = path.join(folder, 'linked');
    symlinkSync(LAUNCHER, link);
    const expected = execFileSync(LAUNCHER, ['--version'], { cwd: root, encoding: 'utf8' });
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).slice(0, 12);
    assert.match(expected, new RegExp(`^\\d+\\.\\d+\\.\\d+ \\(commit ${commit}\\)\n$`));
    assert.equal(execFileSync(link, ['--version'], { cwd: folder, encoding: 'utf8' }), expected);
    assert.equal(execFileSync('sh', ['docket', '--version'], { cwd: root, encoding: 'utf8' }), expected);
  });
});

describe('documents', () => {
  it('run commands of a clone by ./docket, which starts no npm', () => {
    const listed = execFileSync('git', ['grep', '-lE', 'npx docket', '--', ':!docs/benchmarks', ':!CHANGELOG.md'], {
      cwd: root,
      encoding: 'utf8',
    });
    // The installed package has the command of npm.
    assert.deepEqual(listed.trim().split('\n').sort(), [
      'docs/how-to/install.md',
      'src/cli/command.ts',
      'test/command-start.slow.test.ts',
      'test/guides.slow.test.ts',
    ]);
  });
});
