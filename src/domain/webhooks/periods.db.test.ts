/** The events that a subscription takes, by positions in the journal and record types, and the list of its deliveries. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { type WebhookFixture, startWebhookFixture } from '../../../test/support/webhook-fixture.ts';
import { dispatchAll } from '../../../test/support/dispatch-all.ts';
import { examineDeliveries, redispatch } from './health.ts';
import { newest } from './store.ts';
import { duringTransaction } from '../../../test/support/database.ts';

const clock = { now: () => Date.now() };

describe('the enabled period of a subscription', () => {
  let hooks: WebhookFixture;
  before(async () => {
    hooks = await startWebhookFixture({ idle: true });
  });
  after(() => hooks.close());
  beforeEach(async () => {
    for (const { id, state } of await hooks.ok('boss', 'GET', '/webhooks')) {
      if (state === 'ACTIVE') await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/archive`);
    }
    await dispatchAll(hooks.app.db, clock);
    hooks.receiver.received.length = 0;
    hooks.receiver.answer = { status: 200 };
  });

  const event = `INSERT INTO journal (id, at, type, via, hash) VALUES (gen_random_uuid(), now(), 'ObjectCreated', 'api', '\\x00')
    RETURNING id AS event_id`;
  /** Waits until a statement of this database waits for a lock; fails after a minute. */
  const lockAwaited = async (statement: string): Promise<void> => {
    const until = performance.now() + 60_000;
    const found = () =>
      hooks.rows(
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND query ~ $1`,
        [statement],
      );
    while ((await found()).length === 0) {
      assert.ok(performance.now() < until, `nothing like ${statement} waits for a lock`);
      await sleep(10);
    }
  };

  it('contains a change that began before it was enabled and was written after', async () => {
    const { id: objectId } = await hooks.make();
    const { id } = await hooks.subscribe({ enabled: false, eventTypes: ['ObjectUpdated'] });
    const { status } = await duringTransaction(hooks.app.db, async (client) => {
      await client.query('SELECT 1 FROM objects WHERE id = $1 FOR UPDATE', [objectId]);
      const changed = hooks.call('boss', 'PATCH', `/objects/${objectId}`, {
        expectedRevision: 1,
        changes: { title: 'Waits' },
      });
      await lockAwaited('UPDATE objects');
      await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/enable`);
      await client.query('COMMIT');
      return await changed;
    });
    assert.equal(status, 200);
    const [row] = await hooks.rows<{ after: boolean }>(
      `SELECT (SELECT seq FROM journal WHERE object_id = $1 AND revision = 2) > from_seq AS after
        FROM webhook_periods WHERE subscription_id = $2`,
      [objectId, id],
    );
    assert.equal(row?.after, true, 'its number is drawn when it holds the record');
    await dispatchAll(hooks.app.db, clock);
    assert.deepEqual(
      (await hooks.deliveries(id)).map((one) => one.objectId),
      [objectId],
    );
  });

  it('excludes an event with a lower number, however late it commits', async () => {
    const { id } = await hooks.subscribe({ enabled: false });
    await duringTransaction(hooks.app.db, async (client) => {
      await client.query(event);
      await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/enable`);
      await client.query('COMMIT');
    });
    await dispatchAll(hooks.app.db, clock);
    assert.deepEqual(await hooks.deliveries(id), []);
  });

  it('contains an event that commits before the disabling, and none that commits later', async () => {
    const { id } = await hooks.subscribe();
    const taken = await duringTransaction(hooks.app.db, async (client) => {
      const { event_id } = (await client.query(event)).rows[0] as { event_id: string };
      await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/disable`);
      await client.query('COMMIT');
      await client.query(event);
      return event_id;
    });
    await dispatchAll(hooks.app.db, clock);
    assert.deepEqual(
      (await hooks.deliveries(id)).map(({ eventId }) => eventId),
      [taken],
    );
  });

  it('is decided before a later event is dispatched', async () => {
    const { id } = await hooks.subscribe({ enabled: false });
    const taken = await duringTransaction(hooks.app.db, async (client) => {
      // Simulates a subscription that gets its number now and commits later.
      await client.query(
        `INSERT INTO webhook_periods (id, subscription_id, from_at, event_types, max_attempts, base_delay_ms)
          VALUES (gen_random_uuid(), $1, now(), '{ObjectCreated}', 3, 1000)`,
        [id],
      );
      const [{ event_id }] = (await hooks.rows(event)) as [{ event_id: string }];
      const dispatched = dispatchAll(hooks.app.db, clock);
      await lockAwaited('pg_advisory_xact_lock_shared');
      await client.query('COMMIT');
      await dispatched;
      return event_id;
    });
    assert.deepEqual(
      (await hooks.deliveries(id)).map(({ eventId }) => eventId),
      [taken],
    );
  });

  it('uses the same number for periods that one transaction ends and starts', async () => {
    const { id } = await hooks.subscribe();
    await duringTransaction(hooks.app.db, async (client) => {
      await client.query('UPDATE webhook_periods SET until_at = now() WHERE subscription_id = $1', [id]);
      await hooks.rows(event);
      await client.query(
        `INSERT INTO webhook_periods (id, subscription_id, from_at, event_types, max_attempts, base_delay_ms)
          VALUES (gen_random_uuid(), $1, now(), '{ObjectCreated}', 3, 1000)`,
        [id],
      );
      await client.query('COMMIT');
    });
    const [row] = await hooks.rows<{ n: number; numbers: number }>(
      `SELECT count(*)::int AS n, count(DISTINCT coalesce(until_seq, from_seq))::int AS numbers
        FROM webhook_periods WHERE subscription_id = $1`,
      [id],
    );
    assert.deepEqual(row, { n: 2, numbers: 1 });
    await dispatchAll(hooks.app.db, clock);
    assert.equal((await hooks.deliveries(id)).length, 1, 'no event falls between, none into both');
  });

  it('draws numbers one by one, so that a later one is never smaller', async () => {
    const [row] = await hooks.rows<{ cache: number }>(
      `SELECT seqcache::int AS cache FROM pg_sequence WHERE seqrelid = pg_get_serial_sequence('journal', 'seq')::regclass`,
    );
    assert.equal(row?.cache, 1);
  });

  it('creates deliveries only for events on records of its types', async () => {
    const { id: things } = await hooks.subscribe({ filters: { types: ['thing'] } });
    const { id: both } = await hooks.subscribe({ filters: { types: ['thing', 'other'] } });
    const { id: all } = await hooks.subscribe();
    const thing = await hooks.make();
    const other = await hooks.make({}, 'other');
    await dispatchAll(hooks.app.db, clock);
    const about = async (id: string) => (await hooks.deliveries(id)).map(({ objectId }) => objectId);
    assert.deepEqual(await about(things), [thing.id]);
    assert.deepEqual(await about(both), [other.id, thing.id]);
    assert.deepEqual(await about(all), [other.id, thing.id]);
  });

  it('is compared with the dispatched events by docket doctor, and repaired', async () => {
    const { id, code } = await hooks.subscribe({ filters: { types: ['thing'] } });
    await hooks.make({}, 'other');
    for (let turn = 0; turn < 3; turn++) await hooks.make();
    const none = { events: 0, subscriptions: [] };
    const missing = async () => (await examineDeliveries(hooks.app.db)).missing;
    assert.deepEqual(await missing(), none, 'what waits is not missing');
    await dispatchAll(hooks.app.db, clock);
    assert.deepEqual(await missing(), none);
    await hooks.rows(
      `DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE subscription_id = $1 ORDER BY event_seq LIMIT 2)`,
      [id],
    );
    assert.deepEqual(await missing(), { events: 2, subscriptions: [code] });
    assert.deepEqual(
      await Promise.all([redispatch(hooks.app.db, clock), redispatch(hooks.app.db, clock)]).then(sum),
      2,
    );
    assert.deepEqual(await missing(), none);
    await dispatchAll(hooks.app.db, clock);
    assert.equal((await hooks.deliveries(id)).length, 3);
    assert.equal(await redispatch(hooks.app.db, clock), 0);
  });
});

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

