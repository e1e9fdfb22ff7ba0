/**
 * `docket import` reads files of any size; a killed import resumes without duplicates
 * (docs/spec/configuration.md#command-line).
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultProxy } from './proofs/fault-proxy.ts';
import { bundle } from './support/small-configuration.ts';
import { type ImportExportFixture, type RunResult, startImportExportFixture } from './support/import-export-fixture.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

let x: ImportExportFixture;
let folder: string;

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function start(
  args: readonly string[],
  databaseUrl = x.app.databaseUrl,
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      DOCKET_DATA_DIR: path.join(folder, 'data'),
      DOCKET_MIGRATE: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }));
  });
  return { child, ended };
}

const docket = (...args: string[]): Promise<Ended> => start(args).ended;

const file = async (name: string, text: string | Uint8Array): Promise<string> => {
  const place = path.join(folder, name);
  await writeFile(place, text);
  return place;
};

const count = async (statement: string, values: unknown[] = []): Promise<number> =>
  (await x.rows<{ n: number }>(`SELECT count(*)::int AS n FROM ${statement}`, values))[0]?.n ?? 0;

describe('docket import', () => {
  before(async () => {
    x = await startImportExportFixture();
    folder = await mkdtemp(path.join(tmpdir(), 'docket-import-'));
  });
  after(async () => {
    await x.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('resumes after a kill, and no row is imported twice', async () => {
    const code = 'killed';
    await x.define({ code, sourceCode: code });
    // Successive states of 500 records, in order: importing a row twice would revert a state.
    const states = 8;
    const rows = Array.from({ length: 500 * states }, (_, n) => `k${Math.floor(n / states)},T,${n % states}`);
    const place = await file('killed.csv', `ext,title,count\n${rows.join('\n')}\n`);
    let kills = 0;
    for (let last = 0; kills < 2; kills++) {
      const { child, ended } = start(['import', place, '--definition', code]);
      while (child.exitCode === null && (await count('import_rows')) < last + 250) await sleep(3);
      child.kill('SIGKILL');
      await ended;
      last = await count('import_rows');
      assert.ok(last > 0 && last < rows.length, `killed at ${last} of ${rows.length}`);
      assert.equal(await count(`journal WHERE type LIKE 'Object%'`), last, 'what is counted is done, and nothing else');
    }
    const { code: exit, out, err } = await docket('import', place, '--definition', code, '--json');
    assert.equal(exit, 0, err);
    const run = JSON.parse(out) as RunResult & { resumed: boolean; total: number };
    assert.deepEqual([run.resumed, run.total, run.succeeded, run.failed, run.skipped], [true, 4000, 4000, 0, 0]);
    assert.equal(
      await count(`objects WHERE title = 'T' AND revision = $1 AND "values" ->> 'count' = '7'`, [states]),
      500,
    );
    assert.equal(await count('objects'), 500);
    assert.equal(await count('external_ids WHERE source_code = $1', [code]), 500);
    assert.equal(await count(`journal WHERE type LIKE 'Object%'`), 4000);
    // A finished run is not resumed: this is a new run that imports all states again.
    const again = await docket('import', place, '--definition', code, '--json');
    assert.equal((JSON.parse(again.out) as { resumed: boolean }).resumed, false);
  });

  it('waits while the database is unavailable, and no row is imported twice', async (t) => {
    const code = 'cut';
    await x.define({ code, sourceCode: code });
    const states = 6;
    const rows = Array.from({ length: 500 * states }, (_, n) => `c${Math.floor(n / states)},C,${n % states}`);
    const place = await file('cut.csv', `ext,title,count\n${rows.join('\n')}\n`);
    const ran = 'import_rows WHERE run_id IN (SELECT id FROM import_runs WHERE file_name = $1)';
    const url = new URL(x.app.databaseUrl);
    const proxy = await FaultProxy.start({
      host: url.searchParams.get('host') ?? url.hostname,
      port: Number(url.port || '5432'),
    });
    t.after(() => proxy.close());
    url.searchParams.delete('host');
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    const { child, ended } = start(['import', place, '--definition', code, '--json'], url.href);
    for (const [part, away] of [
      [300, 0],
      [1500, 3500],
    ] as const) {
      while (child.exitCode === null && (await count(ran, ['cut.csv'])) < part) await sleep(3);
      assert.equal(child.exitCode, null, 'it ended before its connections could be cut');
      // Longer than one retry interval of the run, so that a retry fails too.
      if (away > 0) proxy.weather = 'closed';
      proxy.reset();
      await sleep(away);
      proxy.weather = 'fair';
    }
    const { code: exit, out, err } = await ended;
    assert.equal(exit, 0, err);
    const run = JSON.parse(out) as RunResult & { resumed: boolean; total: number };
    assert.deepEqual([run.resumed, run.total, run.succeeded, run.failed], [false, 3000, 3000, 0]);
    assert.equal(await count(`objects WHERE title = 'C' AND revision = $1`, [states]), 500);
    assert.equal(await count(`import_runs WHERE file_name = 'cut.csv'`), 1);
  });

  it('lets one process at a time import a file', async () => {
    const code = 'twice';
    await x.define({ code, sourceCode: code });
    const rows = Array.from({ length: 4000 }, (_, n) => `w${n},W,${n}`);
    const place = await file('twice.csv', `ext,title,count\n${rows.join('\n')}\n`);
    const ended = await Promise.all([1, 2].map(() => docket('import', place, '--definition', code, '--json')));
    const codes = ended.map((one) => one.code).sort();
    assert.ok(codes[0] === 0, ended.map((one) => one.err).join('\n'));
    const other = ended.find((one) => one.code !== 0);
    if (other !== undefined) assert.match(other.err, /Another process is importing this file/);
    assert.equal(await count(`objects WHERE title = 'W'`), 4000);
  });

  it('reports results as text for users and as JSON for scripts', async () => {
    const code = 'progress';
    await x.define({ code, sourceCode: code, format: 'JSON' });
    const place = await file('progress.json', JSON.stringify([{ ext: 1, title: 'One' }, { ext: 2 }]));
    const dry = await docket('import', place, '--definition', code, '--dry-run');
    assert.equal(dry.code, 0, dry.err);
    assert.match(
      dry.out,
      /^Dry run \S+ of 2 rows:\n {2}1 created or updated, 0 skipped, 1 failed\.\n {2}row 2: \/values\/title /,
    );
    assert.equal(await count(`objects WHERE title = 'One'`), 0);
    const strict = await docket('import', place, '--definition', code, '--dry-run', '--strict');
    assert.deepEqual([strict.code, strict.out.includes('1 failed')], [1, true]);
    assert.match(strict.err, /^docket: 1 of 2 rows failed\.$/m);
    const real = await docket('import', place, '--definition', code, '--json');
    const run = JSON.parse(real.out) as RunResult & { fileName: string };
    assert.deepEqual([run.fileName, run.dryRun, run.succeeded, run.failed], ['progress.json', false, 1, 1]);
    const [{ by, via } = { by: '', via: '' }] = await x.rows<{ by: string | null; via: string }>(
      `SELECT actor_id AS by, via FROM journal WHERE object_id = $1`,
      [run.rows[0]?.id],
    );
    assert.deepEqual([by, via], [null, 'import']);
  });

  it('runs rules if the definition says so', async () => {
    await x.app.apply(
      bundle(`
users: [{ login: robot, displayName: Robot }]
roles:
  - code: robot
    records: [{ type: ticket, actions: [read, update], fields: { read: '*', write: [note] } }]
    assignedTo: { users: [robot] }
rules:
  - { code: greet, on: [ObjectCreated], types: [ticket], runAs: robot, when: { field: title, operator: starts-with, value: Ruled }, do: [ { set: { note: greeted } } ] }`),
    );
    const noteOf = async (title: string) =>
      (
        await x.rows<{ note: string | null }>(`SELECT "values" ->> 'note' AS note FROM objects WHERE title = $1`, [
          title,
        ])
      )[0];
    for (const [code, rules, note] of [
      ['ruled', true, 'greeted'],
      ['unruled', false, null],
    ] as const) {
      await x.define({ code, sourceCode: code, rules });
      const title = `Ruled ${code}`;
      const ended = await docket('import', await file(`${code}.csv`, `ext,title\n1,${title}\n`), '--definition', code);
      assert.equal(ended.code, 0, ended.err);
      assert.deepEqual(await noteOf(title), { note });
    }
    const [run] = await x.rows('SELECT outcome FROM rule_runs');
    assert.deepEqual(run, { outcome: 'DONE' });
  });

  it('rejects unreadable files and imports nothing of them', async () => {
    const code = 'refused';
    await x.define({ code, sourceCode: code });
    const before = await count('import_runs');
    const cases: [string[], number, RegExp][] = [
      [['import', path.join(folder, 'absent.csv'), '--definition', code], 1, /cannot be read; give the name/],
      [['import', await file('a.csv', 'ext,title\n1,"One\n'), '--definition', code], 1, /line 2, column 2/],
      [
        ['import', await file('b.csv', Buffer.from('ext,title\n1,\xff\n', 'latin1')), '--definition', code],
        1,
        /not UTF-8/,
      ],
      [
        ['import', await file('d.csv', 'ext,title\n1,One\n'), '--definition', 'nothing'],
        1,
        /no import definition nothing/,
      ],
      [['import', await file('e.csv', 'ext,title\n')], 2, /--definition/],
    ];
    for (const [args, code_, says] of cases) {
      const { code: exit, err } = await docket(...args);
      assert.equal(exit, code_, `${args.join(' ')}: ${err}`);
      assert.match(err, says);
    }
    assert.equal(await count('import_runs'), before);
  });
});
