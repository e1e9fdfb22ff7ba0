/**
 * From an event to a receiver: payload, endpoint and signature (docs/spec/webhooks-and-inbound.md#events,
 * docs/spec/webhooks-and-inbound.md#deliveries).
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { type FixtureUser, type WebhookFixture, startWebhookFixture } from '../../../test/support/webhook-fixture.ts';
import { isSigned, startReceiver } from '../../../test/support/receiver.ts';
import { WEBHOOK_EVENTS } from '../../contract/events.ts';

describe('delivery', () => {
  let hooks: WebhookFixture;
  before(async () => {
    // Long enough for a slow machine, and short enough for the two tests with a receiver that hangs.
    hooks = await startWebhookFixture({ outbound: { limitMs: 3000 } });
  });
  after(() => hooks.close());
  beforeEach(async () => {
    // Archives the subscriptions of the previous test.
    for (const { id, state } of await hooks.ok('boss', 'GET', '/webhooks')) {
      if (state === 'ACTIVE') await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/archive`);
    }
    hooks.receiver.received.length = 0;
    hooks.receiver.answer = { status: 200, body: 'thank you' };
  });

  it('sends a signed payload of a new record with the headers of both signature schemes', async () => {
    const { id: subscription } = await hooks.subscribe();
    const began = Date.now();
    const { id } = await hooks.make({ title: 'Ünïcode / "quoted" 😀', amount: '12345678901234567890.5' });
    const [request] = await hooks.receiver.wait(1);
    assert.ok(request);
    const { headers, body, raw } = request;
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['authorization'], undefined);
    assert.match(String(headers['x-itsm-timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // The signature's timestamp lies between the event and the receipt.
    const signedAt = Date.parse(String(headers['x-itsm-timestamp']));
    assert.ok(signedAt >= began && signedAt <= request.at, `${signedAt} not within ${began} and ${request.at}`);
    assert.ok(isSigned(hooks.secret, request));
    const { data, ...outer } = body;
    assert.equal(outer.deliveryId, headers['x-itsm-delivery']);
    assert.equal(outer.timestamp, headers['x-itsm-timestamp']);
    assert.equal(outer.eventType, 'ObjectCreated');
    assert.deepEqual(Object.keys(outer).sort(), ['deliveryId', 'eventId', 'eventType', 'occurredAt', 'timestamp']);
    assert.deepEqual(Object.keys(data).sort(), ['object', 'objectId', 'revision']);
    assert.equal(data.objectId, id);
    assert.equal(data.revision, 1);
    assert.equal(data.object.values.title, 'Ünïcode / "quoted" 😀');
    assert.equal(data.object.values.amount, '12345678901234567890.5');
    const card = ['id', 'number', 'revision', 'state', 'typeDefinitionId', 'values', 'workflowState'];
    assert.deepEqual(Object.keys(data.object).sort(), card);
    const [event] = await hooks.ok('boss', 'GET', `/objects/${id}/history`);
    assert.equal(outer.eventId, event.id);
    assert.equal(outer.occurredAt, event.at);
    assert.equal(headers['webhook-id'], outer.deliveryId);
    const verified = new Webhook(hooks.secret).verify(raw.toString('utf8'), headers as Record<string, string>);
    assert.deepEqual(verified, body);
    const [delivery] = await hooks.settled(subscription);
    assert.equal(delivery.id, outer.deliveryId);
    assert.equal(delivery.status, 'DELIVERED');
    assert.equal(delivery.attemptCount, 1);
    assert.equal(delivery.objectId, id);
    assert.equal(delivery.response.status, 200);
    assert.equal(delivery.response.bodyExcerpt, 'thank you');
  });

  it('sends nothing when the subscription is saved', async () => {
    await hooks.make();
    const quiet = await startReceiver();
    try {
      const { id } = await hooks.subscribe({ endpoint: quiet.url });
      await sleep(150);
      assert.equal(quiet.connections, 0);
      assert.deepEqual(await hooks.deliveries(id), [], 'nor what happened before');
    } finally {
      await quiet.close();
    }
  });

  it('sends every kind of event with the ids of its objects', async () => {
    const { id: subscription } = await hooks.subscribe({ eventTypes: [...WEBHOOK_EVENTS] });
    const { id } = await hooks.make();
    const near = await hooks.make();
    const on = `/objects/${id}`;
    await hooks.ok('boss', 'PATCH', on, { expectedRevision: 1, changes: { title: 'Other' } });
    const comment = await hooks.ok('boss', 'POST', `${on}/comments`, { body: 'Words', visibility: 'public' });
    await hooks.ok('boss', 'PATCH', `/comments/${comment.id}`, { expectedRevision: 1, body: 'More words' });
    const file = await hooks.ok('boss', 'POST', `${on}/attachments`, { filename: 'a.txt', contentBase64: 'eA==' });
    await hooks.ok('boss', 'DELETE', `/attachments/${file.id}`, { expectedRevision: 1 });
    const [definition] = await hooks.ok('boss', 'GET', '/relation-definitions');
    const made = { definitionId: definition.id, targetObjectId: near.id };
    const { relation } = await hooks.ok('boss', 'POST', `${on}/relations`, made);
    await hooks.ok('boss', 'DELETE', `/relations/${relation.id}`, { expectedRevision: 1 });
    const { state, transitions } = await hooks.ok('boss', 'GET', `${on}/workflow`);
    const move = { transitionId: transitions[0].id, expectedRevision: 2, expectedStateId: state.id };
    await hooks.ok('boss', 'POST', `${on}/transitions`, { ...move, values: { $reason: 'Because' } });
    await hooks.settled(subscription, 10);
    const updated = hooks.receiver.received.find(({ body }) => body.eventType === 'CommentUpdated');
    assert.equal(updated?.body.data.comment.body, 'More words');
    await hooks.ok('boss', 'DELETE', `/comments/${comment.id}`, { expectedRevision: 2 });
    await hooks.ok('boss', 'DELETE', on, { expectedRevision: 3 });
    await hooks.okAdmin('boss', 'POST', `${on}/restore`);
    const deliveries = await hooks.settled(subscription, 13);
    const sent = new Map(hooks.receiver.received.map(({ body }) => [body.eventType, body.data]));
    assert.deepEqual([...sent.keys()].sort(), WEBHOOK_EVENTS.filter((kind) => !/^Sla|^Article/.test(kind)).sort());
    assert.ok(deliveries.every(({ status }) => status === 'DELIVERED'));
    for (const kind of ['CommentAdded', 'CommentUpdated', 'CommentArchived'])
      assert.equal(sent.get(kind).commentId, comment.id, kind);
    assert.equal(sent.get('CommentArchived').comment, undefined, 'an archived comment is shown nowhere');
    assert.equal(sent.get('AttachmentAdded').attachmentId, file.id);
    assert.equal(sent.get('RelationArchived').relationId, relation.id);
    assert.equal(sent.get('ObjectTransitioned').transition.code, 'end');
    assert.ok(!JSON.stringify(hooks.receiver.received.map(({ body }) => body)).includes('Because'));
    assert.equal(new Set(hooks.receiver.received.map(({ body }) => body.deliveryId)).size, 13);
  });

  it('sends SLA events with their instance', async () => {
    const { id: subscription } = await hooks.subscribe({ eventTypes: ['SlaStarted'] });
    const { id } = await hooks.make({}, 'other');
    await hooks.settled(subscription);
    const [instance] = await hooks.ok('boss', 'GET', `/objects/${id}/sla`);
    const [request] = hooks.receiver.received;
    assert.deepEqual([request?.body.eventType, request?.body.data.objectId], ['SlaStarted', id]);
    assert.equal(request?.body.data.slaInstanceId, instance.id);
  });

  it('repeats with the same id, a new time and a new signature, according to the retry policy', async () => {
    const { id } = await hooks.subscribe({ retryPolicy: { maxAttempts: 4, baseDelayMs: 60 } });
    const answers = [
      { status: 500, body: 'no' },
      'reset',
      { status: 429, headers: { 'retry-after': '1' } },
      { status: 200 },
    ];
    hooks.receiver.answer = () => (answers.shift() ?? { status: 599 }) as never;
    await hooks.make();
    const [delivery] = await hooks.settled(id);
    const { received } = hooks.receiver;
    assert.equal(received.length, 4);
    assert.equal(new Set(received.map(({ body }) => body.deliveryId)).size, 1);
    assert.equal(new Set(received.map(({ body }) => body.timestamp)).size, 4);
    assert.equal(new Set(received.map(({ body }) => body.occurredAt)).size, 1);
    assert.ok(received.every((request) => isSigned(hooks.secret, request)));
    const gaps = received.slice(1).map(({ at }, index) => at - (received[index]?.at ?? 0));
    assert.ok((gaps[0] ?? 0) >= 58, `${gaps}`);
    assert.ok((gaps[1] ?? 0) >= 118, `${gaps}`);
    assert.ok((gaps[2] ?? 0) >= 998, `Retry-After is kept: ${gaps}`);
    assert.deepEqual([delivery.status, delivery.attemptCount, delivery.maxAttempts], ['DELIVERED', 4, 4]);
    assert.deepEqual(
      delivery.attempts.map((attempt: any) => attempt.response?.status ?? attempt.error),
      [500, 'no answer: the connection broke', 429, 200],
    );
    assert.equal(delivery.attempts[0].response.bodyExcerpt, 'no');
  });

  it('makes as many attempts as the response and the policy allow', async () => {
    const policy = { maxAttempts: 2, baseDelayMs: 1 };
    const once = await hooks.subscribe({ retryPolicy: { maxAttempts: 1, baseDelayMs: 1 } });
    const twice = await hooks.subscribe({ retryPolicy: policy });
    const stranger = await startReceiver();
    const others = [
      await hooks.subscribe({ retryPolicy: policy, endpoint: 'https://nowhere.invalid/x' }),
      await hooks.subscribe({ retryPolicy: policy, endpoint: stranger.url }),
    ];
    try {
      const cases: [unknown, string, number][] = [
        [{ status: 204 }, 'DELIVERED', 1],
        [{ status: 302, headers: { location: 'https://127.0.0.1/' } }, 'FAILED', 1],
        [{ status: 404 }, 'FAILED', 1],
        [{ status: 408 }, 'FAILED', 1],
        [{ status: 503 }, 'FAILED', 2],
        ['hang', 'FAILED', 2],
        ['reset', 'FAILED', 2],
      ];
      for (const [turn, [answer, status, attempts]] of cases.entries()) {
        hooks.receiver.answer = answer as never;
        await hooks.make();
        const [first] = await hooks.settled(once.id, turn + 1);
        const [second] = await hooks.settled(twice.id, turn + 1);
        assert.deepEqual([first.status, first.attemptCount], [status, 1], JSON.stringify(answer));
        assert.deepEqual([second.status, second.attemptCount], [status, attempts], JSON.stringify(answer));
      }
      for (const { id } of others) {
        for (const delivery of await hooks.settled(id, cases.length)) {
          assert.deepEqual(
            [delivery.status, delivery.attemptCount],
            ['FAILED', 2],
            'a name or a certificate may be mended',
          );
        }
      }
      assert.equal(stranger.received.length, 0, 'nothing is said to whom nobody vouches for');
    } finally {
      await stranger.close();
    }
  });

  it('accepts events only while enabled, and keeps queued deliveries waiting while disabled', async () => {
    const { id } = await hooks.subscribe({ retryPolicy: { maxAttempts: 3, baseDelayMs: 60_000 } });
    const on = (what: string) => hooks.okAdmin('boss', 'POST', `/webhooks/${id}/${what}`);
    hooks.receiver.answer = { status: 500 };
    const queued = await hooks.make();
    await hooks.receiver.wait(1);
    const noted = 'SELECT 1 FROM webhook_deliveries WHERE subscription_id = $1 AND attempt_count = 1';
    while ((await hooks.rows(noted, [id])).length === 0) await sleep(10);
    await on('disable');
    await hooks.make();
    hooks.receiver.answer = { status: 200 };
    // Simulates that a minute has passed.
    await hooks.rows("UPDATE webhook_deliveries SET due_at = now() - interval '1 second' WHERE subscription_id = $1", [
      id,
    ]);
    await sleep(600);
    assert.equal(hooks.receiver.received.length, 1, 'the second attempt was due and waits');
    await on('enable');
    const later = await hooks.make();
    const deliveries = await hooks.settled(id, 2);
    assert.deepEqual(deliveries.map(({ objectId }) => objectId).sort(), [queued.id, later.id].sort());
    assert.ok(deliveries.every(({ status }) => status === 'DELIVERED'));
    hooks.receiver.answer = { status: 200, delayMs: 200 };
    const running = await hooks.make();
    await hooks.receiver.wait(4);
    await on('archive');
    const [last] = await hooks.settled(id, 3);
    assert.deepEqual([last.objectId, last.status], [running.id, 'DELIVERED'], 'a started request goes on');
  });

  it('signs with both secrets during an overlap, and with the new one afterwards', async () => {
    const { id } = await hooks.subscribe();
    const rotate = async (overlap: string): Promise<string> => {
      const rotated = await hooks.okAdmin('boss', 'POST', '/signing-secrets/main/rotate', { overlap });
      return rotated.secret;
    };
    const verifies = (secret: string): boolean => {
      const { raw, headers } = hooks.receiver.received.at(-1) as never as {
        raw: Buffer;
        headers: Record<string, string>;
      };
      try {
        new Webhook(secret).verify(raw.toString('utf8'), headers);
        return true;
      } catch {
        return false;
      }
    };
    const older = hooks.secret;
    hooks.secret = await rotate('PT1H');
    assert.notEqual(hooks.secret, older);
    await hooks.make();
    const [first] = await hooks.receiver.wait(1);
    assert.ok(first && isSigned(hooks.secret, first) && !isSigned(older, first));
    assert.deepEqual([verifies(hooks.secret), verifies(older)], [true, true]);
    const previous = hooks.secret;
    hooks.secret = await rotate('PT0S');
    await hooks.make();
    await hooks.receiver.wait(2);
    assert.deepEqual([verifies(hooks.secret), verifies(previous), verifies(older)], [true, false, false]);
    await hooks.settled(id, 2);
  });

  it('lists the last 100, newest first, and shows responses only to users who could be the executor', async () => {
    const { id } = await hooks.subscribe({ as: 'limited' });
    const records = await Promise.all(Array.from({ length: 104 }, () => hooks.make()));
    await hooks.receiver.wait(104);
    const rows = await hooks.settled(id, 100);
    assert.equal(rows.length, 100);
    const newest = await hooks.rows<{ id: string }>(
      `SELECT d.id FROM webhook_deliveries d JOIN journal j ON j.id = d.event_id WHERE d.subscription_id = $1
        ORDER BY j.seq DESC LIMIT 100`,
      [id],
    );
    assert.deepEqual(
      rows.map((row) => row.id),
      newest.map((row) => row.id),
    );
    assert.ok(rows.every(({ objectId }) => records.some((record) => record.id === objectId)));
    const said = async (who: 'boss' | 'manager' | 'limited'): Promise<string> =>
      (await hooks.ok(who, 'GET', `/webhook-deliveries?subscriptionId=${id}`))[0].response.bodyExcerpt;
    assert.deepEqual(
      [await said('boss'), await said('limited'), await said('manager')],
      ['thank you', 'thank you', ''],
    );
    const all = await hooks.ok('boss', 'GET', '/webhook-deliveries');
    assert.equal(all.length, 100);
    assert.deepEqual(await hooks.ok('boss', 'GET', `/webhook-deliveries?subscriptionId=${hooks.ids.boss}`), []);
  });

  it('makes one more attempt of a failed delivery on manual retry', async () => {
    const { id } = await hooks.subscribe({ retryPolicy: { maxAttempts: 1, baseDelayMs: 1 } });
    const on = (what: string) => hooks.okAdmin('boss', 'POST', `/webhooks/${id}/${what}`);
    hooks.receiver.answer = { status: 400 };
    await hooks.make();
    const [failed] = await hooks.settled(id);
    const retry = () => hooks.admin('boss', 'POST', `/webhook-deliveries/${failed.id}/retry`);
    // The attempt lasts until both requests were answered.
    const both = Promise.withResolvers<void>();
    hooks.receiver.answer = { byHand: (response) => void both.promise.then(() => response.writeHead(500).end()) };
    const answers = await Promise.all([retry(), retry()]);
    both.resolve();
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409], 'two at once are one');
    assert.equal(answers.find(({ status }) => status === 409)?.body.error.code, 'STATE_CONFLICT');
    const [again] = await hooks.settled(id);
    assert.deepEqual([again.status, again.attemptCount, again.maxAttempts], ['FAILED', 2, 2]);
    assert.equal(hooks.receiver.received.length, 2);
    assert.equal(new Set(hooks.receiver.received.map(({ body }) => body.deliveryId)).size, 1);
    await on('disable');
    assert.equal((await retry()).body.error.code, 'STATE_CONFLICT');
    await on('archive');
    assert.equal((await retry()).body.error.code, 'CONNECTION_ARCHIVED');
    await on('restore');
    await on('enable');
    hooks.receiver.answer = { status: 200 };
    assert.equal((await retry()).status, 200);
    const [delivered] = await hooks.settled(id);
    assert.deepEqual([delivered.status, delivered.attemptCount], ['DELIVERED', 3]);
    assert.equal((await retry()).body.error.code, 'STATE_CONFLICT', 'what was delivered is not sent again');
    assert.equal((await hooks.admin('manager', 'POST', `/webhook-deliveries/${hooks.ids.boss}/retry`)).status, 404);
  });

  it('sends signed samples of a disabled subscription, ten a minute at most, and notes each in the audit log', async () => {
    const { id, code } = await hooks.subscribe({ as: 'boss' });
    await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/disable`);
    const send = (who: FixtureUser, body = {}) => hooks.admin(who, 'POST', `/webhooks/${id}/test`, body);
    const { data } = (await send('boss', { eventType: 'CommentAdded' })).body;
    const [request] = hooks.receiver.received;
    assert.ok(request && isSigned(hooks.secret, request));
    assert.equal(request.body.eventType, 'CommentAdded');
    assert.equal(data.request.body, request.raw.toString('utf8'));
    assert.deepEqual([data.status, data.response.status, data.response.bodyExcerpt], ['DELIVERED', 200, 'thank you']);
    const other = (await send('manager')).body.data;
    assert.equal(other.response.bodyExcerpt, '', 'as in the list of deliveries');
    const more = await Promise.all(Array.from({ length: 12 }, () => send('boss')));
    assert.equal(more.filter(({ status }) => status === 200).length, 8);
    const refused = more.find(({ status }) => status === 429);
    assert.equal(refused?.body.error.code, 'RATE_LIMITED');
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-6]$/);
    assert.equal(hooks.receiver.received.length, 10);
    assert.deepEqual(await hooks.ok('boss', 'GET', `/webhook-deliveries?subscriptionId=${id}`), []);
    const noted = await hooks.rows("SELECT 1 FROM journal WHERE type = 'WebhookTested' AND subject = $1", [
      `webhooks:${code}`,
    ]);
    assert.equal(noted.length, 10);
    await hooks.okAdmin('boss', 'POST', `/webhooks/${id}/archive`);
    assert.equal((await send('boss')).body.error.code, 'CONNECTION_ARCHIVED');
  });
});
