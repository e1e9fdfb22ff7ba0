/**
 * Who may call what: every operation of the table × every trouble with key, scope, right, record and field (decisions,
 * "Requests, envelope, errors"; configuration, section 5). An operation without a row below makes this test fail.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { operations } from '../src/app.ts';
import { ADMIN_SCOPE, SCOPES } from '../src/contract/scopes.ts';
import { setPassword } from '../src/domain/access/door.ts';
import { makeKey } from '../src/domain/access/key-format.ts';
import { startTestApp, type TestAnswer, type TestApp } from './harness/app.ts';
import { ACTIONS, bundle, changeRights, RIGHTS, stored, user, withoutCorrelation } from './harness/load-world.ts';

const SECRET = 'hushField';
const CANARY = 'canary-5e1f';
const PASSWORD = 'correct horse battery staple';

const WORLD = `
types:
  - code: thing
    name: Thing
    category: object
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: shown, dataType: boolean, default: true }
      - { code: ${SECRET}, dataType: string }
roles:
  - code: everything
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [full, archived] }
  - code: partial
    rights: [${RIGHTS.replace('role.assign, ', '')}]
    records:
      - type: thing
        where: { field: shown, operator: equals, value: true }
        actions: [${ACTIONS}]
        fields: { read: [title, shown], write: [title, shown] }
    assignedTo: { users: [partial] }
  - code: reader
    records: [{ type: thing, actions: [read], fields: { read: '*', write: [] } }]
    assignedTo: { users: [reader] }
users:
${['full', 'partial', 'reader', 'nobody', 'archived'].map(user).join('')}`;

interface Call {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
}

type Login = 'full' | 'partial' | 'reader' | 'nobody';

interface Row {
  /** A minimal valid call; made anew for each try, so that tries do not meet. */
  call(): Call | Promise<Call>;
  /** Who lacks the right, and what they get. */
  lacks: { login: Login; status: number; code?: string; details?: unknown };
  /** A call that concerns a record (or the like) hidden from `partial`, and the same on one that is absent: alike. */
  hidden?: { seen(): Promise<Call>; absent(): Call | Promise<Call> };
  /** Where hidden things are left out rather than 404. */
  leavesOut?: true;
  /** A call that names a field: a hidden and an unknown one get the same words. */
  names?: (code: string) => Promise<Call>;
  /** Asks nobody. */
  open?: true;
}

let app: TestApp;
let keys: Record<Login, string>;
let adminKeys: Record<Login, string>;

async function record(values: Record<string, unknown> = {}): Promise<{ id: string; revision: number }> {
  const body = { typeDefinitionId: 'thing', values: { title: 'A thing', [SECRET]: CANARY, ...values } };
  const made = await app.request('POST', '/api/v1/objects', { key: keys.full, body });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.data;
}

async function archived(values: Record<string, unknown> = {}): Promise<string> {
  const { id } = await record(values);
  await app.request('DELETE', `/api/v1/objects/${id}`, { key: keys.full, body: { expectedRevision: 1 } });
  return id;
}

const onRecord = (body?: unknown) => ({
  call: async (): Promise<Call> => ({ params: { objectId: (await record()).id }, body }),
  hidden: {
    seen: async (): Promise<Call> => ({ params: { objectId: (await record({ shown: false })).id }, body }),
    absent: (): Call => ({ params: { objectId: randomUUID() }, body }),
  },
});

const newKey = async (login: string): Promise<string> => (await app.createKey({ login })).id;
const missing = (right: string, login: Login = 'nobody'): Row['lacks'] => {
  return { login, status: 403, code: 'RIGHT_MISSING', details: { right } };
};
const NOT_THERE: Row['lacks'] = { login: 'nobody', status: 404, code: 'NOT_FOUND', details: [] };
const FILES = { files: [{ name: 'a.yaml', text: 'settings: { defaultLocale: ru-RU }\n' }] };

