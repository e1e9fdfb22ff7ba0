/** `docket users set-password` at a terminal: input is not shown and is asked for twice. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from './support/app.ts';
import { docket, type Environment } from './proofs/fault-service.ts';

const DOCKET = path.resolve(import.meta.dirname, '../bin/docket.mjs');
const WAIT_MS = 60_000;

describe('a password on the command line', () => {
  let app: TestApp;
  let folder: string;
  let env: Environment;

  before(async () => {
    app = await startTestApp();
    folder = await mkdtemp(path.join(tmpdir(), 'docket-secret-'));
    env = { DOCKET_DATA_DIR: folder, DATABASE_URL: app.databaseUrl };
  });
  after(async () => {
    await app?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the command at a terminal (of `script`, which is part of every Linux) and types an entry at each prompt. */
  async function typed(entries: readonly string[]): Promise<{ code: number | null; shown: string }> {
    const command = `'${process.execPath}' '${DOCKET}' users set-password admin`;
    const variables = { PATH: process.env['PATH'] ?? '', HOME: folder, SHELL: '/bin/sh', ...env };
    const child = spawn('script', ['-qec', command, '/dev/null'], { env: variables });
    let shown = '';
    let prompts = 0;
    const timer = setTimeout(() => child.kill('SIGKILL'), WAIT_MS);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      const asked = shown.match(/Password(?: again)?: /g)?.length ?? 0;
      for (; prompts < asked; prompts++) child.stdin.write(entries[prompts] ?? '');
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    clearTimeout(timer);
    return { code, shown };
  }

  async function signsIn(password: string): Promise<number> {
    const body = { login: 'admin', password };
    return (await app.request('POST', '/api/admin/v1/session', { body })).status;
  }

  it('is set after two equal entries and never shown', async () => {
    const password = 'Zebra-пароль 42 lantern';
    const { code, shown } = await typed([`${password}\r`, `${password}\r`]);
    assert.equal(code, 0, shown);
    assert.match(shown, /Password: \r?\nPassword again: \r?\nPassword of admin set\./);
    for (const part of ['Zebra', 'пароль', 'lantern', '*']) assert.ok(!shown.includes(part), shown);
    assert.equal(await signsIn(password), 201);
  });

  it('can be corrected while typing and pasted with its line end', async () => {
    const { code, shown } = await typed([
      `wrong\u0015correcct\u007f\u007ft\u001b[D horse battery\r`,
      'correct horse battery\n',
    ]);
    assert.equal(code, 0, shown);
    assert.equal(await signsIn('correct horse battery'), 201);
    const pasted = await typed(['two pasted lines\rtwo pasted lines\r']);
    assert.equal(pasted.code, 0, pasted.shown);
    assert.equal(await signsIn('two pasted lines'), 201);
  });

  it('changes nothing if the second entry differs or is aborted', async () => {
    const differing = await typed(['one long password\r', 'another long password\r']);
    assert.equal(differing.code, 1, differing.shown);
    assert.match(differing.shown, /The two entries differ. Nothing was changed\./);
    const ended = await typed(['one long password\u0004']);
    assert.equal(ended.code, 1, ended.shown);
    assert.match(ended.shown, /Nothing was changed/);
    const interrupted = await typed(['one long password\u0003']);
    assert.notEqual(interrupted.code, 0, interrupted.shown);
    for (const { shown } of [differing, ended, interrupted]) assert.ok(!shown.includes('password\r'), shown);
    assert.equal(await signsIn('two pasted lines'), 201);
  });

  it('can be read from a pipe', async () => {
    const piped = await docket(['users', 'set-password', 'admin'], env, 'through a long pipe\n');
    assert.equal(piped.code, 0, piped.stderr);
    assert.doesNotMatch(piped.stderr, /Password:/);
    assert.equal(await signsIn('through a long pipe'), 201);
  });
});
