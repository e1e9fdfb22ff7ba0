/**
 * Values changed directly in the database: SQL changes each column of the important tables. `docket doctor --deep` must report
 * the row, or the module of the table says why it cannot (`tables` of its `module.ts`).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { raw } from 'sql-template-tag';
import { examineSearch } from '../src/cli/search-check.ts';
import { runCheck } from '../src/platform/audit/checks.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import { MODULES } from '../src/modules.ts';
import { collect } from '../src/platform/module.ts';
import { RETIRED } from './support/table-owners.ts';
import { type RecordFixture, startRecordFixture } from './support/record-fixture.ts';

/** Tables of modules, and what the history has of their rows. */
const DECLARED = MODULES.flatMap(({ tables = {} }) => Object.entries(tables));
const REPLAYED = DECLARED.flatMap(([table, facts]) => (typeof facts === 'string' ? [] : [{ table, ...facts }]));
/** Columns of which a change alone is not detected. */
const EXCEPTIONS = REPLAYED.flatMap(({ table, except = {} }) =>
  Object.keys(except).map((column) => `${table}.${column}`),
);

interface Column {
  table: string;
  column: string;
  type: string;
}

/** Columns with few possible values. */
const OTHER_VALUE: Readonly<Record<string, string>> = {
  state: `CASE state WHEN 'ACTIVE' THEN 'ARCHIVED' ELSE 'ACTIVE' END`,
  visibility: `CASE visibility WHEN 'public' THEN 'internal' ELSE 'public' END`,
  values: `"values" || '{"note": "written by hand"}'`,
  folded: `folded || '{"note": "written by hand"}'`,
};

function otherValue({ column, type }: Column): string {
  const name = `"${column}"`;
  const byType: Readonly<Record<string, string>> = {
    uuid: 'gen_random_uuid()',
    text: `coalesce(${name}, '') || 'x'`,
    integer: `${name} + 1`,
    'timestamp with time zone': `coalesce(${name}, now()) + interval '1 hour'`,
  };
  const value = OTHER_VALUE[column] ?? byType[type];
  assert.ok(value !== undefined, `no other value for ${column} of type ${type}`);
  return value;
}

let fixture: RecordFixture;

/** Findings of all checks while the statement is in effect; it is rolled back. */
async function foundAfter(statement: string): Promise<string[]> {
  const parts = { blobs: new FileBlobs(fixture.app.blobFolder), config: fixture.app.app.versions.current() };
  const named: string[] = [];
  await fixture.app.db.transaction(
    'BEGIN',
    async (tx) => {
      // Foreign keys would reject some changes; a user with database access can disable them.
      await tx.query(raw(`SET LOCAL session_replication_role = 'replica'`));
      await tx.query(raw(statement));
      for (const check of collect(MODULES, 'checks')) named.push(...(await check.find({ db: tx, ...parts })).named);
    },
    () => false,
  );
  return named;
}

/** Records with everything that history must follow. */
async function live(): Promise<void> {
  const { id } = await fixture.make({ title: 'with a past', kind: 'a', count: 7, note: 'first' });
  const transition = async (code: string, revision: number, values = {}): Promise<void> => {
    const workflow = await fixture.ok('chief', 'GET', `/objects/${id}/workflow`);
    await fixture.ok('chief', 'POST', `/objects/${id}/transitions`, {
      transitionId: workflow.transitions.find((one: { code: string }) => one.code === code).id,
      expectedRevision: revision,
      expectedStateId: workflow.state.id,
      values,
    });
  };
  await fixture.ok('agent', 'PATCH', `/objects/${id}`, {
    expectedRevision: 1,
    changes: { count: null, note: 'second' },
  });
  await transition('take', 2, { note: 'third' });
  await transition('hold', 3, { $reason: 'waits' });
  const other = await fixture.make({ title: 'other', kind: 'b', day: '2026-01-31' }, 'case');
  for (const visibility of ['public', 'internal']) {
    const comment = await fixture.ok('chief', 'POST', `/objects/${id}/comments`, {
      body: `said ${visibility}`,
      visibility,
    });
    if (visibility === 'public') continue;
    const patched = { expectedRevision: 1, body: 'said otherwise', visibility: 'public' };
    await fixture.ok('chief', 'PATCH', `/comments/${comment.id}`, patched);
  }
  const gone = await fixture.ok('chief', 'POST', `/objects/${id}/comments`, { body: 'gone', visibility: 'public' });
  await fixture.ok('chief', 'DELETE', `/comments/${gone.id}`, { expectedRevision: 1 });
  const files: { id: string }[] = [];
  for (const filename of ['a.txt', 'b.txt']) {
    const body = { filename, mediaType: 'text/plain', contentBase64: Buffer.from(filename).toString('base64') };
    files.push(await fixture.ok('chief', 'POST', `/objects/${id}/attachments`, body));
  }
  await fixture.ok('chief', 'DELETE', `/attachments/${files[0]?.id}`, { expectedRevision: 1 });
  const definitions = await fixture.rows<{ id: string }>(
    `SELECT id FROM config_items WHERE section = 'relationDefinitions' AND code IN ('about', 'twin') ORDER BY code`,
  );
  const relations: { relation: { id: string } }[] = [];
  for (const definition of definitions) {
    const body = { definitionId: definition.id, targetObjectId: other.id };
    relations.push(await fixture.ok('chief', 'POST', `/objects/${id}/relations`, body));
  }
  await fixture.ok('chief', 'DELETE', `/relations/${relations[0]?.relation.id}`, { expectedRevision: 1 });
  const archived = await fixture.make({ title: 'archived', kind: 'a' });
  await fixture.ok('chief', 'DELETE', `/objects/${archived.id}`, { expectedRevision: 1 });
}

