/**
 * Calls with an Idempotency-Key (docs/spec/conventions.md#idempotency): scope of keys, equality of bodies, content of replays.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { purgeIdempotency } from '../src/platform/unit-of-work/idempotency.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';
import { ACTIONS, bundle, changeRights, stored, user } from './support/small-configuration.ts';
import { duringTransaction } from './support/database.ts';

/** How long a call waits for the first one with its key (docs/spec/conventions.md#idempotency). */
const WAIT_MS = 5000;

const WORLD = `
types:
  - code: thing
    name: Thing
    numbering: { prefix: IDM, digits: 4 }
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: size, dataType: integer }
      - { code: hush, dataType: string }
      - { code: shown, dataType: boolean, default: true }
roles:
  - code: keeper
    records: [{ type: thing, actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [alice, fresh] }
  - code: narrow
    records:
      - type: thing
        where: { field: shown, operator: equals, value: true }
        actions: [read, create, update]
        fields: { read: [title, shown], write: [title, shown, hush] }
    assignedTo: { users: [bob, fresh] }
users:
${['alice', 'bob', 'fresh'].map(user).join('')}`;

let app: TestApp;
/** Responses that do not match the OpenAPI document. */
let undocumented: string[];
let key: string;

const body = (values: Record<string, unknown>, more = {}): unknown => ({
  typeDefinitionId: 'thing',
  values: { title: 'A', ...values },
  ...more,
});

async function post(idempotencyKey: string, given: unknown, who = key, on = app): Promise<TestAnswer> {
  return await on.request('POST', '/api/v1/objects', { key: who, idempotencyKey, body: given });
}

async function created(idempotencyKey: string, given: unknown, who = key): Promise<TestAnswer> {
  const answer = await post(idempotencyKey, given, who);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  assert.equal(answer.headers.get('idempotency-replayed'), null, 'it is the first');
  return answer;
}

function assertReplay(answer: TestAnswer, first: TestAnswer): void {
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  assert.equal(answer.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(answer.body.data, first.body.data);
  assert.notEqual(answer.body.meta.correlationId, first.body.meta.correlationId, 'the correlation id is its own');
}

function assertRefused(answer: TestAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.error.code, code);
}

async function effects(title: string): Promise<number> {
  return (await stored(app, 'SELECT 1 FROM objects WHERE title = $1', [title])).length;
}

