/** Dry runs, previews and the undo of runs (docs/spec/import-export-bulk.md). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { assertRejected, concurrently } from '../../../test/support/record-fixture.ts';
import {
  type ImportExportFixture,
  type RunResult,
  startImportExportFixture,
  verdicts,
} from '../../../test/support/import-export-fixture.ts';

let x: ImportExportFixture;

/** The results of rows without the ids of created records, which only the real run has. */
const comparable = ({ rows }: RunResult) =>
  rows.map(({ row, externalId, status, errors }) => ({ row, externalId, status, errors }));

/** A hash of every table and the state of every sequence, except the tables of runs. */
async function dump(): Promise<Record<string, string>> {
  const tables = await x.rows<{ name: string; kind: string }>(
    `SELECT relname AS name, relkind AS kind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE nspname = 'public' AND relkind IN ('r', 'S') AND relname NOT IN ('import_runs', 'import_rows')`,
  );
  const found: Record<string, string> = {};
  for (const { name, kind } of tables) {
    // The call itself updates the last use of its key.
    const except = name === 'api_keys' ? ` - 'last_used_at'` : '';
    const rows = await x.rows<{ text: string }>(
      kind === 'S'
        ? `SELECT last_value || ' ' || is_called AS text FROM "${name}"`
        : `SELECT (to_jsonb(t)${except})::text AS text FROM "${name}" t ORDER BY 1`,
    );
    found[name] = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  }
  assert.ok(Object.keys(found).length > 20);
  return found;
}

const IMAGE = 'data:image/gif;base64,R0lGODlhAQABAAAAADs=';

/** Content that produces every status. */
const EVERY_STATUS = [
  ['1', 'A', '1', '', 'a'],
  ['1', 'A', '1', '', 'a'],
  ['2', 'B', '2', 'A', 'b'],
  ['1', 'C', '1', '', 'a'],
  ['3', '', '1', '', 'a'],
  ['4', 'B', '1', 'A', 'a'],
] as [string, string, string, string, string][];

