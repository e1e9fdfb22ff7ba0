/** `db/schema.sql` and the tables as types are what the migrations make. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { dumpSchema, GENERATED } from '../tools/schema-dump.ts';
import { createTestDatabase, type TestDatabase } from './support/database.ts';

describe('the schema dump', () => {
  let database: TestDatabase;
  let client: pg.Client;
  before(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  it('matches the migrations', async () => {
    for (const [file, generate] of GENERATED) {
      const text = await generate(client);
      assert.ok(text.includes('objects') && text.includes('journal'));
      assert.equal(text, await readFile(file, 'utf8'), 'run npm run schema');
    }
  });

  it('shows every kind of change', async () => {
    const before = await dumpSchema(client);
    for (const change of [
      'ALTER TABLE objects ADD COLUMN extra text',
      'ALTER TABLE objects ALTER COLUMN title SET NOT NULL',
      'CREATE INDEX extra ON journal (type)',
      'DROP INDEX objects_newest',
      'ALTER TABLE users DROP CONSTRAINT users_login',
      "CREATE FUNCTION extra() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ]) {
      await client.query('BEGIN');
      await client.query(change);
      assert.notEqual(await dumpSchema(client), before, change);
      await client.query('ROLLBACK');
    }
    assert.equal(await dumpSchema(client), before);
  });
});
