/** Imports and exports, from outside. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, before, it, problemsOf, Fixture } from './service.ts';

const BUNDLE = `
roles:
  - { code: porter, rights: [import.manage, import.execute, export.execute], assignedTo: { users: [chief] } }
`;

let fixture: Fixture;

const post = (place: string, body: unknown): Promise<Answer> => fixture.api('POST', place, { body });

function accepted(answer: Answer, status: number): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

const definition = (code: string, more: object = {}): object => ({
  code,
  name: 'From the old desk',
  targetKind: 'object',
  targetTypeId: 'ticket',
  format: 'CSV',
  mode: 'UPSERT',
  sourceCode: 'old',
  resolver: { externalIdField: 'key' },
  mapping: [
    { source: 'subject', target: 'subject', transform: 'trim' },
    { source: 'hours', target: 'hours', transform: 'decimal' },
  ],
  ...more,
});

describe('imports and exports', () => {
  before(async () => {
    fixture = await Fixture.start();
    await fixture.apply(BUNDLE);
    // The running service follows a change of rights within a second.
    await sleep(1100);
  });
  after(() => fixture?.stop());

  it('imports rows independently, first as a dry run, and changes nothing on the second run', async () => {
    const { id, format, mode } = accepted(await post('/import-definitions', definition('first')), 201);
    assert.deepEqual([format, mode], ['CSV', 'UPSERT']);
    const content = 'key;subject;hours\n1; One ;"1,5"\n2;;2\n3;Three;\n';
    for (const [dryRun, wanted] of [
      [true, [2, 1, 0]],
      [false, [2, 1, 0]],
      [false, [0, 1, 2]],
    ] as const) {
      const run = accepted(await post('/imports/run', { definitionId: id, content, dryRun }), 201);
      assert.deepEqual([run.dryRun, run.succeeded, run.failed, run.skipped], [dryRun, ...wanted]);
      assert.equal(run.rows[1].status, 'FAILED');
      assert.equal(run.rows[1].errors[0].path, '/values/subject');
      const read = accepted(await fixture.api('GET', `/import-runs/${run.id}`), 200);
      assert.deepEqual(read, run);
    }
    const listed = accepted(await fixture.api('GET', '/objects?typeId=ticket'), 200);
    assert.deepEqual(listed.rows.map(({ values }: any) => values.subject).sort(), ['One', 'Three']);
  });

  it('rejects malformed content, a missing resolver and a dryRun value that is not a boolean', async () => {
    const { id } = accepted(await post('/import-definitions', definition('second')), 201);
    for (const body of [
      { definitionId: id, content: 'key,subject\n1,"One\n', dryRun: false },
      { definitionId: id, content: 'key,subject\n1,One\n', dryRun: null },
      { definitionId: id, content: 'key,subject\n1,One\n' },
    ]) {
      const answer = await post('/imports/run', body);
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'INVALID_REQUEST']);
    }
    const plain = await post('/import-definitions', definition('third', { resolver: undefined }));
    assert.equal(plain.status, 400);
  });

  it('exports readable records as a file that imports without changes', async () => {
    const csv = await post('/exports', { typeDefinitionId: 'ticket', format: 'CSV' });
    assert.equal(csv.status, 200);
    assert.match(csv.headers.get('content-disposition') ?? '', /^attachment; filename="/);
    assert.match(csv.text, /^id,number,revision,state,workflowState,createdAt,updatedAt,subject,/);
    const json = await post('/exports', { typeDefinitionId: 'ticket', format: 'JSON', limit: 1 });
    assert.equal(json.body.length, 1);
    const own = definition('own', {
      resolver: { externalIdField: 'id' },
      mapping: ['subject', 'urgency', 'hours', 'open'].map((field) => ({ source: field, target: field })),
    });
    const { id } = accepted(await post('/import-definitions', own), 201);
    const run = accepted(await post('/imports/run', { definitionId: id, content: csv.text, dryRun: false }), 201);
    assert.deepEqual([run.succeeded, run.failed, run.skipped], [0, 0, 2]);
  });

  it('imports files from the command line and undoes the import through the administration', async () => {
    accepted(await post('/import-definitions', definition('file')), 201);
    const file = path.join(fixture.folder, 'rows.csv');
    await writeFile(file, 'key,subject\n7,Seven\n');
    const { code, stdout, stderr } = await fixture.docket(['import', file, '--definition', 'file', '--json']);
    assert.equal(code, 0, stderr);
    const run = JSON.parse(stdout);
    assert.deepEqual([run.succeeded, run.rows[0].status], [1, 'CREATED']);
    const admin = await fixture.keyOf('chief', 'admin:manage');
    const undone = await fixture.send('POST', `/api/admin/v1/import-runs/${run.id}/undo`, { key: admin });
    assert.deepEqual([undone.status, undone.body.data.undone], [200, 1]);
    const record = accepted(await fixture.api('GET', `/objects/${run.rows[0].id}`), 200);
    assert.equal(record.state, 'ARCHIVED');
  });
});
