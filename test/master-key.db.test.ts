/** A lost master key is never replaced silently: the service, its commands and a restore fail and state what to do. */
import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { requireMasterKey } from '../src/cli/master-key.ts';
import { readSettings } from '../src/settings.ts';
import { Database } from '../src/platform/database/pool.ts';
import { startTestApp } from './support/app.ts';
import { runCommand, type CommandResult } from './support/commands.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from './support/database.ts';
import { startService } from './proofs/fault-service.ts';

const OTHER = 'another master key, long enough for one';
const ITSM = path.resolve(import.meta.dirname, '../config/itsm');

let folder: string;
let database: TestDatabase;
/** With the data folder of that name. */
const env = (name: string, more: Record<string, string> = {}): Record<string, string> => ({
  DATABASE_URL: database.url,
  DOCKET_DATA_DIR: path.join(folder, name),
  DOCKET_PORT: '0',
  DOCKET_STARTER: 'none',
  ...more,
});
const docket = runCommand;
const keys = async (name: string): Promise<string[]> =>
  await readdir(path.join(folder, name)).then(
    (names) => names.filter((file) => file.startsWith('master.key')),
    () => [],
  );

function refused(said: CommandResult, why: RegExp): void {
  assert.match(said.err, why);
  assert.deepEqual([said.out, said.code], ['', 1]);
}

async function onDatabase<T>(url: string, fn: (db: Database) => Promise<T>): Promise<T> {
  const db = new Database({ url, max: 3 });
  try {
    return await fn(db);
  } finally {
    await db.close();
  }
}

