/** The service as its users run it, through a pooler in transaction mode; started by `npm run test:pgbouncer`. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { trySessionLock } from '../../src/platform/database/session-lock.ts';
import { Database } from '../../src/platform/database/pool.ts';
import { createEmptyDatabase, type TestDatabase, throughPooler } from '../support/database.ts';
import { docket, type Environment, type Service, startService } from './fault-service.ts';

describe('through a pooler in transaction mode', () => {
  let database: TestDatabase;
  let folder: string;
  let env: Environment;
  const services: Service[] = [];
  let key: string;

  before(async () => {
    database = await createEmptyDatabase();
    assert.equal(throughPooler(database.url).pooled, true, 'run it by npm run test:pgbouncer');
    folder = await mkdtemp(path.join(tmpdir(), 'docket-pooled-'));
    env = { DOCKET_DATA_DIR: folder, DATABASE_URL: throughPooler(database.url).url, DOCKET_PORT: '0' };
  });

  after(async () => {
    for (const service of services) await service.kill();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (
    service: Service,
    method: string,
    to: string,
    body?: unknown,
  ): Promise<{ status: number; body: any }> => {
    const send = (): Promise<Response> =>
      fetch(`${service.url}/api/v1${to}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    let response = await send();
    // An overload response states when to retry; it had no effect.
    for (let i = 0; response.status === 503 && i < 20; i++) {
      await response.arrayBuffer();
      await sleep(1000);
      response = await send();
    }
    return { status: response.status, body: await response.json() };
  };

  it('migrates, starts with several processes and reports the limits of the pooler', async () => {
    const service = await startService(env, ['--processes', '2']);
    services.push(service);
    assert.match(service.output(), /leads through a pooler/);
    assert.match(service.output(), /ALTER ROLE .* SET statement_timeout/);
    assert.match(service.output(), /DATABASE_DIRECT_URL is not set/);
    const made = await docket(['keys', 'create', '--owner', 'admin', '--name', 'k', '--scopes', 'all', '--json'], env);
    assert.equal(made.code, 0, made.stderr);
    key = (JSON.parse(made.stdout) as { key: string }).key;
  });

  it('writes and reads concurrently over more connections than the pooler has sessions', async () => {
    const [service] = services as [Service];
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        call(service, 'POST', '/objects', {
          typeDefinitionId: 'incident',
          values: { title: `pooled ${i}`, priority: i % 2 === 0 ? 'p1' : 'p3' },
        }),
      ),
    );
    assert.deepEqual([...new Set(made.map(({ status }) => status))], [201]);
    const filter = encodeURIComponent(JSON.stringify({ field: 'priority', operator: 'equals', value: 'p1' }));
    const reads = await Promise.all(
      Array.from({ length: 40 }, () => call(service, 'GET', `/search?q=pooled&filter=${filter}`)),
    );
    for (const read of reads) {
      assert.equal(read.status, 200, JSON.stringify(read.body));
      assert.equal(read.body.data.total, 30);
    }
  });

  it('builds the indexes of filterable fields', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      for (let i = 0; ; i++) {
        const { rows } = await client.query(
          `SELECT count(*)::int AS n FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
           WHERE c.relname ~ '^objects_field_' AND x.indisvalid`,
        );
        if (rows[0].n > 0) break;
        assert.ok(i < 100, 'no index was built');
        await sleep(300);
      }
    } finally {
      await client.end();
    }
  });

  it('holds a lock exactly as long as its holder lives', async () => {
    const one = new Database({ ...throughPooler(database.url), max: 2 });
    const two = new Database({ ...throughPooler(database.url), max: 2 });
    try {
      const held = await trySessionLock(one, 'x');
      assert.ok(held);
      assert.equal(await trySessionLock(two, 'x'), undefined);
      await held.release();
      let again = await trySessionLock(two, 'x');
      for (let i = 0; again === undefined && i < 50; i++) {
        await sleep(50);
        again = await trySessionLock(two, 'x');
      }
      assert.ok(again);
      await again.release();
    } finally {
      await one.close();
      await two.close();
    }
  });

  it('imports a file from the command line once', async () => {
    const file = path.join(folder, 'people.csv');
    await writeFile(file, 'login,name\npooled-1,One\n');
    const refused = await docket(['import', file, '--definition', 'no-such'], env);
    assert.equal(refused.code, 1);
    assert.doesNotMatch(refused.stderr, /prepared statement|startup parameter/);
  });

  it('uses notifications and sessions if a direct connection is configured', async () => {
    const service = await startService({ ...env, DATABASE_DIRECT_URL: database.url });
    services.push(service);
    assert.doesNotMatch(service.output(), /DATABASE_DIRECT_URL is not set/);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      for (let i = 0; ; i++) {
        const { rows } = await client.query(`SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN docket_wake'`);
        if (rows.length > 0) break;
        assert.ok(i < 50, 'no process listens');
        await sleep(200);
      }
    } finally {
      await client.end();
    }
    assert.equal(await service.stop(), 0);
  });
});