describe('dry runs', () => {
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  it('store nothing but the run', async () => {
    const objects = await x.define({
      mapping: [
        { source: 'title', target: 'title' },
        { source: 'count', target: 'count' },
        { source: 'body', target: 'body' },
      ],
    });
    const people = await x.define({
      targetKind: 'user',
      mapping: [
        { source: 'title', target: 'login' },
        { source: 'title', target: 'displayName' },
        { source: 'mail', target: 'email' },
      ],
    });
    const content = `ext,title,count,body,mail\n1,anna,1,"<p>x<img src=""${IMAGE}""></p>",anna@example.org\n1,anna,2,,anna@example.org\n2,,x,,\n`;
    await x.run('boss', objects, 'ext,title,count\n3,There,1\n');
    const before = await dump();
    const [{ n: journal } = { n: 0 }] = await x.rows<{ n: number }>('SELECT count(*)::int AS n FROM journal');
    for (const definition of [objects, people]) {
      const run = await x.run('boss', definition, `${content}3,other,7,,o@example.org\n`, true);
      assert.equal(run.dryRun, true);
      assert.ok(run.succeeded >= 1);
      assert.deepEqual(await dump(), before);
    }
    const preview = await x.admin('boss', 'POST', '/imports/preview', { definitionId: objects, content });
    assert.equal(preview.status, 200);
    assert.deepEqual(await dump(), before);
    // Check of the measurement: a real run must change the hashes.
    await x.run('boss', objects, content);
    const after = await dump();
    for (const table of ['objects', 'journal', 'external_ids', 'blobs', 'number_T']) {
      assert.notEqual(after[table], before[table], table);
    }
    const [{ n: more } = { n: 0 }] = await x.rows<{ n: number }>('SELECT count(*)::int AS n FROM journal');
    assert.ok(more > journal);
  });

  it('return the same results as the real run for any rows', async () => {
    const cell = (...options: string[]) => fc.constantFrom(...options);
    const row = fc.tuple(
      cell('1', '2', '3', '4', ''),
      cell('A', 'B', 'C', '', 'x'.repeat(101)),
      cell('1', '2', 'many', ''),
      cell('A', 'B', 'nothing', ''),
      cell('a', 'b', 'c', ''),
    );
    const contents = fc.array(fc.array(row, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 });
    let statuses = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        contents,
        fc.constantFrom('UPSERT', 'CREATE_ONLY', 'UPDATE_ONLY'),
        fc.constantFrom('boss', 'clerk'),
        async (all, mode, who) => {
          const definition = await x.define({
            mode: mode as 'UPSERT',
            mapping: [
              { source: 'title', target: 'title' },
              { source: 'count', target: 'count' },
              { source: 'parent', target: 'parent', transform: 'lookup:ticket.title' },
              { source: 'kind', target: 'kind' },
            ],
          });
          for (const rows of all) {
            const content = `ext,title,count,parent,kind\n${rows.map((cells) => cells.join(',')).join('\n')}\n`;
            const dry = await x.run(who, definition, content, true);
            const real = await x.run(who, definition, content);
            assert.deepEqual(comparable(dry), comparable(real));
            assert.deepEqual([dry.succeeded, dry.failed, dry.skipped], [real.succeeded, real.failed, real.skipped]);
            assert.equal(real.succeeded + real.failed + real.skipped, rows.length);
            statuses = statuses.union(new Set(verdicts(real)));
          }
          await x.rows(`UPDATE objects SET state = 'ARCHIVED'`);
          await x.rows('DELETE FROM external_ids');
        },
      ),
      { numRuns: 20, examples: [[[EVERY_STATUS], 'UPSERT', 'boss']] },
    );
    for (const wanted of ['CREATED', 'UPDATED', 'SKIPPED', 'FAILED REQUIRED', 'FAILED LOOKUP_NOT_FOUND']) {
      assert.ok(statuses.has(wanted), `${wanted} never came: ${[...statuses].join()}`);
    }
  });

  it('do not block readers and are rolled back', async () => {
    const definition = await x.define();
    const rows = Array.from({ length: 2000 }, (_, n) => `r${n},T ${n},${n}`).join('\n');
    const running = x.run('boss', definition, `ext,title,count\n${rows}\n`, true);
    const listed = await x.ok('boss', 'GET', '/objects');
    assert.ok(listed.rows.every(({ title }: { title: string }) => !/^T \d+$/.test(title)));
    assert.equal((await running).succeeded, 2000);
    assert.deepEqual(await x.rows(`SELECT 1 FROM objects WHERE title LIKE 'T %'`), []);
  });

  it('show the readable mapped fields before and after each row', async () => {
    const definition = await x.define({
      mapping: [
        { source: 'title', target: 'title' },
        { source: 'note', target: 'note' },
        { source: 'secret', target: 'secret' },
      ],
    });
    await x.run('boss', definition, 'ext,title,note,secret\n1,One,old,hush\n');
    const preview = async (who: 'boss' | 'clerk', content: string, limit?: number) =>
      (await x.admin(who, 'POST', '/imports/preview', { definitionId: definition, content, limit })).body.data;
    const content = 'ext,title,note,secret\n1,One,new,more\n1,Uno,new,more\n2,Two,,\n3,,,\n1,Uno,new,more\n';
    const { rows, total } = await preview('boss', content);
    assert.equal(total, 5);
    assert.deepEqual(
      rows.map(({ status, before, after }: Record<string, unknown>) => [status, before, after]),
      [
        ['UPDATED', { title: 'One', note: 'old', secret: 'hush' }, { title: 'One', note: 'new', secret: 'more' }],
        ['UPDATED', { title: 'One', note: 'new', secret: 'more' }, { title: 'Uno', note: 'new', secret: 'more' }],
        ['CREATED', null, { title: 'Two' }],
        ['FAILED', null, null],
        ['SKIPPED', { title: 'Uno', note: 'new', secret: 'more' }, { title: 'Uno', note: 'new', secret: 'more' }],
      ],
    );
    assert.equal((await preview('boss', content, 2)).rows.length, 2);
    const narrow = await preview('clerk', 'ext,title,note\n1,One,new\n');
    assert.deepEqual(narrow.rows[0].before, { title: 'One', note: 'old' });
    assertRejected(
      await x.admin('stranger', 'POST', '/imports/preview', { definitionId: definition, content }),
      403,
      'RIGHT_MISSING',
    );
  });
});

