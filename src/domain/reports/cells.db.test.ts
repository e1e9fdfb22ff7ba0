/** Counts of large types: reports answered from them equal reports that read the records, while records change. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { type Made, type RecordFixture, startRecordFixture } from '../../../test/support/record-fixture.ts';
import { stepCounting } from './cells.ts';
import { reportChecks } from './health.ts';
import { startFactsRebuild } from './rebuild.ts';
import { givePlaces } from '../../platform/journal/places.ts';
import { isBehind } from '../../platform/journal/consumers.ts';
import { COUNTING, uncounted } from './store-cells.ts';
import { duringTransaction } from '../../../test/support/database.ts';

const OPEN = { field: 'workflowCategory', operator: 'in', value: ['open', 'waiting'] };
const KIND_A = { field: 'kind', operator: 'equals', value: 'a' };
const MEASURES = ['count', 'reopened', 'timeToDone.sum', 'timeToDone.avg', 'timeToFirstReply.avg', 'slaMet'];
const FINISH = { values: { solution: 'Done', secret: 'x', $decisionReport: '<p>Decided.</p>' } };

const QUERIES: Record<string, unknown>[] = [
  {},
  { groupBy: ['kind'] },
  { groupBy: ['workflowState'] },
  { groupBy: ['workflowCategory', 'kind'] },
  { groupBy: ['createdAt.month'], filter: KIND_A },
  { groupBy: ['createdAt.day', 'kind'] },
  { groupBy: ['createdAt.week'], filter: OPEN },
  { filter: { logic: 'OR', conditions: [OPEN, KIND_A] } },
  { filter: { field: 'kind', operator: 'is-empty', value: true } },
  { groupBy: ['typeCode', 'kind'], types: ['case', 'problem'] },
  { groupBy: ['kind'], period: { from: '2025-03-02', to: '2026-03-09' } },
  { groupBy: ['createdAt.day'], period: { from: '2026-03-05' } },
].flatMap((query, index) => {
  const zone = index % 2 === 0 ? 'Pacific/Auckland' : 'Asia/Kolkata';
  return ['UTC', zone].map((timeZone) => ({ ...query, timeZone }));
});

let fixture: RecordFixture;
let key: string;
const made: Made[] = [];

async function rows(query: Record<string, unknown>): Promise<unknown> {
  const body = { types: ['case'], measures: MEASURES, ...query };
  const answer = await fixture.app.request('POST', '/api/admin/v1/reports/query', { key, body });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.data.rows;
}

async function count(): Promise<void> {
  const { app, db } = fixture.app;
  while (await givePlaces(db));
  while (await stepCounting(db, app.system(), { least: 1 }));
}

async function violations(): Promise<number> {
  const check = reportChecks.find(({ name }) => name.includes('counts of reports'));
  const { app, db } = fixture.app;
  const found = await check?.find({ db, config: app.system().config, blobs: undefined as never });
  return found?.total ?? -1;
}

/** Each report from counts, and from the records themselves. */
async function compare(moment: string): Promise<void> {
  const counted: unknown[] = [];
  for (const query of QUERIES) counted.push(await rows(query));
  await fixture.rows('UPDATE report_counted_types SET is_whole = false');
  for (const [index, query] of QUERIES.entries()) {
    assert.deepEqual(counted[index], await rows(query), `${moment}: ${JSON.stringify(query)}`);
  }
  await fixture.rows('UPDATE report_counted_types SET is_whole = true');
  assert.equal(await violations(), 0, moment);
}

async function move(id: string, code: string, body: Record<string, unknown> = {}): Promise<void> {
  const { revision, workflowState } = await fixture.ok('chief', 'GET', `/objects/${id}`);
  const given = { transitionId: fixture.id(code), expectedRevision: revision, expectedStateId: workflowState.id };
  await fixture.ok('chief', 'POST', `/objects/${id}/transitions`, { ...given, ...body });
}

async function change(id: string, changes: Record<string, unknown>): Promise<void> {
  const { revision } = await fixture.ok('chief', 'GET', `/objects/${id}`);
  await fixture.ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision: revision, changes });
}

