/**
 * Restarts two services behind nginx one after the other while clients read and write (`npm run test:nginx`), with the
 * configuration of `docs/how-to/scale.md`. Creates have an `Idempotency-Key`. Fails without nginx, on any error response, and
 * on a duplicate.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { Database } from '../../src/platform/database/pool.ts';
import { docket, type Environment, freePort, type Service, startService } from '../harness/fault-service.ts';
import { startTestCluster } from '../harness/cluster.ts';

const RESTARTS = Number(process.argv[2] ?? 10);
const PAUSE_MS = 2000;
const READERS = 4;
const WRITERS = 2;
const CONFIGURATION = path.resolve(import.meta.dirname, '../../deploy/nginx/docket.conf');

if (spawnSync('nginx', ['-v']).error !== undefined) {
  process.stderr.write('nginx is not installed: apt-get install nginx\n');
  process.exit(1);
}

const cluster = await startTestCluster();
const folder = await mkdtemp(path.join(tmpdir(), 'docket-nginx-'));
const [front, ...ports] = [await freePort(), await freePort(), await freePort()];
const envOf = (at: number): Environment => ({
  DOCKET_DATA_DIR: path.join(folder, 'data'),
  DATABASE_URL: cluster.url,
  DOCKET_SECRET_KEY: 'k'.repeat(32),
  DOCKET_TRUSTED_PROXIES: '127.0.0.1',
  DOCKET_PORT: String(ports[at]),
});
const services: Service[] = [];
for (const at of [0, 1]) services.push(await startService(envOf(at)));
const made = await docket(['keys', 'create', '--owner', 'admin', '--name', 'k', '--scopes', 'all', '--json'], envOf(0));
const { key } = JSON.parse(made.stdout) as { key: string };

const site = (await readFile(CONFIGURATION, 'utf8'))
  .replace('listen 8080', `listen 127.0.0.1:${front}`)
  .replace(':8081', `:${ports[0]}`)
  .replace(':8082', `:${ports[1]}`);
const whole = path.join(folder, 'nginx.conf');
await writeFile(
  whole,
  `pid ${folder}/nginx.pid;\nerror_log ${folder}/error.log;\nevents {}\nhttp {\naccess_log off;\n${site}\n}\n`,
);
const nginx = spawn('nginx', ['-c', whole, '-p', folder, '-g', 'daemon off;'], { stdio: 'inherit' });
await sleep(500);

const statuses = new Map<string, number>();
const times: number[] = [];
let over = false;

/** Sends one request after the other and counts the responses. */
async function client(method: 'GET' | 'POST'): Promise<void> {
  const body = JSON.stringify({ typeDefinitionId: 'incident', values: { title: 'restart', priority: 'p3' } });
  while (!over) {
    const began = performance.now();
    const outcome = await fetch(`http://127.0.0.1:${front}/api/v1/objects`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
      },
      ...(method === 'POST' ? { body } : {}),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return String(response.status);
      },
      (error: Error) => error.message,
    );
    times.push(performance.now() - began);
    const name = `${method} ${outcome}`;
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
    await sleep(5);
  }
}

const clients = [
  ...Array.from({ length: READERS }, () => client('GET')),
  ...Array.from({ length: WRITERS }, () => client('POST')),
];
const away: number[] = [];
try {
  for (let turn = 0; turn < RESTARTS; turn++) {
    await sleep(PAUSE_MS);
    const at = turn % 2;
    const began = performance.now();
    await services[at]?.stop();
    services[at] = await startService(envOf(at));
    away.push(performance.now() - began);
  }
  await sleep(PAUSE_MS);
} finally {
  over = true;
  await Promise.all(clients);
  nginx.kill('SIGTERM');
  for (const service of services) await service.stop();
}
const db = new Database({ url: cluster.url, max: 1 });
const [stored] = await db.query<{ count: number }>(
  sql`SELECT count(*)::int AS count FROM objects WHERE title = 'restart'`,
);
await db.close();
await cluster.stop();
times.sort((a, b) => a - b);
const at = (share: number): string => `${Math.round(times[Math.floor((times.length - 1) * share)] ?? 0)} ms`;
const created = statuses.get('POST 201') ?? 0;
const failed = [...statuses].filter(([name]) => !/ 20[01]$/.test(name));
process.stdout.write(
  `${RESTARTS} restarts ${PAUSE_MS / 1000} s apart, each ${Math.round(Math.min(...away))} to ${Math.round(Math.max(...away))} ms: ` +
    `${times.length} requests, ${[...statuses].map(([name, count]) => `${name}: ${count}`).join(', ')}; ` +
    `median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}; ${stored?.count} records stored for ${created} creates answered\n`,
);
if (failed.length > 0) process.stdout.write((await readFile(`${folder}/error.log`, 'utf8')).slice(-3000));
await rm(folder, { recursive: true, force: true });
process.exitCode = failed.length === 0 && stored?.count === created ? 0 : 1;
