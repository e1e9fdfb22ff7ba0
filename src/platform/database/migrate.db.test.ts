import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createEmptyDatabase, type TestDatabase } from '../../../test/support/database.ts';
import { migrate, pendingMigrations, readMigrations } from './migrate.ts';

describe('migrations', () => {
  let folder = '';
  let database: TestDatabase;
  let client: pg.Client;

  before(async () => {
    database = await createEmptyDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });

  after(async () => {
    await client.end();
    await database.drop();
  });

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-migrations-'));
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await file('0001-first.sql', 'CREATE TABLE a (n integer);\nINSERT INTO a VALUES (1);\n');
    await file('0002-second.sql', 'ALTER TABLE a ADD m integer;');
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  test('releases a lock request that cannot be granted at once, and acquires the lock later', async () => {
    await migrate(client, folder);
    await file('0003-third.sql', 'ALTER TABLE a ADD o integer;');
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    const waiting = async (): Promise<boolean> => {
      const { rows } = await other.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'a'::regclass");
      return rows.length > 0;
    };
    try {
      await other.query('BEGIN; SELECT * FROM a');
      const done = migrate(client, folder);
      while (!(await waiting())) await sleep(10);
      // The migration does not wait until the lock is released, since later users of the table would wait behind it.
      while (await waiting()) await sleep(10);
      await other.query('SELECT * FROM a');
      await other.query('COMMIT');
      assert.deepEqual(await done, { applied: ['0003-third'] });
    } finally {
      await other.end();
    }
  });

  test('stops after the requested number of files', async () => {
    assert.deepEqual(await migrate(client, folder, 1), { applied: ['0001-first'] });
    assert.deepEqual(await migrate(client, folder), { applied: ['0002-second'] });
  });

  async function file(name: string, text: string): Promise<void> {
    await writeFile(path.join(folder, name), text);
  }

  async function rows(text: string): Promise<unknown[]> {
    return (await client.query(text)).rows;
  }

  test('applies each file once, in order', async () => {
    assert.deepEqual(await pendingMigrations(client, folder), ['0001-first', '0002-second']);
    assert.deepEqual(await migrate(client, folder), { applied: ['0001-first', '0002-second'] });
    assert.deepEqual(await pendingMigrations(client, folder), []);
    assert.deepEqual(await migrate(client, folder), { applied: [] });
    assert.deepEqual(await rows('SELECT n, m FROM a'), [{ n: 1, m: null }]);
    await file('0003-third.sql', 'DROP TABLE a;');
    assert.deepEqual(await migrate(client, folder), { applied: ['0003-third'] });
  });

  test('rolls back a failing file and keeps those before it', async () => {
    await file('0003-broken.sql', 'CREATE TABLE b (n integer); SELECT 1 / 0;');
    await assert.rejects(migrate(client, folder), { code: '22012' });
    assert.deepEqual(await rows(`SELECT to_regclass('b') AS b`), [{ b: null }]);
    assert.deepEqual(await pendingMigrations(client, folder), ['0003-broken']);
    await file('0003-broken.sql', 'CREATE TABLE b (n integer);');
    assert.deepEqual(await migrate(client, folder), { applied: ['0003-broken'] });
  });

  test('applies each file once when several run at the same time', async () => {
    const results = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const other = new pg.Client({ connectionString: database.url });
        await other.connect();
        try {
          return (await migrate(other, folder)).applied;
        } finally {
          await other.end();
        }
      }),
    );
    assert.deepEqual(results.flat().sort(), ['0001-first', '0002-second']);
    assert.deepEqual(await rows('SELECT count(*)::int AS count FROM a'), [{ count: 1 }]);
  });

  test('rejects a changed file and ignores different line ends', async () => {
    await migrate(client, folder);
    await file('0001-first.sql', 'CREATE TABLE a (n integer);\r\nINSERT INTO a VALUES (1);\r\n');
    assert.deepEqual(await migrate(client, folder), { applied: [] });
    await file('0002-second.sql', 'ALTER TABLE a ADD m bigint;');
    const refusal = { name: 'MigrationError', message: /^Migration 0002-second was changed after it was applied/ };
    await assert.rejects(migrate(client, folder), refusal);
    await assert.rejects(pendingMigrations(client, folder), refusal);
  });

  test('rejects a database of a build before the first release, and changes nothing', async () => {
    await migrate(client, folder);
    const refusal = {
      name: 'MigrationError',
      message:
        /^This database was made by a build of Docket before 0\.1\.0, which cannot be upgraded: export .*empty database/,
    };
    await assert.rejects(migrate(client), refusal);
    await assert.rejects(pendingMigrations(client), refusal);
    // Those builds named their first migration as this version does.
    await client.query(`UPDATE schema_migrations SET name = '0001-baseline' WHERE name = '0001-first'`);
    await assert.rejects(migrate(client), refusal);
    assert.deepEqual(await rows('SELECT n, m FROM a'), [{ n: 1, m: null }]);
  });

  test('rejects a database of a newer or a different version', async () => {
    await migrate(client, folder);
    await rm(path.join(folder, '0002-second.sql'));
    await assert.rejects(migrate(client, folder), { message: /brought to 0002-second by a newer version of Docket/ });
    await file('0002-other.sql', 'SELECT 1;');
    await assert.rejects(migrate(client, folder), {
      message: /has migration 0002-second where this version has 0002-other/,
    });
    assert.deepEqual(await rows('SELECT name FROM schema_migrations ORDER BY name'), [
      { name: '0001-first' },
      { name: '0002-second' },
    ]);
  });

  test('validates names and numbers of files', async () => {
    await file('0004-gap.sql', 'SELECT 1;');
    await assert.rejects(migrate(client, folder), { message: 'Migration file 0004-gap.sql must have the number 3.' });
    await rm(path.join(folder, '0004-gap.sql'));
    await file('3_third.sql', 'SELECT 1;');
    await assert.rejects(migrate(client, folder), {
      message: /3_third\.sql must be named like 0001-what-it-does\.sql/,
    });
  });

  test('applies all migrations to an empty database', async () => {
    const names = (await readMigrations()).map((migration) => migration.name);
    assert.ok(names.length > 0);
    assert.deepEqual(await migrate(client), { applied: names });
    assert.deepEqual(await pendingMigrations(client), []);
  });
});
