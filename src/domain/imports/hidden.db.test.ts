/** Import results must not reveal records that their reader may not read, in any channel. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type ImportExportFixture,
  type FixtureUser,
  type RunResult,
  startImportExportFixture,
} from '../../../test/support/import-export-fixture.ts';

const FIELDS = ['title', 'kind', 'count', 'note', 'asset', 'parent'].map((field) => ({ source: field, target: field }));
const NOT_FOUND = [{ path: '', code: 'NOT_FOUND', message: 'There is no such record, or you may not see it.' }];
/** As the operations of the console show it, which add the reason. */
const NOT_FOUND_EXPLAINED = NOT_FOUND.map((error) => ({
  ...error,
  reason: 'NOT_FOUND',
}));

const rowsOf = ({ rows }: RunResult): unknown[] => rows.map(({ id: _id, ...row }) => row);

describe('results of imports about hidden records', () => {
  let x: ImportExportFixture;
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  const readRun = (who: FixtureUser, { id }: { id: string }): Promise<RunResult> =>
    x.ok(who, 'GET', `/import-runs/${id}`);

  it('return NOT_FOUND without id, external id and details, in the dry run and in the run', async () => {
    const definition = await x.define({ mapping: FIELDS });
    await x.run('boss', definition, 'ext,title,kind\n1,Seen,a\n2,Hidden,b\n');
    const content = 'ext,title,kind\n1,Uno,a\n2,Due,a\n2,,\n3,Tre,a\n';
    const dry = await x.run('clerk', definition, content, true);
    const run = await x.run('clerk', definition, content);
    assert.deepEqual(rowsOf(dry), rowsOf(run));
    assert.deepEqual(run.rows.slice(1, 3), [
      { row: 2, externalId: null, status: 'FAILED', errors: NOT_FOUND },
      { row: 3, externalId: null, status: 'FAILED', errors: NOT_FOUND },
    ]);
    assert.equal(run.rows[0]?.externalId, '1');
    for (const result of [dry, run]) assert.deepEqual((await readRun('clerk', result)).rows, result.rows);
    const preview = await x.admin('clerk', 'POST', '/imports/preview', { definitionId: definition, content });
    assert.deepEqual(preview.body.data.rows[1], {
      row: 2,
      externalId: null,
      status: 'FAILED',
      before: null,
      after: null,
      errors: NOT_FOUND_EXPLAINED,
    });
  });

  it('do not name a record that the row hides from the caller', async () => {
    const definition = await x.define({ mapping: FIELDS });
    await x.run('boss', definition, 'ext,title,kind\n1,One,a\n');
    const content = 'ext,title,kind\n1,One,b\n1,Again,a\n2,New,a\n2,New,b\n3,Stays,a\n3,Still,a\n';
    const dry = await x.run('clerk', definition, content, true);
    const preview = await x.admin('clerk', 'POST', '/imports/preview', { definitionId: definition, content });
    const run = await x.run('clerk', definition, content);
    assert.deepEqual(rowsOf(dry), rowsOf(run));
    assert.deepEqual(
      run.rows.map(({ status, externalId, id }) => [status, externalId, id === undefined]),
      [
        ['UPDATED', null, true],
        ['FAILED', null, true],
        ['CREATED', null, true],
        ['UPDATED', null, true],
        ['CREATED', '3', false],
        ['UPDATED', '3', false],
      ],
    );
    assert.deepEqual(
      preview.body.data.rows.map(({ status, externalId }: Record<string, unknown>) => [status, externalId]),
      run.rows.map(({ status, externalId }) => [status, externalId]),
    );
    assert.ok(
      dry.rows.every(({ row, id }) => row === 1 || id === undefined),
      'what a dry run would make has no id',
    );
  });

  it('show the run of another user as far as the reader may read its records now', async () => {
    const definition = await x.define({ mapping: [...FIELDS, { source: 'secret', target: 'secret' }] });
    const content = `ext,title,kind,secret\n1,Seen,a,x\n2,Hidden,b,x\n3,Bad,b,x\n3,${'x'.repeat(101)},b,x\n4,,b,x\n`;
    const run = await x.run('boss', definition, content);
    const [seen, hidden, bad, failed] = run.rows;
    assert.deepEqual(
      run.rows.map(({ status }) => status),
      ['CREATED', 'CREATED', 'CREATED', 'FAILED', 'FAILED'],
    );
    assert.equal(failed?.errors[0]?.path, '/values/title');
    const clerks = await readRun('clerk', run);
    assert.deepEqual(clerks.rows, [
      seen,
      { row: 2, externalId: null, status: 'CREATED', errors: [] },
      { row: 3, externalId: null, status: 'CREATED', errors: [] },
      { row: 4, externalId: null, status: 'FAILED', errors: NOT_FOUND },
      // This row has no record: its result contains only what the client sent.
      run.rows[4],
    ]);
    assert.deepEqual((await readRun('boss', run)).rows, run.rows);
    const through = await x.admin('clerk', 'GET', `/import-runs/${run.id}`);
    assert.deepEqual(through.body.data.rows, clerks.rows, 'the console, too');
    assert.ok(!JSON.stringify(clerks).includes(hidden?.id ?? '?') && !JSON.stringify(clerks).includes(bad?.id ?? '?'));
    // The current rights apply: a record that became hidden is not shown any more.
    await x.ok('boss', 'PATCH', `/objects/${seen?.id}`, { expectedRevision: 1, changes: { kind: 'b' } });
    assert.deepEqual((await readRun('clerk', run)).rows[0], {
      row: 1,
      externalId: null,
      status: 'CREATED',
      errors: [],
    });
  });

  it('show users and groups only with the right to administer them', async () => {
    const definition = await x.define({
      targetKind: 'group',
      mapping: [
        { source: 'title', target: 'code' },
        { source: 'title', target: 'name' },
      ],
    });
    const run = await x.run('boss', definition, 'ext,title\n1,crew\n1,other\n');
    assert.deepEqual(
      run.rows.map(({ status, externalId }) => [status, externalId]),
      [
        ['CREATED', '1'],
        ['FAILED', '1'],
      ],
    );
    const clerks = await readRun('clerk', run);
    assert.deepEqual(
      clerks.rows.map(({ externalId, id, errors }) => [externalId, id, errors.length]),
      [
        [null, undefined, 0],
        [null, undefined, 1],
      ],
    );
    assert.deepEqual(clerks.rows[1]?.errors[0]?.code, 'NOT_FOUND');
  });

  it('are hidden in the undo of a run', async () => {
    const definition = await x.define({ mapping: FIELDS });
    const run = await x.run('boss', definition, 'ext,title,kind\n1,Seen,a\n2,Hidden,b\n2,Changed,b\n2,Once more,b\n');
    const { status, body } = await x.admin('clerk', 'POST', `/import-runs/${run.id}/undo`);
    assert.equal(status, 200);
    assert.deepEqual(body.data.rows.slice(0, 3), [
      { row: 4, status: 'FAILED', errors: NOT_FOUND_EXPLAINED },
      { row: 3, status: 'FAILED', errors: NOT_FOUND_EXPLAINED },
      { row: 2, status: 'FAILED', errors: NOT_FOUND_EXPLAINED },
    ]);
    assert.equal(body.data.rows[3].id, run.rows[0]?.id, 'of what is seen, the right alone is missing');
  });
});

