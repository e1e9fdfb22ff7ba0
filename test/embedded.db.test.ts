/** The embedded PostgreSQL through everything that happens to a data folder: starts, stops, kills, copies, mistakes. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openEmbedded } from '../src/platform/database/embedded.ts';
import { runningServer, stopCluster } from '../src/platform/database/embedded-cluster.ts';
import { EmbeddedError, isRunning } from '../src/platform/database/embedded-process.ts';

// A process that opens the database, reports it, and closes it at the end of its input.
const HOLDER = `
  import { openEmbedded } from ${JSON.stringify(new URL('../src/platform/database/embedded.ts', import.meta.url).href)};
  const [dataDir, use] = process.argv.slice(1);
  try {
    const embedded = await openEmbedded({ dataDir, use, log: () => {} });
    process.stdin.on('end', () => embedded.stop().then(() => process.exit(0)));
    process.stdin.resume();
    process.on('SIGINT', () => {});
    console.log(JSON.stringify({ url: embedded.url, startedHere: embedded.startedHere }));
  } catch (error) {
    console.log(JSON.stringify({ failure: error.message }));
    process.exit(1);
  }
`;

interface Held {
  url: string;
  startedHere: boolean;
  failure?: string;
  child: ChildProcess;
  /** Ends it as it should end. */
  close(): Promise<void>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** What a failed test may leave: processes, and folders whose server may still run. */
interface Leftovers {
  children: ChildProcess[];
  folders: Set<string>;
}

async function clearAway(leftovers: Leftovers): Promise<void> {
  for (const child of leftovers.children) child.kill('SIGKILL');
  for (const folder of leftovers.folders) {
    const cluster = await realpath(path.join(folder, 'postgres')).catch(() => null);
    if (cluster === null) continue;
    const pid = runningServer(cluster);
    if (pid !== null) await stopCluster(pid, 'abandon');
    if (path.dirname(cluster) !== folder) await rm(path.dirname(cluster), { recursive: true, force: true });
  }
}

