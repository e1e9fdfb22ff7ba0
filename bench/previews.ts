/**
 * `npm run bench:previews -- [--calls N]`: response times of dry runs, records as of a revision and explanations, each beside
 * the write or read that it is about. The calls take turns, so that drift of the machine affects both.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Connection } from './connection.ts';
import { docket, freePort, type ServiceOptions, startService, stop } from './processes.ts';

const { values: options } = parseArgs({ options: { calls: { type: 'string', default: '300' } } });
const CALLS = Number(options.calls);
/** Calls of each kind that are not measured. */
const WARM_UP = 30;
/** Revisions of the record whose past is read. */
const REVISIONS = 50;
const ITEMS = 20;

type Send = (method: string, place: string, body?: unknown) => Promise<{ status: number; data: any; ms: number }>;

function sender(connection: Connection, key: string): Send {
  return async (method, place, body) => {
    const json = body === undefined ? '' : JSON.stringify(body);
    const length = body === undefined ? '' : `Content-Length: ${Buffer.byteLength(json)}\r\n`;
    const head = `${method} ${place} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n`;
    const began = performance.now();
    const answer = await connection.request(`${head}Content-Type: application/json\r\n${length}\r\n${json}`);
    const ms = performance.now() - began;
    const text = answer.body.toString('utf8');
    if (answer.status >= 300) throw new Error(`${method} ${place}: ${answer.status} ${text.slice(0, 500)}`);
    return { status: answer.status, data: JSON.parse(text).data, ms };
  };
}

/** Milliseconds of a call and of the one that it is compared with. */
interface Pair {
  name: string;
  real(): Promise<number>;
  tried(): Promise<number>;
}

async function pairsOf(send: Send): Promise<Pair[]> {
  const values = { title: 'Mail is slow', description: 'Since this morning.', priority: 'p3' };
  const create = (query = '') =>
    send('POST', `/api/admin/v1/objects${query}`, { typeDefinitionId: 'incident', values });
  const record: { id: string; revision: number } = (await create()).data;
  const place = `/api/admin/v1/objects/${record.id}`;
  const change = () => ({
    expectedRevision: record.revision,
    changes: { priority: record.revision % 2 === 0 ? 'p3' : 'p2' },
  });
  const update = async (): Promise<number> => {
    const { ms, data } = await send('PATCH', place, change());
    record.revision = data.revision;
    return ms;
  };
  while (record.revision < REVISIONS) await update();
  const other: { id: string; revision: number } = (await create()).data;
  const bulk = (query = '') => {
    const items = Array.from({ length: ITEMS }, (_, index) => ({
      objectId: other.id,
      expectedRevision: other.revision + index,
      changes: { description: `Changed ${other.revision + index}` },
    }));
    return send('POST', `/api/admin/v1/bulk${query}`, { operation: 'update', items });
  };
  const explain = (method: string, path: string, body?: unknown) =>
    send('POST', '/api/admin/v1/access/explain-request', { user: 'admin', method, path, body });
  const read = async (): Promise<number> => (await send('GET', place)).ms;
  const past = async (query: string): Promise<number> => (await send('GET', `${place}${query}`)).ms;
  return [
    {
      name: 'create: dry run',
      real: async () => (await create()).ms,
      tried: async () => (await create('?dryRun=true')).ms,
    },
    {
      name: 'update: dry run',
      real: update,
      tried: async () => (await send('PATCH', `${place}?dryRun=true`, change())).ms,
    },
    {
      name: `bulk of ${ITEMS} updates: dry run`,
      real: async () => {
        const { ms } = await bulk();
        other.revision += ITEMS;
        return ms;
      },
      tried: async () => (await bulk('?dryRun=true')).ms,
    },
    { name: `read: as of revision 1 of ${REVISIONS} or more`, real: read, tried: () => past('?revision=1') },
    { name: 'read: as of now', real: read, tried: () => past(`?revision=${record.revision}`) },
    { name: 'read: all differences', real: read, tried: () => past(`/diff?from=1&to=${record.revision}`) },
    { name: 'read: explanation', real: read, tried: async () => (await explain('GET', place)).ms },
    { name: 'update: explanation', real: update, tried: async () => (await explain('PATCH', place, change())).ms },
  ];
}

function at(times: readonly number[], share: number): number {
  return times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * share)] ?? 0;
}

async function measure(send: Send): Promise<void> {
  process.stdout.write('| call | ms | p99 | ms of the real call | p99 | ratio |\n|---|---|---|---|---|---|\n');
  for (const { name, real, tried } of await pairsOf(send)) {
    const times: Record<'real' | 'tried', number[]> = { real: [], tried: [] };
    for (let call = -WARM_UP; call < CALLS; call++) {
      const [one, other] = [await real(), await tried()];
      if (call < 0) continue;
      times.real.push(one);
      times.tried.push(other);
    }
    const [own, whole] = [at(times.tried, 0.5), at(times.real, 0.5)];
    const figures = [own, at(times.tried, 0.99), whole, at(times.real, 0.99)].map((ms) => ms.toFixed(1));
    process.stdout.write(`| ${name} | ${figures.join(' | ')} | ${(own / whole).toFixed(2)} |\n`);
  }
}

const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-'));
// The embedded database may run as another user.
await chmod(folder, 0o711);
const service: ServiceOptions = { folder, port: await freePort(), env: { DOCKET_STARTER: 'itsm' } };
try {
  const started = await startService(service);
  try {
    const scopes = 'admin:manage';
    const args = ['keys', 'create', '--owner', 'admin', '--name', 'bench', '--scopes', scopes, '--json'];
    const { key } = JSON.parse(await docket(service, args)) as { key: string };
    const connection = await Connection.open(started.port);
    await measure(sender(connection, key));
    connection.close();
  } finally {
    await stop(started.child);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