describe('current values compared with history', () => {
  before(async () => {
    fixture = await startRecordFixture();
    await live();
  });
  after(() => fixture.close());

  it('match unless the database was changed directly', async () => {
    const parts = { blobs: new FileBlobs(fixture.app.blobFolder), config: fixture.app.app.versions.current() };
    for (const check of collect(MODULES, 'checks')) {
      const { named } = await runCheck(fixture.app.db, check, parts);
      assert.deepEqual(named, [], check.name);
    }
  });

  it('do not expose the parts of history that exist for the comparison', async () => {
    const [row] = await fixture.rows<{ id: string }>(`SELECT id FROM objects WHERE title = 'with a past'`);
    const history = await fixture.ok('chief', 'GET', `/objects/${row?.id}/history`);
    assert.ok(history.length > 8);
    assert.doesNotMatch(JSON.stringify(history), /\$stored/);
    const kept = await fixture.rows<{ n: number }>(`SELECT count(*)::int AS n FROM journal WHERE data ? '$stored'`);
    assert.ok((kept[0]?.n ?? 0) > 5);
  });

  it('report mismatches column by column in every row, or why a row cannot be compared', async () => {
    const columns = await fixture.rows<Column>(`
      SELECT table_name AS table, column_name AS column, data_type AS type FROM information_schema.columns
      WHERE table_schema = 'public' ORDER BY 1, ordinal_position`);
    const tables = new Set(columns.map(({ table }) => table));
    assert.deepEqual(
      [...DECLARED.map(([table]) => table), ...RETIRED].sort(),
      [...tables].sort(),
      'every table is declared once, in `tables` of the module.ts that owns it',
    );
    assert.ok(REPLAYED.length >= 4);
    const silent: string[] = [];
    for (const one of columns.filter((column) => REPLAYED.some(({ table }) => table === column.table))) {
      const name = `${one.table}.${one.column}`;
      const rows = await fixture.rows<{ id: string }>(`SELECT id FROM ${one.table}`);
      for (const { id } of rows) {
        const named = await foundAfter(
          `UPDATE ${one.table} SET "${one.column}" = ${otherValue(one)} WHERE id = '${id}'`,
        );
        // A changed id makes a row without history, and history without its row.
        const found = one.column === 'id' ? named.length >= 2 : named.some((what) => what.includes(id));
        if (!found && !silent.includes(name)) silent.push(name);
      }
    }
    assert.deepEqual(silent.sort(), [...EXCEPTIONS].sort());
  });

  it('reveal a changed number through the search index', async () => {
    const tool = { work: fixture.app.app.work, caller: fixture.app.app.system() };
    assert.equal((await examineSearch(tool, true)).ok, true);
    const renumber = (from: string, to: string): Promise<unknown> =>
      fixture.rows('UPDATE objects SET number = $2 WHERE number = $1', [from, to]);
    await renumber('CASE0001', 'CASE9001');
    const { ok, says } = await examineSearch(tool, true);
    assert.ok(!ok, says);
    await renumber('CASE9001', 'CASE0001');
    assert.equal((await examineSearch(tool, true)).ok, true);
  });
});
