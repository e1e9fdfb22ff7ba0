/** Bulk changes through HTTP (docs/spec/import-export-bulk.md#bulk). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type RecordFixture,
  duringUncommittedChange,
  type Made,
  type FixtureUser,
  assertRejected,
  startRecordFixture,
  concurrently,
} from '../../../test/support/record-fixture.ts';

const MAX = 1000;
let around: RecordFixture;

interface Result {
  objectId: string;
  status: 'SUCCEEDED' | 'FAILED';
  revision?: number;
  error?: { code: string; message: string; details: unknown };
}

const bulk = (operation: string, items: object[], who: FixtureUser = 'chief'): Promise<Result[]> =>
  around.ok(who, 'POST', '/bulk', { operation, items });

const update = (made: Made, changes: object, expectedRevision = 1) => ({
  objectId: made.id,
  expectedRevision,
  changes,
});
const many = (count: number, values: object = {}): Promise<Made[]> =>
  concurrently(count, () => around.make({ ...values }));
const outcomes = (results: readonly Result[]): string[] => results.map(({ status, error }) => error?.code ?? status);

const revisions = async (made: readonly Made[]): Promise<number[]> => {
  const rows = await around.rows<{ revision: number }>(
    `SELECT o.revision FROM objects o JOIN unnest($1::uuid[]) WITH ORDINALITY AS w (id, n) USING (id) ORDER BY n`,
    [made.map(({ id }) => id)],
  );
  return rows.map(({ revision }) => revision);
};

/** Type, revision and channel of every event of the record. */
const events = async (made: Made): Promise<string[]> => {
  const rows = await around.rows<{ type: string; revision: number; via: string }>(
    'SELECT type, revision, via FROM journal WHERE object_id = $1 ORDER BY seq',
    [made.id],
  );
  return rows.map(({ type, revision, via }) => `${type} ${revision} ${via}`);
};

