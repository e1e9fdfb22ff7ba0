/** The module that docs/how-to/write-a-module.md builds compiles, works, and keeps the architecture. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { blocksOf, fileOf } from '../tools/guides.ts';

const root = path.join(import.meta.dirname, '..');
const PAGE = 'docs/how-to/write-a-module.md';
const COPIED = ['src', 'test', 'db', 'config', 'openapi', 'docs', 'web/src', 'tools', 'client/src', 'package.json'];

describe('the guide to writing a module', () => {
  let copy: string;
  const written: string[] = [];

  before(() => {
    copy = mkdtempSync(path.join(tmpdir(), 'docket-module-'));
    for (const name of COPIED)
      cpSync(path.join(root, name), path.join(copy, name), {
        recursive: true,
        filter: (file) => path.basename(file) !== 'node_modules',
      });
    symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
    const next = readdirSync(path.join(copy, 'db/migrations')).length + 1;
    for (const block of blocksOf(readFileSync(path.join(root, PAGE), 'utf8'))) {
      const word = (name: string): string | undefined =>
        block.words.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
      const file = fileOf(block)?.replace('NNNN', String(next).padStart(4, '0'));
      const target = word('insert');
      if (file !== undefined) {
        mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
        writeFileSync(path.join(copy, file), block.text);
        written.push(file);
      } else if (target !== undefined) {
        const lines = readFileSync(path.join(copy, target), 'utf8').split('\n');
        const at = lines.findIndex((line) => line.includes(word('after') ?? assert.fail(`${PAGE}:${block.line}`)));
        assert.ok(at >= 0, `${PAGE}:${block.line}: ${target} has no such line`);
        lines.splice(at + 1, 0, block.text.trimEnd());
        writeFileSync(path.join(copy, target), lines.join('\n'));
        written.push(target);
      }
    }
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  /** Runs node in the copy. @returns what it printed */
  const run = async (
    args: readonly string[],
    more: NodeJS.ProcessEnv = {},
  ): Promise<{ ok: boolean; shown: string }> => {
    const env = { ...process.env, ...more };
    // The database templates of this run have other migrations, and this is a run of its own.
    delete env['DOCKET_TEST_RUN'];
    delete env['NODE_TEST_CONTEXT'];
    return await new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: copy, env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
        resolve({ ok: error === null, shown: `${stdout}${stderr}` }),
      );
    });
  };
  /** The same; the test fails if it fails. */
  const node = async (args: readonly string[], more?: NodeJS.ProcessEnv): Promise<string> => {
    const { ok, shown } = await run(args, more);
    assert.ok(ok, shown);
    return shown;
  };

  it('has code that compiles', async () => {
    assert.ok(written.length >= 9, written.join());
    await node(['tools/schema-dump.ts']);
    const base = JSON.parse(readFileSync(path.join(root, 'tsconfig.json'), 'utf8')) as object;
    writeFileSync(
      path.join(copy, 'tsconfig.json'),
      JSON.stringify({ ...base, include: ['src/domain/votes', 'src/domain/column-types.ts'] }),
    );
    await node(['node_modules/typescript/bin/tsc', '--noEmit']);
  });

  it('has a test that passes', async () => {
    const shown = await node(['--test', '--test-reporter=tap', 'src/domain/votes/votes.db.test.ts']);
    assert.match(shown, /^# pass 2$/m);
    assert.match(shown, /^# fail 0$/m);
  });

  it('has a case for the tests over all operations', async () => {
    await node(['--test', 'test/operation-cases.test.ts']);
    const patterns = [
      'rejected key',
      'require the right',
      'return 404',
      'hidden fields',
      'only in the',
      'answer as the call',
    ];
    const access = ['--test', '--test-reporter=tap', ...patterns.map((one) => `--test-name-pattern=${one}`)];
    const tried = await node([...access, 'test/access.db.test.ts'], { DOCKET_TEST_OPERATIONS: 'votes.' });
    assert.match(tried, /^# pass 6$/m);
    await node(['--test', '--test-name-pattern=report mismatches', 'test/history-replay.db.test.ts']);
    rmSync(path.join(copy, 'src/domain/votes/votes.cases.ts'));
    const { ok, shown } = await run(['--test', 'test/operation-cases.test.ts']);
    assert.equal(ok, false);
    assert.match(shown, /votes\.cases\.ts in the folder of the module votes has no case/);
  });

  it('keeps the architecture', async () => {
    // The test of the structure takes the files that git knows.
    execFileSync('git', ['init', '--quiet'], { cwd: copy });
    execFileSync('git', ['add', 'src', 'client/src', 'web/src', 'package.json'], { cwd: copy });
    await node(['--test', 'test/architecture.test.ts']);
  });

  it('has the compiler name each place that must give a value to a new column', async () => {
    const number = String(readdirSync(path.join(copy, 'db/migrations')).length + 1).padStart(4, '0');
    writeFileSync(
      path.join(copy, 'db/migrations', `${number}-mood.sql`),
      'ALTER TABLE comments ADD COLUMN mood text; ALTER TABLE votes ADD COLUMN weight integer;',
    );
    await node(['tools/schema-dump.ts']);
    const base = JSON.parse(readFileSync(path.join(root, 'tsconfig.json'), 'utf8')) as object;
    const service = { ...base, include: ['src'], exclude: ['src/**/*.test.ts', 'src/**/*.cases.ts'] };
    writeFileSync(path.join(copy, 'tsconfig.json'), JSON.stringify(service));
    const { ok, shown: errors } = await run(['node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false']);
    assert.equal(ok, false);
    const places = [...errors.matchAll(/^(\S+)\(\d+,\d+\): error/gm)].map(([, file]) => file);
    // A change of a comment takes the row that was read, so only the new comment must give the value.
    assert.deepEqual(places, ['src/domain/comments/commands.ts', 'src/domain/votes/commands.ts'], errors);
    assert.match(errors, /Property 'mood' is missing[^]*Property 'weight' is missing/);
  });
});
