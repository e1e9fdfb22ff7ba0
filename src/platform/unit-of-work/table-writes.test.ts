import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { allBut, columns, omit, pick, type RowOf, table } from '../database/table.ts';
import type { TableWrite } from './context.ts';
import { deleteFrom, insertInto, update } from './table-writes.ts';

interface ThingsRow {
  id: string;
  ownerId: string;
  note: string | null;
  hash: Buffer;
  madeOn: string;
  state: 'ACTIVE' | 'ARCHIVED';
  revision: number;
}

const things = table<ThingsRow, 'state', 'id'>('things', ['id'], {
  id: 'uuid',
  ownerId: 'uuid',
  note: 'text',
  hash: 'bytea',
  madeOn: 'date',
  state: 'text',
  revision: 'integer',
});

function textOf<Row>(write: TableWrite<Row>, alone = true): string {
  return write.sql(sql`rows AS r`, alone, sql`true`).text.replace(/\s+/g, ' ').trim();
}

describe('the columns of a table', () => {
  it('are a list of SELECT with the names of rows', () => {
    assert.equal(
      columns(pick(things, ['id', 'ownerId', 'madeOn']), 't').text,
      't."id" AS "id",t."owner_id" AS "ownerId",t."made_on"::text AS "madeOn"',
    );
    const view = omit(things, ['hash', 'madeOn', 'note', 'state', 'revision']);
    const row: RowOf<typeof view> = { id: 'a', ownerId: 'b' };
    assert.deepEqual(Object.keys(row), Object.keys(view.types));
  });
});

describe('a write of a table', () => {
  it('inserts all columns but those that are left to the schema', () => {
    const write = insertInto(things, { name: 'insert_things', defaults: ['state', 'note'], set: { revision: sql`1` } });
    assert.deepEqual(write.columns, { id: 'uuid', ownerId: 'uuid', hash: 'text', madeOn: 'date' });
    assert.equal(
      textOf(write),
      `INSERT INTO things AS t ("id", "owner_id", "hash", "made_on", "revision")
        SELECT r."id",r."ownerId",decode(r."hash", 'hex'),r."madeOn",1 FROM rows AS r RETURNING t."id"`.replace(
        /\s+/g,
        ' ',
      ),
    );
    // The type of the row has exactly the columns that are sent.
    const row: Required<Parameters<NonNullable<typeof write.records>>>[0] = {
      id: '',
      ownerId: '',
      hash: '',
      madeOn: '',
    };
    assert.deepEqual(Object.keys(row), Object.keys(write.columns ?? {}));
  });

  it('replaces the row with the same key, in an order', () => {
    const named = pick(things, ['id', 'note']);
    const write = insertInto({ ...named, key: ['id'] }, { name: 'x', conflict: 'replace', order: sql`r."id"` });
    assert.match(
      textOf(write),
      /FROM rows AS r ORDER BY r\."id" ON CONFLICT \("id"\) DO UPDATE SET "note" = EXCLUDED\."note" RETURNING t\."id"$/,
    );
  });

  it('changes a row at the revision before the planned one', () => {
    const write = update(things, {
      name: 'change_things',
      set: allBut(things, ['ownerId', 'hash', 'madeOn', 'state']),
      next: 'revision',
      also: { state: sql`'ACTIVE'` },
      where: sql`t.state = 'ACTIVE'`,
      ordered: true,
    });
    assert.deepEqual(write.columns, { id: 'uuid', revision: 'integer', note: 'text' });
    const change = `UPDATE things t SET "note" = r."note","revision" = r."revision","state" = 'ACTIVE' FROM`;
    const where = `WHERE t."id" = r."id" AND t."revision" = r."revision" - 1 AND (t.state = 'ACTIVE') RETURNING 1`;
    assert.equal(textOf(write), `${change} rows AS r ${where}`);
    assert.equal(
      textOf(write, false),
      `${change} (SELECT r.* FROM rows AS r JOIN things l ON l."id" = r."id" ORDER BY l."id" FOR NO KEY UPDATE OF l) AS r ${where}`,
    );
  });

  it('deletes by the key, or by other columns', () => {
    assert.equal(
      textOf(deleteFrom(things, { name: 'x' })),
      'DELETE FROM things t USING rows AS r WHERE t."id" = r."id" RETURNING 1',
    );
    const write = deleteFrom(things, { name: 'x', guard: false, key: ['ownerId', 'hash'] });
    assert.equal(
      textOf(write),
      `DELETE FROM things t USING rows AS r WHERE t."owner_id" = r."ownerId" AND t."hash" = decode(r."hash", 'hex')`,
    );
  });
});