describe('bulk', () => {
  before(async () => {
    around = await startRecordFixture();
  });
  after(() => around.close());

  it('runs each of the three operations in the order of the items', async () => {
    const made = await many(3);
    const updated = await bulk(
      'update',
      made.map((one, index) => update(one, { note: `n${index}` })),
    );
    assert.deepEqual(
      updated,
      made.map(({ id }) => ({ objectId: id, status: 'SUCCEEDED', revision: 2 })),
    );
    const moved = await bulk(
      'transition',
      made.map(({ id, stateId }) => ({
        objectId: id,
        transitionId: around.id('take'),
        expectedRevision: 2,
        expectedStateId: stateId,
        values: { count: 5 },
      })),
    );
    assert.deepEqual(
      moved.map(({ revision }) => revision),
      [3, 3, 3],
    );
    const reversed = [...made].reverse();
    const archived = await bulk(
      'archive',
      reversed.map(({ id }) => ({ objectId: id, expectedRevision: 3 })),
    );
    assert.deepEqual(
      archived.map(({ objectId }) => objectId),
      reversed.map(({ id }) => id),
    );
    for (const [index, one] of made.entries()) {
      const { values, state, workflowState } = await around.ok('chief', 'GET', `/objects/${one.id}`);
      assert.deepEqual([values.note, values.count, state, workflowState.code], [`n${index}`, 5, 'ARCHIVED', 'work']);
      assert.deepEqual(await events(one), [
        'ObjectCreated 1 api',
        'ObjectUpdated 2 bulk',
        'ObjectTransitioned 3 bulk',
        'ObjectArchived 4 bulk',
      ]);
    }
  });

  it('keeps other items when one fails', async () => {
    const [one, two, three, four, five, six] = (await many(6)) as [Made, Made, Made, Made, Made, Made];
    await around.archive(six);
    const results = await bulk('update', [
      update(one, { note: 'x' }),
      update(two, { note: 'x', count: 5000 }),
      update(three, { note: 'x' }, 9),
      update({ ...four, id: randomUUID() }, { note: 'x' }),
      update(five, { note: 'x' }),
      update(six, { note: 'x' }, 2),
      update(four, { nothing: 1 }),
    ]);
    assert.deepEqual(outcomes(results), [
      'SUCCEEDED',
      'INVALID_VALUES',
      'REVISION_CONFLICT',
      'NOT_FOUND',
      'SUCCEEDED',
      'ARCHIVED',
      'INVALID_VALUES',
    ]);
    assert.deepEqual(await revisions([one, two, three, four, five, six]), [2, 1, 1, 1, 2, 2]);
    for (const failed of [two, three, four]) assert.deepEqual(await events(failed), ['ObjectCreated 1 api']);
    assert.equal(results.filter(({ revision }) => revision !== undefined).length, 2);
  });

  it('applies two items on one record in order', async () => {
    const made = await around.make();
    const equal = await bulk('update', [update(made, { note: 'a' }), update(made, { note: 'b' })]);
    assert.deepEqual(outcomes(equal), ['SUCCEEDED', 'REVISION_CONFLICT']);
    const rising = await bulk('update', [
      update(made, { note: 'c' }, 2),
      update(made, { count: 1 }, 3),
      update(made, { note: 'd' }, 4),
    ]);
    assert.deepEqual(
      rising.map(({ revision }) => revision),
      [3, 4, 5],
    );
    const { values } = await around.ok('chief', 'GET', `/objects/${made.id}`);
    assert.deepEqual([values.note, values.count], ['d', 1]);
    const archived = await bulk('archive', [
      { objectId: made.id, expectedRevision: 5 },
      { objectId: made.id, expectedRevision: 6 },
    ]);
    assert.deepEqual(outcomes(archived), ['SUCCEEDED', 'ARCHIVED']);
    const failing = await around.make();
    const mixed = await bulk('update', [update(failing, { count: -1 }), update(failing, { count: 2 })]);
    assert.deepEqual(outcomes(mixed), ['INVALID_VALUES', 'SUCCEEDED'], 'what failed is no change');
  });

  it('checks the rights on each record', async () => {
    const mine = await around.make();
    const other = await around.make({ kind: 'b' });
    const absent = { ...other, id: randomUUID() };
    const seen = await bulk(
      'update',
      [update(mine, { kind: 'a' }), update(other, { kind: 'a' }), update(absent, { kind: 'a' })],
      'viewer',
    );
    assert.deepEqual(outcomes(seen), ['RIGHT_MISSING', 'NOT_FOUND', 'NOT_FOUND']);
    assert.deepEqual(seen[1]?.error, seen[2]?.error, 'a hidden record is an absent one');
    const fields = await bulk(
      'update',
      [update(mine, { secret: 'x' }), update(mine, { absent: 'x' }), update(mine, { grade: 'x' })],
      'agent',
    );
    assert.deepEqual(outcomes(fields), ['INVALID_VALUES', 'INVALID_VALUES', 'FIELD_READ_ONLY']);
    const { key } = await around.app.createKey({ login: 'chief', scopes: ['objects:read'] });
    const body = { operation: 'archive', items: [{ objectId: mine.id, expectedRevision: 1 }] };
    assertRejected(await around.app.request('POST', '/api/v1/bulk', { key, body }), 403, 'SCOPE_MISSING');
  });

  it('accepts 1 to 1000 items of one operation and its shape', async () => {
    const made = await around.make();
    const item = update(made, { note: 'x' });
    const archive = { objectId: made.id, expectedRevision: 1 };
    const bad = [
      {},
      { operation: 'update' },
      { operation: 'update', items: [] },
      { operation: 'update', items: Array.from({ length: MAX + 1 }, () => item) },
      { operation: 'create', items: [item] },
      { operation: 'archive', items: [item] },
      { operation: 'update', items: [archive] },
      { operation: 'transition', items: [archive] },
      { operation: 'update', items: [{ ...item, changes: {} }] },
      { operation: 'update', items: [{ ...item, expectedRevision: '1' }] },
      { operation: 'update', items: [{ ...item, objectId: 'x' }] },
      { operation: 'update', items: [{ ...item, more: 1 }] },
      { operation: 'update', items: [item], more: 1 },
      { operation: 'update', items: { 0: item } },
      [item],
    ];
    for (const body of bad) {
      const answer = await around.call('chief', 'POST', '/bulk', body);
      assertRejected(answer, 400, 'INVALID_REQUEST', JSON.stringify(body).slice(0, 200));
      assert.ok(answer.body.error.details.length > 0);
    }
    assert.deepEqual(await revisions([made]), [1]);
  });

  it(`changes ${MAX} records in one call`, async () => {
    const rows = Array.from({ length: MAX }, () => randomUUID());
    const [like] = await many(1);
    await around.rows(
      `INSERT INTO objects (id, type_id, type_version, title, revision, workflow_state_id, "values", folded, created_at, updated_at)
       SELECT i.id, o.type_id, o.type_version, o.title, 1, o.workflow_state_id, o."values", o.folded, now(), now()
       FROM objects o, unnest($2::uuid[]) AS i (id) WHERE o.id = $1`,
      [like?.id, rows],
    );
    const made = rows.map((id) => ({ id, revision: 1, stateId: '' }));
    const results = await bulk(
      'update',
      made.map((one, index) => update(one, { count: index % 10 === 0 ? -1 : 7 })),
    );
    assert.deepEqual(
      results.map(({ objectId }) => objectId),
      rows,
    );
    assert.equal(results.filter(({ status }) => status === 'SUCCEEDED').length, MAX * 0.9);
    assert.ok(results.every(({ error }, index) => (error?.code === 'INVALID_VALUES') === (index % 10 === 0)));
    const [row] = await around.rows<{ n: number }>(`SELECT count(*)::int AS n FROM journal WHERE object_id = ANY($1)`, [
      rows,
    ]);
    assert.equal(row?.n, MAX * 0.9);
  });

  it('returns no deadlock to clients with opposite orders', async () => {
    const made = await many(20);
    let succeeded = 0;
    for (let round = 0; round < 15; round++) {
      const [now] = await revisions(made);
      const results = await concurrently(4, async (turn) => {
        const current = await revisions(made);
        const order = turn % 2 === 0 ? [...made.keys()] : [...made.keys()].reverse();
        return await bulk(
          'update',
          order.map((index) => update(made[index] as Made, { note: `${round} ${turn}` }, current[index])),
        );
      });
      assert.ok(now !== undefined);
      for (const result of results.flat()) {
        if (result.status === 'SUCCEEDED') succeeded++;
        else assert.equal(result.error?.code, 'REVISION_CONFLICT');
      }
    }
    const total = (await revisions(made)).reduce((sum, revision) => sum + revision - 1, 0);
    assert.equal(total, succeeded, 'every success is one revision');
    assert.ok(succeeded >= 15 * 20, 'one item wins in every round');
    const [row] = await around.rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM journal WHERE object_id = ANY($1) AND via = 'bulk'`,
      [made.map(({ id }) => id)],
    );
    assert.equal(row?.n, succeeded);
  });

  it('locks records in one order', async () => {
    const made = await many(20);
    const items = made.map((one) => update(one, { note: 'x' }));
    // Force the plan of a large table: each row is looked up by its id, in any order.
    const [database] = await around.rows<{ name: string }>('SELECT current_database() AS name');
    for (const way of ['seqscan', 'hashjoin', 'mergejoin']) {
      await around.rows(`ALTER DATABASE ${database?.name} SET enable_${way} = off`);
    }
    await around.rows(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await sleep(50);
    const held = await duringUncommittedChange(
      around,
      'SELECT 1 FROM objects WHERE id = $1 FOR UPDATE',
      [made[10]?.id],
      async () => {
        const calls = [items, [...items].reverse()].map((all) => bulk('update', all));
        const results = (await Promise.all(calls)).map((one) => outcomes(one).join());
        assert.deepEqual(results.sort(), [
          items.map(() => 'REVISION_CONFLICT').join(),
          items.map(() => 'SUCCEEDED').join(),
        ]);
        return await around.call('chief', 'GET', `/objects/${made[0]?.id}`);
      },
      2,
    );
    assert.equal(held.body.data.revision, 2);
    // PostgreSQL reports statistics with a delay.
    await sleep(1100);
    await around.rows('SELECT pg_stat_force_next_flush()');
    const [figures] = await around.rows<{ deadlocks: number }>(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    );
    assert.equal(figures?.deadlocks, 0);
  });

  it('runs concurrently with single changes', async () => {
    const made = await many(40);
    const [results, singles] = await Promise.all([
      bulk(
        'update',
        made.map((one) => update(one, { note: 'bulk' })),
      ),
      Promise.all(
        made.map((one) =>
          around.call('chief', 'PATCH', `/objects/${one.id}`, { expectedRevision: 1, changes: { note: 'single' } }),
        ),
      ),
    ]);
    for (const [index, result] of results.entries()) {
      const single = singles[index]?.status;
      const both = [result.status, single];
      assert.ok((result.status === 'SUCCEEDED') !== (single === 200), JSON.stringify(both));
    }
    assert.ok((await revisions(made)).every((revision) => revision === 2));
  });
});
