/**
 * Dry runs of many items beside changes of others: a change must not wait until the dry run ends, and results must stay those
 * of the real run. Who ends first is compared, not how long it took.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ImportExportFixture, startImportExportFixture } from './support/import-export-fixture.ts';
import { concurrently, type Made, type RecordFixture, startRecordFixture } from './support/record-fixture.ts';

const ITEMS = 1000;

type Rows = (text: string, values?: unknown[]) => Promise<{ n: number }[]>;

/** Resolves when the row of the record is locked by another transaction, or the work has ended. */
async function locked(rows: Rows, id: string, work: Promise<unknown>): Promise<void> {
  let ended = false;
  void work.finally(() => (ended = true)).catch(() => {});
  while (!ended) {
    const free = await rows(
      'SELECT count(*)::int AS n FROM (SELECT 1 FROM objects WHERE id = $1 FOR UPDATE SKIP LOCKED) AS f',
      [id],
    );
    if (free[0]?.n === 0) return;
    await sleep(1);
  }
}

/** The names of the works in the order in which they end. */
async function order(works: Record<string, Promise<unknown>>): Promise<string[]> {
  const ended: string[] = [];
  await Promise.all(Object.entries(works).map(([name, work]) => work.then(() => ended.push(name))));
  return ended;
}

describe('a dry run of many records', () => {
  let around: RecordFixture;
  before(async () => {
    around = await startRecordFixture();
  });
  after(() => around.close());

  const rows: Rows = (text, values) => around.rows(text, values);
  const bulk = (items: object[], dryRun: boolean): Promise<any> =>
    around.call('chief', 'POST', `/bulk${dryRun ? '?dryRun=true' : ''}`, { operation: 'update', items });
  const patch = ({ id }: Made, revision = 1): Promise<any> =>
    around.ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision: revision, changes: { note: 'by another' } });
  const update = ({ id }: Made, count: number, expectedRevision = 1): object => ({
    objectId: id,
    expectedRevision,
    changes: { count },
  });

  /** Records like one that the service made. */
  async function many(count: number): Promise<Made[]> {
    const like = await around.make();
    const made = Array.from({ length: count }, () => ({ ...like, id: crypto.randomUUID() }));
    await around.rows(
      `INSERT INTO objects (id, type_id, type_version, title, revision, workflow_state_id, "values", folded, created_at, updated_at)
       SELECT i.id, o.type_id, o.type_version, o.title, 1, o.workflow_state_id, o."values", o.folded, now(), now()
       FROM objects o, unnest($2::uuid[]) AS i (id) WHERE o.id = $1`,
      [like.id, made.map(({ id }) => id)],
    );
    return made;
  }

  it('lets others change its records before it ends', async () => {
    const made = await many(ITEMS);
    const first = made[0] as Made;
    const tried = bulk(
      made.map((one) => update(one, 5)),
      true,
    );
    await locked(rows, first.id, tried);
    assert.deepEqual(await order({ tried, patched: patch(first) }), ['patched', 'tried']);
    const { body } = await tried;
    assert.equal(body.data.filter(({ status }: any) => status === 'SUCCEEDED').length, ITEMS);
    assert.equal(body.meta.effects.events.length, 100);
    assert.equal(body.meta.effects.truncated, true);
  });

  it('gives up items that build on each other when others wait for their record', async () => {
    // A change that comes late finds the items judged already: then it is tried again with other records.
    for (let gaveWay = false; !gaveWay; ) {
      const [one, other] = (await many(2)) as [Made, Made];
      const chain = Array.from({ length: ITEMS - 1 }, (_, index) => update(one, index % 900, index + 1));
      const tried = bulk([update(other, 1), ...chain], true);
      await locked(rows, one.id, tried);
      const [{ status, body }] = await Promise.all([tried, patch(one)]);
      // A loaded machine may refuse the whole call.
      if (status === 503) continue;
      assert.equal(status, 200);
      const [apart, ...built] = body.data.map((item: any) => item.error?.code ?? item.status);
      assert.equal(apart, 'SUCCEEDED');
      gaveWay = built[0] === 'OVERLOADED';
      assert.deepEqual(new Set(built), new Set([gaveWay ? 'OVERLOADED' : 'SUCCEEDED']), 'all of them or none');
      const alone = await bulk(chain.slice(0, 20), true);
      const results = alone.body.data.map((item: any) => item.error?.code ?? item.status);
      assert.deepEqual(results, ['REVISION_CONFLICT', ...Array.from({ length: 19 }, () => 'SUCCEEDED')]);
    }
  });

  it('gives the results of the real run', async () => {
    const made = await many(40);
    const items = Array.from({ length: 120 }, (_, index) => {
      const one = made[(index * 7) % made.length] as Made;
      return update(one, index % 11 === 0 ? -1 : index, 1 + Math.floor(index / made.length));
    });
    const tried = await bulk(items, true);
    assert.deepEqual(tried.body.data, (await bulk(items, false)).body.data);
    const states = new Set(tried.body.data.map(({ status, error }: any) => error?.code ?? status));
    assert.deepEqual(states, new Set(['SUCCEEDED', 'INVALID_VALUES', 'REVISION_CONFLICT']));
  });

  it('lets three at once and the changes of others go on', async () => {
    const made = await many(200);
    const tried = concurrently(3, () =>
      bulk(
        made.map((one) => update(one, 5)),
        true,
      ),
    );
    for (const one of made.slice(0, 20)) await patch(one);
    for (const { status, body } of await tried) {
      assert.equal(status, 200);
      assert.equal(body.data.length, made.length);
    }
  });
});

describe('a dry run of an import', () => {
  let x: ImportExportFixture;
  before(async () => {
    x = await startImportExportFixture();
  });
  after(() => x.close());

  const rows: Rows = (text, values) => x.rows(text, values);

  it('lets others change its records before it ends, and judges repeated ids like the real run', async () => {
    const mapping = [
      { source: 'title', target: 'title' },
      { source: 'count', target: 'count' },
    ];
    const definition = await x.define({ mapping });
    const lines = Array.from({ length: ITEMS }, (_, index) => `e${index},Title ${index},1`);
    const made = await x.run('boss', definition, `ext,title,count\n${lines.join('\n')}\n`);
    const first = made.rows.find(({ externalId }) => externalId === 'e0')?.id ?? '';
    const again = lines.map((line, index) => line.replace(/,1$/, `,${index}`));
    // The second row of e5 changes nothing, the third builds on it, and the last is new with the first of its id.
    again.push('e5,Title 5,5', 'e5,Other 5,6', 'new,One,1', 'new,One,1', 'new,,1', 'e7,,7');
    const content = `ext,title,count\n${again.join('\n')}\n`;
    const tried = x.run('boss', definition, content, true);
    await locked(rows, first, tried);
    const values = { expectedRevision: 1, changes: { title: 'By another' } };
    const patched = x.ok('boss', 'PATCH', `/objects/${first}`, values);
    assert.deepEqual(await order({ tried, patched }), ['patched', 'tried']);
    const real = await x.run('boss', definition, content);
    const comparable = (run: { rows: any[] }) =>
      run.rows.map(({ row, externalId, status, errors }) => ({ row, externalId, status, errors }));
    assert.deepEqual(comparable(await tried), comparable(real));
    assert.deepEqual(
      new Set(real.rows.map(({ status }) => status)),
      new Set(['CREATED', 'UPDATED', 'SKIPPED', 'FAILED']),
    );
  });
});