const id = (index: number): string => (made[index] as Made).id;

describe('counts of large types', () => {
  before(async () => {
    fixture = await startRecordFixture();
    ({ key } = await fixture.app.createKey({ login: 'chief', scopes: ['admin:manage'] }));
    for (let index = 0; index < 24; index++) {
      const one = await fixture.make({ kind: [null, 'a', 'b', 'a'][index % 4] });
      made.push(one);
      const at = new Date(Date.UTC(2026, 2, 1, 9) + index * 37_000_000).toISOString();
      await fixture.rows('UPDATE objects SET created_at = $2 WHERE id = $1', [one.id, at]);
      await fixture.rows('UPDATE report_facts SET created_at = $2 WHERE id = $1', [one.id, at]);
      if (index % 3 === 2) continue;
      await fixture.rows(
        `INSERT INTO sla_instances (id, object_id, policy_id, policy_version, revision, lock_version, status, started_at, stopped_at,
          pauses, start_armed, pause_armed, target_ms, calendar_id, calendar_version, pinned, elapsed_ms, due_at, next_at, notified_thresholds)
        SELECT $1, $2, $1, 1, 1, 1, s.status, $3, CASE WHEN s.status = 'STOPPED' THEN $3::timestamptz END, '[]', true, true, 1000, $1, 1, false,
          $4::int * 100, $3, CASE WHEN s.status = 'ACTIVE' THEN $3::timestamptz END, CASE WHEN $4::int % 5 = 0 THEN '["breach"]' ELSE '[]' END::jsonb
        FROM (SELECT CASE $4::int % 4 WHEN 0 THEN 'ACTIVE' WHEN 1 THEN 'PAUSED' ELSE 'STOPPED' END AS status) AS s`,
        [randomUUID(), one.id, at, index],
      );
    }
    await fixture.make({ kind: 'b' }, 'problem');
    await count();
  });
  after(() => fixture.close());

  it('equal the records after the first count', async () => {
    const [whole] = await fixture.rows<{ n: number }>(`SELECT count(*)::int AS n FROM report_counted`);
    assert.equal(whole?.n, 25);
    await compare('first count');
  });

  it('equal the records after changes, before and after these are counted', async () => {
    for (const index of [1, 3, 5]) await move(id(index), 'take');
    for (const index of [1, 3]) await move(id(index), 'finish', FINISH);
    await move(id(3), 'reopen');
    await change(id(2), { kind: 'a' });
    await change(id(4), { kind: 'b' });
    await change(id(6), { kind: null });
    await fixture.archive(made[7] as Made);
    await fixture.ok('agent', 'POST', `/objects/${id(9)}/comments`, { body: 'Hello', visibility: 'public' });
    made.push(await fixture.make({ kind: 'b' }));
    await compare('changes are not counted');
    await count();
    const { length } = await fixture.rows('SELECT FROM report_counted WHERE id = $1', [id(7)]);
    assert.equal(length, 0, 'an archived record is in no cell');
    await compare('changes are counted');
    await change(id(2), { kind: 'b' });
    await compare('changed again');
  });

  it('follow many changes in short transactions, and may be interrupted', async () => {
    const { app, db } = fixture.app;
    for (let index = 8; index < 20; index++) await change(id(index), { kind: index % 2 === 0 ? 'a' : 'b' });
    let transactions = 0;
    const step = (most: number): Promise<boolean> =>
      stepCounting(
        {
          query: (...given) => db.query(...given),
          transaction: async (...given) => {
            if (++transactions > most) throw new Error('interrupted');
            return await db.transaction(...given);
          },
        },
        app.system(),
        { least: 1, most: 5 },
      );
    while (await givePlaces(db));
    await step(2);
    await assert.rejects(step(0), /interrupted/);
    await compare('some of the changes are counted');
    transactions = 0;
    while (await step(100));
    assert.ok(transactions >= 2, `${transactions} more transactions for twelve changes`);
    assert.equal(await isBehind(db, COUNTING), false);
    await compare('all changes are counted');
  });

  it('include changes of transactions that were open during a pass', async () => {
    const { db } = fixture.app;
    await duringTransaction(db, async (client) => {
      await client.query(sql`UPDATE objects SET "values" = "values" || '{"kind": "b"}' WHERE id = ${id(11)}::uuid`);
      await client.query(sql`
        INSERT INTO journal (id, at, type, object_id, revision, actor_id, via, correlation_id, changes, data, hash)
        SELECT gen_random_uuid(), at, 'ObjectUpdated', object_id, 2, actor_id, via, correlation_id, '{"kind": ["a", "b"]}', data, hash
        FROM journal WHERE object_id = ${id(11)}::uuid LIMIT 1`);
      await change(id(13), { kind: 'b' });
      await count();
      assert.equal(await violations(), 0);
      await client.query('COMMIT');
    });
    await compare('the open transaction has committed');
    await count();
    await compare('its change is counted');
  });

  it('do not count records again whose cells and figures stay', async () => {
    const { db } = fixture.app;
    const comment = (at: number, visibility: string) =>
      fixture.ok('chief', 'POST', `/objects/${id(at)}/comments`, { body: 'Hello', visibility });
    for (const at of [14, 15]) await comment(at, 'public');
    await count();
    await change(id(12), { title: 'Another' });
    await comment(13, 'internal');
    for (const at of [14, 15]) await comment(at, 'public');
    assert.deepEqual(await uncounted(db, []), []);
    await compare('nothing to count');
    await change(id(16), { title: 'Another', kind: null });
    assert.deepEqual(await uncounted(db, []), [id(16)]);
    await compare('one record to count');
  });

  it('are used by readers of the whole type only', async () => {
    const viewer = (await fixture.app.createKey({ login: 'viewer', scopes: ['admin:manage'] })).key;
    const body = { types: ['case'], measures: ['count'] };
    const asked = async (who: string): Promise<unknown> =>
      (await fixture.app.request('POST', '/api/admin/v1/reports/query', { key: who, body })).body.data.rows[0]
        .values[0];
    const [all, some] = [await asked(key), await asked(viewer)];
    await fixture.rows('UPDATE report_cells SET n = n + 1000');
    assert.ok(Number(await asked(key)) > 1000 + Number(all));
    assert.equal(await asked(viewer), some);
    assert.ok((await violations()) > 0);
    await fixture.rows('UPDATE report_cells SET n = n - 1000');
  });

  it('follow the fields of the type, a rebuild of facts and another database', async () => {
    await fixture.rows(`UPDATE report_counted_types SET fields = '{}'`);
    await fixture.rows('UPDATE report_cells SET n = n + 1');
    assert.deepEqual(
      await rows({ measures: ['count'] }),
      await rows({ measures: ['count', 'timeToDone.p50'] }).then(firstOnly),
    );
    await count();
    await compare('counted again with the fields of the type');
    await fixture.rows(`UPDATE journal_placing SET storage = 'another'`);
    await compare('not counted before places are given in another database');
    await count();
    await compare('counted on in another database');
    const { work, system } = fixture.app.app;
    await work.write(system(), async (ctx) => startFactsRebuild(ctx));
    assert.equal(await stepCounting(fixture.app.db, system(), { least: 1 }), false, 'waits for the rebuild');
    await fixture.rows('UPDATE report_facts SET reopened = 3 WHERE id = $1', [id(2)]);
    await fixture.rows('DELETE FROM rebuilds');
    await count();
    await compare('counted again after a rebuild');
    // Another process starts and ends a rebuild between two passes.
    await fixture.rows(`INSERT INTO rebuilds (name, started_at, next_at) VALUES ('report-facts', now(), now())`);
    await fixture.rows('UPDATE report_facts SET reopened = 4 WHERE id = $1', [id(2)]);
    await fixture.rows('DELETE FROM rebuilds');
    await compare('not counted after a rebuild by another process');
    await count();
    await compare('counted again after a rebuild by another process');
  });
});

function firstOnly(all: unknown): unknown {
  return (all as { group: unknown[]; values: number[] }[]).map(({ group, values }) => ({ group, values: [values[0]] }));
}
