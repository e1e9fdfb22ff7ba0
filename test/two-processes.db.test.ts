/** What two processes on one database must agree on: rights, configuration, idempotency, the rate of requests. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeKey } from '../src/domain/access/index.ts';
import { file } from './harness/bundle-fixture.ts';
import { startTestApp, type TestAnswer, type TestApp } from './harness/app.ts';

/** The version row is read every 300 ms; the rest is for a busy machine. */
const FRESH_MS = 30_000;
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

  async function soon(what: string, look: () => Promise<boolean>): Promise<void> {
    const began = performance.now();
    while (!(await look())) {
      assert.ok(performance.now() - began < FRESH_MS, `${what}: not within ${FRESH_MS} ms`);
      await sleep(50);
    }
  }

  it('reject a key that the other process revoked', async () => {
    const { id, key } = await one.createKey({ login: 'admin' });
    // The last key of the only administrator could not be withdrawn.
    await one.createKey({ login: 'admin' });
    assert.equal((await incident(two, key, 'before')).status, 201);
    await one.app.work.write(one.app.system(), (ctx) => revokeKey(ctx, id));
    assert.equal((await incident(one, key, 'after')).status, 401, 'the process that withdrew it follows at once');
    await soon('the other refuses it', async () => (await incident(two, key, 'later')).status === 401);
    for (let i = 0; i < 5; i++) assert.equal((await incident(two, key, 'much later')).status, 401);
  });

  it('share a configuration that one of them applied', async () => {
    const { key } = await one.createKey({ login: 'admin' });
    const probe = (app: TestApp): Promise<TestAnswer> => app.request('GET', '/api/v1/objects?typeId=comet', { key });
    const before = await probe(two);
    await one.apply(
      file(`types:
  - code: comet
    name: { ru-RU: Комета, en-US: Comet }
    fields:
      - { code: title, name: { ru-RU: Имя, en-US: Name }, dataType: string }
`),
    );
    const expected = await probe(one);
    assert.notDeepEqual([expected.status, expected.body.error?.code], [before.status, before.body.error?.code]);
    await soon('the other knows the type', async () => (await probe(two)).status === expected.status);
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