describe('the master key', () => {
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-master-'));
    database = await createTestDatabase();
    assert.equal((await docket(['apply', ITSM], env('own'))).code, 0);
    assert.deepEqual(await keys('own'), [], 'what seals nothing makes none');
    for (const code of ['main', 'spare']) {
      const made = await docket(['secrets', 'create', code], env('own'));
      assert.equal(made.code, 0, made.err);
    }
    assert.deepEqual(await keys('own'), ['master.key']);
  });
  after(async () => {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('is not replaced by any command if it is missing', async () => {
    const missing =
      /The master key is missing, .*: main, spare\. Set DOCKET_SECRET_KEY .*docket secrets rotate main --other-key/;
    for (const args of [
      ['serve'],
      ['serve', '--role', 'worker'],
      ['serve', '--role', 'api'],
      ['serve', '--processes', '2'],
      ['serve', '--child'],
      ['secrets', 'create', 'third'],
      ['secrets', 'rotate', 'main'],
    ]) {
      refused(await docket(args, env('lost')), missing);
    }
    const doctor = await docket(['doctor'], env('lost'));
    assert.match(doctor.out, /^FAIL {2}master key: The master key is missing/m);
    assert.match(doctor.out, /^FAIL {2}signing secrets: cannot be opened: main, spare$/m);
    assert.equal(doctor.code, 1);
    assert.deepEqual(await keys('lost'), []);
  });

  it('is rejected by every command if it is not the one that sealed the secrets', async () => {
    const wrong = /The master key is not the one that signing secrets in the database were sealed with: main, spare\./;
    const other = env('own', { DOCKET_SECRET_KEY: OTHER });
    for (const args of [
      ['serve'],
      ['serve', '--processes', '2'],
      ['secrets', 'create', 'third'],
      ['secrets', 'rotate', 'main'],
    ]) {
      refused(await docket(args, other), wrong);
    }
    assert.match((await docket(['doctor'], other)).out, /^FAIL {2}master key: The master key is not the one/m);
    const sound = await docket(['doctor'], env('own'));
    assert.match(sound.out, /^ok {4}master key: matches the one last used with this database$/m);
    assert.match(sound.out, /^ok {4}signing secrets: 2 open with the master key$/m);
  });

  it('is not in a backup: a restore without it is rejected or lists what must be rotated', async () => {
    const file = path.join(folder, 'service.docket');
    assert.equal((await docket(['backup', file], env('own'))).code, 0);
    const empty = await createEmptyDatabase();
    const there = (name: string, more = {}): Record<string, string> => env(name, { DATABASE_URL: empty.url, ...more });
    try {
      const needed = /Nothing was restored: the master key of the backed-up service is needed, and .*: main, spare\./;
      refused(await docket(['restore', file], there('new')), needed);
      refused(await docket(['restore', file], there('new', { DOCKET_SECRET_KEY: OTHER })), needed);
      assert.deepEqual(await keys('new'), []);
      const forced = await docket(['restore', file, '--other-key'], there('new'));
      assert.equal(forced.code, 0, forced.err);
      assert.match(forced.out, /cannot be opened: main, spare\..* docket secrets rotate spare --other-key/);
      refused(await docket(['serve'], there('new')), /The master key is missing, .*: main, spare\./);
      assert.equal(
        (await docket(['secrets', 'rotate', 'main', '--other-key', '--overlap', 'P1D'], there('new'))).code,
        2,
      );
      assert.equal((await docket(['secrets', 'rotate', 'main', '--other-key'], there('new'))).code, 0);
      assert.deepEqual(await keys('new'), ['master.key']);
      refused(await docket(['serve'], there('new')), /The master key is not the one .*: spare\./);
      assert.equal((await docket(['secrets', 'rotate', 'spare', '--other-key'], there('new'))).code, 0);
      assert.match((await docket(['doctor'], there('new'))).out, /^ok {4}signing secrets: 2 open/m);
      const service = await startService(there('new'));
      assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
      assert.equal(await service.stop(), 0);
    } finally {
      await empty.drop();
    }
    const again = await createEmptyDatabase();
    try {
      await mkdir(path.join(folder, 'copied'));
      await copyFile(path.join(folder, 'own', 'master.key'), path.join(folder, 'copied', 'master.key'));
      const restored = await docket(['restore', file], env('copied', { DATABASE_URL: again.url }));
      assert.equal(restored.code, 0, restored.err);
      assert.doesNotMatch(restored.out, /rotate/);
      const verified = await docket(['backup', 'verify', file], env('nothing'));
      assert.match(
        verified.out,
        /^FAIL {2}signing secrets: the key of the backed-up service is needed for: main, spare; no key is configured/m,
      );
      assert.equal(verified.code, 1);
    } finally {
      await again.drop();
    }
  });

  it('of the backed-up service is required even if nothing was sealed with it', async () => {
    const plain = await createTestDatabase();
    const empty = await createEmptyDatabase();
    try {
      const file = path.join(folder, 'bare.docket');
      const own = env('bare', { DATABASE_URL: plain.url });
      await onDatabase(plain.url, (db) => requireMasterKey(readSettings(own), db));
      assert.equal((await docket(['backup', file], own)).code, 0);
      const there = env('bare-new', { DATABASE_URL: empty.url });
      refused(
        await docket(['restore', file], there),
        /the master key of the backed-up service is needed, and no key is configured/,
      );
      assert.equal((await docket(['restore', file, '--other-key'], there)).code, 0);
      assert.equal(
        await onDatabase(empty.url, async (db) => typeof (await requireMasterKey(readSettings(there), db))),
        'object',
      );
    } finally {
      await plain.drop();
      await empty.drop();
    }
  });

  it('must be the same in all processes: a process with another one seals nothing', async () => {
    const app = await startTestApp();
    try {
      const { key } = await app.createKey({ login: 'admin', scopes: ['all', 'admin:manage'] });
      const settings = readSettings({ DOCKET_SECRET_KEY: OTHER });
      const said: string[] = [];
      const say = (line: string): void => {
        said.push(line);
      };
      await requireMasterKey(settings, app.db, { say });
      assert.deepEqual(said, [], 'no key was named before');
      const make = (): Promise<{ status: number }> =>
        app.request('POST', '/api/admin/v1/signing-secrets', { key, body: { code: 'late' } });
      assert.equal((await make()).status, 500, 'a defect of the installation, not of the call');
      assert.deepEqual(await app.db.query(sql`SELECT 1 FROM signing_secret_values`), []);
      // Nothing was sealed, so the other process may use its key; it logs a warning.
      await requireMasterKey(readSettings({ DOCKET_SECRET_KEY: `${OTHER}, and a third` }), app.db, { say });
      assert.match(said.join('\n'), /^The master key differs from the one last used with this database/);
      await app.db.query(sql`DELETE FROM master_key`);
      assert.equal((await make()).status, 201);
      await assert.rejects(requireMasterKey(settings, app.db), /were sealed with: late/);
      await app.db.query(sql`UPDATE signing_secret_values SET expires_at = now() - interval '1 second'`);
      await requireMasterKey(settings, app.db);
    } finally {
      await app.close();
    }
  });
});
