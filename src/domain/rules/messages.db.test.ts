/** Messages that rules send through webhooks (docs/spec/rules.md#actions), and the recipes of docs/how-to/send-to-chat.md. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { isSigned, type Receiver, startReceiver } from '../../../test/harness/receiver.ts';
import { watchAnswers } from '../../../test/harness/response-check.ts';
import { ACTIONS, bundle, idOf, stored } from '../../../test/harness/small-configuration.ts';

const PEOPLE = `
roles:
  - code: everything
    rights: [webhook.manage, config.manage, role.assign]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief, customer] }
  - code: messenger
    records: [{ type: incident, actions: [read], fields: { read: [title], write: [] } }]
    assignedTo: { users: [messenger] }
users: [ { login: chief, displayName: Chief }, { login: customer, displayName: Customer }, { login: messenger, displayName: Messenger } ]`;

/** The messenger cannot read the description. */
const RULES = `
rules:
  - code: tell
    on: [ObjectCreated]
    types: [incident]
    runAs: messenger
    when: { field: title, operator: starts-with, value: Tell }
    do: [ { post: { connection: own, body: { text: '{{ title }} [{{ description }}]', parts: [ 'of {{ title }}', 1, true ] } } } ]`;

const RECIPES = ['slack', 'mattermost', 'telegram'] as const;
const recipe = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, `../../../deploy/chat/${name}.yaml`), 'utf8');

