/**
 * A service that nobody uses does nothing: it makes few transactions, and wakes at once for a change and for what is due. It runs
 * on a cluster of its own, because the service notices what others write to its cluster.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startTestCluster, type TestCluster } from './support/cluster.ts';
import { docket, type Environment, type Service, startService } from './proofs/fault-service.ts';

const LOOKED_MS = 10_000;
/** Transactions a second of all processes together. */
const MAX_RATE = 1;

describe('an idle service', () => {
  let cluster: TestCluster;
  let folder: string;
  let env: Environment;
  let service: Service;
  let watcher: pg.Client;
  let key = '';

  before(async () => {
    cluster = await startTestCluster();
    folder = await mkdtemp(path.join(tmpdir(), 'docket-idle-'));
    const admin = new pg.Client({ connectionString: cluster.url });
    await admin.connect();
    await admin.query('CREATE DATABASE idle');
    await admin.end();
    const url = new URL(cluster.url);
    url.pathname = '/idle';
    env = { DOCKET_DATA_DIR: folder, DATABASE_URL: url.href, DOCKET_PORT: '0' };
    service = await startService(env);
    const made = await docket(['keys', 'create', '--owner', 'admin', '--name', 'k', '--scopes', 'all', '--json'], env);
    key = (JSON.parse(made.stdout) as { key: string }).key;
    // Another database, so that its own questions are not counted.
    watcher = new pg.Client({ connectionString: cluster.url });
    await watcher.connect();
  });

  after(async () => {
    await watcher.end();
    await service.kill();
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const transactions = async (): Promise<number> => {
    const { rows } = await watcher.query(
      `SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = 'idle'`,
    );
    return Number(rows[0].n);
  };
  /** Transactions a second over some time. PostgreSQL reports them with a delay of up to a second. */
  const rate = async (ms: number): Promise<number> => {
    const began = performance.now();
    const first = await transactions();
    await sleep(ms);
    return ((await transactions()) - first) / ((performance.now() - began) / 1000);
  };

  const call = async <Data>(method: string, place: string, body?: unknown): Promise<Data> => {
    const answer = await fetch(`${service.url}${place}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data, error } = (await answer.json()) as { data: Data; error?: unknown };
    assert.equal(error, undefined, JSON.stringify(error));
    return data;
  };

  /** Waits until the changes feed has the record. Its places are given by a background task. */
  const fed = async (id: string): Promise<void> => {
    for (let found = false; !found; await sleep(20)) {
      const { events } = await call<{ events: { objectId?: string }[] }>('GET', '/api/v1/changes?limit=1000');
      found = events.some(({ objectId }) => objectId === id);
    }
  };

  it('makes at most one transaction a second', async () => {
    // What the start left to do ends first, and PostgreSQL reports transactions late on a busy machine.
    let found = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 10 && found > MAX_RATE; tries++) found = await rate(LOOKED_MS);
    assert.ok(found <= MAX_RATE, `${found.toFixed(2)} transactions a second`);
  });

  it('wakes for a change at once, long before its idle tasks look', async () => {
    const began = performance.now();
    const values = { title: 'After a calm time' };
    const { id } = await call<{ id: string }>('POST', '/api/v1/objects', { typeDefinitionId: 'incident', values });
    await fed(id);
    // A busy machine may need seconds; without being woken, the task would look after five minutes.
    assert.ok(performance.now() - began < 30_000);
  });
});