/** A POST on a raw connection, with headers that `fetch` would not send. */
async function postRaw(
  headers: Record<string, string | string[]>,
  text: string,
): Promise<{ status: number; code: string }> {
  return await new Promise((resolve, reject) => {
    const sent = request(
      `${app.url}/api/v1/objects`,
      { method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers } },
      (response) => {
        let said = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          said += part;
        });
        response.on('end', () => {
          const parsed = JSON.parse(said) as { error?: { code: string } };
          resolve({ status: response.statusCode ?? 0, code: parsed.error?.code ?? '' });
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

describe('Idempotency-Key', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    undocumented = watchAnswers(app);
    ({ key } = await app.createKey({ login: 'alice' }));
  });
  after(() => app.close());

  it('is scoped to the API key (ID4)', async () => {
    const second = (await app.createKey({ login: 'alice' })).key;
    const bob = (await app.createKey({ login: 'bob' })).key;
    const admin = (await app.createKey({ login: 'alice', scopes: ['admin:manage'] })).key;
    const answers = [
      await created('shared', body({ title: 'mine' })),
      await created('shared', body({ title: 'second' }), second),
      await created('shared', body({ title: 'bob' }), bob),
      await app.request('POST', '/api/admin/v1/objects', {
        key: admin,
        idempotencyKey: 'shared',
        body: body({ title: 'admin' }),
      }),
    ];
    assert.deepEqual(
      answers.map((answer) => answer.body.data.title),
      ['mine', 'second', 'bob', 'admin'],
    );
    assert.equal(new Set(answers.map((answer) => answer.body.data.id)).size, 4);
    assertReplay(await post('shared', body({ title: 'bob' }), bob), answers[2] as TestAnswer);
  });

  it('is scoped to route and path, also for replays (ID4)', async () => {
    const first = await created('elsewhere', body({ title: 'one' }));
    const second = await created('elsewhere-too', body({ title: 'two' }));
    const comment = async (id: string): Promise<TestAnswer> =>
      await app.request('POST', `/api/v1/objects/${id}/comments`, {
        key,
        idempotencyKey: 'elsewhere',
        body: { body: 'Said of each.', visibility: 'public' },
      });
    const records = [first.body.data.id, second.body.data.id];
    const said = [await comment(records[0]), await comment(records[1])];
    for (const [index, answer] of said.entries()) {
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      assert.equal(answer.body.data.objectId, records[index]);
      assertReplay(await comment(records[index]), answer);
    }
    assertReplay(await post('elsewhere', body({ title: 'one' })), first);
  });

  it('compares bodies as JSON values (ID5)', async () => {
    const first = await created('equal', { typeDefinitionId: 'thing', values: { title: 'Ёж', size: 100 } });
    for (const text of [
      '{"values":{"size":100,"title":"Ёж"},"typeDefinitionId":"thing"}',
      ' {\n "typeDefinitionId" : "thing", "values" : { "title" : "\\u0401\\u0436", "size" : 1e2 } }\t',
      '{"typeDefinitionId":"thing","values":{"title":"Ёж","size":100.0}}',
    ]) {
      const again = await app.request('POST', '/api/v1/objects', { key, idempotencyKey: 'equal', body: text });
      assertReplay(again, first);
    }
    for (const other of [
      body({ title: 'Ёж', size: 101 }),
      body({ title: 'Еж', size: 100 }),
      body({ title: 'Ёж' }),
      body({ title: 'Ёж', size: 100, hush: null }),
      body({ title: 'Ёж', size: 100 }, { objectId: randomUUID() }),
    ]) {
      assertRefused(await post('equal', other), 409, 'IDEMPOTENCY_KEY_REUSED');
    }
    assert.equal(await effects('Ёж'), 1);
    assert.equal(await effects('Еж'), 0);
  });

  it('replays the first response, also after the record has changed', async () => {
    const first = await created('later', body({ title: 'at first' }));
    const { id } = first.body.data;
    const change = { expectedRevision: 1, changes: { title: 'later' } };
    await app.request('PATCH', `/api/v1/objects/${id}`, { key, body: change });
    await app.request('DELETE', `/api/v1/objects/${id}`, { key, body: { expectedRevision: 2 } });
    assertReplay(await post('later', body({ title: 'at first' })), first);
    // Concurrent replays share statements; each shows its own record.
    const given = Array.from({ length: 12 }, (_, n) => body({ title: `later ${n}`, size: n }));
    const firsts = await Promise.all(given.map((one, n) => created(`later-${n}`, one)));
    await Promise.all(given.map(async (one, n) => assertReplay(await post(`later-${n}`, one), firsts[n] ?? first)));
  });

  it('shows in a replay only what the caller may see now (ID6)', async () => {
    const fresh = await app.createKey({ login: 'fresh' });
    const given = body({ title: 'seen', hush: 'hush' });
    const hidden = body({ title: 'gone', hush: 'hush', shown: true });
    const first = await created('narrowed', given, fresh.key);
    const other = await created('gone', hidden, fresh.key);
    assert.equal(first.body.data.values.hush, 'hush');
    const role = `(SELECT id FROM config_items WHERE section = 'roles' AND code = $1)`;
    const person = `(SELECT id FROM users WHERE login = 'fresh')`;
    const drop = `DELETE FROM role_assignments WHERE role_id = ${role} AND member_id = ${person}`;
    await changeRights(app, drop, ['keeper']);
    await app.app.versions.refresh();
    const narrowed = await post('narrowed', given, fresh.key);
    assert.equal(narrowed.status, 201);
    assert.equal(narrowed.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual(narrowed.body.data.values, { title: 'seen', shown: true });
    const { id } = other.body.data;
    await app.request('PATCH', `/api/v1/objects/${id}`, {
      key,
      body: { expectedRevision: 1, changes: { shown: false } },
    });
    const out = await post('gone', hidden, fresh.key);
    assert.equal(out.status, 201);
    assert.deepEqual([out.body.data.id, out.body.data.values, out.body.data.title], [id, {}, null]);
    await changeRights(app, drop, ['narrow']);
    await app.app.versions.refresh();
    const without = await post('narrowed', given, fresh.key);
    assert.ok(without.status === 400 || without.status === 403, 'without the right to create there is no replay');
    await changeRights(app, `UPDATE api_keys SET scopes = '{objects:read}' WHERE id = $1`, [fresh.id]);
    await app.app.versions.refresh();
    assertRefused(await post('narrowed', given, fresh.key), 403, 'SCOPE_MISSING');
    await changeRights(app, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [fresh.id]);
    await app.app.versions.refresh();
    assertRefused(await post('narrowed', given, fresh.key), 401, 'UNAUTHENTICATED');
  });

  it('stores no failure (ID7)', async () => {
    const taken = (await created('taken', body({}))).body.data.id as string;
    const limited = await startTestApp({ on: app, ratePerMinute: 2 });
    try {
      const own = await app.createKey({ login: 'bob' });
      const tries: [string, number, string, () => Promise<TestAnswer>][] = [
        ['values', 400, 'INVALID_VALUES', () => post('values', body({ size: 'x' }))],
        ['shape', 400, 'INVALID_REQUEST', () => post('shape', { typeDefinitionId: 'thing' })],
        ['json', 400, 'INVALID_JSON', () => post('json', '{"typeDefinitionId":')],
        ['exists', 409, 'ALREADY_EXISTS', () => post('exists', body({}, { objectId: taken }))],
        ['large', 413, 'BODY_TOO_LARGE', () => post('large', `"${'x'.repeat(10_485_760)}"`)],
        [
          'type',
          415,
          'UNSUPPORTED_MEDIA_TYPE',
          () =>
            app.request('POST', '/api/v1/objects', {
              key,
              idempotencyKey: 'type',
              body: 'x',
              headers: { 'content-type': 'text/plain' },
            }),
        ],
      ];
      for (const [name, status, code, send] of tries) {
        assertRefused(await send(), status, code);
        const first = await created(name, body({ title: name }));
        assertReplay(await post(name, body({ title: name })), first);
      }
      assertRefused(await post('right', body({ shown: false }), own.key), 403, 'RIGHT_MISSING');
      await created('right', body({ shown: true }), own.key);
      for (let calls = 0; calls < 2; calls++) await limited.request('GET', '/api/v1/objects', { key: own.key });
      assertRefused(await post('rate', body({}), own.key, limited), 429, 'RATE_LIMITED');
      await created('rate', body({}), own.key);
    } finally {
      await limited.close();
    }
    const impatient = await startTestApp({ on: app, impatient: true });
    try {
      await duringTransaction(app.db, async (client) => {
        await client.query('LOCK TABLE cache_versions IN ACCESS EXCLUSIVE MODE');
        while (impatient.app.versions.age <= 1000) await sleep(20);
        assertRefused(await post('down', body({}), key, impatient), 503, 'DATABASE_UNAVAILABLE');
      });
    } finally {
      await impatient.close();
    }
    await created('down', body({}));
  });

  it('lets duplicates wait for the first for five seconds without a database connection', async (t) => {
    const objectId = randomUUID();
    const given = body({ title: 'slow' }, { objectId });
    const done = await duringTransaction(app.db, async (client) => {
      // Another transaction holds the id uncommitted, so that the first call runs as long as the test needs.
      await client.query(
        `INSERT INTO objects (id, type_id, type_version, revision, "values", folded, created_at, updated_at)
         SELECT $1, id, 1, 1, '{}', '{}', now(), now() FROM config_items WHERE section = 'types' LIMIT 1`,
        [objectId],
      );
      const first = post('slow', given);
      const blocked =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%objects%'";
      while ((await stored(app, blocked)).length === 0) await sleep(10);
      // The time of this process stands still unless the test moves it.
      let now = performance.now();
      const clock = t.mock.method(performance, 'now', () => now);
      const started = t.mock.method(app.app.work, 'write');
      let answered = 0;
      const duplicates = Array.from({ length: 24 }, () => post('slow', given).finally(() => answered++));
      while (started.mock.callCount() < duplicates.length) await sleep(10);
      // More calls than there are connections wait; others still get one.
      assert.ok(app.db.stats().most < duplicates.length);
      for (let calls = 0; calls < 10; calls++)
        assert.equal((await app.request('GET', '/api/v1/objects', { key })).status, 200);
      now += WAIT_MS - 1;
      // They look again at least four times a second.
      await sleep(600);
      assert.equal(answered, 0, 'they wait for five seconds');
      now += 1;
      for (const answer of await Promise.all(duplicates)) {
        assertRefused(answer, 409, 'IDEMPOTENCY_IN_PROGRESS');
        assert.equal(answer.headers.get('retry-after'), '1');
      }
      started.mock.restore();
      clock.mock.restore();
      await client.query('ROLLBACK');
      return await first;
    });
    assert.equal(done.status, 201, JSON.stringify(done.body));
    assertReplay(await post('slow', given), done);
    assert.equal(await effects('slow'), 1);
  });

  it('costs no database connection, whatever is refused and wherever', async () => {
    const backends = async (): Promise<Set<number>> => {
      const rows = await stored<{ pid: number }>(
        app,
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'",
      );
      return new Set(rows.map(({ pid }) => pid));
    };
    const many = (send: (turn: number) => Promise<TestAnswer>): Promise<TestAnswer[]> =>
      Promise.all(Array.from({ length: 12 }, (_, turn) => send(turn)));
    const { id } = (await created('refused', body({ title: 'refused' }))).body.data;
    const bulk = (operation: string, items: unknown[]): Promise<TestAnswer> =>
      app.request('POST', '/api/v1/bulk', { key, body: { operation, items } });
    const change = { expectedRevision: 1, changes: { title: 'changed' } };
    await many(() => app.request('GET', `/api/v1/objects/${id}`, { key }));
    const started = await backends();
    const answers = [
      ...(await many(() => post('refused', body({ title: 'refused' })))),
      ...(await many(() => post('at-once', body({ title: 'at once' })))),
      ...(await many((turn) => post(`taken-${turn}`, body({}, { objectId: id })))),
      ...(await many(() => app.request('PATCH', `/api/v1/objects/${id}`, { key, body: change }))),
      ...(await many(() => bulk('update', [{ objectId: id, ...change }]))),
    ];
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 201, 409]);
    const left = await backends();
    assert.deepEqual(
      [...started].filter((pid) => !left.has(pid)),
      [],
      'no backend ended',
    );
  });

  it('expires after 24 hours and not before (ID8)', async () => {
    const age = (name: string, hours: number): Promise<unknown> =>
      stored(app, `UPDATE idempotency SET created_at = now() - $2 * interval '1 hour' WHERE key = $1`, [name, hours]);
    const first = await created('young', body({ title: 'young' }));
    await created('old', body({ title: 'old' }));
    await age('young', 23.9);
    await age('old', 24.1);
    assertReplay(await post('young', body({ title: 'young' })), first);
    await created('old', body({ title: 'another' }));
    assert.deepEqual([await effects('young'), await effects('old'), await effects('another')], [1, 1, 1]);
    await age('old', 25);
    await purgeIdempotency(app.db, new Date().toISOString());
    const left = await stored<{ key: string }>(app, "SELECT key FROM idempotency WHERE key IN ('young', 'old')");
    assert.deepEqual(left, [{ key: 'young' }]);
  });

  it('accepts one value of 1 to 255 visible characters (ID9)', async () => {
    const text = JSON.stringify(body({ title: 'syntax' }));
    for (const value of ['', ' ', 'x'.repeat(256), 'a b', 'a\tb', 'ключ', ['a', 'b'], ['same', 'same']]) {
      const headers = { 'idempotency-key': Array.isArray(value) ? value : Buffer.from(value).toString('latin1') };
      assert.deepEqual(
        await postRaw(headers, text),
        { status: 400, code: 'INVALID_IDEMPOTENCY_KEY' },
        JSON.stringify(value),
      );
    }
    assert.equal(await effects('syntax'), 0);
    for (const value of ['x', 'x'.repeat(255), '"quoted"', '!~']) {
      assert.equal((await postRaw({ 'idempotency-key': value }, text)).status, 201, value);
    }
    assert.equal(await effects('syntax'), 4);
    const { id } = (await created('ignored', body({}))).body.data;
    const patched = await app.request('PATCH', `/api/v1/objects/${id}`, {
      key,
      headers: { 'idempotency-key': 'not supported here' },
      body: { expectedRevision: 1, changes: { title: 'B' } },
    });
    assert.equal(patched.status, 200, 'an operation that takes no key ignores it');
  });

  it('responds only as the OpenAPI documents describe', () => {
    assert.deepEqual(undocumented.slice(0, 3), []);
  });
});
