/**
 * `npm run bench:notifications -- [--minutes N] [--users N] [--rate N] [--seconds N] [--streams N]`: changes at a fixed rate that
 * concern users, watchers and groups, while users have live streams. Rounds with and without the making of notifications
 * alternate: without, a lock holds it, and the backlog is made afterwards. Prints the response times of changes, how old the
 * oldest event without notifications is, and CPU time. It ends after `--minutes` (default 6), the preparation included. The
 * service and an embedded database of its own run on this machine.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { loadDesk } from './desk-records.ts';
import { connect } from './environment.ts';
import { Streams } from './notification-streams.ts';
import {
  docket,
  freePort,
  otherLoad,
  postmasterOf,
  readProcessors,
  type ServiceOptions,
  spentBy,
  type Started,
  startService,
  stop,
  stopAll,
} from './processes.ts';
import { median } from './rounds.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '6' },
    users: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '20' },
    streams: { type: 'string', default: '1000' },
  },
});
const UNTIL = performance.now() + Number(options.minutes) * 60_000;
const USERS = Number(options.users);
const RATE = Number(options.rate);
const SECONDS = Number(options.seconds);
const STREAMS = Number(options.streams);
const RECORDS = 5000;
const MEMBERS = 20;
const WATCHERS = 10;
const SAMPLE_MS = 250;
const LOGINS = Array.from({ length: USERS }, (_, index) => `user${index}`);
const GROUPS = Array.from({ length: Math.ceil(USERS / MEMBERS) }, (_, index) => `team${index}`);

function bundle(): string {
  const groups = GROUPS.map((code, index) => ({
    code,
    name: `Team ${index}`,
    users: LOGINS.slice(index * MEMBERS, (index + 1) * MEMBERS),
  }));
  const records = [{ type: 'incident', actions: ['read', 'history', 'Private Comment'], fields: { read: '*' } }];
  return JSON.stringify({
    users: LOGINS.map((login) => ({ login, displayName: login })),
    groups,
    roles: [{ code: 'bench', name: 'Bench', records, assignedTo: { groups: GROUPS } }],
  });
}

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
}

interface Record {
  id: string;
  revision: number;
}

interface Bench {
  service: ServiceOptions;
  pid: number;
  db: pg.Client;
  /** A second connection, which holds the making of notifications by a lock. */
  holder: pg.Client;
  streams: Streams;
  key: string;
  records: Record[];
  groups: string[];
}

/** Records with an assignee, a requester and watchers. The service must not run. */
async function fill(db: pg.Client): Promise<void> {
  const idsOf = async (table: string, key: string, like: string): Promise<string[]> =>
    (await db.query<{ id: string }>(`SELECT id FROM ${table} WHERE ${key} LIKE $1 ORDER BY ${key}`, [like])).rows.map(
      ({ id }) => id,
    );
  const users = await idsOf('users', 'login', 'user%');
  const groups = await idsOf('groups', 'code', 'team%');
  await loadDesk(db, RECORDS, { agents: users, groups }, () => {});
  await db.query(
    `INSERT INTO notification_watchers SELECT o.id, u.id, now() FROM objects o
      CROSS JOIN LATERAL (SELECT (('x' || substr(md5(o.id::text), 1, 7))::bit(28)::int + n * 7919) % cardinality($1::uuid[]) AS at
        FROM generate_series(1, ${WATCHERS}) AS n) w JOIN unnest($1::uuid[]) WITH ORDINALITY AS u (id, n) ON u.n = w.at + 1
      ON CONFLICT DO NOTHING`,
    [users],
  );
  await db.query('VACUUM ANALYZE');
}

/** The change with this number: a comment, a new priority, or another group without an assignee. */
function changeOf(
  { records, groups }: Bench,
  index: number,
): { record: Record; method: string; path: string; body: object } {
  const record = records[index % records.length] as Record;
  const at = `/objects/${record.id}`;
  if (index % 10 < 5) return { record, method: 'POST', path: `${at}/comments`, body: { body: `Comment ${index}` } };
  const group = groups[(index * 31) % groups.length];
  const changes =
    index % 10 < 8 ? { urgency: ['high', 'medium', 'low'][index % 3] } : { assignmentGroup: group, assignee: null };
  return { record, method: 'PATCH', path: at, body: { expectedRevision: record.revision, changes } };
}

