/**
 * Who may call what: every operation of the table × every trouble with key, scope, right, record and field
 * (docs/spec/conventions.md, docs/spec/access.md#roles-and-rights). `test/operation-cases.test.ts` finds operations without a case.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MODULES } from '../src/modules.ts';
import { operationsOf } from '../src/platform/module.ts';
import { takesDryRun } from '../src/contract/operation.ts';
import { ADMIN_SCOPE, SCOPES } from '../src/contract/scopes.ts';
import { setPassword } from '../src/domain/access/index.ts';
import { makeKey } from '../src/domain/access/keys.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';
import { operationCases, WORLD } from './support/operation-calls.ts';
import {
  type Call,
  HIDDEN_FIELD,
  HIDDEN_VALUE,
  type Login,
  type OperationCase,
  PASSWORD,
} from './support/operation-calls-case.ts';
import { databaseState } from './support/database-state.ts';
import { bundle, changeRights, stored, withoutCorrelation } from './support/small-configuration.ts';

let app: TestApp;
/** Responses that do not match the OpenAPI document. */
let undocumented: string[];
let keys: Record<Login, string>;
let adminKeys: Record<Login, string>;
let table: ReturnType<typeof operationCases>;

type Operation = ReturnType<typeof operationsOf>[number];

/** All, or those of one module. */
const known = operationsOf(MODULES).filter(({ id }) => id.startsWith(process.env['DOCKET_TEST_OPERATIONS'] ?? ''));
const atLeast = (count: number): number => Math.min(count, known.length);
const isPublic = (operation: Operation): boolean => operation.access !== 'console' && operation.access !== 'open';

function rowOf(operation: Operation): OperationCase {
  const row = Object.hasOwn(table, operation.id) ? table[operation.id] : undefined;
  assert.ok(row, `operation ${operation.id} has no case`);
  return row;
}

interface How {
  key?: string | undefined;
  headers?: Record<string, string>;
}

async function send(operation: Operation, prefix: string, call: Call, how: How): Promise<TestAnswer> {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => call.params?.[name] ?? `{${name}}`);
  return await app.request(operation.method, `${prefix}${path}${call.query ?? ''}`, {
    ...(how.key === undefined ? {} : { key: how.key }),
    ...(call.body === undefined ? {} : { body: call.body }),
    ...(how.headers === undefined ? {} : { headers: how.headers }),
  });
}

/** As a key's own surface: scoped keys where the operation is public, `admin:manage` keys where it is not. */
async function sendAs(operation: Operation, login: Login, call: Call): Promise<TestAnswer> {
  return isPublic(operation)
    ? await send(operation, '/api/v1', call, { key: keys[login] })
    : await send(operation, '/api/admin/v1', call, { key: adminKeys[login] });
}

/** The configuration version, the items it holds in the history, and a hash of the stored items. */
async function configuration(): Promise<{ version: number; changed: number; items: string }> {
  const [row] = await stored<{ version: string; changed: number; items: string }>(
    app,
    `SELECT config AS version, (SELECT count(*)::int FROM config_item_versions v WHERE v.version = config) AS changed,
      (SELECT md5(string_agg(concat(section, code, state, definition), '' ORDER BY id)) FROM config_items) AS items
    FROM cache_versions`,
  );
  assert.ok(row);
  return { ...row, version: Number(row.version) };
}

function refused(answer: TestAnswer, status: number, code: string, what: string): void {
  assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
  assert.equal(answer.body.error.code, code, what);
  assert.equal(answer.body.meta.correlationId, answer.headers.get('x-correlation-id'), what);
}

/** Dry runs of the test with many of them. */
const DRY_RUNS = 200;

/** The data without what differs between two calls: ids, numbers, instants, and times that run in working hours. */
function unnamed(data: unknown): unknown {
  const differ = new Set(['number', 'elapsedMs', 'remainingMs']);
  const text = JSON.stringify(data, (name, value: unknown) => (differ.has(name) ? null : value))
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    // A code that the service makes ends with a part of the id.
    .replaceAll(/-[0-9a-f]{12}"/g, '-ID"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'AT');
  return JSON.parse(text);
}