/**
 * Starts a service in which the clerk's visible data is always the same and the hidden data differs. Returns all answers to the
 * clerk.
 */
async function collectAnswers(hide: (x: ImportExportFixture, asset: string) => Promise<string>): Promise<unknown> {
  const x = await startImportExportFixture();
  try {
    const { id: asset } = await x.make({ serial: 'S1', kind: 'a' }, 'asset');
    const own = await hide(x, asset);
    const mapping = [
      ...FIELDS.filter(({ target }) => target !== 'asset'),
      { source: 'serial', target: 'asset', transform: 'lookup:asset.serial' },
    ];
    const answers: unknown[] = [];
    for (const mode of ['UPSERT', 'CREATE_ONLY', 'UPDATE_ONLY'] as const) {
      const definition = await x.define({ mapping, mode, sourceCode: 'shared' });
      const content = [
        'ext,title,kind,count,serial,parent',
        'linked,Uno,a,1,S1,',
        'linked,Due,b,x,S2,',
        `${own},By id,a,1,S1,`,
        `free-${mode},To a hidden parent,a,1,S1,${own}`,
        `asset-${mode},Of a hidden asset,a,1,S2,`,
        `other-${mode},Sound,a,1,S1,`,
      ].join('\n');
      for (const dryRun of [true, false]) answers.push(await x.run('clerk', definition, content, dryRun));
      const preview = await x.admin('clerk', 'POST', '/imports/preview', { definitionId: definition, content });
      answers.push(preview.body.data);
    }
    const runs = answers.filter((one) => Object.hasOwn(one as object, 'dryRun')) as RunResult[];
    for (const { id } of runs) answers.push(await x.ok('clerk', 'GET', `/import-runs/${id}`));
    for (const run of runs) {
      if (!run.dryRun) answers.push((await x.admin('clerk', 'POST', `/import-runs/${run.id}/undo`)).body);
    }
    return masked(answers, own);
  } finally {
    await x.close();
  }
}

/** Masks what differs between any two runs: ids, times, and the id in the content. */
function masked(value: unknown, own: string): unknown {
  const names = new Map<string, string>();
  const text = JSON.stringify(value)
    .replaceAll(own, 'OWN')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      names.set(id, names.get(id) ?? `id${names.size}`);
      return names.get(id) ?? '';
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'AT');
  return JSON.parse(text);
}

describe('databases that differ in hidden records', () => {
  it('give the same answers to imports, dry runs, previews, results and undo', async () => {
    const link = async (x: ImportExportFixture, row: string): Promise<void> => {
      const mapping = ['title', 'kind', 'count', 'secret'].map((field) => ({ source: field, target: field }));
      const definition = await x.define({ mapping, sourceCode: 'shared' });
      const run = await x.run('boss', definition, `ext,title,kind,count,secret\n${row}\n`);
      assert.equal(run.failed, 0);
    };
    const one = await collectAnswers(async (x) => {
      await link(x, 'linked,Short,b,1,');
      await x.make({ serial: 'S2', kind: 'b' }, 'asset');
      return (await x.make({ title: 'A hidden one', kind: 'b' })).id;
    });
    const other = await collectAnswers(async (x) => {
      await link(x, 'linked,Another title,b,77,hush');
      const [{ id } = { id: '' }] = await x.rows<{ id: string }>(
        `SELECT id FROM objects WHERE title = 'Another title'`,
      );
      await x.ok('boss', 'DELETE', `/objects/${id}`, { expectedRevision: 1 });
      await x.make({ serial: 'X', kind: 'b' }, 'asset');
      // No record has this id.
      return '01a2029c-0000-7000-8000-000000000000';
    });
    assert.deepEqual(one, other);
    assert.match(JSON.stringify(one), /NOT_FOUND/);
    assert.match(JSON.stringify(one), /LOOKUP_NOT_FOUND/);
    assert.match(JSON.stringify(one), /UNKNOWN_REFERENCE/);
  });
});
