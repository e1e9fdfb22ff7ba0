/**
 * `npm run test:failover [-- KILLS]`: kills the primary under load, ten times. Every write that was acknowledged must be there
 * afterwards, once; writes must go on within 30 s; no process of the service may end.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Cluster } from './cluster.ts';

const WRITERS = 6;
const LONGEST_MS = 30_000;

interface Load {
  /** Title → id of each acknowledged record. */
  acknowledged: Map<string, string>;
  /** When each acknowledged write was begun and answered. */
  times: { began: number; ended: number }[];
  retries: number;
  stop(): Promise<void>;
}

function startLoad(addresses: readonly string[], key: string): Load {
  const load = { acknowledged: new Map<string, string>(), times: [] as Load['times'], retries: 0 };
  let going = true;
  const writer = async (number: number): Promise<void> => {
    for (let i = 0; going; i++) {
      const title = `kept ${number}-${i}`;
      const idempotency = randomUUID();
      for (let attempt = 0; ; attempt++) {
        const began = performance.now();
        const id = await create(addresses[(number + attempt) % addresses.length] ?? '', key, title, idempotency);
        if (id !== undefined) {
          load.acknowledged.set(title, id);
          load.times.push({ began, ended: performance.now() });
          break;
        }
        load.retries++;
        await sleep(100);
      }
      await sleep(10);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, number) => writer(number));
  return Object.assign(load, {
    stop: async () => {
      going = false;
      await Promise.all(writers);
    },
  });
}

/** Undefined where it was not acknowledged; it may have happened all the same, and is tried again under the same key. */
async function create(address: string, key: string, title: string, idempotency: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${address}/api/v1/objects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': idempotency },
      body: JSON.stringify({ typeDefinitionId: 'incident', values: { title, priority: 'p3' } }),
      signal: AbortSignal.timeout(35_000),
    });
    const body = (await response.json()) as { data?: { id: string } };
    if (response.status >= 400 && response.status < 500 && response.status !== 409) {
      throw new TypeError(`refused: ${JSON.stringify(body)}`);
    }
    return response.status === 201 ? body.data?.id : undefined;
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('refused')) throw error;
    return undefined;
  }
}

async function attach(address: string, key: string, id: string): Promise<number> {
  const response = await fetch(`${address}/api/v1/objects/${id}/attachments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ filename: 'a.txt', contentBase64: Buffer.from(id).toString('base64') }),
  });
  return response.status;
}

async function problemsOf(cluster: Cluster, load: Load): Promise<string[]> {
  const client = new pg.Client({ connectionString: cluster.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; title: string }>(`SELECT id, title FROM objects`);
    const found = Map.groupBy(rows, ({ title }) => title);
    return [...load.acknowledged].flatMap(([title, id]) => {
      const kept = found.get(title) ?? [];
      if (kept.length === 1 && kept[0]?.id === id) return [];
      return [`${title}: ${kept.length} of it in the database`];
    });
  } finally {
    await client.end();
  }
}

async function main(kills: number): Promise<number> {
  const cluster = await Cluster.up((line) => console.log(line));
  const problems: string[] = [];
  try {
    const made = cluster.docket(['keys', 'create', '--owner', 'admin', '--name', 'load', '--scopes', 'all', '--json']);
    const { key } = JSON.parse(made) as { key: string };
    const load = startLoad(cluster.addresses, key);
    await sleep(3000);
    const gaps: number[] = [];
    for (let round = 1; round <= kills; round++) {
      const primary = await cluster.whole();
      const before = load.acknowledged.size;
      cluster.killNode(primary);
      const killed = performance.now();
      let first = load.times.find(({ began }) => began > killed);
      while (first === undefined && performance.now() - killed < 120_000) {
        await sleep(50);
        first = load.times.findLast(({ began }) => began > killed);
      }
      const resumed = load.times.filter(({ began }) => began > killed).sort((a, b) => a.ended - b.ended)[0];
      const gap = resumed === undefined ? Number.POSITIVE_INFINITY : resumed.ended - killed;
      gaps.push(gap);
      if (gap > LONGEST_MS) problems.push(`round ${round}: writes went on after ${Math.round(gap / 1000)} s`);
      console.log(
        `${round}: ${primary} killed after ${before} writes; writes go on after ${(gap / 1000).toFixed(1)} s`,
      );
      await sleep(2000);
      cluster.startNode(primary);
    }
    await cluster.whole();
    await load.stop();
    const [someId = ''] = load.acknowledged.values();
    const attached = await attach(cluster.addresses[0] ?? '', key, someId);
    if (attached !== 201) problems.push(`an attachment on the S3 store: ${attached}`);
    problems.push(...(await problemsOf(cluster, load)));
    for (const [index, { exitCode, signalCode }] of cluster.services.entries()) {
      if (exitCode !== null || signalCode !== null) problems.push(`process ${index + 1} of the service ended`);
    }
    const sorted = gaps.toSorted((a, b) => a - b).map((gap) => gap / 1000);
    console.log(
      `${kills} kills: ${load.acknowledged.size} writes acknowledged, ${load.retries} tried again; writes went on after ` +
        `${sorted[0]?.toFixed(1)} to ${sorted.at(-1)?.toFixed(1)} s, median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} s`,
    );
    console.log(problems.length === 0 ? 'Nothing was lost, nothing doubled.' : problems.join('\n'));
  } finally {
    await cluster.down();
  }
  return problems.length === 0 ? 0 : 1;
}

process.exit(await main(Number(process.argv[2] ?? 10)));