const ROWS: Readonly<Record<string, Row>> = {
  'metadata.types': { call: () => ({}), lacks: { login: 'nobody', status: 200 } },
  'metadata.fields': { call: () => ({ params: { typeId: 'thing' } }), lacks: NOT_THERE },
  'objects.list': {
    call: () => ({ query: '?pageSize=100' }),
    lacks: { login: 'nobody', status: 200 },
    leavesOut: true,
  },
  'objects.create': {
    call: () => ({ body: { typeDefinitionId: 'thing', values: { title: 'New' } } }),
    lacks: missing('create', 'reader'),
    names: async (code) => ({ body: { typeDefinitionId: 'thing', values: { title: 'New', [code]: 'x' } } }),
  },
  'objects.get': { ...onRecord(), lacks: NOT_THERE },
  'objects.update': {
    ...onRecord({ expectedRevision: 1, changes: { title: 'Other' } }),
    lacks: missing('update', 'reader'),
    names: async (code) => ({
      params: { objectId: (await record()).id },
      body: { expectedRevision: 1, changes: { [code]: 'x' } },
    }),
  },
  'objects.archive': { ...onRecord({ expectedRevision: 1 }), lacks: missing('archive', 'reader') },
  'objects.history': { ...onRecord(), lacks: missing('history', 'reader') },
  'objects.schema': { ...onRecord(), lacks: NOT_THERE },
  'objects.restore': {
    call: async () => ({ params: { objectId: await archived() } }),
    lacks: missing('archive', 'reader'),
    hidden: {
      seen: async () => ({ params: { objectId: await archived({ shown: false }) } }),
      absent: () => ({ params: { objectId: randomUUID() } }),
    },
  },
  'keys.list': { call: () => ({}), lacks: missing('key.manage') },
  'keys.create': {
    call: () => ({ body: { owner: 'partial', name: 'n', scopes: ['objects:read'] } }),
    lacks: missing('key.manage'),
  },
  'keys.revoke': {
    call: async () => ({ params: { id: await newKey('partial') } }),
    lacks: missing('key.manage'),
    hidden: {
      seen: async () => ({ params: { id: await newKey('full') } }),
      absent: () => ({ params: { id: randomUUID() } }),
    },
  },
  'keys.rotate': {
    call: async () => ({ params: { id: await newKey('partial') }, body: {} }),
    lacks: missing('key.manage'),
    hidden: {
      seen: async () => ({ params: { id: await newKey('full') }, body: {} }),
      absent: () => ({ params: { id: randomUUID() }, body: {} }),
    },
  },
  'session.create': {
    call: () => ({ body: { login: 'partial', password: PASSWORD } }),
    lacks: { login: 'nobody', status: 201 },
    open: true,
  },
  'session.get': { call: () => ({}), lacks: { login: 'nobody', status: 200 } },
  'session.delete': { call: () => ({}), lacks: { login: 'nobody', status: 200 } },
  'audit.list': { call: () => ({}), lacks: missing('audit.read') },
  'config.list': { call: () => ({ params: { section: 'types' } }), lacks: missing('config.manage') },
  'config.plan': { call: () => ({ body: FILES }), lacks: missing('config.manage') },
  'config.apply': { call: () => ({ body: FILES }), lacks: missing('config.manage') },
  'config.export': { call: () => ({}), lacks: missing('config.manage') },
};

type Operation = ReturnType<typeof operations>[number];

const known = operations();
const isPublic = (operation: Operation): boolean => operation.access !== 'console' && operation.access !== 'open';

