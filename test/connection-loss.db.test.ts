/**
 * A lost database connection gives 503 and Retry-After at any point of a request, and a write with an Idempotency-Key takes
 * effect once. The test cuts every statement of a request in turn, in each way in which connections end. `npm run test:kills`
 * does the same by killing server processes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { type ConnectionEnd, FaultProxy } from './proofs/fault-proxy.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';

/** Maximum number of statements of a request; a test fails if one sends more. */
const MAX_STATEMENTS = 40;

interface Asked {
  method: string;
  path: string;
  body?: unknown;
  key: string;
  idempotencyKey?: string;
}

describe('a connection lost at any statement of a request', () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let app: TestApp;
  let key: string;

  before(async () => {
    database = await createTestDatabase();
    const target = new URL(database.url);
    const host = target.searchParams.get('host') ?? target.hostname;
    proxy = await FaultProxy.start({ host, port: Number(target.port) });
    const through = `postgres://${target.username}:${target.password}@127.0.0.1:${proxy.port}${target.pathname}`;
    app = await startTestApp({ database: { url: through } });
    key = (await app.createKey({ login: 'admin' })).key;
    // Its poll of the version row would count as a statement of the request.
    app.app.versions.stop();
  });

  after(async () => {
    await app?.close();
    await proxy?.close();
    await database?.drop();
  });

  /** Caches of keys and users are cleared, so that those are read as well. */
  async function forget(): Promise<void> {
    await app.db.query(sql`UPDATE cache_versions SET rights = rights + 1`);
    await app.app.versions.refresh();
  }

  /** Asks once for each statement, with its connection ending there, until none is left. @returns how many ended */
  async function cutEach(
    how: ConnectionEnd,
    ask: (step: number) => Asked,
    then: (asked: Asked, answer: TestAnswer) => void | Promise<void>,
  ): Promise<number> {
    for (let step = 1; step <= MAX_STATEMENTS; step++) {
      await forget();
      const asked = ask(step);
      proxy.endAt(step, how);
      const answer = await app.request(asked.method, asked.path, asked);
      const untouched = proxy.ending !== undefined;
      proxy.ending = undefined;
      await then(asked, answer);
      if (untouched) {
        assert.ok(answer.status < 300, `undisturbed: ${answer.status} ${JSON.stringify(answer.body)}`);
        return step - 1;
      }
      if (answer.status >= 300) {
        assert.equal(answer.status, 503, `${how} at ${step}: ${JSON.stringify(answer.body)}`);
        assert.equal(answer.body.error.code, 'DATABASE_UNAVAILABLE');
        assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
      }
    }
    throw new Error(`more than ${MAX_STATEMENTS} statements`);
  }

  const create = (name: string): Asked => ({
    method: 'POST',
    path: '/api/v1/objects',
    key,
    idempotencyKey: name,
    body: { typeDefinitionId: 'incident', values: { title: name, priority: 'p3' } },
  });

  async function once({ method, path, ...asked }: Asked): Promise<void> {
    const again = await app.request(method, path, asked);
    assert.equal(again.status, 201, JSON.stringify(again.body));
    const made = await app.db.query<{ id: string }>(
      sql`SELECT id::text FROM objects WHERE title = ${asked.idempotencyKey}`,
    );
    assert.deepEqual(
      made.map(({ id }) => id),
      [again.body.data.id],
    );
  }

  for (const how of ['unsent', 'unconfirmed', 'dismissed', 'reset'] as const) {
    it(`${how}: a create with an Idempotency-Key`, async () => {
      assert.ok((await cutEach(how, (step) => create(`${how}-${step}`), once)) >= 3);
    });

    it(`${how}: the repeated create, whose response is stored`, async () => {
      const first = create(`${how}-kept`);
      assert.equal((await app.request(first.method, first.path, first)).status, 201);
      assert.ok((await cutEach(how, () => first, once)) >= 3);
    });

    // One way that the database notices and one that it does not. More would take long and find nothing else.
    if (how !== 'dismissed' && how !== 'unconfirmed') continue;
    it(`${how}: reads, a change, a bulk call and an attachment`, async () => {
      const { id } = (await app.request('POST', '/api/v1/objects', create(`${how}-changed`))).body.data;
      let expectedRevision = 1;
      const changes = (): object => ({ title: `${how} ${expectedRevision}` });
      const path = `/api/v1/objects/${id}`;
      const contentBase64 = Buffer.from(how).toString('base64');
      const ways: (() => Asked)[] = [
        () => ({ method: 'GET', path: '/api/v1/objects?pageSize=5', key }),
        () => ({ method: 'GET', path: `${path}/history`, key }),
        () => ({ method: 'GET', path: `${path}/workflow`, key }),
        () => ({ method: 'PATCH', path, key, body: { expectedRevision, changes: changes() } }),
        () => {
          const items = [{ objectId: id, expectedRevision, changes: changes() }];
          return { method: 'POST', path: '/api/v1/bulk', key, body: { operation: 'update', items } };
        },
        () => {
          const body = { filename: 'a.txt', contentBase64, mediaType: 'text/plain' };
          return { method: 'POST', path: `${path}/attachments`, key, body };
        },
      ];
      for (const way of ways) {
        const ended = await cutEach(how, way, async () => {
          const [row] = await app.db.query<{ revision: number }>(
            sql`SELECT revision FROM objects WHERE id = ${id}::uuid`,
          );
          expectedRevision = row?.revision ?? 0;
        });
        assert.ok(ended >= 3, `${way().path}: ${ended}`);
      }
    });
  }
});
