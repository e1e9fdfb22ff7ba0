/**
 * `npm run bench -- cost [options]`: the disk space of a record by table and index, and the plans of common statements, at
 * growing numbers of records. Results: docs/how-to/scale.md.
 */
import { readFile, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { docket, freePort, type ServiceOptions, startService, stop } from '../processes.ts';
import { connect, type OpenedEnvironment } from '../environment.ts';
import { INDEXED_FIELDS, OWNER, writeBundle } from './bundle.ts';
import { type Call, loadTickets, multiply, TABLES } from './fill.ts';
import { readTickets } from './tickets.ts';

const INDEX_MS = 120_000;
/** Where less of the disk would be left, it stops. */
const LEAST_FREE = 15e9;
const PASSES = 3;

export const COST_USAGE = `npm run bench -- cost [options]

  --records LIST   numbers of records (default 100000,250000,500000)
  --tickets N      real tickets that records are made of (default 1500)
  --plans FILE     writes the plans of the statements of every day there
  --data DIR       folder of the real tickets (default ../shared/data)
`;

interface Size {
  name: string;
  kind: 'rows' | 'index';
  bytes: number;
}

async function sizesOf(db: pg.Client): Promise<Size[]> {
  const { rows } = await db.query<{ name: string; kind: 'rows' | 'index'; bytes: string }>(
    `SELECT c.relname AS name, 'rows' AS kind, pg_table_size(c.oid) AS bytes FROM pg_class c WHERE c.oid = ANY($1::regclass[])
     UNION ALL
     SELECT i.indexrelid::regclass::text, 'index', pg_relation_size(i.indexrelid) FROM pg_index i
      WHERE i.indrelid = ANY($1::regclass[]) ORDER BY 1`,
    [TABLES],
  );
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }));
}

async function rowsOf(db: pg.Client): Promise<Map<string, number>> {
  const counted = new Map<string, number>();
  for (const table of TABLES) {
    const { rows } = await db.query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`);
    counted.set(table, Number(rows[0]?.n));
  }
  return counted;
}

/** The indexes of filterable fields are built in the background. */
async function awaitIndexes(db: pg.Client): Promise<void> {
  for (const until = performance.now() + INDEX_MS; performance.now() < until; await sleep(200)) {
    const { rows } = await db.query<{ ready: number }>(
      `SELECT count(*)::int AS ready FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
        WHERE c.relname LIKE 'objects\\_field\\_%' AND i.indisvalid`,
    );
    if ((rows[0]?.ready ?? 0) >= INDEXED_FIELDS) return;
  }
  throw new Error('the indexes of filterable fields were not built in time');
}

function callerOf(port: number, key: string): Call {
  return async (method, to, body) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${to}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${to} was answered ${response.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text);
  };
}

/** Bytes of the log that one call writes; without those of full pages, as long after a checkpoint. */
async function logOf(db: pg.Client, times: number, call: () => Promise<unknown>): Promise<number> {
  const place = async (): Promise<string> =>
    (await db.query('SELECT pg_current_wal_insert_lsn()::text AS at')).rows[0].at;
  await call();
  const before = await place();
  for (let i = 0; i < times; i++) await call();
  const { rows } = await db.query('SELECT pg_wal_lsn_diff($1, $2) AS bytes', [await place(), before]);
  return Number(rows[0].bytes) / times;
}

interface EveryDay {
  name: string;
  call: () => Promise<unknown>;
}

async function everyDay(call: Call, db: pg.Client, count: number): Promise<EveryDay[]> {
  const middle = Math.floor(count / 2);
  const number = `TCK${String(10_000_000 + middle).padStart(8, '0')}`;
  const { rows } = await db.query<{ id: string; revision: number }>(
    'SELECT id, revision FROM objects WHERE number = $1',
    [number],
  );
  const [found] = rows;
  if (found === undefined) throw new Error(`${number} is not there`);
  let { revision } = found;
  const get = (to: string) => (): Promise<unknown> => call('GET', to, undefined);
  const filter = encodeURIComponent(JSON.stringify({ field: 'priority', operator: 'equals', value: 'p1' }));
  return [
    { name: 'read a record', call: get(`/objects/${found.id}`) },
    { name: 'its history', call: get(`/objects/${found.id}/history`) },
    { name: 'its comments', call: get(`/objects/${found.id}/comments`) },
    { name: 'list, first page', call: get('/objects?typeId=ticket&pageSize=25') },
    { name: 'search, a rare word', call: get(`/search?q=q${middle}x&kinds=object`) },
    { name: 'search, a common word', call: get('/search?q=jquery') },
    { name: 'search by a field', call: get(`/search?filter=${filter}`) },
    {
      name: 'create',
      call: () =>
        call('POST', '/objects', {
          typeDefinitionId: 'ticket',
          values: { title: 'The printer is on fire', description: 'Again. '.repeat(60), area: 'north' },
        }),
    },
    {
      name: 'update',
      call: async () => {
        const changes = { note: `seen at revision ${revision}` };
        const answer = await call('PATCH', `/objects/${found.id}`, { expectedRevision: revision, changes });
        revision = answer.data.revision;
      },
    },
  ];
}

/** Everything that the database did for each, with its plan, as it writes it to its log. */
async function plansOf(logFile: string, list: readonly EveryDay[]): Promise<string> {
  const sections: string[] = [];
  for (const { name, call } of list) {
    for (let pass = 1; pass < PASSES; pass++) await call();
    const before = (await readFile(logFile)).length;
    await call();
    await sleep(300);
    const text = (await readFile(logFile)).subarray(before).toString('utf8');
    const plans = text.split(/^(?=\S)/m).filter((entry) => /duration: .* plan:/.test(entry));
    sections.push(`## ${name}\n\n\`\`\`\n${plans.join('\n')}\n\`\`\`\n`);
  }
  return sections.join('\n');
}

