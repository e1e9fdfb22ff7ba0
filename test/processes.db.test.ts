/** `serve --processes N`: several processes behind one address, on one database. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEmptyDatabase, type TestDatabase } from './support/database.ts';
import { docket, type Environment, type Service, startService } from './proofs/fault-service.ts';

const WAIT_MS = 90_000;

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const began = performance.now();
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    if (performance.now() - began > WAIT_MS) throw new Error(`${what}: not within ${WAIT_MS} ms`);
    await sleep(100);
  }
}

/** Process ids of those whose parent is `pid`. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
      return parent === String(pid) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

describe('several processes behind one address', () => {
  let database: TestDatabase;
  let folder: string;
  let env: Environment;
  let service: Service;
  let key: string;
  let supervisor: number;

  before(async () => {
    database = await createEmptyDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'docket-processes-'));
    env = { DOCKET_DATA_DIR: folder, DATABASE_URL: database.url, DOCKET_PORT: '0', DOCKET_POOL: '5' };
    service = await startService(env, ['--processes', '2']);
    supervisor = Number(/"process":"supervisor","pid":(\d+)/.exec(service.output())?.[1]);
    const made = await docket(['keys', 'create', '--owner', 'admin', '--name', 'k', '--scopes', 'all', '--json'], env);
    key = (JSON.parse(made.stdout) as { key: string }).key;
  });

  after(async () => {
    await service.kill();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const metrics = async (): Promise<string> => await (await fetch(`${service.url}/metrics`)).text();
  const ask = (): Promise<Response> =>
    fetch(`${service.url}/api/v1/objects`, { headers: { authorization: `Bearer ${key}`, connection: 'close' } });

  it('print the address once, when all are ready', () => {
    assert.equal(service.output().split('Docket answers at').length, 2);
  });

  it('respond from all of them and merge their metrics', async () => {
    let asked = 0;
    // A process that pauses briefly returns an overload error and is asked again.
    const answered = async (): Promise<true | undefined> => {
      asked++;
      return (await ask()).status === 200 ? true : undefined;
    };
    for (let i = 0; i < 10; i++) await until('an answer', answered);
    const text = await metrics();
    for (const name of ['api-1', 'api-2', 'worker-1']) {
      assert.match(text, new RegExp(`^docket_process_up\\{process="${name}"\\} 1$`, 'm'));
    }
    const counts = [
      ...text.matchAll(/^docket_http_requests_total\{process="(.*?)",.*operation="objects.list".*\} (\d+)/gm),
    ].map(([, name, count]) => [name, Number(count)] as const);
    assert.equal(
      counts.reduce((sum, [, count]) => sum + count, 0),
      asked,
      text,
    );
    assert.equal(counts.length, 2, 'requests are shared out');
  });

  it('restart a killed one and keep responding meanwhile', async () => {
    const before = childrenOf(supervisor);
    assert.equal(before.length, 3);
    process.kill(before[0] as number, 'SIGKILL');
    const deadline = performance.now() + WAIT_MS;
    let later = childrenOf(supervisor);
    while (later.length < 3 || later.includes(before[0] as number)) {
      assert.ok(performance.now() < deadline, 'no new process came');
      // A request may have been with the one that was killed; a new one finds another.
      await until('an answer', async () => ((await ask()).status === 200 ? true : undefined));
      await sleep(50);
      later = childrenOf(supervisor);
    }
    await until('figures of all again', async () => {
      const up = (await metrics()).match(/^docket_process_up\{.*\} 1$/gm) ?? [];
      return up.length === 3 ? true : undefined;
    });
    assert.ok(service.alive());
  });

  it('finish running requests and stop together', async () => {
    const running = childrenOf(supervisor);
    assert.equal(await service.stop(), 0);
    assert.deepEqual(
      running.filter((pid) => {
        try {
          process.kill(pid, 0);
          return true;
        } catch {
          return false;
        }
      }),
      [],
    );
  });

  it('report what prevents the start, and stop', async () => {
    const taken = await startService(env);
    try {
      const port = new URL(taken.url).port;
      // A single process also does background work, which must not continue.
      for (const several of [[], ['--processes', '2']]) {
        const refused = await docket(['serve', ...several], { ...env, DOCKET_PORT: port });
        assert.equal(refused.code, 1);
        assert.match(refused.stderr, /^docket: .* is in use by another program; .*DOCKET_PORT/m);
        assert.doesNotMatch(refused.stderr, /\n\s+at |"stack"/);
      }
    } finally {
      await taken.stop();
    }
  });

  it('divide the work by role on one database', async () => {
    const worker = await startService({ ...env, DOCKET_PORT: '0' }, ['--role', 'worker']);
    const api = await startService({ ...env, DOCKET_PORT: '0' }, ['--role', 'api']);
    try {
      assert.equal(worker.url, '');
      assert.equal((await fetch(`${api.url}/readyz`)).status, 200);
    } finally {
      assert.deepEqual([await worker.stop(), await api.stop()], [0, 0]);
    }
  });
});
