/** Dry runs of writes through HTTP: what they show to whom, and how long they wait. `access.db.test.ts` covers every operation. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sql, { raw } from 'sql-template-tag';
import { Fault } from '../../lib/fault.ts';
import { limitTime } from '../../platform/database/pool.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import {
  assertRejected,
  duringUncommittedChange,
  type FixtureUser,
  type Made,
  type RecordFixture,
  startRecordFixture,
} from '../../../test/support/record-fixture.ts';

describe('a dry run', () => {
  let around: RecordFixture;

  before(async () => {
    around = await startRecordFixture();
  });
  after(() => around.close());

  const stateOf = async (made: Made): Promise<string | undefined> =>
    (await around.ok('chief', 'GET', `/objects/${made.id}`)).workflowState?.code;

  /** The effects of the call, and its data. */
  const dry = async (who: FixtureUser, method: string, path: string, body: unknown): Promise<any> => {
    const answer = await around.call(who, method, `${path}?dryRun=true`, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    assert.equal(answer.body.meta.dryRun, true);
    return { data: answer.body.data, ...answer.body.meta.effects };
  };

  it('shows the changes of an event in the order of the history', async () => {
    const { id } = await around.make({});
    const body = { expectedRevision: 1, changes: { title: 'Other', secret: 'hush', kind: 'b' } };
    const [tried] = (await dry('chief', 'PATCH', `/objects/${id}`, body)).events;
    await around.ok('chief', 'PATCH', `/objects/${id}`, body);
    const written = (await around.ok('chief', 'GET', `/objects/${id}/history`)).at(-1);
    assert.deepEqual(tried.changes, written.changes);
    assert.deepEqual(
      tried.changes.map(({ field }: any) => field),
      ['kind', 'secret', 'title'],
    );
  });

  it('shows each caller the events that the history would show, and no number', async () => {
    const made = await around.make({ kind: 'a' });
    const take = { transitionId: around.id('take'), expectedRevision: 1, expectedStateId: made.stateId };
    await around.ok('chief', 'POST', `/objects/${made.id}/transitions`, take);
    const hold = {
      transitionId: around.id('hold'),
      expectedRevision: 2,
      expectedStateId: around.id('work'),
      values: { $reason: 'Waiting', secret: 'hush' },
    };
    const path = `/objects/${made.id}/transitions`;
    const { events, webhooks } = await dry('chief', 'POST', path, hold);
    assert.deepEqual(
      events.map(({ type, objectId, revision }: any) => [type, objectId, revision]),
      [['ObjectTransitioned', made.id, 3]],
    );
    assert.deepEqual(events[0].changes.map(({ field }: any) => field).sort(), ['secret', 'workflowState']);
    assert.deepEqual(webhooks, []);
    const { $reason } = hold.values;
    const forAgent = await dry('agent', 'POST', path, { ...hold, values: { $reason } });
    assert.deepEqual(
      forAgent.events[0].changes.map(({ field }: any) => field),
      ['workflowState'],
    );
    assert.deepEqual(await stateOf(made), 'work');
    const values = { title: 'A record', kind: 'a' };
    const created = await dry('chief', 'POST', '/objects', { typeDefinitionId: 'case', values });
    assert.equal(created.data.number, null);
    assertRejected(await around.call('chief', 'GET', `/objects/${created.data.id}`), 404, 'NOT_FOUND');
  });

  it('shows all items of a bulk change, each on the result of those before', async () => {
    const made = await around.make();
    const items = ['One', 'Two'].map((title, index) => ({
      objectId: made.id,
      expectedRevision: index + 1,
      changes: { title },
    }));
    const { data, events } = await dry('chief', 'POST', '/bulk', { operation: 'update', items });
    assert.deepEqual(
      data.map(({ revision }: any) => revision),
      [2, 3],
    );
    assert.deepEqual(
      events.map(({ changes }: any) => changes[0]),
      [
        { field: 'title', from: 'A record', to: 'One' },
        { field: 'title', from: 'One', to: 'Two' },
      ],
    );
  });

  it('shows the first hundred events, and says that there are more', async () => {
    const made = await around.make();
    const itemsOf = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        objectId: made.id,
        expectedRevision: index + 1,
        changes: { note: `note ${index}` },
      }));
    for (const [count, isTruncated] of [
      [100, false],
      [101, true],
    ] as const) {
      const { events, truncated } = await dry('chief', 'POST', '/bulk', { operation: 'update', items: itemsOf(count) });
      assert.deepEqual([events.length, truncated], [100, isTruncated]);
    }
  });

  it('keeps to its time after a failed unit, and whatever limit a unit sets', async () => {
    const { work, system } = around.app.app;
    const limit = async (ctx: ReadContext): Promise<number> => {
      const [row] = await ctx.query<{ ms: number }>(
        sql`SELECT setting::int AS ms FROM pg_settings WHERE name = 'statement_timeout'`,
      );
      return row?.ms ?? 0;
    };
    await work.dryRun(
      async (units) => {
        const failed = units.write(system(), async (ctx) => {
          await ctx.query(sql`SELECT pg_sleep(0.7)`);
          await limit(ctx);
          throw new Fault('NOT_FOUND', 'A unit that fails.');
        });
        await assert.rejects(failed);
        assert.ok((await units.read(system(), limit)) <= 1300, 'the savepoint had restored the first limit');
        const own = await units.read(system(), async (ctx) => {
          await limitTime(ctx, 60_000);
          return await limit(ctx);
        });
        assert.ok(own <= 1300);
      },
      { lockMs: 1000, totalMs: 2000 },
    );
  });

  it('waits a second for a lock', async () => {
    const made = await around.make();
    const change = { expectedRevision: 1, changes: { note: 'x' } };
    const answer = await duringUncommittedChange(
      around,
      `UPDATE objects SET updated_at = now() WHERE id = $1`,
      [made.id],
      () => around.call('chief', 'PATCH', `/objects/${made.id}?dryRun=true`, change),
      9,
    );
    assertRejected(answer, 503, 'OVERLOADED');
  });

  it('ends after ten seconds, and others need not wait for the dry runs of one caller', async () => {
    const [quick, ...slow] = await Promise.all([around.make(), around.make(), around.make(), around.make()]);
    const { db } = around.app;
    const ids = slow.map(({ id }) => `'${id}'`).join();
    const sleeps = `IF NEW.id IN (${ids}) THEN PERFORM pg_sleep(60); END IF`;
    const body = `$$ BEGIN ${sleeps}; RETURN NEW; END $$`;
    await db.query(raw(`CREATE FUNCTION slow_change() RETURNS trigger LANGUAGE plpgsql AS ${body}`));
    await db.query(
      raw('CREATE TRIGGER slow_change BEFORE UPDATE ON objects FOR EACH ROW EXECUTE FUNCTION slow_change()'),
    );
    const tried = async (who: FixtureUser, { id }: Made) => {
      const started = performance.now();
      const change = { expectedRevision: 1, changes: { note: 'x' } };
      const given = await around.call(who, 'PATCH', `/objects/${id}?dryRun=true`, change);
      return { given, took: performance.now() - started };
    };
    try {
      let ended = 0;
      const held = slow.map((made) => tried('chief', made).finally(() => ended++));
      const sleeping = raw(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
      );
      while ((await db.query(sleeping)).length < slow.length) await sleep(20);
      const waiting = tried('chief', quick);
      const other = await tried('agent', quick);
      assert.equal(other.given.status, 200);
      assert.equal(ended, 0, 'it did not wait for any of them');
      for (const { given, took } of await Promise.all(held)) {
        assertRejected(given, 503, 'OVERLOADED');
        // Well below the minute that each statement sleeps.
        assert.ok(took > 8000 && took < 40_000, `${took} ms`);
      }
      const last = await waiting;
      assert.equal(last.given.status, 200);
      assert.ok(last.took > 5000, `${last.took} ms: three of the caller were running`);
    } finally {
      await db.query(raw('DROP FUNCTION slow_change CASCADE'));
    }
  });
});
