/** Clocks that are set back and clocks that differ: order is by place in the journal, and durations are by the database's clock. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { examineDeliveries } from '../src/domain/webhooks/index.ts';
import { verifyJournal } from '../src/platform/audit/seals-verify.ts';
import { startTestApp, TEST_KEY, type TestApp } from './support/app.ts';
import { type WebhookFixture, startWebhookFixture } from './support/webhook-fixture.ts';
import type { SenderOptions } from './proofs/webhook-sender-process.ts';

const HOUR = 3_600_000;
const ALL_EVENTS = ['ObjectCreated', 'ObjectUpdated', 'CommentAdded', 'SlaStarted', 'SlaWarning', 'SlaBreached'];
const PROMPT_MS = 60_000;

const change = (app: TestApp, key: string, id: string, revision: number, title: string) =>
  app.request('PATCH', `/api/v1/objects/${id}`, { key, body: { expectedRevision: revision, changes: { title } } });

/** Revisions that the history names, in its order; other events name none. */
async function revisionsOf(fixture: WebhookFixture, id: string): Promise<number[]> {
  const history = await fixture.ok<{ type: string; revision: number }[]>('boss', 'GET', `/objects/${id}/history`);
  return history.filter(({ type }) => type.startsWith('Object')).map(({ revision }) => revision);
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

async function soon(what: string, look: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + PROMPT_MS;
  while (!(await look())) {
    assert.ok(performance.now() < until, `${what}: not within ${PROMPT_MS} ms`);
    await sleep(50);
  }
}

describe('a clock that is set back by an hour', () => {
  let fixture: WebhookFixture;
  let offset = 0;
  before(async () => {
    fixture = await startWebhookFixture({ idle: true, clock: { now: () => Date.now() + offset } });
  });
  after(() => fixture.close());

  it('loses no event of an earlier subscription and adds none to a later one', async () => {
    offset = 0;
    const { id: early } = await fixture.subscribe({ eventTypes: ALL_EVENTS });
    const { id: objectId } = await fixture.make();
    offset = -HOUR;
    const { status } = await change(fixture.app, fixture.keys.boss, objectId, 1, 'an hour before it was made');
    assert.equal(status, 200);
    await fixture.ok('boss', 'POST', `/objects/${objectId}/comments`, {
      body: 'and before that',
      visibility: 'public',
    });
    const { id: late } = await fixture.subscribe({ eventTypes: ALL_EVENTS });
    const loop = fixture.app.app.startWorker();
    const kinds = (rows: { eventType: string }[]) => rows.map(({ eventType }) => eventType);
    assert.deepEqual(kinds(await fixture.settled(early, 3)), ['CommentAdded', 'ObjectUpdated', 'ObjectCreated']);
    assert.deepEqual(kinds(await fixture.deliveries(late)), []);
    const [{ id: newest }] = [await fixture.make()];
    assert.deepEqual(kinds(await fixture.settled(late, 1)), ['ObjectCreated']);
    assert.equal((await fixture.deliveries(late))[0].objectId, newest);
    await fixture.settled(early, 4);
    await loop.stop();
    const ids = fixture.receiver.received.map(({ body }) => body.deliveryId);
    assert.equal(ids.length, 5);
    assert.equal(new Set(ids).size, 5, 'each was sent once');
    assert.deepEqual((await examineDeliveries(fixture.app.db)).missing, { events: 0, subscriptions: [] });
  });

  it('keeps the order of history, comments and the audit log', async () => {
    offset = 0;
    const { id, revision } = await fixture.make();
    assert.equal(revision, 1);
    for (let turn = 1; turn <= 6; turn++) {
      offset = turn % 2 === 0 ? 0 : -HOUR;
      assert.equal((await change(fixture.app, fixture.keys.boss, id, turn, `title ${turn}`)).status, 200);
      await fixture.okAdmin('boss', 'POST', '/signing-secrets/main/rotate', {});
    }
    assert.deepEqual(await revisionsOf(fixture, id), upTo(7));
    const audit = await fixture.okAdmin('boss', 'GET', '/audit?pageSize=20');
    const placed = await fixture.rows<{ id: string }>(
      'SELECT id FROM journal WHERE object_id IS NULL ORDER BY seq DESC LIMIT 20',
    );
    assert.deepEqual(
      audit.rows.map((row: { id: string }) => row.id),
      placed.map((row) => row.id),
    );
    assert.ok(
      audit.rows.slice(0, 6).every((row: { at: string }, n: number) => n % 2 === 0 || row.at < audit.rows[n - 1].at),
    );
    // What changed since a revision is in the same order.
    const stale = await change(fixture.app, fixture.keys.boss, id, 2, 'too late');
    assert.deepEqual([stale.status, stale.body.error.code], [409, 'REVISION_CONFLICT']);
  });

  it('keeps idempotency responses, journal seals and SLA timers', async () => {
    offset = 0;
    const body = { typeDefinitionId: 'other', values: { title: 'once' } };
    const send = () =>
      fixture.app.request('POST', '/api/v1/objects', { key: fixture.keys.boss, body, idempotencyKey: 'one' });
    const first = await send();
    assert.equal(first.status, 201);
    offset = -HOUR;
    const again = await send();
    assert.equal(again.body.data.id, first.body.data.id);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const loop = fixture.app.app.startWorker();
    const monday = Date.parse('2027-01-04T10:00:00.000Z');
    offset = monday - Date.now();
    const { id } = await fixture.make({}, 'other');
    const events = () =>
      fixture.rows<{ type: string }>(
        `SELECT type FROM journal WHERE object_id = $1 AND type LIKE 'Sla%' ORDER BY seq`,
        [id],
      );
    offset -= HOUR;
    await loop.runOnce();
    assert.deepEqual(await events(), [{ type: 'SlaStarted' }]);
    offset += 2.5 * HOUR;
    for (let turn = 0; turn < 3; turn++) await loop.runOnce();
    assert.deepEqual((await events()).filter(({ type }) => type === 'SlaBreached').length, 1);
    offset -= HOUR;
    for (let turn = 0; turn < 3; turn++) await loop.runOnce();
    assert.deepEqual((await events()).filter(({ type }) => type === 'SlaBreached').length, 1, 'one event is emitted');
    await loop.stop();
    const { findings, unsealed, seals } = await verifyJournal(fixture.app.db);
    assert.deepEqual(findings, []);
    assert.ok(seals > 0);
    assert.equal(unsealed, 0);
  });
});

describe('processes whose clocks differ by ten minutes', () => {
  let fixture: WebhookFixture;
  before(async () => {
    fixture = await startWebhookFixture({ idle: true });
  });
  after(() => fixture.close());

  const skewed = (ms: number): Promise<TestApp> =>
    startTestApp({ on: fixture.app, clock: { now: () => Date.now() + ms } });

  it('write one record in the order of its revisions', async () => {
    const others = await Promise.all([skewed(-600_000), skewed(600_000)]);
    try {
      const { id } = await fixture.make();
      const apps = [fixture.app, ...others];
      const writers = 12;
      const each = 5;
      await Promise.all(
        Array.from({ length: writers }, async (_, writer) => {
          const app = apps[writer % apps.length] as TestApp;
          for (let done = 0; done < each; ) {
            const { revision } = await fixture.ok('boss', 'GET', `/objects/${id}`);
            const answer = await change(app, fixture.keys.boss, id, revision, `${writer} ${done} ${randomUUID()}`);
            if (answer.status === 200) done++;
            else assert.ok(answer.status === 409 || answer.status === 503, JSON.stringify(answer.body));
          }
        }),
      );
      assert.deepEqual(await revisionsOf(fixture, id), upTo(1 + writers * each));
    } finally {
      for (const app of others) await app.close();
    }
  });

  it('deliver each event once without delay, and share leases', async () => {
    const { id } = await fixture.subscribe({ retryPolicy: { maxAttempts: 3, baseDelayMs: 200 } });
    const seen = new Set<string>();
    fixture.receiver.received.length = 0;
    // Slow enough that the other process polls during an attempt, and each first attempt is repeated.
    fixture.receiver.answer = ({ body }) => {
      const first = !seen.has(body.deliveryId);
      seen.add(body.deliveryId);
      return { status: first ? 503 : 200, delayMs: first ? 700 : 0 };
    };
    const senders = await Promise.all([-300_000, 300_000].map((ms) => startSender(fixture, ms)));
    try {
      const made = [];
      for (let turn = 0; turn < 30; turn++) made.push((await fixture.make()).id);
      await soon('all are delivered', async () => {
        const rows = await fixture.deliveries(id);
        return rows.length === made.length && rows.every(({ status }) => status === 'DELIVERED');
      });
      const rows = await fixture.deliveries(id);
      assert.deepEqual(
        rows.map(({ objectId }) => objectId),
        made.toReversed(),
        'the newest event comes first',
      );
      assert.equal(
        fixture.receiver.received.length,
        2 * made.length,
        'each was sent twice, and by one process at a time',
      );
      assert.ok(rows.every(({ attemptCount }) => attemptCount === 2));
      const now = Date.now();
      assert.ok(
        rows.every((row) => Math.abs(Date.parse(row.finishedAt) - now) < PROMPT_MS),
        JSON.stringify(rows[0]),
      );
    } finally {
      fixture.receiver.answer = { status: 200 };
      for (const sender of senders) sender.kill('SIGKILL');
    }
  });

  it('write database time', async () => {
    const app = await startTestApp({ on: fixture.app });
    mock.method(Date, 'now', () => performance.timeOrigin + performance.now() - HOUR);
    try {
      const body = { typeDefinitionId: 'thing', values: { title: 'when' } };
      const { body: made } = await app.request('POST', '/api/v1/objects', { key: fixture.keys.boss, body });
      const [row] = await fixture.rows<{ apart: number }>(
        'SELECT abs(extract(epoch FROM now() - created_at))::float8 AS apart FROM objects WHERE id = $1',
        [made.data.id],
      );
      assert.ok(row !== undefined && row.apart < 60, JSON.stringify(row));
    } finally {
      mock.restoreAll();
      await app.close();
    }
  });
});

const SENDER = fileURLToPath(new URL('proofs/webhook-sender-process.ts', import.meta.url));

/** A process that delivers webhooks on a machine whose clock has the given offset. */
async function startSender(fixture: WebhookFixture, offMs: number): Promise<ChildProcess> {
  const options: SenderOptions = {
    databaseUrl: fixture.app.databaseUrl,
    ca: fixture.receiver.ca,
    key: TEST_KEY,
    limitMs: 10_000,
    leaseMs: 30_000,
  };
  const off = `const now = Date.now; Date.now = () => now() + ${offMs};`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(off)}`, SENDER, JSON.stringify(options)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`a sender ended with ${code} before it was ready`)));
  });
  return child;
}