function rowOf(operation: Operation): Row {
  const row = Object.hasOwn(ROWS, operation.id) ? ROWS[operation.id] : undefined;
  assert.ok(row, `operation ${operation.id} has no row in this test`);
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

function refused(answer: TestAnswer, status: number, code: string, what: string): void {
  assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
  assert.equal(answer.body.error.code, code, what);
  assert.equal(answer.body.meta.correlationId, answer.headers.get('x-correlation-id'), what);
}

describe('access', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    const logins: Login[] = ['full', 'partial', 'reader', 'nobody'];
    const made = await Promise.all(logins.map(async (login) => [login, (await app.createKey({ login })).key] as const));
    const admin = await Promise.all(
      logins.map(async (login) => [login, (await app.createKey({ login, scopes: [ADMIN_SCOPE] })).key] as const),
    );
    keys = Object.fromEntries(made) as Record<Login, string>;
    adminKeys = Object.fromEntries(admin) as Record<Login, string>;
    await app.app.work.write(app.app.system(), (ctx) => setPassword(ctx, 'partial', PASSWORD));
  });
  after(() => app.close());

  it('has one row for every operation and none for others', () => {
    assert.deepEqual(Object.keys(ROWS).sort(), known.map((operation) => operation.id).sort());
    assert.ok(known.length >= 22);
  });

  it('says the same to every key that is not accepted', async () => {
    const scopes = [...SCOPES, ADMIN_SCOPE];
    const revoked = await app.createKey({ login: 'full', scopes });
    const expired = await app.createKey({ login: 'full', scopes });
    const elsewhere = await app.createKey({ login: 'full', scopes, allow: ['192.0.2.0/24'] });
    const orphan = await app.createKey({ login: 'archived', scopes });
    const good = (await app.createKey({ login: 'full', scopes })).key;
    await changeRights(app, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [revoked.id]);
    await changeRights(app, "UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [expired.id]);
    await changeRights(app, "UPDATE users SET state = 'ARCHIVED' WHERE login = $1", ['archived']);
    await app.app.epoch.refresh();
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
        for (const [trouble, key] of Object.entries(troubles)) {
          const what = `${operation.id} ${prefix} ${trouble}`;
          const answer = await send(operation, prefix, call, { key });
          if (row.open === true) {
            assert.equal(answer.status, operation.status, what);
            continue;
          }
          refused(answer, 401, 'UNAUTHENTICATED', what);
          assert.equal(answer.headers.get('www-authenticate'), 'Bearer', what);
          answers.add(withoutCorrelation(answer));
        }
        assert.equal(answers.size, row.open === true ? 0 : 1, `${operation.id}: one answer for all causes`);
        if (row.open === true) continue;
        for (const authorization of [`Basic ${good}`, good, `Bearer ${good} ${good}`, 'Bearer']) {
          refused(
            await send(operation, prefix, call, { headers: { authorization } }),
            401,
            'UNAUTHENTICATED',
            authorization,
          );
        }
        refused(
          await send(operation, prefix, { ...call, query: `?key=${good}` }, {}),
          401,
          'UNAUTHENTICATED',
          'in query',
        );
      }
    }
  });

  it('wants the scope, whatever rights the owner has', async () => {
    const scoped = (await app.createKey({ login: 'full' })).key;
    for (const operation of known) {
      const row = rowOf(operation);
      if (row.open === true) continue;
      const call = await row.call();
      if (isPublic(operation)) {
        const others = [...SCOPES, ADMIN_SCOPE].filter((scope) => scope !== operation.access);
        const { key } = await app.createKey({ login: 'full', scopes: others });
        const answer = await send(operation, '/api/v1', call, { key });
        refused(answer, 403, 'SCOPE_MISSING', operation.id);
        assert.deepEqual(answer.body.error.details, { scope: operation.access });
      }
      const admin = await send(operation, '/api/admin/v1', call, { key: scoped });
      refused(admin, 403, 'SCOPE_MISSING', `${operation.id} in the administration`);
      assert.deepEqual(admin.body.error.details, { scope: ADMIN_SCOPE });
      const allowed = await sendAs(operation, 'full', await row.call());
      assert.equal(allowed.status, operation.status, `${operation.id}: ${JSON.stringify(allowed.body)}`);
    }
  });

  it('wants the right, whatever scopes the key has', async () => {
    for (const operation of known) {
      const { call, lacks } = rowOf(operation);
      const answer = await sendAs(operation, lacks.login, await call());
      if (lacks.code !== undefined) {
        refused(answer, lacks.status, lacks.code, operation.id);
        assert.deepEqual(answer.body.error.details, lacks.details, operation.id);
        continue;
      }
      assert.equal(answer.status, lacks.status, `${operation.id}: ${JSON.stringify(answer.body)}`);
      const { data } = answer.body;
      if (operation.id === 'metadata.types') assert.deepEqual(data.types, []);
      if (operation.id === 'objects.list') assert.deepEqual([data.rows, data.hasMore], [[], false]);
      if (operation.id === 'session.get') assert.deepEqual(data.rights, []);
    }
  });

  it('hides what may not be read as if it were not there', async () => {
    let compared = 0;
    for (const operation of known) {
      const { hidden, leavesOut } = rowOf(operation);
      if (operation.path.includes('{objectId}')) assert.ok(hidden, `${operation.id} says what it hides`);
      if (hidden !== undefined) {
        const seen = await sendAs(operation, 'partial', await hidden.seen());
        const absent = await sendAs(operation, 'partial', await hidden.absent());
        refused(seen, 404, 'NOT_FOUND', operation.id);
        assert.equal(withoutCorrelation(seen), withoutCorrelation(absent), operation.id);
        const impossible = Object.fromEntries(
          Object.keys((await hidden.absent()).params ?? {}).map((name) => [name, 'no-id']),
        );
        const malformed = await sendAs(operation, 'partial', { ...(await hidden.absent()), params: impossible });
        refused(malformed, 404, 'NOT_FOUND', `${operation.id} with an impossible id`);
        compared++;
      }
      if (leavesOut !== true) continue;
      const { id } = await record({ shown: false });
      const { body } = await sendAs(operation, 'partial', await rowOf(operation).call());
      assert.ok(!JSON.stringify(body).includes(id), operation.id);
    }
    assert.ok(compared >= 7);
  });

  it('hides fields as if they were not there', async () => {
    for (const operation of known) {
      const { call, names } = rowOf(operation);
      if (operation.access === 'console' && !operation.id.startsWith('objects.')) continue;
      const answer = await sendAs(operation, 'partial', await call());
      assert.equal(answer.status, operation.status, operation.id);
      const text = JSON.stringify(answer.body);
      assert.ok(!text.includes(SECRET) && !text.includes(CANARY), `${operation.id}: ${text}`);
      if (names === undefined) continue;
      const hidden = await sendAs(operation, 'partial', await names(SECRET));
      const unknown = await sendAs(operation, 'partial', await names('neverThere'));
      refused(hidden, 400, 'INVALID_VALUES', operation.id);
      const renamed = { ...hidden, body: JSON.parse(JSON.stringify(hidden.body).replaceAll(SECRET, 'neverThere')) };
      const sizeless = (one: TestAnswer): string => withoutCorrelation(one).replace(/\["content-length","\d+"\],?/, '');
      assert.equal(sizeless(renamed), sizeless(unknown), operation.id);
    }
    const seen = await stored<{ one: number }>(
      app,
      `SELECT 1 AS one FROM objects WHERE "values" ->> '${SECRET}' = 'x'`,
    );
    assert.deepEqual(seen, [], 'nothing was written');
  });

  it('serves sessions in the administration alone, and asks writes for the token', async () => {
    const login = { login: 'partial', password: PASSWORD };
    for (const operation of known) {
      const row = rowOf(operation);
      if (row.open === true) continue;
      const signedIn = await app.request('POST', '/api/admin/v1/session', { body: login });
      const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      const csrf = { 'x-docket-csrf': signedIn.body.data.csrfToken as string };
      if (isPublic(operation)) {
        const outside = await send(operation, '/api/v1', await row.call(), { headers: { cookie, ...csrf } });
        refused(outside, 401, 'UNAUTHENTICATED', `${operation.id} with a cookie`);
      }
      if (operation.method !== 'GET') {
        for (const token of [{}, { 'x-docket-csrf': 'x'.repeat(43) }]) {
          const answer = await send(operation, '/api/admin/v1', await row.call(), { headers: { cookie, ...token } });
          refused(answer, 401, 'UNAUTHENTICATED', `${operation.id} without the token`);
        }
      }
      const answer = await send(operation, '/api/admin/v1', await row.call(), { headers: { cookie, ...csrf } });
      assert.equal(answer.status, operation.status, `${operation.id}: ${JSON.stringify(answer.body)}`);
      if (operation.id !== 'objects.create') continue;
      const [event] = await stored<{ via: string }>(app, 'SELECT via FROM journal WHERE object_id = $1', [
        answer.body.data.id,
      ]);
      assert.equal(event?.via, 'console');
    }
  });
});
