/**
 * Reads from a real streaming replica (ADR 0011). Its replay is paused to create lag. The result and the counts show which
 * server served a read.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestAnswer, type TestApp } from '../../../test/support/app.ts';
import { type ReplicatedPair, startReplicatedPair } from '../../../test/support/replica.ts';
import { readPosition, writePosition } from './readings.ts';

describe('reads from a replica', () => {
  let pair: ReplicatedPair;
  let app: TestApp;
  let other: TestApp;
  let key: string;
  let reader: string;
  let readerId: string;
  const type = 'incident';

  before(async () => {
    pair = await startReplicatedPair();
    const database = { url: pair.url, readUrl: pair.readUrl };
    app = await startTestApp({ database });
    other = await startTestApp({ on: app, database });
    key = (await app.createKey({ login: 'admin' })).key;
    const made = await app.createKey({ login: 'admin', scopes: ['objects:read', 'search:read', 'exports:read'] });
    reader = made.key;
    readerId = made.id;
  });

  after(async () => {
    await other?.close();
    await app?.close();
    await pair?.stop();
  });

  const pause = (): Promise<unknown> => pair.ask('replica', 'SELECT pg_wal_replay_pause()');
  const resume = (): Promise<unknown> => pair.ask('replica', 'SELECT pg_wal_replay_resume()');
  const replicaOf = ({ app: { replica } }: TestApp): NonNullable<typeof replica> => {
    assert.ok(replica);
    return replica;
  };
  const counts = (of: TestApp): { replica: number; primary: number } => ({
    ...replicaOf(of).counts,
  });
  /** Waits until the lag of two seconds is detected. */
  const untilLate = async (): Promise<void> => {
    while (replicaOf(app).metrics().state !== 'lagging') await sleep(20);
  };

  beforeEach(async () => {
    await resume();
    // Waits until both processes find the replica up to date.
    for (const one of [app, other]) {
      for (let i = 0; ; i++) {
        const before = counts(one).replica;
        await list(one, reader);
        if (counts(one).replica > before) break;
        assert.ok(i < 100, 'the replica is not used');
        await sleep(50);
      }
    }
  });

  async function create(title: string, headers = {}): Promise<TestAnswer> {
    const answer = await app.request('POST', '/api/v1/objects', {
      key,
      headers,
      body: { typeDefinitionId: type, values: { title, priority: 'p3' } },
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer;
  }

  function list(on: TestApp, by: string, headers: Record<string, string> = {}): Promise<TestAnswer> {
    return on.request('GET', `/api/v1/objects?typeId=${type}&pageSize=100`, { key: by, headers });
  }

  const titles = (answer: TestAnswer): string[] => {
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const rows = (answer.body.data.rows ?? answer.body.data.items ?? answer.body.data) as {
      values?: { title?: string };
      title?: string;
    }[];
    return rows.map((row) => row.title ?? row.values?.title ?? '');
  };

  it('return the same data as the primary', async () => {
    const made = await create('there and back');
    assert.match(made.headers.get('x-docket-position') ?? '', /^[0-9A-F]+\/[0-9A-F]+$/);
    for (let i = 0; !titles(await list(app, reader)).includes('there and back'); i++) {
      assert.ok(i < 50);
      await sleep(20);
    }
    const before = counts(app).replica;
    const id = made.body.data.id as string;
    assert.equal((await app.request('GET', `/api/v1/objects/${id}/history`, { key: reader })).status, 200);
    assert.equal((await app.request('GET', '/api/v1/search?q=back', { key: reader })).body.data.results.length, 1);
    const file = await app.request('POST', '/api/v1/exports', {
      key: reader,
      body: { typeDefinitionId: type, format: 'CSV' },
    });
    assert.match(String(file.body), /there and back/);
    assert.equal(file.headers.get('x-docket-position'), null);
    assert.ok(counts(app).replica >= before + 3, JSON.stringify(counts(app)));
    const exact = await app.request('GET', `/api/v1/objects/${id}`, { key: reader });
    assert.equal(exact.status, 200);
  });

  it('let callers read their own writes in any process, with and without the header', async () => {
    await pause();
    const made = await create('just written');
    const position = made.headers.get('x-docket-position') as string;
    assert.ok(titles(await list(app, key)).includes('just written'), 'this process');
    assert.ok(titles(await list(other, key)).includes('just written'), 'another process, a plain client');
    assert.ok(
      titles(await list(other, reader, { 'x-docket-position': position })).includes('just written'),
      'another key that sends the position',
    );
    const found = await other.request('GET', '/api/v1/search?q=written', { key });
    assert.equal(found.body.data.results.length, 1);
    const file = await other.request('POST', '/api/v1/exports', {
      key,
      body: { typeDefinitionId: type, format: 'CSV' },
    });
    assert.match(String(file.body), /just written/);
    // After the replay, the replica itself returns it.
    await resume();
    await sleep(100);
    const before = counts(other).replica;
    assert.ok(titles(await list(other, key, { 'x-docket-position': position })).includes('just written'));
    assert.equal(counts(other).replica, before + 1);
  });

  it('are at most slightly stale for callers who only read, and never older than the known rights version', async () => {
    await pause();
    await create('not seen yet');
    // The rights version is read every 300 ms, together with the primary's position.
    await app.app.versions.refresh();
    assert.ok(titles(await list(app, reader)).includes('not seen yet'));
  });

  it('never evaluate old data with newer rights', async () => {
    const id = (await create('withdrawn before the right was given')).body.data.id as string;
    await Promise.all([app, other].map((one) => one.app.versions.refresh()));
    await pause();
    // Archives the record first, then creates a key that could still see it on the replica.
    const revision = (await app.request('GET', `/api/v1/objects/${id}`, { key })).body.data.revision as number;
    const gone = await app.request('DELETE', `/api/v1/objects/${id}`, { key, body: { expectedRevision: revision } });
    assert.equal(gone.status, 200, JSON.stringify(gone.body));
    const fresh = await app.createKey({ login: 'admin', scopes: ['objects:read', 'search:read'] });
    for (const on of [app, other]) {
      for (let i = 0; i < 6; i++) {
        const answer = await list(on, fresh.key);
        assert.ok(!titles(answer).includes('withdrawn before the right was given'), `answer ${i}`);
        await sleep(20);
      }
    }
  });

  it('are rejected at once for a revoked key, however far the replica lags', async () => {
    await pause();
    const doomed = await app.createKey({ login: 'admin', scopes: ['objects:read'] });
    assert.equal((await list(other, doomed.key)).status, 200);
    await pair.ask(
      'primary',
      `WITH k AS (UPDATE api_keys SET revoked_at = now() WHERE id = '${doomed.id}')
      UPDATE cache_versions SET rights = rights + 1`,
    );
    await sleep(1000);
    assert.equal((await list(other, doomed.key)).status, 401);
    assert.notEqual(readerId, doomed.id);
  });

  it('use the primary while the replica lags far behind or is down, and return when it recovers', async () => {
    await pause();
    await create('while it slept');
    await untilLate();
    const before = counts(app);
    const { waits } = replicaOf(app).metrics();
    for (let i = 0; i < 20; i++) assert.ok(titles(await list(app, reader)).includes('while it slept'));
    assert.equal(counts(app).replica, before.replica);
    // The lag is known, so reads no longer wait.
    assert.equal(replicaOf(app).metrics().waits, waits);
    await resume();
    await pair.stopReplica();
    for (let i = 0; i < 20; i++) assert.ok(titles(await list(app, key)).includes('while it slept'), `answer ${i}`);
    await pair.startReplica();
  });

  it('are covered by metrics: source, waits and replication lag', async () => {
    const figure = async (name: string): Promise<number> => {
      const text = (await app.request('GET', '/metrics')).body as string;
      const line = text.split('\n').find((one) => one.startsWith(`${name} `));
      assert.ok(line !== undefined, `${name} in ${text}`);
      return Number(line.slice(name.length));
    };
    const READS = 'docket_replica_reads_total';
    const { replica, primary } = counts(app);
    assert.equal(await figure(`${READS}{server="replica"}`), replica);
    assert.equal(await figure(`${READS}{server="primary"}`), primary);
    assert.equal(await figure('docket_replica_state{state="used"}'), 1);
    await pause();
    const waits = await figure('docket_replica_waits_total');
    const waited = await figure('docket_replica_wait_seconds_total');
    await create('not there yet');
    assert.ok(titles(await list(app, key)).includes('not there yet'));
    assert.equal(await figure('docket_replica_waits_total'), waits + 1);
    assert.ok((await figure('docket_replica_wait_seconds_total')) > waited);
    assert.equal(await figure(`${READS}{server="primary"}`), primary + 1);
    await untilLate();
    assert.ok((await figure('docket_replica_lag_bytes')) > 0);
    assert.ok((await figure('docket_replica_lag_seconds')) > 2);
    assert.equal(await figure('docket_replica_state{state="lagging"}'), 1);
    assert.equal(await figure('docket_replica_state{state="used"}'), 0);
    await resume();
    for (let i = 0; (await figure('docket_replica_lag_bytes')) > 0; i++) {
      assert.ok(i < 100, 'it never catches up');
      await sleep(50);
    }
  });

  it('match the OpenAPI document, and every write returns the documented header', async () => {
    const document = (await app.request('GET', '/api/v1/openapi.json')).body;
    const described = (method: string, path: string): unknown[] => {
      const operation = document.paths[path][method];
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      return [
        operation.parameters.some((one: { $ref?: string }) => one.$ref?.endsWith('/X-Docket-Position') === true),
        answers.every(([, answer]) => Object.hasOwn((answer as { headers: object }).headers, 'X-Docket-Position')),
      ];
    };
    assert.deepEqual(described('get', '/objects'), [true, false]);
    assert.deepEqual(described('get', '/objects/{objectId}/history'), [true, false]);
    assert.deepEqual(described('get', '/objects/{objectId}'), [false, false]);
    assert.deepEqual(described('post', '/objects'), [false, true]);
    assert.deepEqual(described('post', '/exports'), [true, false]);
    const parameter = document.components.parameters['X-Docket-Position'];
    const made = await create('in the document');
    const position = made.headers.get('x-docket-position') as string;
    assert.match(position, new RegExp(parameter.schema.pattern));
    assert.equal(titles(await list(other, key, { 'x-docket-position': position })).includes('in the document'), true);
  });

  it('reject an invalid position', async () => {
    for (const bad of ['x', '1/2/3', '0/123456789', '']) {
      const answer = await list(app, key, { 'x-docket-position': bad });
      assert.equal(answer.status, 400, bad);
      assert.equal(answer.body.error.details[0].path, 'header.X-Docket-Position');
    }
    // Only the primary can serve a position in the far future.
    const before = counts(app).primary;
    assert.equal((await list(app, key, { 'x-docket-position': 'FFFFFFFF/FFFFFFFF' })).status, 200);
    assert.equal(counts(app).primary, before + 1);
  });

  it('compare positions by order', () => {
    const places = ['0/0', '0/FF', '1/0', 'A/1', '10/0', 'FFFFFFFF/FFFFFFFF'];
    const read = places.map((place) => readPosition(place) as bigint);
    assert.deepEqual(
      [...read].sort((a, b) => (a < b ? -1 : 1)),
      read,
    );
    assert.deepEqual(read.map(writePosition), places);
  });
});
