/**
 * `npm run test:alerts [-- --outage 70 --watch 360]`: a service loses its database for 70 seconds under requests. A real
 * Prometheus with the shipped rules and intervals and a real Alertmanager with the shipped configuration must send one page, and
 * the service must write few lines. Needs the Debian packages prometheus and prometheus-alertmanager.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { startTestCluster } from '../support/cluster.ts';
import { FaultProxy } from './fault-proxy.ts';
import { freePort, startService } from './fault-service.ts';
import { longRun } from './long-run.ts';

const PROGRAMS = ['prometheus', 'prometheus-alertmanager'];
/** Lines of the service besides those of requests: begin and end of the outage, and room for single tasks. */
const MAX_LINES = 6;

interface Page {
  status: string;
  alerts: { labels: { alertname: string; severity: string } }[];
}

const missing = PROGRAMS.filter((name) => spawnSync(name, ['--version']).error !== undefined);
if (missing.length > 0) throw new Error(`Install the programs: apt-get install ${missing.join(' ')}`);

const run = longRun({ outage: 70, watch: 360 });
const deploy = path.resolve(import.meta.dirname, '../../deploy');
const folder = await mkdtemp(path.join(tmpdir(), 'docket-alerts-'));
const children: ChildProcess[] = [];
const start = (program: string, args: readonly string[]): void => {
  children.push(spawn(program, args, { cwd: folder, stdio: 'ignore' }));
};

const pages: Page[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (part: string) => {
    body += part;
  });
  request.on('end', () => {
    const page = JSON.parse(body) as Page;
    pages.push(page);
    run.say(`page: ${page.alerts.map(({ labels }) => `${labels.alertname} (${labels.severity})`).join(', ')}`);
    response.end();
  });
});
await new Promise<void>((resolve) => {
  receiver.listen(0, '127.0.0.1', resolve);
});

const cluster = await startTestCluster();
const target = new URL(cluster.url);
const host = target.searchParams.get('host') ?? target.hostname;
const proxy = await FaultProxy.start({ host, port: Number(target.port) });
const service = await startService({
  DATABASE_URL: `postgres://${target.username}:${target.password}@127.0.0.1:${proxy.port}${target.pathname}`,
  DOCKET_DATA_DIR: path.join(folder, 'data'),
  DOCKET_PORT: '0',
});
const problems: string[] = [];
let asking = true;
try {
  const [prometheusPort, alertmanagerPort] = [await freePort(), await freePort()];
  const alertmanager = parse(await readFile(path.join(deploy, 'alertmanager/alertmanager.yml'), 'utf8'));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/page`;
  alertmanager.receivers[0].webhook_configs = [{ url, send_resolved: false }];
  await writeFile(path.join(folder, 'alertmanager.yml'), stringify(alertmanager));
  const prometheus = parse(await readFile(path.join(deploy, 'prometheus/prometheus.yml'), 'utf8'));
  prometheus.scrape_configs[0].static_configs[0].targets = [new URL(service.url).host];
  prometheus.alerting = { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanagerPort}`] }] }] };
  await writeFile(path.join(folder, 'prometheus.yml'), stringify(prometheus));
  await copyFile(path.join(deploy, 'prometheus/alerts.yml'), path.join(folder, 'alerts.yml'));
  start('prometheus-alertmanager', [
    '--config.file=alertmanager.yml',
    '--storage.path=alertmanager',
    `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
    '--cluster.listen-address=',
  ]);
  start('prometheus', [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=prometheus',
    `--web.listen-address=127.0.0.1:${prometheusPort}`,
  ]);
  // Callers go on during the outage and are refused.
  const caller = (async () => {
    for (; asking; await sleep(500)) await fetch(`${service.url}/readyz`).catch(() => undefined);
  })();
  await sleep(40_000);
  const before = service.output().length;
  run.say('the database does not respond');
  proxy.weather = 'closed';
  proxy.reset();
  await sleep(run.number('outage') * 1000);
  proxy.weather = 'fair';
  run.say('the database responds again');
  await sleep(run.number('watch') * 1000);
  asking = false;
  await caller;
  const names = pages.flatMap(({ alerts }) => alerts.map(({ labels }) => labels.alertname));
  if (names.join() !== 'DocketDatabaseUnavailable') problems.push(`pages: ${names.join(', ') || 'none'}`);
  const lines = service
    .output()
    .slice(before)
    .split('\n')
    .filter((line) => line !== '' && !line.includes('"operation":'));
  for (const line of lines) run.say(`log: ${line.slice(0, 200)}`);
  if (lines.length > MAX_LINES) problems.push(`${lines.length} lines of log`);
  if (!lines.some((line) => line.includes('database available again'))) problems.push('the end is not in the log');
} finally {
  asking = false;
  for (const child of children) child.kill();
  await service.kill();
  await proxy.close();
  await cluster.stop();
  receiver.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
}
run.end(problems);
