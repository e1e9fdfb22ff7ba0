/** Imports of records through HTTP, rule by rule. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { assertRejected } from '../../../test/support/record-fixture.ts';
import {
  type ImportExportFixture,
  type RowResult,
  startImportExportFixture,
  verdicts,
} from '../../../test/support/import-export-fixture.ts';

let x: ImportExportFixture;

const ids = ({ rows }: { rows: RowResult[] }): (string | undefined)[] => rows.map(({ id }) => id);
const values = async (id: string | undefined): Promise<Record<string, unknown>> =>
  (await x.ok('boss', 'GET', `/objects/${id}`)).values;

describe('imports', () => {
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  it('create, update and skip by external id and count the results', async () => {
    const definition = await x.define();
    const first = await x.run('boss', definition, 'ext,title,count,note\n1,One,1,a\n2,Two,,\n');
    assert.deepEqual([first.dryRun, first.succeeded, first.failed, first.skipped], [false, 2, 0, 0]);
    assert.deepEqual(verdicts(first), ['CREATED', 'CREATED']);
    assert.deepEqual(
      first.rows.map(({ row, externalId }) => [row, externalId]),
      [
        [1, '1'],
        [2, '2'],
      ],
    );
    assert.deepEqual(await values(first.rows[0]?.id), { title: 'One', kind: 'a', count: 1, note: 'a' });
    const second = await x.run('boss', definition, 'ext;title;count;note\r\n2;Two;7;\r\n1;One;1;a\r\n3;Three;;\r\n');
    assert.deepEqual(verdicts(second), ['UPDATED', 'SKIPPED', 'CREATED']);
    assert.deepEqual([second.succeeded, second.failed, second.skipped], [2, 0, 1]);
    assert.deepEqual([second.rows[0]?.id, second.rows[1]?.id], [first.rows[1]?.id, first.rows[0]?.id]);
    const [event] = (await x.ok('boss', 'GET', `/objects/${first.rows[1]?.id}/history`)).slice(1);
    assert.deepEqual(
      [event.type, event.actor.via, event.changes],
      ['ObjectUpdated', 'import', [{ field: 'count', from: null, to: 7 }]],
    );
    assert.deepEqual(await x.ok('boss', 'GET', `/import-runs/${second.id}`), second);
    assertRejected(await x.call('porter', 'GET', `/import-runs/${second.id}`), 403, 'RIGHT_MISSING');
  });

  it('change nothing when run again', async () => {
    const definition = await x.define();
    const content = `ext,title,count,note\n${Array.from({ length: 450 }, (_, n) => `e${n},T ${n},${n},\n`).join('')}`;
    const first = await x.run('boss', definition, content);
    assert.equal(first.succeeded, 450);
    const before = await x.rows('SELECT revision FROM objects ORDER BY id');
    const again = await x.run('boss', definition, content);
    assert.deepEqual([again.succeeded, again.failed, again.skipped], [0, 0, 450]);
    assert.deepEqual(ids(again), ids(first));
    assert.deepEqual(await x.rows('SELECT revision FROM objects ORDER BY id'), before);
  });

  it('obey the mode of the definition', async () => {
    const shared = { sourceCode: 'modes' };
    const [create, update] = await Promise.all([
      x.define({ ...shared, mode: 'CREATE_ONLY' }),
      x.define({ ...shared, mode: 'UPDATE_ONLY' }),
    ]);
    const missing = await x.run('boss', update, 'ext,title\n1,One\n');
    assert.deepEqual([verdicts(missing), ids(missing)], [['SKIPPED'], [undefined]]);
    const made = await x.run('boss', create, 'ext,title\n1,One\n');
    assert.deepEqual(verdicts(made), ['CREATED']);
    const kept = await x.run('boss', create, 'ext,title,count\n1,Other,wrong\n');
    assert.deepEqual([verdicts(kept), ids(kept)], [['SKIPPED'], ids(made)]);
    const changed = await x.run('boss', update, 'ext,title\n1,Other\n1,Other\n');
    assert.deepEqual(verdicts(changed), ['UPDATED', 'SKIPPED']);
  });

  it('keep external ids separate by source and target kind', async () => {
    const [one, same, other] = await Promise.all([
      x.define({ sourceCode: 'one' }),
      x.define({ sourceCode: 'one' }),
      x.define({ sourceCode: 'two' }),
    ]);
    const content = 'ext,title\nA,x\n';
    const made = await x.run('boss', one, content);
    assert.deepEqual(ids(await x.run('boss', same, content)), ids(made));
    assert.notDeepEqual(ids(await x.run('boss', other, content)), ids(made));
    const assets = await x.define({
      sourceCode: 'one',
      targetTypeId: 'asset',
      mapping: [{ source: 'title', target: 'serial' }],
    });
    // The target kind is the same, so the external id refers to the same target, which has another type.
    assert.deepEqual(verdicts(await x.run('boss', assets, content)), ['FAILED NOT_FOUND']);
  });

  it('apply a repeated external id to the result of the earlier row', async () => {
    const definition = await x.define();
    const content = 'ext,title,count\n1,a,1\n2,b,1\n1,a,2\n1,a,2\n2,,2\n2,c,1\n1,a,3\n';
    const run = await x.run('boss', definition, content);
    assert.deepEqual(verdicts(run), [
      'CREATED',
      'CREATED',
      'UPDATED',
      'SKIPPED',
      'FAILED REQUIRED',
      'UPDATED',
      'UPDATED',
    ]);
    const { revision, values: last } = await x.ok('boss', 'GET', `/objects/${run.rows[0]?.id}`);
    assert.deepEqual([revision, last.count], [3, 3]);
  });

  it('keep other rows when one fails', async () => {
    const definition = await x.define();
    const rows = Array.from({ length: 300 }, (_, n) => `e${n},${n % 7 === 3 ? '' : 'T'},${n % 11 === 5 ? 'x' : n}`);
    const run = await x.run('boss', definition, `ext,title,count\n${rows.join('\n')}\n`);
    const bad = (n: number): boolean => n % 7 === 3 || n % 11 === 5;
    assert.ok(run.rows.every(({ row, status }) => (status === 'FAILED') === bad(row - 1)));
    assert.equal(run.succeeded + run.failed, 300);
    const stored = await x.rows(`SELECT 1 FROM external_ids WHERE target_id = ANY($1)`, [ids(run).filter(Boolean)]);
    assert.equal(stored.length, run.succeeded);
  });

  it('retry a row on OVERLOADED and report it if it persists', async () => {
    const definition = await x.define();
    // A sequence is not rolled back, so it counts the attempts.
    await x.rows('CREATE SEQUENCE busy_tries');
    await x.rows(`CREATE FUNCTION be_busy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.title = 'Always' OR (NEW.title = 'Busy' AND nextval('busy_tries') <= 4) THEN
        RAISE EXCEPTION 'busy' USING ERRCODE = '57014';
      END IF;
      RETURN NEW;
    END $$`);
    await x.rows('CREATE TRIGGER busy BEFORE INSERT ON objects FOR EACH ROW EXECUTE FUNCTION be_busy()');
    try {
      const run = await x.run('boss', definition, 'ext,title\n1,Before\n2,Busy\n3,Always\n4,After\n');
      assert.deepEqual(verdicts(run), ['CREATED', 'CREATED', 'FAILED OVERLOADED', 'CREATED']);
      const [tries] = await x.rows<{ n: number }>('SELECT last_value::int AS n FROM busy_tries');
      assert.ok((tries?.n ?? 0) > 4, 'it was refused, and tried again');
      const again = await x.run('boss', definition, 'ext,title\n2,Busy\n3,Calm\n');
      assert.deepEqual(verdicts(again), ['SKIPPED', 'CREATED']);
    } finally {
      await x.rows('DROP TRIGGER busy ON objects');
      await x.rows('DROP FUNCTION be_busy');
      await x.rows('DROP SEQUENCE busy_tries');
    }
  });

  it('require an external id in each row', async () => {
    const definition = await x.define();
    const run = await x.run('boss', definition, `ext,title\n,One\n${'y'.repeat(256)},Two\n ,Three\n`);
    assert.deepEqual(verdicts(run), ['FAILED REQUIRED', 'FAILED INVALID_FORMAT', 'CREATED']);
    assert.deepEqual(
      run.rows.map(({ externalId }) => externalId),
      [null, null, ' '],
    );
    const json = await x.define({ format: 'JSON' });
    const strange = [{ ext: 5 }, { ext: 'a\ud83d\ude00' }, { ext: [1] }, { ext: null }, {}].map((one) => ({
      ...one,
      title: 'T',
    }));
    assert.deepEqual(verdicts(await x.run('boss', json, JSON.stringify(strange))), [
      'CREATED',
      'CREATED',
      'FAILED INVALID_FORMAT',
      'FAILED REQUIRED',
      'FAILED REQUIRED',
    ]);
  });

  it('parse CSV cells by data type and take JSON values unchanged', async () => {
    const [{ id: asset }, [unit], [team], [boss]] = await Promise.all([
      x.make({ serial: 'A-1' }, 'asset'),
      x.rows<{ id: string }>(`SELECT id FROM org_units`),
      x.rows<{ id: string }>(`SELECT id FROM groups`),
      x.rows<{ id: string }>(`SELECT id FROM users WHERE login = 'boss'`),
    ]);
    const csv = await x.define({
      mapping: [
        { source: 'title', target: 'title' },
        { source: 'n', target: 'count' },
        { source: 'c', target: 'cost', transform: 'decimal' },
        { source: 'u', target: 'urgent' },
        { source: 'd', target: 'day', transform: ['trim', 'date:DD.MM.YYYY'] },
        { source: 't', target: 'tags' },
        { source: 'who', target: 'assignee', transform: 'user:login' },
        { source: 'team', target: 'team', transform: 'group:code' },
        { source: 'unit', target: 'unit', transform: 'org-unit:code' },
        { source: 'asset', target: 'asset', transform: 'lookup:asset.serial' },
        { source: 'asset', target: 'assets', transform: ['split:;', 'lookup:asset.serial'] },
        { source: 'formula', target: 'note' },
      ],
    });
    const run = await x.run(
      'boss',
      csv,
      'ext,title,n,c,u,d,t,who,team,unit,asset,formula\n1,T,-5,"1,5",true, 21.11.2026 ,a; b,BOSS,First-Line,HQ,A-1,\'=1+1\n',
    );
    assert.deepEqual(verdicts(run), ['CREATED']);
    assert.deepEqual(await values(run.rows[0]?.id), {
      title: 'T',
      kind: 'a',
      count: -5,
      cost: '1.5',
      urgent: true,
      day: '2026-11-21',
      tags: ['a', 'b'],
      assignee: boss?.id,
      team: team?.id,
      unit: unit?.id,
      asset,
      assets: [asset],
      note: '=1+1',
    });
    const json = await x.define({
      format: 'JSON',
      resolver: { externalIdField: 'key.id' },
      mapping: [
        { source: 'fields.title', target: 'title' },
        { source: 'fields.n', target: 'count' },
        { source: 'fields.tags', target: 'tags' },
      ],
    });
    const typed = await x.run(
      'boss',
      json,
      JSON.stringify([
        { key: { id: 'k1' }, fields: { title: 'J', n: 3, tags: ['x; y'] } },
        { key: { id: 'k2' }, fields: { title: 'J', n: '3' } },
      ]),
    );
    assert.deepEqual(verdicts(typed), ['CREATED', 'FAILED WRONG_TYPE']);
    assert.deepEqual(await values(typed.rows[0]?.id), { title: 'J', kind: 'a', count: 3, tags: ['x; y'] });
  });

  it('clear empty values and keep absent ones', async () => {
    const definition = await x.define();
    const made = await x.run('boss', definition, 'ext,title,count,note\n1,One,5,text\n');
    const cleared = await x.run('boss', definition, 'ext,title,count\n1,One,\n');
    assert.deepEqual(verdicts(cleared), ['UPDATED']);
    assert.deepEqual(await values(made.rows[0]?.id), { title: 'One', kind: 'a', note: 'text' });
  });

  it('fail a row whose look-up has no match or several', async () => {
    for (const serial of ['twin', 'twin', 'once']) await x.make({ serial, kind: 'a' }, 'asset');
    await x.make({ serial: 'unseen', kind: 'b' }, 'asset');
    const definition = await x.define({
      mapping: [
        { source: 'title', target: 'title' },
        { source: 'asset', target: 'asset', transform: 'lookup:asset.serial' },
      ],
    });
    const content = 'ext,title,asset\n1,a,twin\n2,b,once\n3,c,nothing\n4,d,unseen\n5,e,\n';
    const wide = await x.run('boss', definition, content, true);
    assert.deepEqual(verdicts(wide), [
      'FAILED LOOKUP_AMBIGUOUS',
      'CREATED',
      'FAILED LOOKUP_NOT_FOUND',
      'CREATED',
      'CREATED',
    ]);
    const narrow = await x.run('clerk', definition, content);
    assert.deepEqual(verdicts(narrow), [
      'FAILED LOOKUP_AMBIGUOUS',
      'CREATED',
      'FAILED LOOKUP_NOT_FOUND',
      'FAILED LOOKUP_NOT_FOUND',
      'CREATED',
    ]);
    assert.equal(
      narrow.rows[2]?.errors[0]?.message,
      narrow.rows[3]?.errors[0]?.message,
      'what is hidden is what is not there',
    );
  });

  it('see the results of earlier rows of the same content', async () => {
    const definition = await x.define({
      targetTypeId: 'ticket',
      mapping: [
        { source: 'title', target: 'title' },
        { source: 'parent', target: 'parent', transform: 'lookup:ticket.title' },
      ],
    });
    const content =
      'ext,title,parent\n1,root,\n2,branch,root\n3,leaf,branch\n4,leaf two,branch\n5,branch,\n6,lost,branch\n7,wrong,later\n8,later,\n1,renamed,\n9,orphan,root\n';
    const expected = [
      'CREATED',
      'CREATED',
      'CREATED',
      'CREATED',
      'CREATED',
      'FAILED LOOKUP_AMBIGUOUS',
      'FAILED LOOKUP_NOT_FOUND',
      'CREATED',
      'UPDATED',
      'FAILED LOOKUP_NOT_FOUND',
    ];
    assert.deepEqual(verdicts(await x.run('boss', definition, content, true)), expected);
    const run = await x.run('boss', definition, content);
    assert.deepEqual(verdicts(run), expected);
    assert.equal((await values(run.rows[2]?.id))['parent'], run.rows[1]?.id);
  });

  it('reject malformed content with its position and import nothing', async () => {
    const csv = await x.define();
    const json = await x.define({ format: 'JSON' });
    const before = await x.rows('SELECT 1 FROM import_runs');
    const cases: [string, string, string][] = [
      [csv, '', 'line 1, column 1'],
      [csv, 'ext,title\n1,One\n2,"Two\n', 'line 3, column 2'],
      [csv, 'ext,title\n1,One\n2\n', 'line 3, column 1'],
      [csv, 'ext,title,title\n', 'line 1, column 3'],
      [csv, 'title\nOne\n', 'column ext'],
      [json, '{"ext":1}', 'line 1, column 1'],
      [json, '[{"ext":1},\n{"ext":2,"ext":3}]', 'line 2, column 10'],
      [json, `[{"a":${'['.repeat(100)}${']'.repeat(100)}}]`, 'line 1'],
      [json, '[{"__proto__":{"polluted":1},"ext":1,"title":"x"}]', 'line 1'],
      [json, '[5]', 'line 1, column 2'],
    ];
    for (const [definitionId, content, place] of cases) {
      for (const dryRun of [true, false]) {
        const answer = await x.call('boss', 'POST', '/imports/run', { definitionId, content, dryRun });
        assertRejected(answer, 400, 'INVALID_REQUEST', content.slice(0, 80));
        assert.ok(answer.body.error.message.includes(place), `${content}: ${answer.body.error.message}`);
        assert.equal(answer.body.error.details[0].path, '/content');
      }
    }
    assert.deepEqual(await x.rows('SELECT 1 FROM import_runs'), before);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    const nothing = await x.run('boss', json, '[]');
    assert.deepEqual([nothing.rows, nothing.succeeded], [[], 0]);
  });

  it('reject a dryRun that is not boolean and an unknown definition', async () => {
    const definitionId = await x.define();
    const body = { definitionId, content: 'ext,title\n1,One\n' };
    for (const dryRun of [undefined, null, 'true', 0, 1, [], {}]) {
      const answer = await x.call('boss', 'POST', '/imports/run', { ...body, dryRun });
      assertRejected(answer, 400, 'INVALID_REQUEST', String(dryRun));
    }
    assert.equal((await x.rows(`SELECT 1 FROM import_runs WHERE definition_id = $1`, [definitionId])).length, 0);
    const absent = { ...body, definitionId: randomUUID(), dryRun: true };
    assertRejected(await x.call('boss', 'POST', '/imports/run', absent), 404, 'NOT_FOUND');
    assertRejected(await x.call('stranger', 'POST', '/imports/run', absent), 403, 'RIGHT_MISSING');
    assertRejected(await x.call('boss', 'POST', '/imports/run', { ...absent, definitionId: 'no' }), 404, 'NOT_FOUND');
    for (const definitionId of ['', null, 5, 'x'.repeat(65)]) {
      assertRejected(await x.call('boss', 'POST', '/imports/run', { ...absent, definitionId }), 400, 'INVALID_REQUEST');
    }
  });

  it('accept the code of a definition in place of its id', async () => {
    const id = await x.define({ code: 'by-code' });
    const body = (ext: string) => ({ definitionId: 'by-code', content: `ext,title\n${ext},${ext}\n`, dryRun: false });
    const called = await x.ok('boss', 'POST', '/imports/run', body('one'));
    assert.deepEqual([called.definitionId, called.succeeded], [id, 1]);
    const console = await x.admin('boss', 'POST', '/imports/run', body('two'));
    assert.deepEqual([console.status, console.body.data.definitionId], [201, id], JSON.stringify(console.body));
    const { dryRun: _, ...asked } = body('two');
    const preview = await x.admin('boss', 'POST', '/imports/preview', asked);
    assert.deepEqual(
      [preview.status, preview.body.data.rows[0].status],
      [200, 'SKIPPED'],
      JSON.stringify(preview.body),
    );
    assertRejected(await x.call('stranger', 'POST', '/imports/run', body('three')), 403, 'RIGHT_MISSING');
  });

  it('list failed rows first if there are too many', async () => {
    const definition = await x.define();
    const rows = Array.from({ length: 10_500 }, (_, n) => `e${n},${n >= 10_400 ? '' : 'T'}`);
    const run = await x.run('boss', definition, `ext,title\n${rows.join('\n')}\n`, true);
    assert.deepEqual([run.succeeded, run.failed, run.rows.length, run.rowsTruncated], [10_400, 100, 10_000, true]);
    assert.ok(run.rows.slice(0, 100).every(({ status }) => status === 'FAILED'));
    assert.ok(run.rows.slice(100).every(({ row }, index) => row === index + 1));
  });
});
