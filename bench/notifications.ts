/**
 * `npm run bench:notifications -- [--users N] [--rate N] [--seconds N]`: changes at a fixed rate that concern users, watchers and
 * groups. First the making of notifications is held by a lock, then the backlog is made, then both run together: whether changes
 * become slower, how old the oldest event without notifications gets, and how many notifications are made in a second. The
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
} from './processes.ts';

const { values: options } = parseArgs({
  options: {
    users: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '60' },
  },
});
const USERS = Number(options.users);
const RATE = Number(options.rate);
const SECONDS = Number(options.seconds);
const RECORDS = 5000;
const MEMBERS = 20;
const WATCHERS = 10;
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

function print(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(36)}${text}\n`);
}

interface Record {
  id: string;
  revision: number;
}

interface Bench {
  service: ServiceOptions;
  pid: number;
  db: pg.Client;
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

interface State {
  pending: number;
  lag: number;
  made: number;
}

async function stateOf(db: pg.Client): Promise<State> {
  const { rows } = await db.query<State>(
    `SELECT (coalesce((SELECT max(place) FROM journal_places), 0) - m.place)::int AS pending,
      coalesce(extract(epoch FROM now() - (SELECT j.at FROM journal_places p JOIN journal j ON j.seq = p.seq
        WHERE p.place > m.place ORDER BY p.place LIMIT 1)), 0)::float8 AS lag,
      (SELECT count(*)::int FROM notifications) AS made FROM notification_making m`,
  );
  return rows[0] as State;
}

/** Samples the lag each second until stopped. */
function watchLag(db: pg.Client): () => Promise<number> {
  let most = 0;
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      most = Math.max(most, (await stateOf(db)).lag);
      await sleep(1000);
    }
  })();
  return async () => {
    isOver = true;
    await sampling;
    return most;
  };
}

async function phase(bench: Bench, name: string, from: number): Promise<void> {
  const postmaster = postmasterOf(bench.service.folder);
  const [spent, machine, before] = [
    spentBy(bench.pid, postmaster),
    readProcessors([bench.pid]),
    await stateOf(bench.db),
  ];
  const stopLag = watchLag(bench.db);
  const { ms, failed } = await change(bench, from);
  const lag = await stopLag();
  const [now, after] = [spentBy(bench.pid, postmaster), await stateOf(bench.db)];
  const at = (share: number): string => `${Math.round(ms[Math.floor((ms.length - 1) * share)] ?? 0)} ms`;
  const cpu = (part: 'server' | 'database'): string => ((now[part] - spent[part]) / SECONDS).toFixed(2);
  print(
    name,
    `change p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} of ${ms.length}, ${failed} failed; ${after.made - before.made} notifications, ` +
      `lag at most ${lag.toFixed(1)} s; CPUs: service ${cpu('server')}, database ${cpu('database')}; ` +
      `others keep ${otherLoad(machine, readProcessors([bench.pid])).toFixed(1)} busy`,
  );
}

/** Waits until the backlog is made. */
async function catchUp({ db }: Bench): Promise<void> {
  const [before, began] = [await stateOf(db), performance.now()];
  let now = before;
  while (now.pending > 0) {
    await sleep(100);
    now = await stateOf(db);
  }
  const seconds = (performance.now() - began) / 1000;
  print(
    'backlog',
    `${before.pending} events in ${seconds.toFixed(1)} s: ${Math.round(before.pending / seconds)} events/s, ` +
      `${Math.round((now.made - before.made) / seconds)} notifications/s`,
  );
}

async function prepare(service: ServiceOptions, child: Started): Promise<Bench> {
  const { folder } = service;
  const { db } = await connect(folder);
  const made = await docket(service, [
    'keys',
    'create',
    '--owner',
    'admin',
    '--name',
    'bench',
    '--scopes',
    'all',
    '--json',
  ]);
  const { rows } = await db.query<Record>(`SELECT id, revision FROM objects ORDER BY md5(id::text)`);
  const groups = await db.query<{ id: string }>(`SELECT id FROM groups WHERE code LIKE 'team%' ORDER BY code`);
  return {
    service,
    pid: child.child.pid ?? 0,
    db,
    key: (JSON.parse(made) as { key: string }).key,
    records: rows.map(({ id, revision }) => ({ id, revision: Number(revision) })),
    groups: groups.rows.map(({ id }) => id),
  };
}

async function main(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'docket-bench-'));
  await chmod(folder, 0o711);
  const service: ServiceOptions = { folder, port: await freePort(), env: { DOCKET_STARTER: 'itsm' } };
  let child: Started | undefined;
  try {
    child = await startService(service);
    const place = path.join(folder, 'bundle');
    await mkdir(place);
    await writeFile(path.join(place, 'bench.yaml'), bundle());
    await docket(service, ['apply', place]);
    await stop(child.child);
    const filling = await connect(folder);
    await fill(filling.db);
    await filling.leave();
    say(`${USERS} users, ${GROUPS.length} groups, ${RECORDS} records with ${WATCHERS} watchers each`);
    child = await startService(service);
    const bench = await prepare(service, child);
    const holder = await connect(folder);
    await phase(bench, 'warm-up', 0);
    await catchUp(bench);
    await holder.db.query('BEGIN');
    await holder.db.query('SELECT FROM notification_making FOR UPDATE');
    await phase(bench, 'changes alone', RATE * SECONDS);
    await holder.db.query('COMMIT');
    await catchUp(bench);
    await phase(bench, 'changes and notifications', 2 * RATE * SECONDS);
    await catchUp(bench);
    await holder.leave();
  } finally {
    await stop(child?.child);
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
process.exit();
