/** A payload contains only what the executor may see at the time of the attempt. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createProxy, type Server, type Socket } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyWebhook } from '../../../client/src/index.ts';
import { startDocket } from '../../../test/proofs/fault-service.ts';
import { type WebhookFixture, startWebhookFixture, type Subscribing } from '../../../test/support/webhook-fixture.ts';
import { changeRights, idOf } from '../../../test/support/small-configuration.ts';
import { WEBHOOK_EVENTS } from '../../contract/events.ts';

const SKIPPED = ['SKIPPED', 0];

/** Starts a server on any port. @returns its URL */
async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** @throws AssertionError with `shown` after a minute */
async function until(isSo: () => boolean, shown: unknown): Promise<void> {
  const end = performance.now() + 60_000;
  while (!isSo()) {
    assert.ok(performance.now() < end, JSON.stringify(shown));
    await sleep(10);
  }
}

describe('rights of the executor', () => {
  let hooks: WebhookFixture;
  before(async () => {
    // Background work runs only on request, so that tests can make changes between an event and its attempt.
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

  const subscribe = async (input: Subscribing = {}) =>
    (await hooks.subscribe({ as: 'limited', eventTypes: [...WEBHOOK_EVENTS], ...input })).id;
  const outcomes = (rows: any[]) => rows.map(({ status, attemptCount }) => [status, attemptCount]);
  /** Runs background work until all deliveries are finished, then stops it. */
  const deliver = async (id: string, count: number): Promise<any[]> => {
    const loop = hooks.app.app.startWorker();
    try {
      return await hooks.settled(id, count);
    } finally {
      await loop.stop();
    }
  };
  const sent = () => hooks.receiver.received.map(({ body }) => body);

  it('omit hidden fields and skip hidden records without a connection', async () => {
    const id = await subscribe({ eventTypes: ['ObjectCreated'] });
    const seen = await hooks.make({ secret: 'canary-7731' });
    await hooks.make({ kind: 'b', secret: 'canary-7731' });
    await hooks.make({ title: 'Of a type without any right' }, 'other');
    const before = hooks.receiver.connections;
    const rows = await deliver(id, 3);
    assert.deepEqual(outcomes(rows).sort(), [['DELIVERED', 1], SKIPPED, SKIPPED].sort());
    assert.deepEqual(
      sent().map(({ data }) => data.objectId),
      [seen.id],
    );
    assert.deepEqual(Object.keys(sent()[0].data.object.values).sort(), ['kind', 'title']);
    assert.ok(!hooks.receiver.received[0]?.raw.includes('canary-7731'));
    assert.equal(hooks.receiver.connections - before, 1);
    assert.ok(rows.every(({ status, error }) => status === 'DELIVERED' || /may not see/.test(error)));
  });

  it('are evaluated at the attempt, not at the event', async () => {
    const id = await subscribe({ eventTypes: ['ObjectCreated'] });
    const hidden = await hooks.make();
    const shown = await hooks.make({ kind: 'b' });
    const archived = await hooks.make();
    const changed = await hooks.make({ title: 'Before' });
    const patch = (record: { id: string }, changes: object) =>
      hooks.ok('boss', 'PATCH', `/objects/${record.id}`, { expectedRevision: 1, changes });
    await patch(hidden, { kind: 'b' });
    await patch(shown, { kind: 'a' });
    await patch(changed, { title: 'After' });
    await hooks.ok('boss', 'DELETE', `/objects/${archived.id}`, { expectedRevision: 1 });
    const rows = await deliver(id, 4);
    const status = (record: { id: string }) => rows.find(({ objectId }) => objectId === record.id).status;
    assert.deepEqual([hidden, shown, archived, changed].map(status), [
      'SKIPPED',
      'DELIVERED',
      'DELIVERED',
      'DELIVERED',
    ]);
    const data = (record: { id: string }) => sent().find((body) => body.data.objectId === record.id).data;
    assert.equal(data(archived).object.state, 'ARCHIVED');
    assert.equal(data(changed).object.values.title, 'After');
    assert.deepEqual([data(changed).revision, data(changed).object.revision], [2, 2], 'of one read with the values');
  });

  it('are evaluated again for each attempt', async () => {
    const retryPolicy = { maxAttempts: 3, baseDelayMs: 300 };
    const id = await subscribe({ eventTypes: ['ObjectCreated'], retryPolicy });
    const record = await hooks.make();
    hooks.receiver.answer = { status: 500 };
    const loop = hooks.app.app.startWorker();
    try {
      await hooks.receiver.wait(1);
      await hooks.ok('boss', 'PATCH', `/objects/${record.id}`, { expectedRevision: 1, changes: { kind: 'b' } });
      assert.deepEqual(outcomes(await hooks.settled(id)), [['SKIPPED', 1]]);
      assert.equal(hooks.receiver.received.length, 1);
    } finally {
      await loop.stop();
    }
  });

  it('apply to comments and their text, and to relations', async () => {
    const kinds = ['CommentAdded', 'CommentUpdated', 'RelationAdded'];
    const limited = await subscribe({ eventTypes: kinds });
    const boss = await subscribe({ eventTypes: kinds, as: 'boss' });
    const { id } = await hooks.make();
    const add = (body: string, visibility: string) =>
      hooks.ok('boss', 'POST', `/objects/${id}/comments`, { body, visibility });
    await add('open words', 'public');
    await add('secret words', 'internal');
    const turned = await add('turned words', 'public');
    await hooks.ok('boss', 'PATCH', `/comments/${turned.id}`, {
      expectedRevision: 1,
      body: 'x',
      visibility: 'internal',
    });
    const [definition] = await hooks.ok('boss', 'GET', '/relation-definitions');
    const ends = [await hooks.make(), await hooks.make({ kind: 'b' })];
    for (const { id: targetObjectId } of ends)
      await hooks.ok('boss', 'POST', `/objects/${id}/relations`, { definitionId: definition.id, targetObjectId });
    const before = hooks.receiver.connections;
    const rows = await deliver(limited, 6);
    await deliver(boss, 6);
    assert.equal(rows.filter(({ status }) => status === 'DELIVERED').length, 2);
    assert.equal(rows.filter(({ status }) => status === 'SKIPPED').length, 4);
    const ofLimited = new Set(rows.map((row) => row.id));
    const bodies = sent();
    const got = bodies.filter(({ deliveryId }) => ofLimited.has(deliveryId));
    assert.deepEqual(
      got.map(({ data }) => data.comment?.body ?? data.targetObjectId).sort(),
      ['open words', ends[0]?.id].sort(),
    );
    assert.ok(!/secret words|turned words/.test(JSON.stringify(got)));
    assert.equal(bodies.length - got.length, 6, 'the executor with all rights receives all deliveries');
    assert.ok(hooks.receiver.connections > before);
  });

  it('apply to files by the comment that has them', async () => {
    const kinds = ['AttachmentAdded', 'CommentAdded'];
    const limited = await subscribe({ eventTypes: kinds });
    const boss = await subscribe({ eventTypes: kinds, as: 'boss' });
    const { id } = await hooks.make();
    const say = async (visibility: string): Promise<void> => {
      const file = { filename: `${visibility}-canary.txt`, contentBase64: 'eA==', mediaType: 'text/plain' };
      const draft = await hooks.ok('boss', 'POST', `/objects/${id}/attachments?draft=true`, file);
      const words = { body: `${visibility} words`, visibility, attachmentIds: [draft.id] };
      await hooks.ok('boss', 'POST', `/objects/${id}/comments`, words);
    };
    await say('internal');
    await say('public');
    await hooks.ok('boss', 'POST', `/objects/${id}/attachments?draft=true`, {
      filename: 'draft-canary.txt',
      contentBase64: 'eA==',
    });
    const rows = await deliver(limited, 4);
    await deliver(boss, 4);
    assert.deepEqual(rows.map(({ status }) => status).sort(), ['DELIVERED', 'DELIVERED', 'SKIPPED', 'SKIPPED']);
    const ofLimited = new Set(rows.map((row) => row.id));
    const bodies = sent();
    const got = bodies.filter(({ deliveryId }) => ofLimited.has(deliveryId));
    assert.doesNotMatch(JSON.stringify(got), /internal/);
    assert.equal(bodies.length - got.length, 4);
    assert.doesNotMatch(JSON.stringify(bodies), /draft-canary/, 'drafts are no events');
    const comment = got.find(({ eventType }) => eventType === 'CommentAdded');
    const file = got.find(({ eventType }) => eventType === 'AttachmentAdded');
    assert.equal(file?.data.commentId, comment?.data.commentId);
  });

  it('apply to articles', async () => {
    const eventTypes = ['ArticlePublished', 'ArticleArchived'];
    const boss = await subscribe({ eventTypes, as: 'boss' });
    const limited = await subscribe({ eventTypes });
    const filtered = await subscribe({ eventTypes, as: 'boss', filters: { types: ['thing'] } });
    const { id, versionId } = await hooks.ok('boss', 'POST', '/kb/articles', {
      baseId: 'it',
      sectionId: 'net',
      code: 'how-to',
      title: 'How to',
      locale: 'en-US',
      body: 'Words of the article',
      visibility: 'internal',
    });
    const audiences = [{ kind: 'everyone', id: null }];
    await hooks.okAdmin('boss', 'PUT', `/kb/article-versions/${versionId}/audiences`, { audiences });
    await hooks.ok('boss', 'POST', '/kb/articles/publish', { versionId });
    const [delivery] = await deliver(boss, 1);
    assert.deepEqual([delivery.status, delivery.objectId], ['DELIVERED', null]);
    const data = { articleId: id, versionId, code: 'how-to', locale: 'en-US', title: 'How to' };
    assert.deepEqual(
      sent().map((body) => [body.eventType, body.data]),
      [['ArticlePublished', data]],
    );
    assert.deepEqual(outcomes(await deliver(limited, 1)), [SKIPPED]);
    assert.deepEqual(await hooks.deliveries(filtered), [], 'an article is of no record type');
  });

  it('apply to filters: a condition on a hidden field never matches', async () => {
    const filter = async (condition: unknown, as: 'limited' | 'boss' = 'limited', types: string[] = ['thing']) =>
      await subscribe({ as, eventTypes: ['ObjectCreated'], filters: { types, condition } });
    const leaf = (field: string, operator: string, value: unknown) => ({ field, operator, value });
    const type = await idOf(hooks.app, 'config_items', 'thing');
    const met = [
      await filter(leaf('title', 'contains', 'FOUND')),
      await filter(leaf('secret', 'equals', 'x'), 'boss'),
      await filter(leaf('owner', 'equals', hooks.ids.manager), 'limited', [type]),
      await filter(leaf('owner', 'not-equals', '$me')),
      await filter({ logic: 'OR', conditions: [leaf('secret', 'equals', 'x'), leaf('kind', 'equals', 'a')] }),
      // With no type or several, the condition may use a field that only one of them has. Users are given by id as usual.
      await filter(leaf('kind', 'equals', 'a'), 'boss', []),
      await filter(leaf('owner', 'equals', hooks.ids.manager), 'boss', ['other', 'thing']),
    ];
    const either = [
      await filter(
        { logic: 'OR', conditions: [leaf('kind', 'equals', 'b'), leaf('title', 'equals', 'An other')] },
        'boss',
        [],
      ),
      await filter(leaf('typeCode', 'equals', 'other'), 'boss', []),
    ];
    const never = [
      await filter(leaf('kind', 'not-equals', 'b'), 'boss', []),
      await filter(leaf('kind', 'is-empty', true), 'boss', []),
    ];
    const unmet = [
      await filter(leaf('owner', 'equals', '$me'), 'boss'),
      await filter(leaf('title', 'contains', 'lost')),
      await filter(leaf('secret', 'equals', 'x')),
      await filter(leaf('secret', 'not-equals', 'y')),
      await filter(leaf('secret', 'is-empty', true)),
      await filter(leaf('secret', 'is-empty', false)),
    ];
    const ofOtherType = await subscribe({ eventTypes: ['ObjectCreated'], filters: { types: ['other'] } });
    await hooks.make({ title: 'To be found', secret: 'x', owner: hooks.ids.manager });
    const loop = hooks.app.app.startWorker();
    try {
      const statuses = async (ids: readonly string[]) =>
        await Promise.all(ids.map(async (id) => (await hooks.settled(id))[0].status));
      assert.deepEqual(new Set(await statuses(met)), new Set(['DELIVERED']));
      assert.deepEqual(new Set(await statuses(unmet)), new Set(['SKIPPED']));
      assert.deepEqual(await hooks.deliveries(ofOtherType), [], 'types are checked at dispatch');
      assert.equal(hooks.receiver.received.length, 8);
      assert.deepEqual(await statuses([...either, ...never]), ['SKIPPED', 'SKIPPED', 'DELIVERED', 'SKIPPED']);
      const { id } = await hooks.ok('boss', 'POST', '/objects', {
        typeDefinitionId: 'other',
        values: { title: 'An other' },
      });
      const ofOther = async (subscription: string) => {
        for (let tries = 0; tries < 5000; tries++) {
          const rows: any[] = await hooks.ok('boss', 'GET', `/webhook-deliveries?subscriptionId=${subscription}`);
          const row = rows.find(({ objectId }) => objectId === id);
          if (row !== undefined && row.status !== 'PENDING') return row.status;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        return 'PENDING';
      };
      assert.deepEqual(await Promise.all(either.map(ofOther)), ['DELIVERED', 'DELIVERED']);
      assert.deepEqual(await Promise.all(never.map(ofOther)), ['SKIPPED', 'SKIPPED'], 'no such field: false');
    } finally {
      await loop.stop();
    }
  });

  it('are not asked by a dry run, which names the subscriptions that match by event and record type', async () => {
    const matching = await subscribe({ eventTypes: ['ObjectCreated'], filters: { types: ['thing'] } });
    const condition = { field: 'title', operator: 'equals', value: 'never' };
    const conditional = await subscribe({ eventTypes: ['ObjectCreated'], filters: { types: ['thing'], condition } });
    await subscribe({ eventTypes: ['ObjectCreated'], filters: { types: ['other'] } });
    await subscribe({ eventTypes: ['ObjectUpdated'] });
    await subscribe({ eventTypes: ['ObjectCreated'], enabled: false });
    const effects = async (key: string): Promise<any> => {
      const body = { typeDefinitionId: 'thing', values: { title: 'Tried' } };
      const answer = await hooks.app.request('POST', '/api/v1/objects?dryRun=true', { key, body });
      assert.equal(answer.status, 201);
      return answer.body.meta.effects.webhooks;
    };
    const named = [matching, conditional].map((subscriptionId) => ({ subscriptionId, eventType: 'ObjectCreated' }));
    const bySubscription = (one: any, other: any): number => one.subscriptionId.localeCompare(other.subscriptionId);
    assert.deepEqual((await effects(hooks.keys.boss)).toSorted(bySubscription), named.toSorted(bySubscription));
    const { key } = await hooks.app.createKey({ login: 'boss', scopes: ['objects:read', 'objects:write'] });
    assert.deepEqual(await effects(key), [], 'without the scope webhooks:manage');
  });

  it('apply to docket webhooks listen, which forwards what a webhook would deliver', async () => {
    const connections = new Set<Socket>();
    // In front of the service, to break the connection.
    const proxy = createProxy((client) => {
      const { port, hostname } = new URL(hooks.app.url);
      const upstream = connect(Number(port), hostname);
      for (const socket of [client, upstream]) connections.add(socket.on('error', () => {}));
      client.pipe(upstream).pipe(client);
    });
    const bodies: any[] = [];
    const refused: unknown[] = [];
    const url = await listening(proxy);
    const loop = hooks.app.app.startWorker();
    let secret = '';
    const receiver = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      try {
        bodies.push(await verifyWebhook({ secrets: secret, headers: request.headers, body }));
        response.writeHead(202).end();
      } catch (error) {
        refused.push(error);
        response.writeHead(401).end();
      }
    });
    const forward = `${await listening(receiver)}/hook`;
    const args = ['--url', url, 'webhooks', 'listen', '--forward', forward, '--json'];
    const listener = startDocket(args, { DOCKET_KEY: hooks.adminKeys.limited });
    const printed = (): any[] =>
      listener.said.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    try {
      await until(() => printed().length > 0, listener.said);
      secret = printed()[0].secret;
      const subscription = await subscribe();
      const record = await hooks.make({ secret: 'canary-7731', owner: hooks.ids.manager });
      const hidden = await hooks.make({ kind: 'b', secret: 'canary-7731' });
      await until(() => bodies.length === 1, listener.said);
      // Breaks connections until one breaks while it is in use; an idle one is replaced without a word.
      await until(() => {
        for (const socket of connections) socket.destroy();
        return listener.said.stderr.includes('trying again');
      }, listener.said);
      const [definition] = await hooks.ok('boss', 'GET', '/relation-definitions');
      const relate = (targetObjectId: string) =>
        hooks.ok('boss', 'POST', `/objects/${record.id}/relations`, { definitionId: definition.id, targetObjectId });
      const comment = (visibility: string) =>
        hooks.ok('boss', 'POST', `/objects/${record.id}/comments`, { body: `${visibility} words`, visibility });
      await comment('internal');
      await comment('public');
      await relate(hidden.id);
      await relate((await hooks.make()).id);
      await until(() => bodies.length === 4, listener.said);
      await hooks.settled(subscription, 7);
      const comparable = ({ deliveryId, timestamp, ...rest }: any): unknown => ({
        ...rest,
        kinds: [typeof deliveryId, typeof timestamp],
      });
      const byEvent = (one: any, other: any): number => one.eventId.localeCompare(other.eventId);
      assert.deepEqual(bodies.toSorted(byEvent).map(comparable), sent().toSorted(byEvent).map(comparable));
      assert.equal(bodies.filter(({ data }) => data.comment?.body === 'public words').length, 1);
      assert.doesNotMatch(JSON.stringify(bodies), /canary-7731|internal words/);
      assert.match(listener.said.stderr, /connected again; no event was left out/);
      listener.child.kill('SIGINT');
      assert.deepEqual(await listener.ended, [0, null]);
      const lines = printed();
      assert.deepEqual(lines.at(-1), { forwarded: 4, refused: 0 });
      assert.deepEqual(
        lines.slice(1, -1).map(({ status, eventId }) => [status, eventId]),
        bodies.map(({ eventId }) => [202, eventId]),
      );
      assert.deepEqual(refused, []);
    } finally {
      listener.child.kill('SIGKILL');
      for (const socket of connections) socket.destroy();
      for (const server of [proxy, receiver]) server.close();
      await loop.stop();
    }
  });

  it('end with the role and with the user', async () => {
    const id = await subscribe({ eventTypes: ['ObjectCreated'] });
    await hooks.make();
    const role = await idOf(hooks.app, 'config_items', 'limited');
    await changeRights(hooks.app, 'DELETE FROM role_assignments WHERE role_id = $1', [role]);
    await hooks.app.app.versions.refresh();
    const before = hooks.receiver.connections;
    assert.deepEqual(outcomes(await deliver(id, 1)), [SKIPPED]);
    const own = await subscribe({ as: 'boss', eventTypes: ['ObjectCreated'] });
    await hooks.make();
    await changeRights(hooks.app, "UPDATE users SET state = 'ARCHIVED' WHERE login = 'boss'", []);
    await hooks.app.app.versions.refresh();
    const loop = hooks.app.app.startWorker();
    for (let tries = 0; tries < 5000; tries++) {
      const [row] = await hooks.rows('SELECT status FROM webhook_deliveries WHERE subscription_id = $1', [own]);
      if (row?.status === 'SKIPPED') break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await loop.stop();
    const [row] = await hooks.rows('SELECT status, error FROM webhook_deliveries WHERE subscription_id = $1', [own]);
    assert.deepEqual(row, { status: 'SKIPPED', error: 'The executor is not active.' });
    assert.equal(hooks.receiver.connections, before);
  });
});