async function measureTimes(list: readonly EveryDay[]): Promise<string[]> {
  const lines: string[] = [];
  for (const { name, call } of list) {
    const times: number[] = [];
    for (let i = 0; i < 15; i++) {
      const began = performance.now();
      await call();
      times.push(performance.now() - began);
    }
    lines.push(`${name}: ${(times.sort((a, b) => a - b)[7] ?? 0).toFixed(1)} ms (median of 15, alone)`);
  }
  return lines;
}

function printed(records: number, sizes: readonly Size[], rows: ReadonlyMap<string, number>): string {
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const line = (name: string, bytes: number, count = ''): string =>
    `| ${name} | ${count} | ${(bytes / 1e6).toFixed(0)} | ${(bytes / records).toFixed(0)} |`;
  return [
    `${records.toLocaleString('en')} records:`,
    '',
    '| table or index | rows | MB | bytes a record |',
    '|---|--:|--:|--:|',
    ...sizes.map(({ name, kind, bytes }) =>
      line(kind === 'rows' ? `**${name}**` : name, bytes, rows.get(name)?.toLocaleString('en')),
    ),
    line('all', total),
  ].join('\n');
}

export async function measureCost(
  args: readonly string[],
  folder: string,
  opened: OpenedEnvironment,
  say: (line: string) => void,
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      records: { type: 'string', default: '100000,250000,500000' },
      tickets: { type: 'string', default: '1500' },
      plans: { type: 'string' },
      data: { type: 'string', default: path.resolve(import.meta.dirname, '../../../shared/data') },
    },
  });
  const tickets = await readTickets(values.data, Number(values.tickets));
  const service: ServiceOptions = { folder, port: await freePort() };
  let started = await startService(service);
  opened.add(() => stop(started.child));
  await docket(service, ['apply', await writeBundle(folder)]);
  const { db, url, leave } = await connect(folder);
  opened.add(leave);
  await awaitIndexes(db);
  const asked = ['keys', 'create', '--owner', OWNER, '--name', 'bench', '--scopes', 'all', '--json'];
  const { key } = JSON.parse(await docket(service, asked)) as { key: string };
  await loadTickets(callerOf(service.port, key), tickets);
  const per = (of: (ticket: (typeof tickets)[number]) => number): string =>
    (tickets.reduce((sum, ticket) => sum + of(ticket), 0) / tickets.length).toFixed(1);
  say(
    `${tickets.length} real tickets loaded: ${per((t) => t.comments.length)} comments and ${per((t) => t.changes)} changes each`,
  );
  // Everything is dispatched and sealed. From here on rows are inserted by SQL, and no background work may change them.
  await sleep(3000);
  await stop(started.child);
  for (const records of values.records.split(',').map(Number)) {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < LEAST_FREE) throw new Error('too little of the disk is left');
    const ms = await multiply(db, records, say);
    say(`${records.toLocaleString('en')} records after ${(ms / 1000).toFixed(0)} s`);
    process.stdout.write(`\n${printed(records, await sizesOf(db), await rowsOf(db))}\n`);
  }
  const most = Number(values.records.split(',').at(-1));
  const name = new URL(url).pathname.slice(1);
  // The plans are those of the statements that the service sends.
  for (const [setting, value] of [
    ['session_preload_libraries', "'auto_explain'"],
    ['auto_explain.log_min_duration', '0'],
    ['auto_explain.log_analyze', 'on'],
    ['auto_explain.log_buffers', 'on'],
  ]) {
    await db.query(`ALTER DATABASE "${name}" SET ${setting} = ${value}`);
  }
  started = await startService(service);
  const call = callerOf(service.port, key);
  const list = await everyDay(call, db, most);
  const logFile = path.join(folder, 'data', 'postgres.log');
  if (values.plans !== undefined) await writeFile(values.plans, await plansOf(logFile, list));
  for (const { name: what, call: one } of list.filter((of) => ['create', 'update'].includes(of.name))) {
    process.stdout.write(`\n${what}: ${(await logOf(db, 200, one)).toFixed(0)} bytes of the log`);
  }
  process.stdout.write(`\n${(await measureTimes(list)).join('\n')}\n`);
}
