/**
 * Restarts two services behind nginx or HAProxy one after the other while clients read and write (`npm run test:nginx`,
 * `npm run test:haproxy [-- RESTARTS]`), with the configurations of `deploy/`. Creates have an `Idempotency-Key`. Fails without
 * the proxy, on any error response, and on a duplicate.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { Database } from '../../src/platform/database/pool.ts';
import { docket, type Environment, freePort, type Service, startService } from './fault-service.ts';
import { startTestCluster } from '../support/cluster.ts';

const [name = '', restarts = '10'] = process.argv.slice(2);
const RESTARTS = Number(restarts);
const PAUSE_MS = 2000;
/** A loaded machine takes seconds to start the proxy and to let it find the services. */
const START_MS = 60_000;
const READERS = 4;
const WRITERS = 2;

interface Proxy {
  /** Below `deploy/`. */
  configuration: string;
  /** The line that names the address to listen at, and what replaces it. */
  listen: readonly [from: string, to: (port: number) => string];
  /** The whole file to run. */
  wrap(site: string, folder: string): string;
  args(file: string, folder: string): string[];
}

const PROXIES: Readonly<Record<string, Proxy>> = {
  nginx: {
    configuration: 'nginx/docket.conf',
    listen: ['listen 8080', (port) => `listen 127.0.0.1:${port}`],
    wrap: (site, at) =>
      `pid ${at}/nginx.pid;\nerror_log ${at}/error.log;\nevents {}\nhttp {\naccess_log off;\n${site}\n}\n`,
    args: (file, at) => ['-c', file, '-p', at, '-g', 'daemon off;'],
  },
  haproxy: {
    configuration: 'haproxy/docket.cfg',
    listen: ['bind :8080', (port) => `bind 127.0.0.1:${port}`],
    wrap: (site) => site,
    args: (file) => ['-W', '-db', '-f', file],
  },
};

const chosen = PROXIES[name];
if (chosen === undefined) {
  process.stderr.write(`name a proxy: ${Object.keys(PROXIES).join(' or ')}\n`);
  process.exit(2);
}
if (spawnSync(name, ['-v']).error !== undefined) {
  process.stderr.write(`${name} is not installed: apt-get install ${name}\n`);
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

const source = path.resolve(import.meta.dirname, '../../deploy', chosen.configuration);
const [from, to] = chosen.listen;
const site = (await readFile(source, 'utf8'))
  .replace(from, to(front))
  .replace(':8081', `:${ports[0]}`)
  .replace(':8082', `:${ports[1]}`);
const whole = path.join(folder, 'proxy.conf');
await writeFile(whole, chosen.wrap(site, folder));
const proxy = spawn(name, chosen.args(whole, folder), { stdio: 'inherit' });
const startedAt = performance.now();
while ((await fetch(`http://127.0.0.1:${front}/readyz`).catch(() => undefined))?.status !== 200) {
  if (performance.now() - startedAt > START_MS) throw new Error(`${name} does not answer`);
  await sleep(50);
}

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
      ({ message, cause }: Error & { cause?: { code?: string; message?: string } }) =>
        `${message}: ${cause?.code ?? ''} ${cause?.message ?? ''}`,
    );
    times.push(performance.now() - began);
    const kind = `${method} ${outcome}`;
    statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
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
  proxy.kill('SIGTERM');
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
const failed = [...statuses].filter(([kind]) => !/ 20[01]$/.test(kind));
process.stdout.write(
  `${name}: ${RESTARTS} restarts ${PAUSE_MS / 1000} s apart, each ${Math.round(Math.min(...away))} to ${Math.round(Math.max(...away))} ms: ` +
    `${times.length} requests, ${[...statuses].map(([kind, count]) => `${kind}: ${count}`).join(', ')}; ` +
    `median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}; ${stored?.count} records stored for ${created} creates answered\n`,
);
await rm(folder, { recursive: true, force: true });
process.exitCode = failed.length === 0 && stored?.count === created ? 0 : 1;
