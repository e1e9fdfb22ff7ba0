/**
 * `node bench/deliveries.ts [--events N] [--subscriptions N]`: how fast one worker process delivers to a local receiver, and
 * the time from the commit of an event to the first byte at the receiver. On an embedded database with durable commits.
 */
import { mkdtemp, rm, chmod, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openEmbedded } from '../src/platform/database/embedded.ts';
import { docket, type Environment, freePort, type Service, startService } from '../test/proofs/fault-service.ts';
import { WEBHOOK_CONFIGURATION } from '../test/support/webhook-fixture.ts';
import { type Receiver, startReceiver } from '../test/support/receiver.ts';

const CONNECTIONS = 16;
const PACED = 200;
const PACE_MS = 25;

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Creates a record. @returns its id, and when the answer was there: the commit lies before */
async function create(url: string, key: string): Promise<{ id: string; answeredAt: number }> {
  const response = await fetch(`${url}/api/v1/objects`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ typeDefinitionId: 'thing', values: { title: 'A thing', kind: 'a', amount: '12.5' } }),
  });
  const answeredAt = performance.now();
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return { id: ((await response.json()) as { data: { id: string } }).data.id, answeredAt };
}

async function subscribe(url: string, key: string, receiver: Receiver, count: number, userId: string): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    const response = await fetch(`${url}/api/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        code: `hook-${turn}`,
        endpoint: receiver.url,
        secretRef: 'main',
        executionPrincipalId: userId,
        eventTypes: ['ObjectCreated'],
      }),
    });
    if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  }
}

async function until(done: () => boolean, limitMs: number, what: string): Promise<void> {
  const end = performance.now() + limitMs;
  while (!done()) {
    if (performance.now() > end) throw new Error(`${what}: not within ${limitMs} ms`);
    await sleep(5);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { events: { type: 'string', default: '5000' }, subscriptions: { type: 'string', default: '1' } },
  });
  const events = Number(values.events);
  const subscriptions = Number(values.subscriptions);
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-'));
  await chmod(folder, 0o711);
  const receiver = await startReceiver({ keep: false });
  /** Record → when its first delivery arrived. */
  const arrived = new Map<string, number>();
  let count = 0;
  receiver.answer = ({ body }) => {
    count++;
    if (!arrived.has(body.data.objectId)) arrived.set(body.data.objectId, performance.now());
    return { status: 204 };
  };
  const ca = path.join(folder, 'ca.pem');
  await writeFile(ca, receiver.ca);
  const env: Environment = {
    DOCKET_DATA_DIR: path.join(folder, 'data'),
    DOCKET_PORT: String(await freePort()),
    DOCKET_STARTER: 'none',
    DOCKET_RATE_LIMIT: 'off',
    DOCKET_WEBHOOK_ALLOW_PRIVATE: 'true',
    NODE_EXTRA_CA_CERTS: ca,
  };
  const services: Service[] = [];
  try {
    const api = await startService(env, ['--role', 'api']);
    services.push(api);
    const bundle = path.join(folder, 'bundle');
    await mkdir(bundle);
    await writeFile(path.join(bundle, 'world.yaml'), WEBHOOK_CONFIGURATION);
    const run = async (...args: string[]): Promise<any> => {
      const ended = await docket([...args, '--json'], env);
      if (ended.code !== 0) throw new Error(ended.stderr);
      return JSON.parse(ended.stdout);
    };
    const applied = (await run('apply', bundle)) as { section: string; code: string; id: string }[];
    const userId = applied.find(({ section, code }) => section === 'users' && code === 'boss')?.id ?? '';
    const { key } = await run('keys', 'create', '--owner', 'boss', '--name', 'bench', '--scopes', 'all');
    await run('secrets', 'create', 'main');
    await sleep(1500);
    await subscribe(api.url, key, receiver, subscriptions, userId);
    const began = performance.now();
    let made = 0;
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (made++ < events) await create(api.url, key);
      }),
    );
    say(`${events} records created in ${Math.round(performance.now() - began)} ms, nothing delivered yet: ${count}`);
    // A data folder serves one service, so the worker uses the URL of the database and the master key of the folder.
    const { url: databaseUrl } = await openEmbedded({
      dataDir: env['DOCKET_DATA_DIR'] ?? '',
      log: () => {},
      use: 'tool',
    });
    services.push(await startService({ ...env, DATABASE_URL: databaseUrl }, ['--role', 'worker']));
    await until(() => count > 0, 30_000, 'the first delivery');
    const first = performance.now();
    const before = count;
    await until(() => count >= events * subscriptions, 300_000, 'all deliveries');
    const seconds = (performance.now() - first) / 1000;
    const perSecond = Math.round((count - before) / seconds);
    say(`${count - before} deliveries in ${seconds.toFixed(2)} s: ${perSecond} a second`);
    arrived.clear();
    const delays: number[] = [];
    for (let turn = 0; turn < PACED; turn++) {
      const { id, answeredAt } = await create(api.url, key);
      await until(() => arrived.has(id), 5000, 'a paced delivery');
      delays.push(Math.max(0, (arrived.get(id) ?? 0) - answeredAt));
      await sleep(PACE_MS);
    }
    delays.sort((a, b) => a - b);
    const [p50, p99] = [quantile(delays, 0.5), quantile(delays, 0.99)];
    say(
      `from the answer to a create to its delivery, two processes: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    );
    process.stdout.write(`${JSON.stringify({ events, subscriptions, perSecond, p50, p99 })}\n`);
  } finally {
    for (const service of services.toReversed()) await service.kill();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
process.exit();
