import assert from 'node:assert/strict';
import { test } from 'node:test';
import sql from 'sql-template-tag';
import { createTestDatabase } from '../../../test/support/database.ts';
import { Database } from './pool.ts';

test('lists of numbers are read as they are stored', async () => {
  const database = await createTestDatabase();
  const db = new Database({ url: database.url });
  try {
    const lists = [[], [0, 1, -2.5], [1e-7, 1e300, 5e-324, 0.1, 1 / 3], [1, null], [NaN, Infinity, -Infinity]];
    for (const list of lists) {
      const [row] = await db.query<{ list: unknown }>(sql`SELECT ${list}::float8[] AS list`);
      assert.deepEqual(row?.list, list);
    }
  } finally {
    await db.close();
    await database.drop();
  }
});

test('a name of the application in the URL is added to that of the service', async () => {
  const database = await createTestDatabase();
  const url = new URL(database.url);
  url.searchParams.set('application_name', 'desk');
  const db = new Database({ url: url.href, max: 1 });
  try {
    const [row] = await db.query<{ name: string }>(sql`SELECT current_setting('application_name') AS name`);
    assert.equal(row?.name, 'docket desk');
  } finally {
    await db.close();
    await database.drop();
  }
});
