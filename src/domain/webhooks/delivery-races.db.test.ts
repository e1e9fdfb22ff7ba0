/**
 * Many processes, failures and slow receivers: no delivery is lost or repeated without need, and receivers do not delay each
 * other.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, TEST_SECRETS, type TestApp, type TestOptions } from '../../../test/support/app.ts';
import { type WebhookFixture, startWebhookFixture } from '../../../test/support/webhook-fixture.ts';
import { type Receiver, startReceiver } from '../../../test/support/receiver.ts';
import { instant } from '../../platform/clock.ts';
import { givePlaces } from '../../platform/journal/places.ts';
import { SecretBox } from '../../platform/secrets.ts';
import { dispatchAll } from '../../../test/support/dispatch-all.ts';
import { examineDeliveries, examineSecrets } from './health.ts';
import { finishDeliveries, leaseDeliveries, purgeDeliveries } from './store-delivery.ts';
import { duringTransaction } from '../../../test/support/database.ts';

const systemTime = { now: () => Date.now() };

describe('concurrent deliveries', () => {
  let hooks: WebhookFixture;
  before(async () => {
    hooks = await startWebhookFixture({ idle: true });
  });
  after(() => hooks.close());
  beforeEach(async () => {
    for (const { id, state } of await hooks.ok('boss', 'GET', '/webhooks')) {
      if (state === 'ACTIVE') await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/archive`);
    }
    hooks.receiver.received.length = 0;
    hooks.receiver.answer = { status: 200 };
  });

  const other = (more: Pick<TestOptions, 'deliveryEveryMs'> = {}): Promise<TestApp> =>
    startTestApp({ on: hooks.app, outbound: { allowPrivate: true, ca: hooks.receiver.ca }, ...more });
  const makeMany = (count: number) => Promise.all(Array.from({ length: count }, () => hooks.make()));
  /** @param now explicit, so that no lease ends because the machine is slow */
  const leaseAll = (lease: string, leaseMs: number, now: number, each = 1000) =>
    leaseDeliveries(hooks.app.db, {
      lease,
      now: instant(now),
      until: instant(now + leaseMs),
      total: 1000,
      each,
      capacities: [],
    });

  it('start at once on a notification from the committing process', async () => {
    // This process has done no background work yet, so it notifies other processes.
    await hooks.subscribe();
    // Without a notification, its timers would poll only once an hour.
    const worker = await other({ deliveryEveryMs: 3_600_000 });
    try {
      worker.app.startWorker();
      const listens =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND query LIKE 'LISTEN %'";
      while ((await hooks.rows(listens)).length === 0) await sleep(10);
      for (let turn = 0; turn < 15; turn++) {
        await hooks.make();
        await hooks.receiver.wait(turn + 1);
      }
    } finally {
      await worker.close();
    }
  });

  it('are made by one process each, with any number of processes', async () => {
    const { id } = await hooks.subscribe();
    const others = await Promise.all([other(), other()]);
    try {
      const loops = [hooks.app, ...others].map(({ app }) => app.startWorker());
      await makeMany(300);
      await hooks.receiver.wait(300);
      await hooks.settled(id, 100);
      await Promise.all(loops.map((loop) => loop.stop()));
      const ids = hooks.receiver.received.map(({ body }) => body.deliveryId);
      assert.equal(ids.length, 300, 'none came twice');
      assert.equal(new Set(ids).size, 300);
      assert.equal(new Set(hooks.receiver.received.map(({ body }) => body.eventId)).size, 300);
    } finally {
      await Promise.all(others.map((app) => app.close()));
    }
  });

  it('are leased to one process, and again only after the lease has expired', async () => {
    await hooks.subscribe();
    await makeMany(60);
    await dispatchAll(hooks.app.db, systemTime);
    const leases = Array.from({ length: 6 }, () => randomUUID());
    const began = Date.now();
    const taken = await Promise.all(leases.map((lease) => leaseAll(lease, 300, began, 20)));
    const ids = taken.flat().map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, 'no delivery was leased twice');
    const rest = await leaseAll(randomUUID(), 300, began);
    assert.equal(ids.length + rest.length, 60);
    assert.deepEqual(await leaseAll(randomUUID(), 300, began + 299), []);
    const turn = taken.findIndex((own) => own.length > 0);
    const late = leases[turn] as string;
    const mine = taken[turn]?.[0];
    assert.ok(mine);
    const again = await leaseAll(randomUUID(), 300, began + 300);
    assert.equal(again.length, 60, 'who leased them is taken for dead');
    const at = instant(Date.now());
    const note = { attempted: true, at, ended_at: at, due_at: at, http_status: 200 };
    await finishDeliveries(hooks.app.db, [
      { ...note, id: mine.id, lease: late, status: 'DELIVERED', duration_ms: 1, excerpt: '', error: null },
    ]);
    const [row] = await hooks.rows('SELECT status, attempt_count FROM webhook_deliveries WHERE id = $1', [mine.id]);
    assert.deepEqual(row, { status: 'PENDING', attempt_count: 0 }, 'a word that comes too late changes nothing');
    // The worker's clock must be past the second lease.
    while (Date.now() <= began + 600) await sleep(20);
    const loop = hooks.app.app.startWorker();
    await hooks.receiver.wait(60);
    await loop.stop();
    assert.deepEqual(
      new Set(hooks.receiver.received.map(({ body }) => body.deliveryId)),
      new Set(again.map(({ id }) => id)),
    );
  });

  it('are not leased while another process is leasing them', async () => {
    await hooks.subscribe();
    await makeMany(5);
    await dispatchAll(hooks.app.db, systemTime);
    await duringTransaction(hooks.app.db, async (client) => {
      const later =
        "UPDATE webhook_deliveries SET lease = $1, due_at = now() + interval '1 minute' WHERE status = 'PENDING'";
      await client.query(later, [randomUUID()]);
      // Leasing skips locked rows, so it finishes before the other transaction commits.
      assert.deepEqual(await leaseAll(randomUUID(), 300, Date.now()), []);
      await client.query('COMMIT');
      assert.deepEqual(await leaseAll(randomUUID(), 300, Date.now()), []);
    });
  });

  it('contain no event from before the subscription, even if it commits later', async () => {
    await hooks.make();
    const { id } = await hooks.subscribe();
    const { id: later } = await hooks.make();
    await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/disable`);
    await hooks.make();
    await dispatchAll(hooks.app.db, systemTime);
    assert.deepEqual(
      (await hooks.deliveries(id)).map(({ objectId }) => objectId),
      [later],
    );
  });

  it('contain exactly the events while the subscription was enabled, under concurrent changes', async () => {
    const { id } = await hooks.subscribe();
    const loop = hooks.app.app.startWorker();
    let over = false;
    const streaming = (async () => {
      while (!over) await makeMany(4);
    })();
    for (let turn = 0; turn < 10; turn++) {
      await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/${turn % 2 === 1 ? 'enable' : 'disable'}`);
      await sleep(2);
      await makeMany(3);
    }
    over = true;
    await streaming;
    await loop.stop();
    await dispatchAll(hooks.app.db, systemTime);
    const events = await hooks.rows<{ seq: number; due: number; made: number }>(
      `SELECT j.seq, (SELECT count(*)::int FROM webhook_periods p WHERE p.subscription_id = $1
          AND j.seq > p.from_seq AND (p.until_seq IS NULL OR j.seq < p.until_seq)) AS due,
        (SELECT count(*)::int FROM webhook_deliveries d WHERE d.event_id = j.id AND d.subscription_id = $1) AS made
      FROM journal j WHERE j.type = 'ObjectCreated'`,
      [id],
    );
    for (const { seq, due, made } of events) assert.equal(made, due, `the event ${seq}`);
    const seen = {
      on: events.filter(({ due }) => due === 1).length,
      off: events.filter(({ due }) => due === 0).length,
    };
    assert.ok(seen.on >= 10 && seen.off >= 10, JSON.stringify(seen));
  });

  it('are created in the same transaction that moves the consumer of the journal', async () => {
    const { id } = await hooks.subscribe();
    await hooks.make();
    const place = async (): Promise<unknown> =>
      await hooks.rows(
        "SELECT c.place, p.place - c.place AS behind FROM journal_consumers c, journal_placing p WHERE name = 'webhooks'",
      );
    while (await givePlaces(hooks.app.db));
    const before = await place();
    await hooks.rows(`CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`);
    await hooks.rows('CREATE TRIGGER fail_once BEFORE INSERT ON webhook_deliveries EXECUTE FUNCTION fail_once()');
    await assert.rejects(dispatchAll(hooks.app.db, systemTime));
    assert.deepEqual(await place(), before);
    await hooks.rows('DROP TRIGGER fail_once ON webhook_deliveries');
    await hooks.rows('CREATE TRIGGER fail_once BEFORE INSERT ON webhook_attempts EXECUTE FUNCTION fail_once()');
    const loop = hooks.app.app.startWorker();
    await hooks.receiver.wait(1);
    await sleep(100);
    assert.equal((await hooks.deliveries(id))[0].status, 'PENDING', 'what could not be noted is not known');
    await hooks.rows('DROP FUNCTION fail_once CASCADE');
    const [delivery] = await hooks.settled(id);
    await loop.stop();
    assert.deepEqual([delivery.status, delivery.attemptCount], ['DELIVERED', 1]);
    assert.equal(hooks.receiver.received.length, 1, 'and is noted later, not sent again');
  });

  it('wait for the right master key instead of being lost', async () => {
    const { id } = await hooks.subscribe();
    const [kept] = await hooks.rows<{ sealed: Buffer }>('SELECT sealed FROM signing_secret_values');
    await hooks.rows(`UPDATE signing_secret_values SET sealed = '\\x0102'`);
    await hooks.make();
    const before = hooks.receiver.connections;
    const loop = hooks.app.app.startWorker();
    const row = async () =>
      (
        await hooks.rows(
          'SELECT status, attempt_count, lease, due_at > now() AS later FROM webhook_deliveries WHERE subscription_id = $1',
          [id],
        )
      )[0];
    while ((await row()) === undefined || (await row()).lease !== null || !(await row()).later) await sleep(10);
    await loop.stop();
    assert.deepEqual(await row(), { status: 'PENDING', attempt_count: 0, lease: null, later: true });
    assert.equal(hooks.receiver.connections, before);
    await hooks.rows('UPDATE signing_secret_values SET sealed = $1', [kept?.sealed]);
  });

  it('are checked by docket doctor: failing ones, and secrets that the master key does not open', async () => {
    const { db } = hooks.app;
    const look = () => examineDeliveries(db);
    assert.deepEqual(await examineSecrets(db, TEST_SECRETS), { secrets: 1, closed: [] });
    const other = new SecretBox('another master key, as long as it must be');
    for (const box of [other, undefined]) {
      assert.deepEqual(await examineSecrets(db, box), { secrets: 1, closed: ['main'] });
    }
    assert.deepEqual(await look(), { failing: [], missing: { events: 0, subscriptions: [] } });
    const { id, code } = await hooks.subscribe();
    hooks.receiver.answer = { status: 410 };
    const loop = hooks.app.app.startWorker();
    await makeMany(2);
    await hooks.settled(id, 2);
    assert.deepEqual((await look()).failing, [], 'two are no proof');
    await makeMany(1);
    await hooks.settled(id, 3);
    assert.deepEqual((await look()).failing, [code]);
    hooks.receiver.answer = { status: 200 };
    await makeMany(1);
    await hooks.settled(id, 4);
    await loop.stop();
    assert.deepEqual((await look()).failing, []);
  });

  it('survive a restart', async () => {
    const { id } = await hooks.subscribe({ retryPolicy: { maxAttempts: 3, baseDelayMs: 100 } });
    hooks.receiver.answer = { status: 500 };
    await makeMany(5);
    const first = hooks.app.app.startWorker();
    await hooks.receiver.wait(5);
    await first.stop();
    assert.ok(
      (await hooks.deliveries(id)).every(({ status, attemptCount }) => status === 'PENDING' && attemptCount >= 1),
    );
    hooks.receiver.answer = { status: 200 };
    const successor = await other();
    try {
      successor.app.startWorker();
      const rows = await hooks.settled(id, 5);
      assert.ok(rows.every(({ status }) => status === 'DELIVERED'));
    } finally {
      await successor.close();
    }
  });

  it('are kept if they are among the last 100 or recent', async () => {
    const { id } = await hooks.subscribe();
    const loop = hooks.app.app.startWorker();
    await makeMany(110);
    await hooks.receiver.wait(110);
    await hooks.settled(id, 100);
    await loop.stop();
    const count = async () =>
      (await hooks.rows('SELECT count(*)::int AS n FROM webhook_deliveries WHERE subscription_id = $1', [id]))[0].n;
    await purgeDeliveries(hooks.app.db, '2020-01-01T00:00:00.000Z', 1000);
    assert.equal(await count(), 110);
    await purgeDeliveries(hooks.app.db, '2100-01-01T00:00:00.000Z', 1000);
    assert.equal(await count(), 100);
    const orphans = await hooks.rows(
      'SELECT 1 FROM webhook_attempts a LEFT JOIN webhook_deliveries d ON d.id = a.delivery_id WHERE d.id IS NULL',
    );
    assert.deepEqual(orphans, []);
  });
});

