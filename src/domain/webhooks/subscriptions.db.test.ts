/**
 * Administration of subscriptions and signing secrets (docs/spec/webhooks-and-inbound.md#subscriptions,
 * docs/spec/configuration.md#administration-api).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PRIVATE_HOSTS } from '../../../test/support/private-listener.ts';
import { type WebhookFixture, startWebhookFixture } from '../../../test/support/webhook-fixture.ts';
import { bundle, idOf, stored } from '../../../test/support/small-configuration.ts';
import type { TestAnswer } from '../../../test/support/app.ts';
import { applyBundle, exportBundle, planBundle } from '../../configuration/engine.ts';

function refused(answer: TestAnswer, status: number, code: string, what = ''): void {
  assert.equal(answer.status, status, `${what} ${JSON.stringify(answer.body)}`);
  assert.equal(answer.body.error.code, code, what);
}

/** Path and code of each problem of a 400 response. */
function places(answer: TestAnswer): string[] {
  assert.equal(answer.status, 400, JSON.stringify(answer.body));
  return answer.body.error.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);
}

describe('subscriptions', () => {
  let hooks: WebhookFixture;
  before(async () => {
    hooks = await startWebhookFixture({ idle: true, outbound: { allowPrivate: false } });
  });
  after(() => hooks.close());

  let count = 0;
  const input = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
    code: `s-${++count}`,
    endpoint: 'https://1.1.1.1/hook',
    secretRef: 'main',
    executionPrincipalId: hooks.ids.boss,
    eventTypes: ['ObjectCreated'],
    ...more,
  });
  const create = (more: Record<string, unknown> = {}) => hooks.call('boss', 'POST', '/webhooks', input(more));
  const made = async (more: Record<string, unknown> = {}) => (await create(more)).body.data;

  it('are created with the defaults of the specification and listed without the secret', async () => {
    const body = input();
    const answer = await hooks.call('boss', 'POST', '/webhooks', body);
    assert.equal(answer.status, 201);
    const expected = {
      id: answer.body.data.id,
      ...body,
      filters: {},
      retryPolicy: { maxAttempts: 3, baseDelayMs: 1000 },
      enabled: true,
      state: 'ACTIVE',
    };
    assert.deepEqual(answer.body.data, expected);
    const list = await hooks.ok('boss', 'GET', '/webhooks');
    assert.deepEqual(
      list.find(({ id }: { id: string }) => id === expected.id),
      expected,
    );
    assert.ok(!JSON.stringify(list).includes('whsec_'));
    refused(await hooks.call('boss', 'POST', '/webhooks', { ...input(), code: body['code'] }), 409, 'ALREADY_EXISTS');
  });

  it('report all invalid paths', async () => {
    const wrong: [Record<string, unknown>, string][] = [
      [{ endpoint: 'http://1.1.1.1/' }, '/endpoint WRONG_FORMAT'],
      [{ endpoint: 'https://u@1.1.1.1/' }, '/endpoint WRONG_FORMAT'],
      [{ endpoint: 'https://1.1.1.1/?' }, '/endpoint WRONG_FORMAT'],
      [{ secretRef: 'unknown' }, '/secretRef UNKNOWN_REFERENCE'],
      [{ executionPrincipalId: '00000000-0000-7000-8000-000000000000' }, '/executionPrincipalId UNKNOWN_USER'],
      [{ filters: { types: ['thing', 'unknown'] } }, '/filters/types/1 UNKNOWN_TYPE'],
      [
        { filters: { types: ['thing'], condition: { field: 'nothing', operator: 'is-empty' } } },
        '/filters/condition/field UNKNOWN_FIELD',
      ],
      [
        { filters: { condition: { field: 'nothing', operator: 'is-empty' } } },
        '/filters/condition/field UNKNOWN_FIELD',
      ],
      [
        { filters: { condition: { field: 'kind', operator: 'equals', value: 'z' } } },
        '/filters/condition/value UNKNOWN_OPTION',
      ],
      [
        { filters: { types: ['thing'], condition: { field: 'owner', operator: 'equals', value: 'boss-x' } } },
        '/filters/condition/value UNKNOWN_REFERENCE',
      ],
      [
        { filters: { types: ['thing'], condition: { field: 'title', operator: 'near' } } },
        '/filters/condition/operator UNKNOWN_OPERATOR',
      ],
    ];
    for (const [more, place] of wrong) assert.deepEqual(places(await create(more)), [place], JSON.stringify(more));
    for (const more of [
      { eventTypes: ['ObjectMade'] },
      { eventTypes: ['ObjectCreated', 'ObjectCreated'] },
      { retryPolicy: { maxAttempts: 0 } },
      { retryPolicy: { maxAttempts: 11 } },
      { retryPolicy: { baseDelayMs: 0 } },
      { retryPolicy: { baseDelayMs: 3_600_001 } },
      { retryPolicy: { maxAttempts: '3' } },
      { enabled: null },
      { code: 'Not A Code' },
      { secret: 'whsec_x' },
      { filters: { unknown: 1 } },
      { filters: { condition: 'x' } },
    ]) {
      refused(await create(more), 400, 'INVALID_REQUEST', JSON.stringify(more));
    }
    const all = await create({ endpoint: 'http://x', secretRef: 'unknown', executionPrincipalId: hooks.ids.boss });
    assert.deepEqual(places(all), ['/secretRef UNKNOWN_REFERENCE', '/endpoint WRONG_FORMAT'], 'all at once');
    refused(await hooks.call('boss', 'GET', '/webhooks?page=1'), 400, 'INVALID_REQUEST');
    refused(await hooks.call('boss', 'GET', '/webhook-deliveries?subscriptionId=x'), 400, 'INVALID_REQUEST');
  });

  it('are rejected with a private address in any spelling', async () => {
    for (const host of PRIVATE_HOSTS) {
      // The addresses of these names are checked when they are resolved, at delivery.
      if (host.includes('example.org') || host === 'metadata.google.internal') continue;
      const answer = await create({ endpoint: `https://${host}:8443/hook` });
      assert.deepEqual(places(answer), ['/endpoint ADDRESS_REFUSED'], host);
    }
    assert.equal((await create({ endpoint: 'https://nowhere.invalid/x', enabled: false })).status, 201, 'judged later');
  });

  it('use only rights that the caller could grant', async () => {
    const as = (who: 'manager' | 'limited' | 'boss', principal: 'boss' | 'manager' | 'limited') =>
      hooks.call(who, 'POST', '/webhooks', input({ executionPrincipalId: hooks.ids[principal] }));
    const borrowed = await as('manager', 'boss');
    refused(borrowed, 403, 'RIGHT_MISSING');
    assert.deepEqual(borrowed.body.error.details, { right: 'role.assign' });
    refused(await hooks.call('nobody', 'POST', '/webhooks', input()), 403, 'RIGHT_MISSING');
    assert.equal((await as('limited', 'limited')).status, 201);
    assert.equal((await as('boss', 'limited')).status, 201);
    const { id } = await made({ enabled: false });
    const path = `/webhooks/${id}`;
    for (const [method, where, body] of [
      ['PATCH', path, { endpoint: 'https://1.0.0.1/mine' }],
      ['PATCH', path, { executionPrincipalId: hooks.ids.manager }],
      ['POST', `${path}/enable`, undefined],
    ] as const) {
      refused(await hooks.admin('manager', method, where, body), 403, 'RIGHT_MISSING', `${method} ${where}`);
    }
    assert.equal((await hooks.okAdmin('manager', 'POST', `${path}/disable`)).enabled, false);
    assert.equal((await hooks.okAdmin('manager', 'POST', `${path}/archive`)).state, 'ARCHIVED');
    refused(await hooks.admin('manager', 'POST', `${path}/restore`), 403, 'RIGHT_MISSING');
  });

  it('report no type or field that the caller cannot see', async () => {
    const own = { executionPrincipalId: hooks.ids.limited };
    const of = async (filters: unknown) =>
      places(await hooks.call('limited', 'POST', '/webhooks', input({ ...own, filters })));
    assert.deepEqual(await of({ types: ['other'] }), await of({ types: ['unknown'] }));
    const asks = (field: string) => ({ types: ['thing'], condition: { field, operator: 'is-empty' } });
    assert.deepEqual(await of(asks('secret')), await of(asks('neverThere')));
  });

  it('change only while disabled, and move from enabled to archived and back', async () => {
    const { id } = await made();
    const on = (what: string) => hooks.admin('boss', 'POST', `/webhooks/${id}/${what}`);
    const change = (body: unknown) => hooks.admin('boss', 'PATCH', `/webhooks/${id}`, body);
    refused(await change({ endpoint: 'https://1.0.0.1/x' }), 409, 'CONNECTION_ENABLED');
    assert.equal((await on('enable')).body.data.enabled, true, 'enabling what is enabled changes nothing');
    assert.equal((await on('disable')).body.data.enabled, false);
    assert.equal((await on('disable')).status, 200);
    const type = await idOf(hooks.app, 'config_items', 'thing');
    const condition = { field: 'owner', operator: 'in', value: [hooks.ids.boss, '$me'] };
    const changed = await change({
      endpoint: 'https://1.0.0.1/x',
      eventTypes: ['ObjectUpdated', 'SlaBreached'],
      filters: { types: ['thing'], condition },
      retryPolicy: { maxAttempts: 7 },
    });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const { endpoint, eventTypes, filters, retryPolicy, secretRef, enabled } = changed.body.data;
    assert.deepEqual(
      { endpoint, eventTypes, filters, retryPolicy, secretRef, enabled },
      {
        endpoint: 'https://1.0.0.1/x',
        eventTypes: ['ObjectUpdated', 'SlaBreached'],
        filters: { types: [type], condition },
        retryPolicy: { maxAttempts: 7, baseDelayMs: 1000 },
        secretRef: 'main',
        enabled: false,
      },
    );
    refused(await change({}), 400, 'INVALID_REQUEST');
    refused(await change({ code: 'other' }), 400, 'INVALID_REQUEST');
    refused(await change({ enabled: true }), 400, 'INVALID_REQUEST');
    assert.deepEqual(places(await change({ endpoint: 'https://10.0.0.1/' })), ['/endpoint ADDRESS_REFUSED']);
    const again = await change({ filters });
    assert.deepEqual(again.body.data.filters, filters, 'what is read can be written');
    await on('enable');
    assert.equal((await on('archive')).body.data.state, 'ARCHIVED');
    for (const what of ['enable', 'disable', 'archive']) refused(await on(what), 409, 'CONNECTION_ARCHIVED', what);
    refused(await change({ eventTypes: ['ObjectCreated'] }), 409, 'CONNECTION_ARCHIVED');
    const listed = (await hooks.ok('boss', 'GET', '/webhooks')).find((one: { id: string }) => one.id === id);
    assert.deepEqual([listed.state, listed.enabled], ['ARCHIVED', false]);
    const restored = await on('restore');
    assert.deepEqual([restored.body.data.state, restored.body.data.enabled], ['ACTIVE', false]);
    const absent = await hooks.admin('boss', 'POST', `/webhooks/${hooks.ids.boss}/enable`);
    refused(absent, 404, 'NOT_FOUND');
    const { rows } = await hooks.okAdmin('boss', 'GET', '/audit');
    const audited = rows.filter(({ subject }: { subject: string }) => subject === `webhooks:${listed.code}`);
    const actions = audited.map(({ data }: { data: { action: string } }) => data.action).reverse();
    assert.deepEqual(actions, ['create', 'change', 'change', 'change', 'change', 'archive', 'restore']);
  });

  it('equal those that a bundle creates', async () => {
    const filters = {
      types: ['thing'],
      condition: { field: 'owner', operator: 'equals', value: hooks.ids.limited },
    };
    const { code } = await made({ filters, retryPolicy: { maxAttempts: 5 } });
    const { work, system } = hooks.app.app;
    const exported = await work.read(system(), (ctx) => exportBundle(ctx, hooks.app.sections, { identity: true }), {
      snapshot: true,
    });
    const text = exported.map((file) => file.text).join('\n');
    assert.ok(text.includes(code), 'it is exported');
    assert.match(text, /value: limited/, 'with the login in place of the id');
    const plan = await work.read(system(), (ctx) => planBundle(ctx, hooks.app.sections, exported), { snapshot: true });
    assert.deepEqual(
      plan.filter(({ action }) => action !== 'leave'),
      [],
    );
  });

  it('are disabled, changed and enabled in one transaction by an apply', async () => {
    const hook = (attempts: number): string =>
      `webhooks: [{ code: applied, endpoint: 'https://1.1.1.1/x', secretRef: main, executionPrincipal: boss, eventTypes: [ObjectCreated], retryPolicy: { maxAttempts: ${attempts} } }]`;
    const { work, system } = hooks.app.app;
    await hooks.app.apply(bundle(hook(3)));
    const plan = await work.read(system(), (ctx) => planBundle(ctx, hooks.app.sections, bundle(hook(4))), {
      snapshot: true,
    });
    assert.match(plan[0]?.note ?? '', /disabled, changed and enabled/);
    await work.write(system(), (ctx) => applyBundle(ctx, hooks.app.sections, bundle(hook(4))));
    const periods = await stored<{ until_seq: number | null; from_seq: number; max_attempts: number }>(
      hooks.app,
      `SELECT p.* FROM webhook_periods p JOIN config_items i ON i.id = p.subscription_id WHERE i.code = 'applied' ORDER BY from_seq`,
    );
    assert.equal(periods.length, 2);
    assert.deepEqual(periods[0]?.until_seq, periods[1]?.from_seq, 'no event falls between, none into both');
    assert.deepEqual([periods[0]?.max_attempts, periods[1]?.max_attempts, periods[1]?.until_seq], [3, 4, null]);
    const refusal = work.write(system(), (ctx) =>
      applyBundle(
        ctx,
        hooks.app.sections,
        bundle(`signingSecrets: [bare]\n${hook(4).replace('secretRef: main', 'secretRef: bare')}`),
      ),
    );
    await assert.rejects(refusal, (error: { problems: { code: string }[] }) => {
      assert.deepEqual(
        error.problems.map(({ code }) => code),
        ['SECRET_WITHOUT_VALUE'],
      );
      return true;
    });
  });
});