describe('undo of a run', () => {
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  const undo = async (run: { id: string }) => await x.admin('boss', 'POST', `/import-runs/${run.id}/undo`);

  it('archives created records and restores former values of changed records', async () => {
    const definition = await x.define();
    const first = await x.run('boss', definition, 'ext,title,count,note\n1,One,1,a\n');
    const run = await x.run('boss', definition, 'ext,title,count,note\n1,One,2,\n2,Two,1,\n1,Uno,3,b\n9,,,\n');
    const { body } = await undo(run);
    assert.deepEqual([body.data.undone, body.data.skipped, body.data.failed], [3, 0, 0]);
    assert.deepEqual(
      body.data.rows.map(({ row, status }: { row: number; status: string }) => [row, status]),
      [
        [3, 'UNDONE'],
        [2, 'UNDONE'],
        [1, 'UNDONE'],
      ],
    );
    const one = await x.ok('boss', 'GET', `/objects/${first.rows[0]?.id}`);
    assert.deepEqual(one.values, { title: 'One', kind: 'a', count: 1, note: 'a' });
    const two = await x.ok('boss', 'GET', `/objects/${run.rows[1]?.id}`);
    assert.equal(two.state, 'ARCHIVED');
    const runs = (await x.admin('boss', 'GET', '/import-runs')).body.data.rows;
    assert.ok(runs.find(({ id }: { id: string }) => id === run.id).undoneAt);
    // The external id is free again, and a second undo has nothing to do.
    const again = await x.run('boss', definition, 'ext,title\n2,Two\n');
    assert.deepEqual(verdicts(again), ['CREATED']);
    assert.deepEqual((await undo(run)).body.data.rows, []);
  });

  it('skips records that were changed since, and earlier rows on them', async () => {
    const definition = await x.define();
    const run = await x.run('boss', definition, 'ext,title,count\n1,One,1\n2,Two,1\n1,One,2\n3,Three,1\n');
    const [one, two, , three] = run.rows.map(({ id }) => id);
    await x.ok('boss', 'PATCH', `/objects/${one}`, { expectedRevision: 2, changes: { note: 'mine' } });
    await x.ok('boss', 'DELETE', `/objects/${three}`, { expectedRevision: 1 });
    const { body } = await undo(run);
    assert.deepEqual(
      body.data.rows.map(({ row, status, errors }: any) => [row, status, errors[0]?.code]),
      [
        [4, 'SKIPPED', 'CHANGED_SINCE'],
        [3, 'SKIPPED', 'CHANGED_SINCE'],
        [2, 'UNDONE', undefined],
        [1, 'SKIPPED', 'CHANGED_SINCE'],
      ],
    );
    const kept = await x.ok('boss', 'GET', `/objects/${one}`);
    assert.deepEqual([kept.state, kept.revision, kept.values.note], ['ACTIVE', 3, 'mine']);
    assert.equal((await x.ok('boss', 'GET', `/objects/${two}`)).state, 'ARCHIVED');
  });

  it('resumes after an interruption and reports its progress', async () => {
    const definition = await x.define();
    const first = await x.run('boss', definition, 'ext,title,count\n1,One,1\n');
    const run = await x.run('boss', definition, 'ext,title,count\n1,One,2\n1,One,3\n1,One,4\n');
    const undoProgress = async (): Promise<unknown> => (await x.ok('boss', 'GET', `/import-runs/${run.id}`)).undo;
    assert.equal(await undoProgress(), undefined);
    await x.rows(`CREATE FUNCTION be_away() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.row = 1 AND NEW.undo IS NOT NULL THEN RAISE EXCEPTION 'away' USING ERRCODE = '57P03'; END IF;
      RETURN NEW;
    END $$`);
    await x.rows('CREATE TRIGGER away BEFORE UPDATE ON import_rows FOR EACH ROW EXECUTE FUNCTION be_away()');
    try {
      assertRejected(await undo(run), 503, 'DATABASE_UNAVAILABLE');
    } finally {
      await x.rows('DROP TRIGGER away ON import_rows');
      await x.rows('DROP FUNCTION be_away');
    }
    assert.deepEqual(await undoProgress(), { undone: 2, skipped: 0, failed: 0 });
    const { body } = await undo(run);
    assert.deepEqual([body.data.undone, body.data.skipped, body.data.failed], [1, 0, 0]);
    assert.deepEqual(await undoProgress(), { undone: 3, skipped: 0, failed: 0 });
    assert.equal((await x.ok('boss', 'GET', `/objects/${first.rows[0]?.id}`)).values.count, 1);
  });

  it('undoes each row once with concurrent calls', async () => {
    const definition = await x.define();
    const rows = Array.from({ length: 60 }, (_, n) => `u${n},T ${n}`);
    const run = await x.run('boss', definition, `ext,title\n${rows.join('\n')}\n`);
    const answers = await concurrently(4, () => undo(run));
    for (const { status, body } of answers)
      assert.deepEqual([status, body.data.skipped, body.data.failed], [200, 0, 0]);
    assert.deepEqual((await x.ok('boss', 'GET', `/import-runs/${run.id}`)).undo, { undone: 60, skipped: 0, failed: 0 });
    const [archived] = await x.rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM journal WHERE type = 'ObjectArchived' AND object_id = ANY ($1::uuid[])`,
      [run.rows.map(({ id }) => id)],
    );
    assert.equal(archived?.n, 60);
  });

  it('checks the rights of the caller for each row', async () => {
    const definition = await x.define();
    const run = await x.run('boss', definition, 'ext,title\n1,One\n');
    const { body } = await x.admin('clerk', 'POST', `/import-runs/${run.id}/undo`);
    assert.deepEqual(
      body.data.rows.map(({ status, errors }: any) => [status, errors[0].code]),
      [['FAILED', 'RIGHT_MISSING']],
    );
    assert.equal((await undo(run)).body.data.undone, 1, 'another may');
    const dry = await x.run('boss', definition, 'ext,title\n5,Five\n', true);
    assertRejected(await undo(dry), 409, 'STATE_CONFLICT');
    await x.rows(`UPDATE import_runs SET state = 'RUNNING', touched_at = now() WHERE id = $1`, [run.id]);
    assertRejected(await undo(run), 409, 'STATE_CONFLICT');
  });
});

describe('concurrent imports', () => {
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  it('create one record per external id', async () => {
    for (let round = 0; round < 2; round++) {
      const definition = await x.define();
      const rows = Array.from({ length: 300 }, (_, n) => `e${n},T ${round} ${n}`);
      const contents = [rows, [...rows].reverse(), rows, [...rows].reverse()].map(
        (ordered) => `ext,title\n${ordered.join('\n')}\n`,
      );
      const runs = await concurrently(contents.length, (turn) => x.run('boss', definition, contents[turn] ?? ''));
      assert.equal(
        runs.reduce((sum, { succeeded }) => sum + succeeded, 0),
        300,
        JSON.stringify(runs.map(({ rows: all }) => all.find(({ status }) => status === 'FAILED'))),
      );
      assert.equal(
        runs.reduce((sum, { skipped }) => sum + skipped, 0),
        900,
      );
      const [found] = await x.rows<{ objects: number; links: number }>(
        `SELECT (SELECT count(*)::int FROM objects WHERE title LIKE $1) AS objects,
           (SELECT count(*)::int FROM external_ids e JOIN objects o ON o.id = e.target_id WHERE o.title LIKE $1) AS links`,
        [`T ${round} %`],
      );
      assert.deepEqual(found, { objects: 300, links: 300 });
    }
  });
});
