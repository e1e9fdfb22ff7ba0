/** Imports cannot bypass rights: each row needs the rights of the key's owner on record and field. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { changeRights, idOf } from '../../../test/support/small-configuration.ts';
import {
  type ImportExportFixture,
  startImportExportFixture,
  verdicts,
} from '../../../test/support/import-export-fixture.ts';

let x: ImportExportFixture;
const CLERKS = ['title', 'kind', 'count', 'note', 'secret', 'grade'].map((field) => ({ source: field, target: field }));

describe('rights of imports', () => {
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  it('require import.execute, which grants nothing else', async () => {
    const definition = await x.define({ mapping: CLERKS });
    const run = await x.run('porter', definition, 'ext,title,kind\n1,One,a\n');
    assert.deepEqual(verdicts(run), ['FAILED UNKNOWN_TYPE']);
    const answer = await x.call('stranger', 'POST', '/imports/run', {
      definitionId: definition,
      content: '',
      dryRun: true,
    });
    assert.deepEqual([answer.status, answer.body.error.details], [403, { right: 'import.execute' }]);
  });

  it('apply to fields with the same errors as the call for one record', async () => {
    const definition = await x.define({ mapping: CLERKS });
    const content = (column: string): string => `ext,title,${column}\n1,One,x\n`;
    const cases: [string, string][] = [
      ['secret', 'INVALID_VALUES'],
      ['grade', 'FIELD_READ_ONLY'],
    ];
    for (const [field, code] of cases) {
      const values = { title: 'One', [field]: 'x' };
      const single = await x.call('clerk', 'POST', '/objects', { typeDefinitionId: 'ticket', values });
      assert.equal(single.body.error.code, code);
      const run = await x.run('clerk', definition, content(field));
      assert.deepEqual(run.rows[0]?.errors, single.body.error.details);
    }
    const made = await x.run('boss', definition, 'ext,title,secret,grade\n2,Two,hush,A\n');
    const id = made.rows[0]?.id;
    for (const [field] of cases) {
      const body = { expectedRevision: 1, changes: { [field]: 'x' } };
      const single = await x.call('clerk', 'PATCH', `/objects/${id}`, body);
      const run = await x.run('clerk', definition, `ext,${field}\n2,x\n`);
      const moved = JSON.parse(JSON.stringify(single.body.error.details).replaceAll('/changes', '/values'));
      assert.deepEqual(run.rows[0]?.errors, moved);
    }
    assert.deepEqual((await x.ok('boss', 'GET', `/objects/${id}`)).values, {
      title: 'Two',
      kind: 'a',
      secret: 'hush',
      grade: 'A',
    });
  });

  it('reject a read-only field only if the row would change it', async () => {
    const mapping = CLERKS.filter(({ target }) => target !== 'secret');
    const definition = await x.define({ mapping });
    const column = 'ext,title,kind,count,note,grade\n';
    await x.run('boss', definition, `${column}1,One,a,1,n,A\n2,Two,a,1,n,\n`);
    const cases: [content: string, verdicts: string[]][] = [
      ['1,One,a,1,n,A\n2,Two,a,1,n,\n', ['SKIPPED', 'SKIPPED']],
      ['1,Uno,a,1,n,A\n2,Due,a,1,n,\n', ['UPDATED', 'UPDATED']],
      ['1,Uno,a,1,n,B\n2,Due,a,1,n,B\n', ['FAILED FIELD_READ_ONLY', 'FAILED FIELD_READ_ONLY']],
      ['1,Uno,a,1,n,\n', ['FAILED FIELD_READ_ONLY']],
      ['3,New,a,1,n,\n4,New,a,1,n,B\n', ['CREATED', 'FAILED FIELD_READ_ONLY']],
    ];
    for (const [rows, expected] of cases) {
      for (const dryRun of [true, false]) {
        assert.deepEqual(verdicts(await x.run('clerk', definition, `${column}${rows}`, dryRun)), expected, rows);
      }
    }
    const all = await x.ok('boss', 'GET', '/objects');
    const grades = all.rows.map(({ values }: any) => [values.title, values.grade ?? null]);
    for (const kept of [
      ['Uno', 'A'],
      ['Due', null],
      ['New', null],
    ]) {
      assert.ok(
        grades.some((one: unknown[]) => one.join() === kept.join()),
        kept.join(),
      );
    }
    // A hidden field is refused regardless of its value. Otherwise the result would reveal the stored value.
    const hidden = await x.define({ mapping: CLERKS });
    const made = await x.run('boss', hidden, 'ext,title,secret\n1,One,hush\n2,Two,\n');
    assert.equal(made.failed, 0);
    for (const cell of ['hush', 'other', '']) {
      const run = await x.run('clerk', hidden, `ext,title,secret\n1,One,${cell}\n2,Two,${cell}\n9,New,${cell}\n`, true);
      assert.deepEqual(new Set(verdicts(run)), new Set(['FAILED UNKNOWN_FIELD']), cell);
    }
    // A call for a single record changes the fields that it names, so every field must be writable.
    const { id } = all.rows.find(({ values }: any) => values.title === 'Uno');
    const { revision } = await x.ok('clerk', 'GET', `/objects/${id}`);
    const call = await x.call('clerk', 'PATCH', `/objects/${id}`, {
      expectedRevision: revision,
      changes: { grade: 'A' },
    });
    assert.deepEqual([call.status, call.body.error.code], [403, 'FIELD_READ_ONLY']);
  });

  it('take an empty cell as null: clears any data type, rejected for a required field', async () => {
    const fields = [
      'count',
      'cost',
      'urgent',
      'day',
      'at',
      'lasts',
      'note',
      'tags',
      'numbers',
      'any',
      'link',
      'secret',
    ];
    const mapping = ['title', ...fields].map((field) => ({ source: field, target: field }));
    const definition = await x.define({ mapping });
    const values = '1,1.5,true,2026-11-21,2026-11-21T09:15:00Z,PT5M,n,a;b,1;2,{},https://example.org/,s';
    const header = `ext,title,${fields.join()}\n`;
    const [made] = (await x.run('boss', definition, `${header}1,One,${values}\n`)).rows;
    assert.deepEqual(made?.errors, []);
    const before = await x.ok('boss', 'GET', `/objects/${made?.id}`);
    assert.equal(
      fields.every((field) => Object.hasOwn(before.values, field)),
      true,
    );
    const empty = fields.map(() => '').join();
    assert.deepEqual(verdicts(await x.run('boss', definition, `${header}1,,${empty}\n`)), ['FAILED REQUIRED']);
    assert.deepEqual(verdicts(await x.run('boss', definition, `${header}1,One,${empty}\n`)), ['UPDATED']);
    assert.deepEqual((await x.ok('boss', 'GET', `/objects/${made?.id}`)).values, { title: 'One', kind: 'a' });
  });

  it('apply to records: a hidden record is not changed and not duplicated', async () => {
    const definition = await x.define({ mapping: CLERKS });
    const made = await x.run('boss', definition, 'ext,title,kind\n1,Seen,a\n2,Hidden,b\n');
    const before = await x.rows('SELECT id, revision FROM objects ORDER BY id');
    const run = await x.run('clerk', definition, 'ext,title\n2,Other\n2,Other\n');
    assert.deepEqual(verdicts(run), ['FAILED NOT_FOUND', 'FAILED NOT_FOUND']);
    const single = await x.call('clerk', 'GET', `/objects/${made.rows[1]?.id}`);
    assert.equal(run.rows[0]?.errors[0]?.message, single.body.error.message);
    assert.equal(run.rows[0]?.id, undefined);
    assert.deepEqual(await x.rows('SELECT id, revision FROM objects ORDER BY id'), before);
    for (const mode of ['CREATE_ONLY', 'UPDATE_ONLY'] as const) {
      const [{ source } = { source: '' }] = await x.rows<{ source: string }>(
        `SELECT source_code AS source FROM external_ids WHERE target_id = $1`,
        [made.rows[1]?.id],
      );
      const other = await x.define({ mapping: CLERKS, mode, sourceCode: source });
      assert.deepEqual(verdicts(await x.run('clerk', other, 'ext,title\n2,Other\n')), ['FAILED NOT_FOUND'], mode);
    }
  });

  it('are checked on the record before a change, and on a new record as it would be', async () => {
    const definition = await x.define({ mapping: CLERKS });
    const run = await x.run('clerk', definition, 'ext,title,kind\n1,One,a\n2,Two,b\n1,One,b\n1,Again,b\n');
    assert.deepEqual(verdicts(run), ['CREATED', 'FAILED RIGHT_MISSING', 'UPDATED', 'FAILED NOT_FOUND']);
  });

  it('give the same errors as calls for workflow states and archived records', async () => {
    const definition = await x.define();
    const made = await x.run(
      'boss',
      definition,
      'ext,title,workflowState,state,id,revision\n1,One,done,ARCHIVED,x,9\n',
    );
    const { state, workflowState, revision } = await x.ok('boss', 'GET', `/objects/${made.rows[0]?.id}`);
    assert.deepEqual([state, workflowState.code, revision], ['ACTIVE', 'new', 1]);
    await x.ok('boss', 'DELETE', `/objects/${made.rows[0]?.id}`, { expectedRevision: 1 });
    assert.deepEqual(verdicts(await x.run('boss', definition, 'ext,title\n1,One\n')), ['FAILED ARCHIVED']);
  });

  it('are checked when the row is imported', async () => {
    const definition = await x.define();
    const rows = Array.from({ length: 6000 }, (_, n) => `e${n},T`).join('\n');
    const running = x.run('clerk', definition, `ext,title\n${rows}\n`);
    const [role, clerk] = await Promise.all([idOf(x.app, 'config_items', 'clerk'), idOf(x.app, 'users', 'clerk')]);
    const started = async (): Promise<number> =>
      (await x.rows<{ n: number }>('SELECT count(*)::int AS n FROM import_rows'))[0]?.n ?? 0;
    const there = await started();
    while ((await started()) <= there) await new Promise((resolve) => setTimeout(resolve, 5));
    await changeRights(x.app, 'DELETE FROM role_assignments WHERE role_id = $1 AND member_id = $2', [role, clerk]);
    await x.app.app.versions.refresh();
    const run = await running;
    const said = new Set(verdicts(run));
    assert.deepEqual([...said], ['CREATED', 'FAILED RIGHT_MISSING']);
    const first = run.rows.findIndex(({ status }) => status === 'FAILED');
    assert.ok(
      run.rows.slice(first).every(({ status }) => status === 'FAILED'),
      'from then on, all of them',
    );
  });
});