describe('access checks of every operation', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    undocumented = watchAnswers(app);
    const logins: Login[] = ['full', 'partial', 'reader', 'nobody'];
    const made = await Promise.all(logins.map(async (login) => [login, (await app.createKey({ login })).key] as const));
    const admin = await Promise.all(
      logins.map(async (login) => [login, (await app.createKey({ login, scopes: [ADMIN_SCOPE] })).key] as const),
    );
    keys = Object.fromEntries(made) as Record<Login, string>;
    adminKeys = Object.fromEntries(admin) as Record<Login, string>;
    table = operationCases(app, keys.full, adminKeys.full);
    for (const login of logins) {
      await app.app.work.write(app.app.system(), (ctx) => setPassword(ctx, login, PASSWORD));
    }
  });
  after(() => app.close());

  it('return the same response to every rejected key', async () => {
    const scopes = [...SCOPES, ADMIN_SCOPE];
    const revoked = await app.createKey({ login: 'full', scopes });
    const expired = await app.createKey({ login: 'full', scopes });
    const elsewhere = await app.createKey({ login: 'full', scopes, allow: ['192.0.2.0/24'] });
    const orphan = await app.createKey({ login: 'archived', scopes });
    const good = (await app.createKey({ login: 'full', scopes })).key;
    await changeRights(app, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [revoked.id]);
    await changeRights(app, "UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [expired.id]);
    await changeRights(app, "UPDATE users SET state = 'ARCHIVED' WHERE login = $1", ['archived']);
    await app.app.versions.refresh();
    const other = good.at(-1) === 'a' ? 'b' : 'a';
    const troubles: Record<string, string | undefined> = {
      'no key': undefined,
      malformed: 'dk_short',
      'one letter wrong': good.slice(0, -1) + other,
      unknown: makeKey().key,
      'wrong secret': makeKey(good.slice(3, 19)).key,
      revoked: revoked.key,
      expired: expired.key,
      'from another address': elsewhere.key,
      'owner archived': orphan.key,
    };
    for (const operation of known) {
      const row = rowOf(operation);
      const call = await row.call();
      for (const prefix of isPublic(operation) ? ['/api/v1', '/api/admin/v1'] : ['/api/admin/v1']) {
        const answers = new Set<string>();
        const check = async ([trouble, key]: [string, string | undefined]): Promise<void> => {
          const what = `${operation.id} ${prefix} ${trouble}`;
          const answer = await send(operation, prefix, call, { key });
          if (row.open === true) return assert.equal(answer.status, operation.status, what);
          refused(answer, 401, 'UNAUTHENTICATED', what);
          assert.equal(answer.headers.get('www-authenticate'), 'Bearer', what);
          answers.add(withoutCorrelation(answer));
        };
        await Promise.all(Object.entries(troubles).map(check));
        assert.equal(answers.size, row.open === true ? 0 : 1, `${operation.id}: one answer for all causes`);
        if (row.open === true) continue;
        const malformed = [`Basic ${good}`, good, `Bearer ${good} ${good}`, 'Bearer'].map(async (authorization) => {
          const answer = await send(operation, prefix, call, { headers: { authorization } });
          refused(answer, 401, 'UNAUTHENTICATED', authorization);
        });
        const inQuery = await send(operation, prefix, { ...call, query: `?key=${good}` }, {});
        refused(inQuery, 401, 'UNAUTHENTICATED', 'in query');
        await Promise.all(malformed);
      }
    }
  });

  it('require the scope, regardless of the rights of the owner, and note changes of the configuration', async () => {
    let changing = 0;
    const scoped = (await app.createKey({ login: 'full' })).key;
    const all = [...SCOPES, ADMIN_SCOPE];
    const without: Record<string, string> = {};
    for (const operation of known) {
      const row = rowOf(operation);
      if (row.open === true) continue;
      const call = await row.call();
      if (isPublic(operation)) {
        const scopes = all.filter((scope) => scope !== operation.access);
        const key = (without[operation.access] ??= (await app.createKey({ login: 'full', scopes })).key);
        const answer = await send(operation, '/api/v1', call, { key });
        refused(answer, 403, 'SCOPE_MISSING', operation.id);
        assert.deepEqual(answer.body.error.details, { scope: operation.access });
      }
      const admin = await send(operation, '/api/admin/v1', call, { key: scoped });
      refused(admin, 403, 'SCOPE_MISSING', `${operation.id} in the administration`);
      assert.deepEqual(admin.body.error.details, { scope: ADMIN_SCOPE });
      const permitted = await row.call();
      const before = await configuration();
      const allowed = await sendAs(operation, 'full', permitted);
      assert.equal(allowed.status, operation.status, `${operation.id}: ${JSON.stringify(allowed.body)}`);
      const now = await configuration();
      const changes = now.items !== before.items;
      assert.equal(now.version, before.version + (changes ? 1 : 0), `${operation.id} raises the configuration version`);
      if (changes) assert.ok(now.changed > 0, `${operation.id} is in the history of the configuration`);
      changing += changes ? 1 : 0;
    }
    assert.ok(changing >= 10, 'operations that change the configuration');
  });

  it('require the right, regardless of the scopes of the key', async () => {
    for (const operation of known) {
      const { call, lacks } = rowOf(operation);
      const answer = await sendAs(operation, lacks.login, await call());
      if (lacks.code !== undefined) {
        refused(answer, lacks.status, lacks.code, operation.id);
        assert.deepEqual(answer.body.error.details, lacks.details, operation.id);
        continue;
      }
      assert.equal(answer.status, lacks.status, `${operation.id}: ${JSON.stringify(answer.body)}`);
      const said = lacks.login === 'nobody' ? answer.body.data : undefined;
      if (operation.id === 'metadata.types') assert.deepEqual(said.types, []);
      if (operation.id === 'objects.list') assert.deepEqual([said.rows, said.hasMore], [[], false]);
      if (operation.id === 'session.get') assert.deepEqual(said.rights, []);
      if (operation.id !== 'bulk.run') continue;
      assert.deepEqual([answer.body.data[0].status, answer.body.data[0].error.code], ['FAILED', 'RIGHT_MISSING']);
    }
  });

  it('return 404 for a record that the caller may not read', async () => {
    let compared = 0;
    const nameless = (answer: TestAnswer): string =>
      withoutCorrelation(answer).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID');
    for (const operation of known) {
      const { hidden } = rowOf(operation);
      const names = [...operation.path.matchAll(/\{(\w*[iI]d)\}/g)].map((match) => match[1] as string);
      if (names.some((name) => name !== 'typeId')) assert.ok(hidden, `${operation.id} says what it hides`);
      if (hidden === undefined) continue;
      const seen = await sendAs(operation, 'partial', await hidden.seen());
      const absent = await sendAs(operation, 'partial', await hidden.absent());
      if (hidden.status === undefined) refused(seen, 404, 'NOT_FOUND', operation.id);
      else assert.equal(seen.status, hidden.status, operation.id);
      assert.equal(nameless(seen), nameless(absent), operation.id);
      compared++;
      if (names.length === 0) continue;
      const impossible = Object.fromEntries(names.map((name) => [name, 'no-id']));
      const malformed = await sendAs(operation, 'partial', { ...(await hidden.absent()), params: impossible });
      refused(malformed, 404, 'NOT_FOUND', `${operation.id} with an impossible id`);
    }
    assert.ok(compared >= atLeast(20));
    const shown = JSON.stringify(
      (await app.request('GET', '/api/v1/objects?pageSize=100', { key: keys.partial })).body,
    );
    const hidden = await stored<{ id: string }>(app, `SELECT id FROM objects WHERE "values" ->> 'shown' = 'false'`);
    assert.ok(hidden.length >= atLeast(10));
    for (const { id } of hidden) assert.ok(!shown.includes(id), 'the list leaves it out');
  });

  it('treat hidden fields like unknown fields', async () => {
    for (const operation of known) {
      const { call, names, refusal = 'INVALID_VALUES', assigns } = rowOf(operation);
      // Configuration names fields; who manages it knows them.
      if (operation.access === 'console' && operation.path.startsWith('/config')) continue;
      const answer = await sendAs(operation, 'partial', await call());
      assert.equal(answer.status, assigns === true ? 403 : operation.status, operation.id);
      const text = JSON.stringify(answer.body);
      assert.ok(!text.includes(HIDDEN_FIELD) && !text.includes(HIDDEN_VALUE), `${operation.id}: ${text}`);
      if (names === undefined) continue;
      const hidden = await sendAs(operation, 'partial', await names(HIDDEN_FIELD));
      const unknown = await sendAs(operation, 'partial', await names('neverThere'));
      refused(hidden, 400, refusal, operation.id);
      const renamed = {
        ...hidden,
        body: JSON.parse(JSON.stringify(hidden.body).replaceAll(HIDDEN_FIELD, 'neverThere')),
      };
      const sizeless = (one: TestAnswer): string => withoutCorrelation(one).replace(/\["content-length","\d+"\],?/, '');
      assert.equal(sizeless(renamed), sizeless(unknown), operation.id);
    }
    const seen = await stored<{ one: number }>(
      app,
      `SELECT 1 AS one FROM objects WHERE "values" ->> '${HIDDEN_FIELD}' = 'x'`,
    );
    assert.deepEqual(seen, [], 'nothing was written');
  });

  it('allow sessions only in the administration, and require the CSRF token for writes', async () => {
    const body = { login: 'partial', password: PASSWORD };
    let [cookie, csrf] = ['', {}];
    for (const operation of known) {
      const row = rowOf(operation);
      if (row.open === true) continue;
      // Some operations end the session. A password takes longer to check than a session.
      if ((await app.request('GET', '/api/admin/v1/session', { headers: { cookie } })).status !== 200) {
        const signedIn = await app.request('POST', '/api/admin/v1/session', { body });
        cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
        csrf = { 'x-docket-csrf': signedIn.body.data.csrfToken as string };
      }
      if (isPublic(operation)) {
        const outside = await send(operation, '/api/v1', await row.call(), { headers: { cookie, ...csrf } });
        refused(outside, 401, 'UNAUTHENTICATED', `${operation.id} with a cookie`);
      }
      if (operation.method !== 'GET') {
        for (const token of [{}, { 'x-docket-csrf': 'x'.repeat(43) }]) {
          const answer = await send(operation, '/api/admin/v1', await row.call(), { headers: { cookie, ...token } });
          refused(answer, 403, 'CSRF_TOKEN_INVALID', `${operation.id} without the token`);
          assert.match(answer.body.error.message, /X-Docket-CSRF/);
        }
      }
      const answer = await send(operation, '/api/admin/v1', await row.call(), { headers: { cookie, ...csrf } });
      const status = row.assigns === true ? 403 : operation.status;
      assert.equal(answer.status, status, `${operation.id}: ${JSON.stringify(answer.body)}`);
      if (operation.id !== 'objects.create') continue;
      const [event] = await stored<{ via: string }>(app, 'SELECT via FROM journal WHERE object_id = $1', [
        answer.body.data.id,
      ]);
      assert.equal(event?.via, 'console');
    }
  });

  it('with dryRun, answer as the call would, and leave nothing', async () => {
    let tried = 0;
    const reading = (await app.createKey({ login: 'full', scopes: ['kb:read'] })).key;
    for (const operation of known) {
      const row = rowOf(operation);
      if (operation.method === 'GET' || row.open === true) continue;
      const call = await row.call();
      const withDryRun: Call = { ...call, query: `${call.query ?? '?'}&dryRun=true`.replace('?&', '?') };
      const before = await databaseState(app);
      const dry = await sendAs(operation, 'full', withDryRun);
      assert.deepEqual(await databaseState(app), before, `${operation.id} left something`);
      if (!takesDryRun(operation)) {
        refused(dry, 400, 'INVALID_REQUEST', operation.id);
        continue;
      }
      assert.equal(dry.status, operation.status, `${operation.id}: ${JSON.stringify(dry.body)}`);
      assert.equal(dry.body.meta.dryRun, true, operation.id);
      const { truncated, ...lists } = dry.body.meta.effects;
      assert.deepEqual(Object.keys(lists), ['events', 'sla', 'webhooks', 'rules', 'notifications']);
      assert.equal(truncated, false);
      if (operation.id === 'workflow.transition') {
        assert.deepEqual(
          lists.events.map(({ type }: { type: string }) => type),
          ['ObjectTransitioned', 'SlaStopped'],
        );
        assert.deepEqual(
          lists.sla.map(({ policyCode, change }: Record<string, string>) => [policyCode, change]),
          [['soon', 'STOPPED']],
        );
        const kindsOf = { 'workflow:write': [], 'objects:read': ['ObjectTransitioned'], 'sla:read': ['STOPPED'] };
        for (const [scope, kinds] of Object.entries(kindsOf)) {
          const { key } = await app.createKey({ login: 'full', scopes: ['workflow:write', scope] });
          const { events, sla } = (await send(operation, '/api/v1', withDryRun, { key })).body.meta.effects;
          const shown = [...events, ...sla].map(({ type, change }: Record<string, string>) => type ?? change);
          assert.deepEqual(shown, kinds, scope);
        }
      }
      const real = await sendAs(operation, 'full', call);
      assert.equal(real.status, dry.status, `${operation.id}: ${JSON.stringify(real.body)}`);
      assert.deepEqual(unnamed(dry.body.data), unnamed(real.body.data), operation.id);
      tried++;
      const key = isPublic(operation) ? keys.full : adminKeys.full;
      const prefix = isPublic(operation) ? '/api/v1' : '/api/admin/v1';
      const ask = (how: How, more: Partial<Call> = {}) => send(operation, prefix, { ...withDryRun, ...more }, how);
      for (const [answer, status, code] of [
        [await ask({ key, headers: { 'idempotency-key': 'once' } }), 400, 'INVALID_REQUEST'],
        [await ask({ key }, { query: `${withDryRun.query}&nothing=1` }), 400, 'INVALID_REQUEST'],
        [await ask({ key }, { body: '{' }), 400, operation.body === undefined ? 'INVALID_REQUEST' : 'INVALID_JSON'],
        [await ask({ key: 'none' }), 401, 'UNAUTHENTICATED'],
        [await ask({ key: reading }), 403, 'SCOPE_MISSING'],
      ] as const) {
        refused(answer, status, code, operation.id);
        assert.equal(answer.body.meta.dryRun, true, `${operation.id}: ${code}`);
      }
    }
    assert.ok(tried >= atLeast(60), `${tried} operations take dryRun`);
  });

  it('many dry runs at once leave nothing, and answer errors as the calls would', async () => {
    const calls: [string, Call][] = [];
    for (const id of ['objects.create', 'objects.update', 'workflow.transition', 'comments.add', 'bulk.run']) {
      calls.push([id, await rowOf(known.find((one) => one.id === id) as Operation).call()]);
    }
    const before = await databaseState(app);
    let next = 0;
    const one = async (): Promise<void> => {
      while (next < DRY_RUNS) {
        const [id, call] = calls[next++ % calls.length] as [string, Call];
        const operation = known.find((other) => other.id === id) as Operation;
        const answer = await sendAs(operation, 'full', { ...call, query: '?dryRun=true' });
        assert.equal(answer.status, operation.status, JSON.stringify(answer.body));
      }
    };
    await Promise.all(Array.from({ length: 16 }, one));
    assert.deepEqual(await databaseState(app), before);
    const create = known.find(({ id }) => id === 'objects.create') as Operation;
    const wrong = await sendAs(create, 'reader', { ...calls[0]?.[1], query: '?dryRun=true' });
    refused(wrong, 403, 'RIGHT_MISSING', 'without the right');
    assert.equal(wrong.body.meta.dryRun, true);
    const odd = await sendAs(create, 'full', { ...calls[0]?.[1], query: '?dryRun=maybe' });
    refused(odd, 400, 'INVALID_REQUEST', 'neither true nor false');
  });

  it('respond only as the OpenAPI documents describe', () => {
    assert.deepEqual(undocumented.slice(0, 3), []);
  });
});