describe('messages of rules', () => {
  let app: TestApp;
  let receiver: Receiver;
  let undocumented: readonly unknown[];
  let secret: string;
  const keys = new Map<string, string>();
  const hooks = new Map<string, string>();

  async function call(who: string, method: string, place: string, body?: unknown): Promise<any> {
    const key = keys.get(place.startsWith('/api/') ? `admin ${who}` : who) ?? '';
    const where = place.startsWith('/api/') ? place : `/api/v1${place}`;
    return await app.request(method, where, { key, ...(body === undefined ? {} : { body }) });
  }
  async function ok(who: string, method: string, place: string, body?: unknown): Promise<any> {
    const answer = await call(who, method, place, body);
    assert.ok(answer.status < 300, `${method} ${place}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  }
  const create = (values: object): Promise<any> =>
    ok('chief', 'POST', '/objects', { typeDefinitionId: 'incident', values });
  const onHook = (code: string, what: string) =>
    ok('chief', 'POST', `/api/admin/v1/webhooks/${hooks.get(code)}/${what}`, {});
  async function subscribe(code: string, login: string): Promise<void> {
    const { id } = await ok('chief', 'POST', '/webhooks', {
      code,
      endpoint: receiver.url.replace(/\/hook$/, `/${code}`),
      secretRef: 'main',
      eventTypes: [],
      executionPrincipalId: await idOf(app, 'users', login),
      retryPolicy: { maxAttempts: 3, baseDelayMs: 30 },
    });
    hooks.set(code, id);
  }
  const runsOf = (id: string): Promise<unknown[]> =>
    stored(app, `SELECT outcome, error ->> 'code' AS error FROM rule_runs WHERE object_id = $1 ORDER BY at`, [id]);
  /** The deliveries about the record, when they are finished. */
  async function delivered(code: string, id: string): Promise<any[]> {
    const until = performance.now() + 60_000;
    for (;;) {
      const all = await ok('chief', 'GET', `/webhook-deliveries?subscriptionId=${hooks.get(code)}`);
      const own = all.filter(({ objectId }: any) => objectId === id);
      if (own.length > 0 && own.every(({ status }: any) => status !== 'PENDING')) return own;
      assert.ok(performance.now() < until, `not settled: ${JSON.stringify(own)}`);
      await sleep(20);
    }
  }

  before(async () => {
    receiver = await startReceiver();
    app = await startTestApp({ outbound: { allowPrivate: true, ca: receiver.ca } });
    undocumented = watchAnswers(app);
    await app.apply(bundle(PEOPLE));
    for (const login of ['chief', 'customer']) {
      keys.set(login, (await app.createKey({ login })).key);
      keys.set(`admin ${login}`, (await app.createKey({ login, scopes: ['admin:manage'] })).key);
    }
    ({ secret } = await ok('chief', 'POST', '/api/admin/v1/signing-secrets', { code: 'main' }));
    await subscribe('own', 'messenger');
    for (const code of RECIPES) await subscribe(code, 'desk-robot');
    await app.apply(bundle(RULES));
    for (const name of RECIPES) await app.apply(bundle(recipe(name)));
    await app.app.versions.refresh();
  });
  after(async () => {
    await app.close();
    await receiver.close();
    assert.deepEqual(undocumented, []);
  });
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.answer = { status: 200, body: 'ok' };
  });

  // First, while this process does not send.
  it('are not sent to a private address', async () => {
    const strict = await startTestApp({ on: app, outbound: { ca: receiver.ca } });
    try {
      strict.app.startWorker();
      const { id } = await create({ title: 'Tell nobody' });
      const [delivery] = await delivered('own', id);
      assert.deepEqual([delivery.status, delivery.attemptCount], ['FAILED', 1], JSON.stringify(delivery));
      assert.equal(receiver.connections, 0);
    } finally {
      await strict.close();
    }
    app.app.startWorker();
  });

  it('hold what the user of the rule may read, are signed, tried again and logged', async () => {
    const answers = [{ status: 500 }, { status: 200, body: 'ok' }];
    receiver.answer = () => answers.shift() ?? { status: 599 };
    const title = 'Tell "them" \\ {{ description }} 😀';
    const { id } = await create({ title, description: 'Hush' });
    const [delivery, ...others] = await delivered('own', id);
    assert.deepEqual(others, []);
    const { received } = receiver;
    assert.equal(received.length, 2);
    for (const request of received) {
      assert.deepEqual(request.body, { text: `${title} []`, parts: [`of ${title}`, 1, true] });
      assert.ok(isSigned(secret, request));
      assert.equal(request.headers['x-itsm-delivery'], delivery.id);
      assert.equal(request.path, '/own');
    }
    assert.deepEqual([delivery.eventType, delivery.status, delivery.attemptCount], ['RulePosted', 'DELIVERED', 2]);
    assert.deepEqual(
      delivery.attempts.map(({ response }: any) => response.status),
      [500, 200],
    );
    assert.deepEqual(await runsOf(id), [{ outcome: 'DONE', error: null }]);
    const event = (await ok('chief', 'GET', `/objects/${id}/history`)).find(({ type }: any) => type === 'RulePosted');
    assert.deepEqual([event.actor.displayName, event.actor.via, event.data], ['Messenger', 'rule', { rule: 'tell' }]);
  });

  it('are sent to their webhook alone, and not while it is disabled', async () => {
    await onHook('own', 'disable');
    const quiet = await create({ title: 'Tell later' });
    await onHook('own', 'enable');
    const { id } = await create({ title: 'Tell now' });
    await delivered('own', id);
    assert.deepEqual(
      receiver.received.map(({ path: at, body }) => [at, body.text]),
      [['/own', 'Tell now []']],
    );
    assert.deepEqual(await runsOf(quiet.id), [{ outcome: 'DONE', error: null }]);
    const rows = 'SELECT 1 FROM webhook_deliveries WHERE object_id = $1';
    assert.deepEqual(await stored(app, rows, [quiet.id]), []);
  });

  it('are not sent by a dry run, which names the webhook', async () => {
    const body = { typeDefinitionId: 'incident', values: { title: 'Tell in theory' } };
    const { meta } = (await call('chief', 'POST', '/objects?dryRun=true', body)).body;
    const planned = meta.effects.webhooks.filter(({ eventType }: any) => eventType === 'RulePosted');
    assert.deepEqual(planned, [{ subscriptionId: hooks.get('own'), eventType: 'RulePosted' }]);
    const { id } = await create({ title: 'Tell in practice' });
    await delivered('own', id);
    assert.equal(receiver.received.length, 1);
  });

  it('are refused if the webhook has another user', async () => {
    const change = async (login: string): Promise<void> => {
      await onHook('own', 'disable');
      const executionPrincipalId = await idOf(app, 'users', login);
      await ok('chief', 'PATCH', `/api/admin/v1/webhooks/${hooks.get('own')}`, { executionPrincipalId });
      await onHook('own', 'enable');
    };
    await change('chief');
    const { id } = await create({ title: 'Tell the chief' });
    assert.deepEqual(await runsOf(id), [{ outcome: 'FAILED', error: 'RIGHT_MISSING' }]);
    await change('messenger');
    const next = await create({ title: 'Tell the messenger' });
    await delivered('own', next.id);
    assert.equal(receiver.received.length, 1);
  });

  it('have the form that each chat takes', async () => {
    const customer = await idOf(app, 'users', 'customer');
    const made = await create({ title: 'Disk <!channel> full', priority: 'p1', requester: customer });
    const { id, number } = made;
    await delivered('slack', id);
    await ok('customer', 'POST', `/objects/${id}/comments`, { body: 'And now?', visibility: 'public' });
    await delivered('mattermost', id);
    const { revision } = await ok('chief', 'GET', `/objects/${id}`);
    const { revision: next } = await ok('chief', 'PATCH', `/objects/${id}`, {
      expectedRevision: revision,
      changes: { priority: 'p3' },
    });
    await ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision: next, changes: { priority: 'p1' } });
    await delivered('telegram', id);
    const bodies = new Map(receiver.received.map((request) => [request.path, request.body]));
    assert.equal(receiver.received.length, 3);
    assert.deepEqual(bodies.get('/slack'), {
      text: `New critical incident ${number}`,
      blocks: [{ type: 'section', text: { type: 'plain_text', text: `${number} Disk <!channel> full` } }],
    });
    assert.deepEqual(Object.keys(bodies.get('/mattermost')).sort(), ['text', 'username']);
    assert.ok(bodies.get('/mattermost').text.startsWith(`**${number}**: the requester replied (`));
    assert.deepEqual(bodies.get('/telegram'), { chat_id: '-1001234567890', text: `${number} Disk <!channel> full` });
  });
});
