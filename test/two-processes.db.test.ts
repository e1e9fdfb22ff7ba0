/** What two processes on one database must agree on: rights, configuration, idempotency, the rate of requests. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeKey } from '../src/domain/access/index.ts';
import { file } from './support/bundle-fixture.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';

/** A process uses rights and configuration for so long after it read that they are current. */
const FRESH_MS = 1000;
const RATE = 40;

describe('two processes on one database', () => {
  let one: TestApp;
  let two: TestApp;

  before(async () => {
    one = await startTestApp();
    two = await startTestApp({ on: one });
  });

  after(async () => {
    await two.close();
    await one.close();
  });

  const incident = (app: TestApp, key: string, title: string, idempotencyKey?: string): Promise<TestAnswer> =>
    app.request('POST', '/api/v1/objects', {
      key,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      body: { typeDefinitionId: 'incident', values: { title, priority: 'p3' } },
    });

  /** Waits until the process has read the versions once more, which it does by itself every 300 ms. */
  async function nextReading({ app: { versions } }: TestApp): Promise<void> {
    const { refresh } = versions;
    const read = Promise.withResolvers<void>();
    versions.refresh = async () => {
      await refresh.call(versions);
      read.resolve();
    };
    await read.promise;
    versions.refresh = refresh;
  }

  it('reject a key that the other process revoked', async () => {
    const { id, key } = await one.createKey({ login: 'admin' });
    // The last key of the only administrator could not be withdrawn.
    await one.createKey({ login: 'admin' });
    assert.equal((await incident(two, key, 'before')).status, 201);
    await one.app.work.write(one.app.system(), (ctx) => revokeKey(ctx, id));
    assert.equal((await incident(one, key, 'after')).status, 401, 'the process that withdrew it follows at once');
    await nextReading(two);
    for (let i = 0; i < 5; i++) assert.equal((await incident(two, key, 'later')).status, 401);
  });

  const COMET = `types:
  - code: comet
    name: { ru-RU: Комета, en-US: Comet }
    fields:
      - { code: title, name: { ru-RU: Имя, en-US: Name }, dataType: string }
`;

  it('share a configuration that one of them applied', async () => {
    const { key } = await one.createKey({ login: 'admin' });
    const probe = (app: TestApp): Promise<TestAnswer> => app.request('GET', '/api/v1/objects?typeId=comet', { key });
    const before = await probe(two);
    await one.apply(file(COMET));
    const expected = await probe(one);
    assert.notDeepEqual([expected.status, expected.body.error?.code], [before.status, before.body.error?.code]);
    await nextReading(two);
    assert.equal((await probe(two)).status, expected.status);
  });

  it('act on rights and a configuration of at most a second ago if a process cannot read them', async (t) => {
    const FIELD = '      - { code: orbit, name: { ru-RU: Орбита, en-US: Orbit }, dataType: string }\n';
    const role = (actions: string): string =>
      `roles: [{ code: watcher, name: Watcher, assignedTo: { users: [watcher] },
        records: [{ type: comet, actions: [${actions}], fields: { read: '*', write: '*' } }] }]
users: [{ login: watcher, displayName: Watcher }]\n`;
    await one.apply(file(COMET + FIELD + role('create, read, update')));
    const { key } = await one.createKey({ login: 'watcher' });
    const make = (app: TestApp, values: object): Promise<TestAnswer> =>
      app.request('POST', '/api/v1/objects', { key, body: { typeDefinitionId: 'comet', values } });
    const { id } = (await make(one, { title: 'seen' })).body.data;
    const held = Promise.withResolvers<void>();
    const { query } = two.db;
    // The time of both processes stands still unless the test moves it. A whole number: else a second more may be rounded up.
    let now = Math.ceil(performance.now());
    t.mock.method(performance, 'now', () => now);
    await two.app.versions.refresh();
    // Statements of a failed test must not wait in the next one.
    t.after(() => {
      two.db.query = query;
      held.resolve();
    });
    two.db.query = async (statement, options) => {
      if (statement.text.includes('FROM cache_versions')) await held.promise;
      return (await query.call(two.db, statement, options)) as never;
    };
    await one.apply(file(COMET + FIELD + role('read')));
    assert.equal((await make(one, { title: 'new' })).status, 403);
    now += FRESH_MS;
    assert.equal((await make(two, { title: 'within a second' })).status, 201);
    // What would not fit the new configuration is not written even then.
    await one.apply(file(COMET), { discard: ['types.comet.orbit'] });
    const removed = await make(two, { title: 'of the old configuration', orbit: 'long' });
    assert.equal(removed.status, 503, JSON.stringify(removed.body));
    await one.apply(file('roles: [{ code: watcher, name: Watcher, records: [] }]'));
    now += 1;
    let answered = 0;
    const late = [
      () => make(two, { title: 'late' }),
      () => two.request('GET', `/api/v1/objects/${id}`, { key }),
      () => two.request('GET', `/api/v1/objects?typeId=comet`, { key }),
      () =>
        two.request('PATCH', `/api/v1/objects/${id}`, {
          key,
          body: { expectedRevision: 1, changes: { title: 'late' } },
        }),
    ].map(async (send) => await send().finally(() => answered++));
    await sleep(500);
    assert.equal(answered, 0, 'after a second they wait for a reading');
    held.resolve();
    // To a caller without rights on it, the type is unknown.
    const codes = (await Promise.all(late)).map(({ status, body }) => `${status} ${body.error?.code}`);
    assert.deepEqual(codes, ['400 INVALID_REQUEST', '404 NOT_FOUND', '400 INVALID_REQUEST', '404 NOT_FOUND']);
  });

  it('create one record per Idempotency-Key, and both return its response', async () => {
    const { key } = await one.createKey({ login: 'admin' });
    for (let round = 0; round < 5; round++) {
      const name = `same-${round}`;
      const answers = await Promise.all([one, two, one, two, one, two].map((app) => incident(app, key, name, name)));
      const made = answers.filter(({ status }) => status === 201);
      assert.ok(made.length >= 1);
      assert.equal(new Set(made.map(({ body }) => body.data.id)).size, 1);
      assert.equal(made.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
      for (const { status, body } of answers) {
        if (status !== 201) assert.equal(body.error.code, 'IDEMPOTENCY_IN_PROGRESS');
      }
    }
  });

  it('share the rate limit of a key', async () => {
    const limited = [
      await startTestApp({ on: one, ratePerMinute: RATE }),
      await startTestApp({ on: one, ratePerMinute: RATE }),
    ];
    try {
      const { key } = await one.createKey({ login: 'admin' });
      const began = performance.now();
      let admitted = 0;
      for (let i = 0; i < 2 * RATE; i++) {
        const answer = await (limited[i % 2] as TestApp).request('GET', '/api/v1/objects', { key });
        assert.match(answer.headers.get('ratelimit-policy') ?? '', new RegExp(`q=${RATE};w=60`));
        if (answer.status === 200) admitted++;
        else {
          assert.equal(answer.status, 429);
          assert.ok(Number(answer.headers.get('retry-after')) >= 1);
        }
      }
      const most = (RATE + ((performance.now() - began) / 60_000) * RATE) * 1.1;
      assert.ok(admitted >= RATE && admitted <= most, `${admitted} of ${most}`);
    } finally {
      for (const app of limited) await app.close();
    }
  });
});