describe('deliveries', () => {
  let hooks: WebhookFixture;
  before(async () => {
    hooks = await startWebhookFixture({ idle: true });
  });
  after(() => hooks.close());

  it('of one batch begin in the order of their events, and end with their last attempt', async () => {
    const { id } = await hooks.subscribe({ retryPolicy: { maxAttempts: 1, baseDelayMs: 1 } });
    const made = [];
    for (let turn = 0; turn < 20; turn++) made.push((await hooks.make()).id);
    hooks.receiver.answer = { status: 500, delayMs: 300 };
    const loop = hooks.app.app.startWorker();
    const rows = await hooks.settled(id, made.length);
    await loop.stop();
    assert.deepEqual(
      rows.map(({ objectId }) => objectId),
      made.toReversed(),
    );
    const begun = rows.toReversed().map(({ attempts }) => attempts[0].at);
    assert.deepEqual(begun, begun.toSorted());
    for (const { finishedAt, attempts, response } of rows) {
      assert.ok(response.durationMs >= 290);
      assert.ok(Date.parse(finishedAt) - Date.parse(attempts[0].at) >= response.durationMs, JSON.stringify(attempts));
    }
  });

  it('are listed by status: the last hundred of each, read from an index', async () => {
    const { id } = await hooks.subscribe({ enabled: false });
    await hooks.rows(
      `INSERT INTO webhook_deliveries (id, subscription_id, event_id, event_type, event_at, event_seq, event_data, status,
          max_attempts, base_delay_ms, created_at, due_at, finished_at)
        SELECT gen_random_uuid(), CASE WHEN n % 50 = 0 THEN $1 ELSE gen_random_uuid() END, gen_random_uuid(), 'ObjectCreated',
          now(), n, '{}', CASE WHEN n % 200 = 0 THEN 'FAILED' WHEN n % 200 = 50 THEN 'SKIPPED' ELSE 'DELIVERED' END, 1, 1, now(),
          now(), now() FROM generate_series(1, 30000) n`,
      [id],
    );
    await hooks.rows('ANALYZE webhook_deliveries');
    const list = async (query: string) =>
      await hooks.ok<{ status: string }[]>('boss', 'GET', `/webhook-deliveries${query}`);
    const statuses = (rows: { status: string }[]) => [...new Set(rows.map(({ status }) => status))].sort();
    const failed = await list('?status=FAILED');
    assert.deepEqual([failed.length, statuses(failed)], [100, ['FAILED']]);
    const troubled = await list(`?status=FAILED,SKIPPED,PENDING&subscriptionId=${id}`);
    assert.deepEqual([troubled.length, statuses(troubled)], [100, ['FAILED', 'SKIPPED']]);
    assert.deepEqual(await list('?status=PENDING'), []);
    assert.equal((await list('')).length, 100);
    for (const wrong of ['?status=', '?status=failed', '?status=FAILED,', '?status=FAILED,LOST', '?status=FAILED%20']) {
      const { status, body } = await hooks.call('boss', 'GET', `/webhook-deliveries${wrong}`);
      assert.deepEqual([status, body.error.code, body.error.details[0].path], [400, 'INVALID_REQUEST', 'query.status']);
    }
    for (const [own, named] of [
      [undefined, ['FAILED']],
      [undefined, undefined],
      [id, ['FAILED', 'SKIPPED']],
    ] as const) {
      const { text, values } = newest(own === undefined ? undefined : sql`${own}::uuid`, 100, named);
      const plan = await hooks.rows<{ 'QUERY PLAN': string }>(`EXPLAIN SELECT * FROM ${text} AS x`, values);
      const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(lines, own === undefined ? /webhook_deliveries_by_status/ : /webhook_deliveries_by_subscription/);
      assert.doesNotMatch(lines, /Seq Scan on webhook_deliveries|Sort/);
    }
  });
});
