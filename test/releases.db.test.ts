/** Every release is upgraded to this version, and this version runs on what a next one may do to the schema. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { checkArchive } from '../src/platform/backup/load.ts';
import { migrationsFolder, readMigrations } from '../src/platform/database/migrate.ts';
import { complaints } from '../tools/migrations.ts';
import { dumpSchema, SCHEMA_FILE } from '../tools/schema-dump.ts';
import { startTestApp, TEST_KEY, type TestApp } from './support/app.ts';
import { runCommand } from './support/commands.ts';
import { createEmptyDatabase, type TestDatabase } from './support/database.ts';
import { EXPANSION } from './support/expansion.ts';

const RELEASES = path.join(migrationsFolder(), '..', 'releases');
const CHANGELOG = path.join(RELEASES, '..', '..', 'CHANGELOG.md');
const versions = (await readdir(RELEASES)).map((file) => file.replace(/\.docket$/, ''));

describe('an upgrade', () => {
  let folder: string;
  const databases: TestDatabase[] = [];
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-releases-'));
  });
  after(async () => {
    for (const database of databases) await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** A service restored from the backup of a release, upgraded to this version. */
  const upgraded = async (version: string) => {
    const file = path.join(RELEASES, `${version}.docket`);
    const database = await createEmptyDatabase();
    databases.push(database);
    const env = {
      DATABASE_URL: database.url,
      DOCKET_DATA_DIR: await mkdtemp(path.join(folder, 'data-')),
      DOCKET_SECRET_KEY: TEST_KEY,
    };
    const { head, end } = await checkArchive(file);
    const { code, out, err } = await runCommand(['restore', file, '--json'], env);
    assert.equal(code, 0, err);
    const { applied } = JSON.parse(out) as { applied: string[] };
    const later = (await readMigrations()).slice(head.migrations.length).map(({ name }) => name);
    assert.deepEqual(applied, later);
    const blobFolder = path.join(env.DOCKET_DATA_DIR, 'blobs');
    return { env, rows: end.rows, on: { databaseUrl: database.url, blobFolder } as TestApp };
  };

  /** Reads, searches and changes the records of the backup. */
  const work = async (app: TestApp): Promise<void> => {
    const { key } = await app.createKey({ login: 'admin' });
    const ask = async (method: string, where: string, body?: object) => {
      const answer = await app.request(method, `/api/v1${where}`, { key, ...(body === undefined ? {} : { body }) });
      assert.ok(answer.status < 300, `${method} ${where}: ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    };
    const listed = (await ask('GET', '/objects?pageSize=100')).rows;
    assert.ok(listed.length >= 20);
    const found = await ask('GET', '/search?q=printer');
    assert.match(JSON.stringify(found), /<mark>Printer/);
    for (const { id, revision } of listed.slice(0, 3)) {
      const changes = { description: `changed after the upgrade: ${randomUUID()}` };
      const changed = await ask('PATCH', `/objects/${id}`, { expectedRevision: revision, changes });
      assert.equal(changed.revision, revision + 1);
      assert.ok((await ask('GET', `/objects/${id}/history`)).length > 1);
    }
  };

  it('is tested from each version that the changelog names, and no other', async () => {
    const named = [...(await readFile(CHANGELOG, 'utf8')).matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(
      ([, version]) => version,
    );
    assert.ok(named.length > 0);
    assert.deepEqual(versions.toSorted(), named.toSorted());
  });

  for (const version of versions)
    it(`from ${version} keeps every row and makes the schema of this version`, async () => {
      const { env, rows, on } = await upgraded(version);
      const client = new pg.Client({ connectionString: on.databaseUrl });
      await client.connect();
      const counted: Record<string, number> = {};
      for (const table of Object.keys(rows))
        counted[table] = (await client.query(`SELECT count(*)::int AS n FROM "${table}"`)).rows[0].n;
      assert.deepEqual(counted, rows);
      const app = await startTestApp({ on });
      try {
        const made = (await dumpSchema(client)).split('\n');
        const expected = (await readFile(SCHEMA_FILE, 'utf8')).split('\n');
        assert.deepEqual(
          expected.filter((line) => !made.includes(line)),
          [],
        );
        // The configuration has sequences and indexes of its own.
        const more = made.filter(
          (line) => !/^(?:CREATE (?:SEQUENCE|INDEX) .*|)$/.test(line) && !expected.includes(line),
        );
        assert.deepEqual(more, []);
        await work(app);
        // The next version migrates the schema beside this running service.
        await client.query(EXPANSION);
        await work(app);
      } finally {
        await client.end();
        await app.close();
      }
      const { out } = await runCommand(['doctor', '--deep'], env);
      const failed = out.split('\n').filter((line) => line.startsWith('FAIL'));
      // The clusters of tests write without fsync.
      assert.deepEqual(
        failed.filter((line) => !line.startsWith('FAIL  durability: fsync')),
        [],
      );
      assert.match(out, /^ok {4}migrations: none pending/m);
    });

  it('of the next version may do what the example does', async () => {
    const file = path.join(folder, '0002-example.sql');
    await writeFile(file, EXPANSION);
    assert.deepEqual(complaints([file]), []);
  });
});