describe('one hanging receiver among twenty', () => {
  let hooks: WebhookFixture;
  let hanging: Receiver;
  before(async () => {
    // The limit of concurrent attempts is lower than the number that hang, so that they could block all others. They hang
    // longer than the test may last, so that nothing that waits for them can succeed.
    const deliveries = { total: 24, each: 8, leaseMs: 120_000 };
    hooks = await startWebhookFixture({ deliveries, outbound: { limitMs: 60_000 } });
    hanging = await startReceiver({ certificate: hooks.receiver.certificate });
    hanging.answer = 'hang';
  });
  after(async () => {
    // Closes the connections, which ends the hanging attempts.
    await hanging.close();
    await hooks.close();
  });

  it('does not delay the others', async () => {
    // Created first, so that it comes first in any order.
    const { id } = await hooks.subscribe({ endpoint: hanging.url, retryPolicy: { maxAttempts: 1, baseDelayMs: 1 } });
    const others = await Promise.all(Array.from({ length: 19 }, () => hooks.subscribe()));
    const made = await Promise.all(Array.from({ length: 40 }, () => hooks.make()));
    await hooks.receiver.wait(made.length * others.length, 40_000);
    const waiting = (await hooks.deliveries(id)).filter(({ status }) => status === 'PENDING');
    assert.ok(hanging.received.length >= 3, 'as many hang as may');
    assert.equal(waiting.length, 40, 'the others exceed the limit');
  });
});