async function hold(dataDir: string, use: 'service' | 'tool', leftovers: Leftovers): Promise<Held> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', HOLDER, dataDir, use], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  leftovers.children.push(child);
  leftovers.folders.add(dataDir);
  const ended = once(child, 'exit');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    ...(JSON.parse(line) as { url: string; startedHere: boolean; failure?: string }),
    child,
    close: async () => {
      child.stdin.end();
      await ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function eventually<T>(fn: () => Promise<T>, limitMs = 60_000): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    try {
      return await fn();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

async function serverPid(dataDir: string): Promise<number> {
  return Number((await readFile(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** Kills the server and all its processes. */
async function killServer(dataDir: string, url: string): Promise<void> {
  const rows = await query(url, 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
  const server = await serverPid(dataDir);
  for (const pid of [server, ...rows.map((row) => Number(row['pid']))]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It was gone already.
    }
  }
}

describe('embedded PostgreSQL', () => {
  let root = '';
  let data = '';
  const leftovers: Leftovers = { children: [], folders: new Set() };
  const quiet = { log: () => {} };

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'docket-embedded-'));
    // As root, the server runs as another user, who must have access to the tested folder.
    await chmod(root, 0o711);
    data = path.join(root, 'Данные of us');
  });

  after(async () => {
    await clearAway(leftovers);
    await rm(root, { recursive: true, force: true });
  });

  test('creates one database at a concurrent first start, and the last process stops it', async () => {
    const [one, two] = await Promise.all([openEmbedded({ dataDir: data, ...quiet }), hold(data, 'tool', leftovers)]);
    assert.equal(one.url, two.url);
    assert.deepEqual([one.startedHere, two.startedHere].sort(), [false, true]);
    const [row] = await query(
      one.url,
      `SELECT current_database() AS name, current_setting('fsync') AS fsync, current_setting('data_checksums') AS sums,
         current_setting('synchronous_commit') AS commit, current_setting('TimeZone') AS zone,
         pg_encoding_to_char(encoding) AS encoding FROM pg_database WHERE datname = current_database()`,
    );
    assert.deepEqual(row, { name: 'docket', fsync: 'on', sums: 'on', commit: 'on', zone: 'UTC', encoding: 'UTF8' });
    await query(one.url, 'CREATE TABLE kept (n integer); INSERT INTO kept VALUES (1)');
    const pid = await serverPid(data);
    await one.stop();
    assert.ok(isRunning(pid), 'another process still uses it');
    await two.close();
    assert.ok(!isRunning(pid));
    assert.equal((await stat(path.join(data, 'postgres.json'))).mode & 0o777, 0o600);
  });

  test('keeps data and connection settings over a restart', async () => {
    const known = JSON.parse(await readFile(path.join(data, 'postgres.json'), 'utf8')) as { password: string };
    const embedded = await openEmbedded({ dataDir: data, ...quiet });
    assert.ok(embedded.startedHere);
    assert.ok(embedded.url.includes(known.password));
    assert.deepEqual(await query(embedded.url, 'SELECT n FROM kept'), [{ n: 1 }]);
    await Promise.all([embedded.stop(), embedded.stop()]);
  });

  test('rejects a second service, but lets a tool use the running server', async () => {
    const service = await hold(data, 'service', leftovers);
    const pid = await serverPid(data);
    const second = await hold(data, 'service', leftovers);
    assert.match(second.failure ?? '', /is in use by another Docket service \(process \d+\): .*DOCKET_DATA_DIR/);
    assert.ok(second.failure?.includes(String(service.child.pid)));
    const tool = await openEmbedded({ dataDir: data, ...quiet });
    assert.equal(tool.startedHere, false);
    await tool.stop();
    assert.ok(isRunning(pid));
    await service.close();
    assert.ok(!isRunning(pid));
  });

  test('hands the running server to the next service after kill -9', async () => {
    const first = await hold(data, 'service', leftovers);
    const pid = await serverPid(data);
    await query(first.url, 'INSERT INTO kept VALUES (2)');
    await first.kill();
    assert.ok(isRunning(pid));
    const next = await hold(data, 'service', leftovers);
    assert.deepEqual([next.failure, next.startedHere, next.url], [undefined, false, first.url]);
    assert.equal(await serverPid(data), pid);
    assert.deepEqual(await query(next.url, 'SELECT max(n) AS n FROM kept'), [{ n: 2 }]);
    await next.close();
    assert.ok(!isRunning(pid));
  });

  test('is not affected by Ctrl-C or kills of the service process group', async () => {
    const service = await hold(data, 'service', leftovers);
    const pid = await serverPid(data);
    process.kill(-(service.child.pid ?? 0), 'SIGINT');
    await sleep(200);
    assert.deepEqual(await query(service.url, 'SELECT 1 AS one'), [{ one: 1 }]);
    await service.close();
    assert.ok(!isRunning(pid));
  });

  test('is restarted at the same address when it is killed', async () => {
    const service = await hold(data, 'service', leftovers);
    await query(service.url, 'INSERT INTO kept VALUES (3)');
    const pid = await serverPid(data);
    await killServer(data, service.url);
    assert.deepEqual(await eventually(() => query(service.url, 'SELECT max(n) AS n FROM kept')), [{ n: 3 }]);
    assert.notEqual(await serverPid(data), pid);
    await service.close();
  });

  test('recovers after kill -9 of service and server', async () => {
    const service = await hold(data, 'service', leftovers);
    await query(service.url, 'INSERT INTO kept VALUES (4)');
    service.child.kill('SIGKILL');
    await killServer(data, service.url);
    const next = await openEmbedded({ dataDir: data, ...quiet });
    assert.ok(next.startedHere);
    assert.deepEqual(await query(next.url, 'SELECT max(n) AS n FROM kept'), [{ n: 4 }]);
    await next.stop();
  });

  test('treats a lock file of an unrelated live process as stale', async () => {
    const lines = [
      process.pid,
      path.join(data, 'postgres'),
      0,
      5432,
      path.join(data, 'postgres'),
      '',
      '   1 1',
      'ready',
    ];
    await writeFile(path.join(data, 'postgres', 'postmaster.pid'), `${lines.join('\n')}\n`);
    await writeFile(path.join(data, 'postgres', '.s.PGSQL.5432.lock'), `${lines.slice(0, 5).join('\n')}\n`);
    const tickets = path.join(data, 'postgres.lock');
    const owner = { pid: process.pid, started: '1', boot: null, space: null };
    const ticket = JSON.stringify({ owner, folder: (await stat(tickets)).ino });
    await writeFile(path.join(tickets, 'service-00000000-0000-4000-8000-000000000000'), ticket);
    const said: string[] = [];
    const embedded = await openEmbedded({ dataDir: data, use: 'service', log: (line) => said.push(line) });
    assert.match(said.join('\n'), /removing a stale database lock/);
    assert.deepEqual(await query(embedded.url, 'SELECT 1 AS one'), [{ one: 1 }]);
    await embedded.stop();
  });

  test('uses a copied folder as a separate database, and a moved folder where it is', async () => {
    const original = await openEmbedded({ dataDir: data, ...quiet });
    const copy = path.join(root, 'copy');
    leftovers.folders.add(data).add(copy);
    await cp(data, copy, { recursive: true, filter: (source) => !source.includes('.s.PGSQL') });
    const second = await openEmbedded({ dataDir: copy, ...quiet });
    assert.ok(second.startedHere);
    assert.notEqual(second.url, original.url);
    await query(second.url, 'INSERT INTO kept VALUES (100)');
    assert.deepEqual(await query(original.url, 'SELECT max(n) AS n FROM kept'), [{ n: 4 }]);
    const servers = await Promise.all([serverPid(copy), serverPid(data)]);
    await Promise.all([second.stop(), original.stop()]);
    assert.deepEqual(servers.filter(isRunning), []);
    await rm(copy, { recursive: true });
    await rename(data, path.join(root, 'moved'));
    data = path.join(root, 'moved');
    const moved = await openEmbedded({ dataDir: data, ...quiet });
    assert.deepEqual(await query(moved.url, 'SELECT max(n) AS n FROM kept'), [{ n: 4 }]);
    await moved.stop();
  });

  test('loses only the password if postgres.json is lost', async () => {
    await rm(path.join(data, 'postgres.json'));
    const embedded = await openEmbedded({ dataDir: data, ...quiet });
    assert.deepEqual(await query(embedded.url, 'SELECT max(n) AS n FROM kept'), [{ n: 4 }]);
    await embedded.stop();
  });

  test('listens on a port of 127.0.0.1 if the path is too long for a socket', async () => {
    const deep = path.join(root, 'long'.repeat(12), 'long'.repeat(12));
    const service = await hold(deep, 'service', leftovers);
    assert.match(service.url, /^postgres:\/\/docket:[^@]+@127\.0\.0\.1:\d+\/docket$/);
    await service.kill();
    const next = await hold(deep, 'service', leftovers);
    assert.deepEqual([next.startedHere, next.url], [false, service.url]);
    assert.deepEqual(await query(next.url, 'SELECT 1 AS one'), [{ one: 1 }]);
    await assert.rejects(query(next.url.replace(/docket:[^@]+@/, 'docket:guess@'), 'SELECT 1'), { code: '28P01' });
    await next.close();
  });

  test('works below a folder of mode 0700, for root too', async () => {
    const hidden = path.join(root, 'hidden');
    await mkdir(hidden, { mode: 0o700 });
    const folder = path.join(hidden, 'data');
    leftovers.folders.add(folder);
    for (const round of [1, 2]) {
      const embedded = await openEmbedded({ dataDir: folder, ...quiet });
      assert.ok(embedded.startedHere, `round ${round}`);
      assert.deepEqual(await query(embedded.url, 'SELECT 1 AS one'), [{ one: 1 }]);
      await embedded.stop();
    }
  });

  test('reports a database of another major version clearly', async () => {
    const other = path.join(root, 'other');
    await mkdir(path.join(other, 'postgres'), { recursive: true, mode: 0o700 });
    await writeFile(path.join(other, 'postgres', 'PG_VERSION'), '15\n');
    await assert.rejects(openEmbedded({ dataDir: other, ...quiet }), (error) => {
      assert.ok(error instanceof EmbeddedError);
      assert.match(error.message, /holds a database of PostgreSQL 15, and this Docket brings 18\.\d+: make a backup/);
      return true;
    });
  });

  test('reports an unusable data folder clearly', async () => {
    await writeFile(path.join(root, 'file'), '');
    await assert.rejects(openEmbedded({ dataDir: path.join(root, 'file'), ...quiet }), {
      name: 'EmbeddedError',
      message: /data folder .*file cannot be .*DOCKET_DATA_DIR/,
    });
  });
});