/** Sends changes at the rate, whether or not earlier ones are answered. @returns milliseconds from the planned time to the answer */
async function change(bench: Bench, from: number): Promise<{ ms: number[]; failed: number }> {
  const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
  const began = performance.now();
  const ms: number[] = [];
  let failed = 0;
  const send = async (index: number): Promise<void> => {
    const due = began + (index * 1000) / RATE;
    await sleep(Math.max(0, due - performance.now()));
    const { record, method, path: where, body } = changeOf(bench, from + index);
    const url = `http://127.0.0.1:${bench.service.port}/api/v1${where}`;
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const { data } = (await response.json()) as { data?: { revision?: number } };
    ms.push(performance.now() - due);
    if (!response.ok) failed++;
    else if (method === 'PATCH') record.revision = data?.revision ?? record.revision;
  };
  await Promise.all(Array.from({ length: RATE * SECONDS }, (_, index) => send(index)));
  return { ms: ms.sort((one, other) => one - other), failed };
}

async function pendingOf(db: pg.Client): Promise<{ pending: number; lag: number }> {
  const { rows } = await db.query<{ pending: number; lag: number }>(
    `SELECT (coalesce((SELECT max(place) FROM journal_places), 0) - m.place)::int AS pending,
      coalesce(extract(epoch FROM now() - (SELECT j.at FROM journal_places p JOIN journal j ON j.seq = p.seq
        WHERE p.place > m.place ORDER BY p.place LIMIT 1)), 0)::float8 AS lag
     FROM journal_consumers m WHERE m.name = 'notifications'`,
  );
  return rows[0] ?? { pending: 0, lag: 0 };
}

async function countMade(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ made: number }>('SELECT count(*)::int AS made FROM notifications');
  return rows[0]?.made ?? 0;
}

/** Samples the lag until stopped. @returns the samples in seconds, sorted */
function sampleLag(db: pg.Client): () => Promise<number[]> {
  const samples: number[] = [];
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      samples.push((await pendingOf(db)).lag);
      await sleep(SAMPLE_MS);
    }
  })();
  return async () => {
    isOver = true;
    await sampling;
    return samples.sort((one, other) => one - other);
  };
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}

/** Figures of one phase: milliseconds, seconds of lag, and processors kept busy. */
interface Phase {
  failed: number;
  p50: number;
  p95: number;
  p99: number;
  /** Notifications, and events of streams, in a second. */
  made: number;
  live: number;
  lag: number;
  lagMost: number;
  service: number;
  database: number;
  others: number;
}

/** The number of changes sent so far. */
let sent = 0;

async function measure(bench: Bench): Promise<Phase> {
  const { db, pid, streams } = bench;
  const postmaster = postmasterOf(bench.service.folder);
  const roots = [pid, process.pid, ...(postmaster === null ? [] : [postmaster])];
  const madeBefore = await countMade(db);
  const receivedBefore = streams.received;
  const stopLag = sampleLag(db);
  const [spentBefore, machineBefore, began] = [spentBy(pid, postmaster), readProcessors(roots), performance.now()];
  const { ms, failed } = await change(bench, sent);
  const [spent, machine, seconds] = [
    spentBy(pid, postmaster),
    readProcessors(roots),
    (performance.now() - began) / 1000,
  ];
  sent += ms.length;
  const lags = await stopLag();
  return {
    failed,
    p50: at(ms, 0.5),
    p95: at(ms, 0.95),
    p99: at(ms, 0.99),
    made: ((await countMade(db)) - madeBefore) / seconds,
    live: (streams.received - receivedBefore) / seconds,
    lag: at(lags, 0.5),
    lagMost: at(lags, 1),
    service: (spent.server - spentBefore.server) / seconds,
    database: (spent.database - spentBefore.database) / seconds,
    others: otherLoad(machineBefore, machine),
  };
}

/** Waits until there is no backlog. */
async function catchUp({ db }: Bench): Promise<void> {
  const { pending } = await pendingOf(db);
  const [before, began] = [await countMade(db), performance.now()];
  while ((await pendingOf(db)).pending > 0) await sleep(50);
  const seconds = (performance.now() - began) / 1000;
  const made = (await countMade(db)) - before;
  say(
    `backlog of ${pending} events made in ${seconds.toFixed(1)} s: ${Math.round(pending / seconds)} events/s, ` +
      `${Math.round(made / seconds)} notifications/s`,
  );
}

/** One phase while a lock holds the making of notifications. */
async function measureHeld(bench: Bench): Promise<Phase> {
  await bench.holder.query('BEGIN');
  try {
    await bench.holder.query("SELECT FROM journal_consumers WHERE name = 'notifications' FOR UPDATE");
    return await measure(bench);
  } finally {
    await bench.holder.query('COMMIT');
  }
}

