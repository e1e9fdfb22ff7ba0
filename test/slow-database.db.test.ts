/**
 * A database that is slow, pauses briefly or accepts connections slowly delays requests and fails none; an unavailable one is
 * reported after about a second. The service runs as a separate process with its production limits.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from './support/database.ts';
import { FaultProxy } from './proofs/fault-proxy.ts';
import { docket, type Environment, type Service, startService } from './proofs/fault-service.ts';

/** A bound against hanging. */
const HANGS_MS = 28_000;
/** After this time, cached rights are too old to be used. */
const STALE_MS = 1000;

interface Answered {
  status: number;
  code: string | undefined;
  retryAfter: string | null;
}

class Client {
  readonly #service: Service;
  readonly #key: string;
  constructor(service: Service, key: string) {
    this.#service = service;
    this.#key = key;
  }

  async ask(method: 'GET' | 'POST', at: string): Promise<Answered> {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', connection: 'close' };
    const body = JSON.stringify({ typeDefinitionId: 'incident', values: { title: 'slow', priority: 'p3' } });
    const init = { method, headers, ...(method === 'POST' ? { body } : {}) };
    const response = await fetch(this.#service.url + at, init);
    const text = await response.text();
    const code = (JSON.parse(text) as { error?: { code: string } }).error?.code;
    return { status: response.status, code, retryAfter: response.headers.get('retry-after') };
  }

  /** Twelve concurrent reads and writes. @returns the unexpected statuses */
  async askMany(): Promise<Answered[]> {
    const asked = Array.from({ length: 12 }, (_, at) =>
      at % 2 === 0 ? this.ask('GET', '/api/v1/objects?pageSize=5') : this.ask('POST', '/api/v1/objects'),
    );
    return (await Promise.all(asked)).filter(({ status }) => status >= 300);
  }
}

async function keyFor(env: Environment): Promise<string> {
  const made = await docket(['keys', 'create', '--owner', 'admin', '--name', 'k', '--scopes', 'all', '--json'], env);
  return (JSON.parse(made.stdout) as { key: string }).key;
}

describe('a slow database', () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let folder: string;
  let service: Service;
  let client: Client;

  before(async () => {
    database = await createTestDatabase();
    const target = new URL(database.url);
    proxy = await FaultProxy.start({
      host: target.searchParams.get('host') ?? target.hostname,
      port: Number(target.port),
    });
    folder = await mkdtemp(path.join(tmpdir(), 'docket-slow-'));
    const url = `postgres://${target.username}:${target.password}@127.0.0.1:${proxy.port}${target.pathname}`;
    const env = { DOCKET_DATA_DIR: folder, DATABASE_URL: url, DOCKET_PORT: '0' };
    service = await startService(env);
    client = new Client(service, await keyFor(env));
  });
  after(async () => {
    await service?.kill();
    await proxy?.close();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('serves all requests with a latency of one second per statement', async () => {
    proxy.weather = 'slow';
    try {
      // Until cached rights are too old.
      await sleep(3 * STALE_MS);
      assert.deepEqual(await client.askMany(), []);
      assert.deepEqual((await client.ask('GET', '/readyz')).status, 200);
    } finally {
      proxy.weather = 'fair';
    }
  });

  it('is waited for when a connection handshake takes seconds', async () => {
    proxy.weather = 'slow';
    try {
      proxy.reset();
      // Requests that were cut off by the reset got an error.
      await sleep(3 * STALE_MS);
      assert.deepEqual(await client.askMany(), []);
    } finally {
      proxy.weather = 'fair';
    }
  });

  it('is soon reported as unavailable, and used again when it returns', async () => {
    assert.deepEqual(await client.askMany(), []);
    proxy.weather = 'closed';
    proxy.reset();
    await sleep(2 * STALE_MS);
    const began = performance.now();
    for (const { status, code, retryAfter } of await client.askMany()) {
      assert.deepEqual([status, code], [503, 'DATABASE_UNAVAILABLE']);
      assert.match(retryAfter ?? '', /^\d+$/);
    }
    assert.equal((await client.ask('GET', '/readyz')).status, 503);
    assert.ok(performance.now() - began < HANGS_MS, 'it does not wait for all the time that a request has');
    proxy.weather = 'fair';
    for (const until = performance.now() + HANGS_MS; ; await sleep(100)) {
      if ((await client.askMany()).length === 0) break;
      assert.ok(performance.now() < until, 'it goes on');
    }
  });
});

describe('a database that pauses briefly', () => {
  let folder: string;
  let service: Service;
  let client: Client;
  let server: number[];

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'docket-still-'));
    const env = { DOCKET_DATA_DIR: path.join(folder, 'data'), DOCKET_PORT: '0' };
    service = await startService(env);
    client = new Client(service, await keyFor(env));
    const pid = Number(readFileSync(path.join(folder, 'data/postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);
    server = [pid, ...childrenOf(pid)];
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Processes whose parent is `pid`. */
  function childrenOf(pid: number): number[] {
    return readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(pid) ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
  }

  function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of [server[0] as number, ...childrenOf(server[0] as number)]) process.kill(pid, name);
  }

  it('delays requests and readiness, and fails none', async () => {
    for (let turn = 0; turn < 2; turn++) {
      signal('SIGSTOP');
      let refused: Answered[];
      let ready: Answered;
      try {
        await sleep(2 * STALE_MS);
        const asked = Promise.all([client.askMany(), client.ask('GET', '/readyz')]);
        await sleep(STALE_MS);
        signal('SIGCONT');
        [refused, ready] = await asked;
      } finally {
        signal('SIGCONT');
      }
      assert.deepEqual(refused, []);
      assert.equal(ready.status, 200);
    }
  });
});