describe('signing secrets', () => {
  let hooks: WebhookFixture;
  before(async () => {
    hooks = await startWebhookFixture({ idle: true });
  });
  after(() => hooks.close());

  it('are shown once and stored encrypted', async () => {
    assert.match(hooks.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const bytes = Buffer.from(hooks.secret.slice(6), 'base64');
    const [row] = await hooks.rows<{ sealed: Buffer }>('SELECT sealed FROM signing_secret_values');
    assert.ok(row && !row.sealed.includes(bytes) && !row.sealed.includes(hooks.secret));
    const everything = JSON.stringify([
      await hooks.okAdmin('boss', 'GET', '/signing-secrets'),
      await hooks.okAdmin('boss', 'GET', '/audit'),
      await hooks.okAdmin('boss', 'GET', '/config/export'),
      await hooks.rows('SELECT data FROM journal'),
    ]);
    assert.ok(!everything.includes(hooks.secret.slice(6, 30)));
    const [listed] = await hooks.okAdmin('boss', 'GET', '/signing-secrets');
    assert.deepEqual([listed.code, listed.hasValue, listed.previousUntil], ['main', true, null]);
  });

  it('have one value until they are rotated', async () => {
    refused(await hooks.admin('boss', 'POST', '/signing-secrets', { code: 'main' }), 409, 'ALREADY_EXISTS');
    const rotate = (overlap?: string) =>
      hooks.admin('boss', 'POST', '/signing-secrets/main/rotate', overlap === undefined ? {} : { overlap });
    for (const wrong of ['1 hour', '-PT1H', '', 'P1000000Y'])
      refused(await rotate(wrong), 400, 'INVALID_REQUEST', wrong);
    const values = () => hooks.rows('SELECT version, expires_at FROM signing_secret_values ORDER BY version');
    assert.notEqual((await rotate('P1D')).body.data.secret, hooks.secret);
    assert.equal((await values()).length, 2);
    const answers = await Promise.all(Array.from({ length: 4 }, () => rotate('PT1H')));
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(new Set(answers.map(({ body }) => body.data.secret)).size, 4);
    const left = await values();
    assert.deepEqual(
      left.map((value: any) => [value.version, value.expires_at === null]),
      [
        [5, false],
        [6, true],
      ],
    );
    await rotate();
    assert.equal((await values()).length, 1);
    refused(await hooks.admin('boss', 'POST', '/signing-secrets/unknown/rotate', {}), 404, 'NOT_FOUND');
    refused(await hooks.admin('boss', 'POST', '/signing-secrets/main/rotate', { overlap: 5 }), 400, 'INVALID_REQUEST');
  });

  it('prevent enabling until they have a value', async () => {
    await hooks.app.apply(bundle('signingSecrets: [later]'));
    const input = {
      code: 'waits',
      endpoint: hooks.receiver.url,
      secretRef: 'later',
      executionPrincipalId: hooks.ids.boss,
      eventTypes: ['ObjectCreated'],
    };
    const enabled = await hooks.call('boss', 'POST', '/webhooks', input);
    assert.deepEqual(places(enabled), ['/secretRef SECRET_WITHOUT_VALUE']);
    const { id } = await hooks.ok('boss', 'POST', '/webhooks', { ...input, enabled: false });
    const enable = () => hooks.admin('boss', 'POST', `/webhooks/${id}/enable`);
    assert.deepEqual(places(await enable()), ['/secretRef SECRET_WITHOUT_VALUE']);
    const shown = await hooks.okAdmin('boss', 'POST', '/signing-secrets', { code: 'later' });
    assert.match(shown.secret, /^whsec_/);
    assert.equal((await enable()).body.data.enabled, true);
    const secrets = await hooks.okAdmin('boss', 'GET', '/signing-secrets');
    assert.deepEqual(
      secrets.map(({ code }: { code: string }) => code),
      ['later', 'main'],
    );
    const both = await Promise.all(
      [1, 2].map(() => hooks.admin('boss', 'POST', '/signing-secrets', { code: 'raced' })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
  });
});