const HEAD = [
  'round',
  'notifications',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'failed',
  'made/s',
  'live events/s',
  'lag p50 s',
  'lag most s',
].concat('service CPUs', 'database CPUs', 'other CPUs');

function row(round: number | string, kind: string, phase: Phase, isMade: boolean): string {
  const lag = isMade ? [phase.lag.toFixed(2), phase.lagMost.toFixed(2)] : ['', ''];
  const times = [phase.p50, phase.p95, phase.p99].map((ms) => ms.toFixed(1));
  const made = [phase.made, phase.live].map((rate) => String(Math.round(rate)));
  const cpu = [phase.service, phase.database, phase.others].map((processors) => processors.toFixed(2));
  return `| ${[round, kind, ...times, phase.failed, ...made, ...lag, ...cpu].join(' | ')} |\n`;
}

function medians(phases: readonly Phase[]): Phase {
  const of = (key: keyof Phase): number => median(phases.map((phase) => phase[key]));
  const keys = Object.keys(phases[0] ?? {}) as (keyof Phase)[];
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as unknown as Phase;
}

/** Rounds until the time is over. Each of the two is first in every other round. */
async function rounds(bench: Bench): Promise<void> {
  const print = (line: string): boolean => process.stdout.write(line);
  print(`| ${HEAD.join(' | ')} |\n|${'---|'.repeat(HEAD.length)}\n`);
  const all: { held: Phase[]; made: Phase[] } = { held: [], made: [] };
  let longest = 0;
  for (let round = 1; round === 1 || performance.now() + longest < UNTIL; round++) {
    const began = performance.now();
    for (const kind of round % 2 === 0 ? (['made', 'held'] as const) : (['held', 'made'] as const)) {
      const phase = kind === 'held' ? await measureHeld(bench) : await measure(bench);
      all[kind].push(phase);
      print(row(round, kind, phase, kind === 'made'));
      await catchUp(bench);
    }
    longest = Math.max(longest, performance.now() - began);
  }
  const [held, made] = [medians(all.held), medians(all.made)];
  print(row('median', 'held', held, false) + row('median', 'made', made, true));
  const ratios = (['p50', 'p95', 'p99'] as const).map((key) => `${key} ${(made[key] / held[key]).toFixed(2)}`);
  print(`\nResponse times with notifications, divided by those without: ${ratios.join(', ')}\n`);
}

async function prepare(service: ServiceOptions, { child }: Started): Promise<Bench> {
  const { folder, port } = service;
  const { db } = await connect(folder);
  const args = ['keys', 'create', '--owner', 'admin', '--name', 'bench', '--scopes', 'all', '--json'];
  const { key } = JSON.parse(await docket(service, args)) as { key: string };
  const { rows } = await db.query<Record>(`SELECT id, revision FROM objects ORDER BY md5(id::text)`);
  const groups = await db.query<{ id: string }>(`SELECT id FROM groups WHERE code LIKE 'team%' ORDER BY code`);
  const streams = new Streams();
  await streams.open(db, port, STREAMS);
  return {
    service,
    pid: child.pid ?? 0,
    db,
    holder: (await connect(folder)).db,
    streams,
    key,
    records: rows.map(({ id, revision }) => ({ id, revision: Number(revision) })),
    groups: groups.rows.map(({ id }) => id),
  };
}

async function main(folder: string): Promise<void> {
  // The embedded database may run as another user.
  await chmod(folder, 0o711);
  const service: ServiceOptions = { folder, port: await freePort(), env: { DOCKET_STARTER: 'itsm' } };
  const first = await startService(service);
  const files = path.join(folder, 'bundle');
  await mkdir(files);
  await writeFile(path.join(files, 'bench.yaml'), bundle());
  await docket(service, ['apply', files]);
  await stop(first.child);
  const filling = await connect(folder);
  await fill(filling.db);
  await filling.leave();
  say(`${USERS} users, ${GROUPS.length} groups, ${RECORDS} records with ${WATCHERS} watchers each`);
  const bench = await prepare(service, await startService(service));
  say(`${STREAMS} streams are open; warm-up`);
  await measure(bench);
  await catchUp(bench);
  await rounds(bench);
  bench.streams.close();
}

const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-'));
try {
  await main(folder);
} finally {
  await stopAll();
  await rm(folder, { recursive: true, force: true });
}
process.exit();
