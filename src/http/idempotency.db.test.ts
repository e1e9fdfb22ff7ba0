import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Type from 'typebox';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { defineOperation, Reply } from '../contract/operation.ts';
import { closed } from '../contract/schemas.ts';
import { Fault } from '../lib/fault.ts';
import { bind } from '../platform/module.ts';
import { systemClock } from '../platform/clock.ts';
import { Database } from '../platform/database/pool.ts';
import { Work } from '../platform/unit-of-work/work.ts';
import { type Answer, type Sample, startSample } from '../../test/support/http-sample.ts';

describe('Idempotency-Key', () => {
  let database: TestDatabase;
  let db: Database;
  let sample: Sample;
  /** How often each name was created. */
  const made = new Map<string, number>();

  const post = { method: 'POST', access: 'objects:write', idempotent: true, status: 201, tag: 'Things' } as const;
  const shared = {
    ...post,
    summary: 'Sample',
    description: 'What it does.',
    answer: Type.Unknown(),
    faults: [],
    body: closed({ name: Type.String() }),
  };
  const create = defineOperation({ ...shared, id: 'create', path: '/create', unit: 'write' });
  const within = defineOperation({
    ...shared,
    id: 'within',
    path: '/things/{code}/parts',
    unit: 'write',
    params: closed({ code: Type.String() }),
  });
  const upload = defineOperation({ ...shared, id: 'upload', path: '/upload', unit: 'own' });
  const accepted = defineOperation({ ...shared, id: 'accepted', path: '/accepted', unit: 'write' });
  const { idempotent: _, ...without } = shared;
  const plain = defineOperation({ ...without, id: 'plain', path: '/plain', unit: 'write' });

  const make = (name: string): { name: string; nth: number } => {
    const nth = (made.get(name) ?? 0) + 1;
    made.set(name, nth);
    if (name === 'bad') throw new Fault('INVALID_VALUES', 'No.');
    return { name, nth };
  };

  before(async () => {
    database = await createTestDatabase();
    db = new Database({ url: database.url, max: 5 });
    sample = await startSample(
      [
        bind(
          create,
          async (_ctx, { body }) => make(body.name),
          async (ctx, data) => ({ ...(data as object), seenBy: ctx.actor.displayName }),
        ),
        bind(within, async (_ctx, { body }) => make(body.name)),
        bind(upload, async (runner, { body }) => {
          const stored = await runner.write(async () => make(body.name));
          return new Reply(stored, { 'X-Own': '1' });
        }),
        bind(accepted, async (_ctx, { body }) => new Reply(make(body.name), { 'X-Own': '1' }, 200)),
        bind(plain, async (_ctx, { body }) => make(body.name)),
      ],
      {},
      { work: new Work({ db, clock: systemClock }) },
    );
  });
  after(async () => {
    await sample.close();
    await db.close();
    await database.drop();
  });

  const ask = (path: string, key: string | undefined, body: string): Promise<Answer> => {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    return sample.ask(`/api/v1${path}`, { method: 'POST', body, headers });
  };

  it('replays the stored response for equal JSON values, however formatted', async () => {
    const first = await ask('/create', 'k1', '{"name":"a"}');
    assert.deepEqual([first.status, first.body.data], [201, { name: 'a', nth: 1 }]);
    assert.equal(first.headers.get('idempotency-replayed'), null);
    const again = await ask('/create', 'k1', ' { "name" : "\\u0061" } ');
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, 'true']);
    assert.deepEqual(again.body.data, { name: 'a', nth: 1, seenBy: 'nobody' }, 'projected again for the replay');
    assert.notEqual(again.body.meta.correlationId, first.body.meta.correlationId);
  });

  it('rejects the key with another body', async () => {
    await ask('/create', 'k2', '{"name":"b"}');
    const { status, body } = await ask('/create', 'k2', '{"name":"c"}');
    assert.deepEqual([status, body.error.code], [409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('separates routes and their parameters', async () => {
    await ask('/things/x/parts', 'k3', '{"name":"d"}');
    assert.equal((await ask('/things/y/parts', 'k3', '{"name":"d"}')).body.data.nth, 2);
    assert.equal((await ask('/things/x/parts', 'k3', '{"name":"d"}')).body.data.nth, 1);
    assert.equal((await ask('/create', 'k3', '{"name":"e"}')).status, 201);
  });

  it('replays the status of the first response', async () => {
    const first = await ask('/accepted', 'k4', '{"name":"f"}');
    const again = await ask('/accepted', 'k4', '{"name":"f"}');
    assert.deepEqual([first.status, first.headers.get('x-own'), again.status], [200, '1', 200]);
    assert.deepEqual(again.body.data, first.body.data);
  });

  it('works where the operation opens its own unit of work', async () => {
    const first = await ask('/upload', 'k5', '{"name":"g"}');
    const again = await ask('/upload', 'k5', '{"name":"g"}');
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.deepEqual(again.body.data, { name: 'g', nth: 1 });
    assert.deepEqual(
      [first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')],
      [null, 'true'],
    );
  });

  it('stores no failure', async () => {
    assert.equal((await ask('/create', 'k6', '{"name":"bad"}')).status, 400);
    assert.equal((await ask('/create', 'k6', '{"name":"good"}')).status, 201);
  });

  it('makes one change of many concurrent calls', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('/create', 'k7', '{"name":"h"}')));
    assert.deepEqual([...new Set(answers.map((one) => one.status))], [201]);
    assert.equal(answers.filter((one) => one.headers.get('idempotency-replayed') === null).length, 1);
    assert.equal(new Set(answers.map((one) => one.body.data.nth)).size, 1);
  });

  it('accepts one value of 1 to 255 visible ASCII characters', async () => {
    for (const bad of ['', 'a b', 'ключ', 'x'.repeat(256), 'a, b']) {
      const headers = { 'idempotency-key': Buffer.from(bad).toString('latin1') };
      const { status, body } = await sample.ask('/api/v1/create', { method: 'POST', body: '{"name":"i"}', headers });
      assert.deepEqual([status, body.error.code], [400, 'INVALID_IDEMPOTENCY_KEY'], bad);
    }
    const twice = await fetch(`${sample.url}/api/v1/create`, {
      method: 'POST',
      body: '{"name":"i"}',
      headers: [
        ['authorization', 'Bearer good'],
        ['content-type', 'application/json'],
        ['idempotency-key', 'a'],
        ['idempotency-key', 'b'],
      ],
    });
    assert.equal(twice.status, 400);
    assert.equal((await ask('/create', `"${'x'.repeat(253)}"`, '{"name":"i"}')).status, 201, 'quotes are part of it');
    assert.equal((await ask('/plain', 'a b', '{"name":"i"}')).status, 201, 'ignored where it is not supported');
  });
});
