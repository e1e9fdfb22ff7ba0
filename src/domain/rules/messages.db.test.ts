/**
 * Messages that rules send through webhooks (docs/spec/rules.md#actions), and the recipes of docs/how-to/send-to-chat.md and
 * docs/how-to/receive-from-chat.md.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatReceiver } from '../../../deploy/chat/receiver.ts';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { isSigned, type Receiver, startReceiver } from '../../../test/support/receiver.ts';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { ACTIONS, bundle, idOf, stored } from '../../../test/support/small-configuration.ts';

const PEOPLE = `
roles:
  - code: everything
    rights: [webhook.manage, config.manage, role.assign]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief, customer] }
  - { code: hooker, rights: [webhook.manage], assignedTo: { users: [hooker] } }
  - code: messenger
    records: [{ type: incident, actions: [read], fields: { read: [title], write: [] } }]
    assignedTo: { users: [messenger] }
users: [ { login: chief, displayName: Chief }, { login: customer, displayName: Customer }, { login: hooker, displayName: Manager of webhooks }, { login: messenger, displayName: Messenger } ]`;

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
    for (const login of ['chief', 'customer', 'hooker']) {
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

  it('can be tried with sample values, whether the rule and its webhook are enabled or not', async () => {
    await onHook('own', 'disable');
    const send = (who: string, body: object = {}, code = 'own') =>
      call(who, 'POST', `/api/admin/v1/webhooks/${hooks.get(code)}/test`, body);
    const message = {
      text: 'Sample of docket webhooks test [Описание]',
      parts: ['of Sample of docket webhooks test', 1, true],
    };
    const { status, body } = await send('chief', { rule: 'tell' });
    assert.deepEqual([status, body.data.status], [200, 'DELIVERED'], JSON.stringify(body));
    const [request] = receiver.received;
    assert.ok(request && isSigned(secret, request));
    assert.deepEqual([request.path, request.body], ['/own', message]);
    assert.equal(body.data.request.body, request.raw.toString('utf8'));
    // A webhook without events sends the message of its first rule by default.
    assert.deepEqual(JSON.parse((await send('chief')).body.data.request.body), message);
    const noted = await stored<{ data: unknown }>(app, `SELECT data FROM journal WHERE type = 'WebhookTested' LIMIT 1`);
    assert.deepEqual(noted, [{ data: { eventType: 'RulePosted', rule: 'tell' } }]);
    await onHook('own', 'enable');
    receiver.received.length = 0;
    for (const code of RECIPES) assert.equal((await send('chief', {}, code)).body.data.status, 'DELIVERED', code);
    assert.deepEqual(
      receiver.received.map((sent) => Object.keys(sent.body).sort()),
      [
        ['blocks', 'text'],
        ['text', 'username'],
        ['chat_id', 'text'],
      ],
    );
    const refusals: [who: string, asked: object, ...expected: unknown[]][] = [
      ['chief', { rule: 'chat-slack' }, 400, 'RULE_POSTS_ELSEWHERE'],
      ['chief', { rule: 'none' }, 400, 'RULE_POSTS_ELSEWHERE'],
      ['chief', { rule: 'tell', eventType: 'ObjectCreated' }, 400, 'RULE_OR_EVENT_TYPE'],
      ['hooker', { rule: 'tell' }, 403, undefined],
    ];
    for (const [who, asked, ...expected] of refusals) {
      const answer = await send(who, asked);
      const reason = answer.body.meta.reasons?.[0]?.reason;
      assert.deepEqual([answer.status, reason], expected, JSON.stringify(answer.body));
    }
    // Without the right to read rules there is the sample of an event.
    assert.equal(JSON.parse((await send('hooker')).body.data.request.body).eventType, 'ObjectCreated');
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

  it('are taken from each chat that proves itself, once', async () => {
    await app.apply(bundle(recipe('inbound/chat')));
    await app.app.versions.refresh();
    const { key } = await app.createKey({ login: 'chat', scopes: ['integrations:execute'] });
    const found = await stored<any>(
      app,
      `SELECT id FROM config_items WHERE section = 'integrations' AND code = 'chat'`,
    );
    const integrationId = found[0].id;
    const [second] = await stored<any>(app, `SELECT id FROM config_items WHERE code = 'chat-comment'`);
    const comments = { integrationId: second.id, chats: ['C1', '42'] };
    const secrets: Record<string, string> = { slack: 'slack-secret', telegram: 'telegram-secret' };
    const telegramChats = ['42'];
    const chat = chatReceiver({ docketUrl: app.url, key, integrationId, secrets, telegramChats, comments }).listen(
      0,
      '127.0.0.1',
    );
    await once(chat, 'listening');
    const send = async (to: string, body: string, headers: Record<string, string> = {}): Promise<[number, any]> => {
      const url = `http://127.0.0.1:${(chat.address() as AddressInfo).port}/${to}`;
      const answer = await fetch(url, { method: 'POST', headers, body });
      const text = await answer.text();
      return [answer.status, text === '' ? undefined : JSON.parse(text)];
    };
    const command = (text: string, id: string, channel = 'C1'): string =>
      new URLSearchParams({
        command: '/incident',
        text,
        user_name: 'olga',
        trigger_id: id,
        channel_id: channel,
      }).toString();
    const signed = (body: string, at = Date.now()): Record<string, string> => {
      const sentAt = String(Math.floor(at / 1000));
      const signature = createHmac('sha256', 'slack-secret').update(`v0:${sentAt}:${body}`).digest('hex');
      return { 'x-slack-request-timestamp': sentAt, 'x-slack-signature': `v0=${signature}` };
    };
    const telegram = { 'x-telegram-bot-api-secret-token': 'telegram-secret' };
    const update = (text: string, id = 42): string =>
      JSON.stringify({ update_id: 7, message: { chat: { id }, from: { username: 'olga' }, text } });
    try {
      const jam = command('The printer is jammed & "smokes"\nFloor 2', '13.7');
      const [status, answer] = await send('slack', jam, signed(jam));
      assert.equal(status, 200);
      assert.match(answer.text, /^Created INC\d+$/);
      assert.deepEqual((await send('slack', jam, signed(jam)))[1], answer, 'the same message again');
      const [made, ...others] = await stored<any>(
        app,
        `SELECT title, "values" ->> 'description' AS text FROM objects WHERE title LIKE 'The printer%'`,
      );
      assert.deepEqual(others, []);
      assert.deepEqual(made, {
        title: 'The printer is jammed & "smokes"',
        text: 'The printer is jammed & "smokes"\nFloor 2\n\nolga (slack)',
      });
      const refused: [string, string, Record<string, string>, number][] = [
        ['slack', jam, {}, 401],
        ['slack', `${jam}&x=1`, signed(jam), 401],
        ['slack', jam, signed(jam, Date.now() - 301_000), 401],
        ['telegram', update('/incident Down'), {}, 401],
        ['telegram', '{', telegram, 400],
        ['telegram', `"${'x'.repeat(1_000_001)}"`, telegram, 413],
        ['mattermost', jam, { authorization: 'Token undefined' }, 404],
        ['other', jam, {}, 404],
        ['telegram', update('/incident Down', 43), telegram, 200],
      ];
      for (const [to, body, headers, expected] of refused) {
        assert.equal((await send(to, body, headers))[0], expected, `${to} ${body.slice(0, 20)}`);
      }
      // Ids of Mattermost are long, with signs of base64.
      secrets['mattermost'] = 'token';
      const other = command('From elsewhere', `${'x'.repeat(220)}/+=`);
      const [, { text: created }] = await send('mattermost', other, { authorization: 'Token token' });
      assert.match(created, /^Created INC\d+$/);
      assert.deepEqual(await stored(app, `SELECT title FROM objects WHERE title IN ('Down', 'From elsewhere')`), [
        { title: 'From elsewhere' },
      ]);
      const [, { method, chat_id, text }] = await send('telegram', update('/incident@desk_bot All is down'), telegram);
      assert.deepEqual([method, chat_id], ['sendMessage', 42]);
      assert.match(text, /^Created INC\d+$/);
      const number = answer.text.replace('Created ', '');
      const reply = command(`${number.toLowerCase()} It works again *now*`, '13.8');
      const problem = await ok('chief', 'POST', '/objects', {
        typeDefinitionId: 'problem',
        values: { title: 'Hidden' },
      });
      const commented: [body: string, expected: RegExp][] = [
        [reply, new RegExp(`^Added to ${number}$`)],
        [reply, new RegExp(`^Added to ${number}$`)],
        [command(`${number} From another channel`, '13.9', 'C2'), /^Comments are not accepted from this chat/],
        [command('INC9999999 Into nothing', '13.10'), /^Docket refused the message/],
        [command(`${problem.number} Not an incident`, '13.11'), /^Created INC/],
      ];
      for (const [body, expected] of commented) {
        assert.match((await send('slack', body, signed(body)))[1].text, expected, body);
      }
      assert.deepEqual(
        await stored(
          app,
          `SELECT c.body, c.visibility, u.login FROM comments c JOIN users u ON u.id = c.author_id
          JOIN objects o ON o.id = c.object_id WHERE o.number = $1`,
          [number],
        ),
        [{ body: 'It works again *now*\n\nolga (slack)', visibility: 'internal', login: 'chat' }],
      );
      // The integration alone does not decide: a record that its user may not read is as one that does not exist.
      const into = (to: string) =>
        app.request('POST', `/api/v1/inbound/${second.id}`, { key, body: { number: to, text: 'x' } });
      const [hidden, missing] = [await into(problem.number), await into('PRB9999999')];
      assert.deepEqual([hidden.status, hidden.body.error.code], [404, 'NOT_FOUND']);
      assert.deepEqual(hidden.body.error, missing.body.error);
      assert.deepEqual(await send('telegram', update('Good morning'), telegram), [200, undefined]);
      assert.match((await send('telegram', update('/incident'), telegram))[1].text, /^Write what happened/);
    } finally {
      chat.close();
    }
  });
});
