/**
 * `npm run bench:feed -- [--events N] [--records N] [--folder DIR]`: one reader of the changes feed at both ends of a large
 * journal, 1,000 idle long polls and 1,000 idle streams, and the time from a commit to its reader. The service and an embedded
 * database of its own run on this machine. `--folder` keeps the data, so that a second run loads nothing.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect as open, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { cursorMaker } from '../src/domain/feed/cursor.ts';
import { loadDesk } from './desk-records.ts';
import { connect } from './environment.ts';
import {
  docket,
  freePort,
  memoryOf,
  otherLoad,
  postmasterOf,
  readProcessors,
  type ServiceOptions,
  spentBy,
  type Started,
  startService,
  stop,
} from './processes.ts';

const BUNDLE = `
users: [{ login: agent1, displayName: Agent 1 }]
groups: [{ code: team1, name: Team 1, users: [agent1] }]
`;
/** Events that are inserted in one statement, and events of one record in a row. */
const BATCH = 250_000;
const RUN = 3;
const READ = 100_000;
const IDLE = 1000;
/** Below the limits of one caller: 64 waiting requests and 8 streams. */
const POLLS_PER_KEY = 63;
const STREAMS_PER_KEY = 8;
const COMMITS = 200;

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '5000000' },
    records: { type: 'string', default: '100000' },
    folder: { type: 'string' },
    profile: { type: 'string' },
  },
});
const EVENTS = Number(options.events);
const RECORDS = Number(options.records);

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);
}

function print(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(44)}${text}\n`);
}

/** Fills the journal with events of the records, and gives them places. The service must not run. */
async function fill(db: pg.Client): Promise<void> {
  const { rows } = await db.query<{ id: string }>(`SELECT id FROM users WHERE login = 'agent1'`);
  const [user] = rows;
  const groups = await db.query<{ id: string }>(`SELECT id FROM groups WHERE code = 'team1'`);
  await loadDesk(db, RECORDS, { agents: [user?.id ?? ''], groups: [groups.rows[0]?.id ?? ''] }, () => {});
  say(`${RECORDS.toLocaleString('en')} records loaded`);
  await db.query(`CREATE TABLE bench_ids AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id FROM objects`);
  await db.query('CREATE UNIQUE INDEX ON bench_ids (n)');
  for (let from = 0; from < EVENTS; from += BATCH) {
    await db.query(
      `INSERT INTO journal (id, at, type, object_id, revision, actor_id, via, changes, hash)
       SELECT gen_random_uuid(), now() - make_interval(secs => $2::int - i), CASE WHEN turn = 0 THEN 'ObjectCreated' ELSE 'ObjectUpdated' END,
         b.id, turn + 1, $4, 'api', jsonb_build_object('title', jsonb_build_array('Printer ' || i, 'Printer on floor ' || i),
           'priority', '["p3", "p2"]'::jsonb, 'impact', '["person", "department"]'::jsonb), sha256(i::text::bytea)
       FROM (SELECT i, i / ($3::int * ${RUN}) * ${RUN} + i % ${RUN} AS turn, i / ${RUN} % $3::int AS n
         FROM generate_series($1::int, least($1::int + ${BATCH}, $2::int) - 1) i) e JOIN bench_ids b USING (n) ORDER BY i`,
      [from, EVENTS, RECORDS, user?.id],
    );
    if ((from / BATCH) % 4 === 3) say(`${(from + BATCH).toLocaleString('en')} events loaded`);
  }
  await db.query(
    'INSERT INTO journal_places SELECT row_number() OVER (ORDER BY j.seq) + p.place, j.seq FROM journal j, journal_placing p WHERE NOT EXISTS (SELECT FROM journal_places q WHERE q.seq = j.seq)',
  );
  await db.query(
    'UPDATE journal_placing SET place = (SELECT max(place) FROM journal_places), done = pg_current_snapshot(), target = NULL',
  );
  await db.query(
    'UPDATE journal_sealing SET (txid, seq) = (SELECT txid, seq FROM journal ORDER BY txid DESC, seq DESC LIMIT 1)',
  );
  await db.query('UPDATE objects SET revision = (SELECT max(revision) FROM journal j WHERE j.object_id = objects.id)');
  await db.query('DROP TABLE bench_ids');
  await db.query('VACUUM ANALYZE journal, journal_places, objects');
}

interface Bench {
  service: ServiceOptions;
  child: Started;
  db: pg.Client;
  key: string;
}

function get(key: string, where: string, headers = ''): string {
  return `GET /api/v1${where} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n${headers}\r\n`;
}

/** One page over a kept connection. Large answers come in chunks. */
async function readPage(
  port: number,
  key: string,
  agent: Agent,
  where: string,
): Promise<{ status: number; text: string }> {
  return await new Promise((resolve, reject) => {
    const asked = request(
      { port, host: '127.0.0.1', path: `/api/v1${where}`, agent, headers: { authorization: `Bearer ${key}` } },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
        );
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

/** Reads events after the cursor, page after page. */
async function read(
  { service, child, key }: Bench,
  name: string,
  cursor: string | undefined,
  more = '',
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const pid = child.child.pid ?? 0;
  const postmaster = postmasterOf(service.folder);
  const [spent, machine, began] = [spentBy(pid, postmaster), readProcessors([pid]), performance.now()];
  let events = 0;
  const pages: number[] = [];
  for (let after = cursor; events < Math.min(READ, EVENTS); ) {
    const asked = performance.now();
    const query = `/changes?limit=1000${more}${after === undefined ? '' : `&after=${after}`}`;
    const { status, text } = await readPage(service.port, key, agent, query);
    if (status !== 200) throw new Error(`status ${status}: ${text}`);
    pages.push(performance.now() - asked);
    const { data } = JSON.parse(text);
    events += data.events.length;
    after = data.next;
    if (data.caughtUp) break;
  }
  agent.destroy();
  const seconds = (performance.now() - began) / 1000;
  const now = spentBy(pid, postmaster);
  const cost = (part: 'server' | 'database'): string => `${Math.round(((now[part] - spent[part]) / events) * 1e6)} µs`;
  pages.sort((one, other) => one - other);
  print(
    name,
    `${Math.round(events / seconds).toLocaleString('en')} events/s; CPU per event: service ${cost('server')}, database ${cost('database')}; ` +
      `page p50 ${Math.round(pages[Math.floor(pages.length / 2)] ?? 0)} ms; others keep ${otherLoad(machine, readProcessors([pid])).toFixed(1)} CPUs busy`,
  );
}

async function makeKey(service: ServiceOptions, scopes: string): Promise<string> {
  const name = `bench ${Date.now()}`;
  const made = await docket(service, [
    'keys',
    'create',
    '--owner',
    'admin',
    '--name',
    name,
    '--scopes',
    scopes,
    '--json',
  ]);
  return (JSON.parse(made) as { key: string }).key;
}

/** Keys for many readers. */
async function makeKeys({ service }: Bench, count: number): Promise<string[]> {
  const keys: string[] = [];
  const key = await makeKey(service, 'admin:manage');
  for (let index = 0; index < count; index++) {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/admin/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ owner: 'admin', name: `reader ${index}`, scopes: ['objects:read'] }),
    });
    const { data, error } = (await response.json()) as { data?: { key: string }; error?: unknown };
    if (data === undefined) throw new Error(JSON.stringify(error));
    keys.push(data.key);
  }
  return keys;
}

async function commits(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `SELECT sum(xact_commit + xact_rollback)::int AS n FROM pg_stat_database WHERE datname = current_database()`,
  );
  return rows[0]?.n ?? 0;
}

/** Transactions a second while nobody asks for anything. */
async function transactionsPerSecond(db: pg.Client): Promise<number> {
  const [before, began] = [await commits(db), performance.now()];
  await sleep(8000);
  return ((await commits(db)) - before - 1) / ((performance.now() - began) / 1000);
}

/** Memory and transactions of idle readers. */
async function idle(bench: Bench, name: string, perKey: number, text: (key: string) => string): Promise<void> {
  const keys = await makeKeys(bench, Math.ceil(IDLE / perKey));
  const pid = bench.child.child.pid ?? 0;
  const memory = (): number => memoryOf(pid, null).service;
  await sleep(5000);
  const [without, before] = [await transactionsPerSecond(bench.db), memory()];
  const sockets: Socket[] = [];
  for (let index = 0; index < IDLE; index++) {
    const socket = open({ host: '127.0.0.1', port: bench.service.port });
    socket.on('error', () => {});
    socket.resume();
    socket.write(text(keys[Math.floor(index / perKey)] as string));
    sockets.push(socket);
  }
  await sleep(5000);
  const [during, after] = [await transactionsPerSecond(bench.db), memory()];
  for (const socket of sockets) socket.destroy();
  print(
    name,
    `${(after - before).toFixed(0)} MB more resident; transactions a second ${without.toFixed(1)} before, ${during.toFixed(1)} with them`,
  );
}

/** Milliseconds from the answer of a write to its event in a stream. */
async function latency({ service, key }: Bench): Promise<void> {
  const url = `http://127.0.0.1:${service.port}/api/v1`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const stream = await fetch(`${url}/changes?after=now`, { headers: { ...headers, accept: 'text/event-stream' } });
  const seen = new Map<string, number>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const part of stream.body as ReadableStream<Uint8Array>) {
      for (const [, id = ''] of decoder.decode(part, { stream: true }).matchAll(/"objectId":"([^"]+)"/g))
        if (!seen.has(id)) seen.set(id, performance.now());
    }
  })().catch(() => {});
  const ms: number[] = [];
  for (let index = 0; index < COMMITS; index++) {
    const body = JSON.stringify({
      typeDefinitionId: 'incident',
      values: { title: `Latency ${index}`, priority: 'p3' },
    });
    const response = await fetch(`${url}/objects`, { method: 'POST', headers, body });
    const { data } = (await response.json()) as { data: { id: string } };
    const written = performance.now();
    while (!seen.has(data.id) && performance.now() - written < 10_000) await sleep(1);
    ms.push(Math.max(0, (seen.get(data.id) ?? Number.POSITIVE_INFINITY) - written));
    await sleep(20);
  }
  void reading;
  ms.sort((one, other) => one - other);
  const at = (share: number): string => `${Math.round(ms[Math.floor((ms.length - 1) * share)] ?? 0)} ms`;
  print('from the answer of a write to the stream', `p50 ${at(0.5)}, p99 ${at(0.99)}, slowest ${at(1)} of ${COMMITS}`);
}

async function main(): Promise<void> {
  const folder = options.folder ?? (await mkdtemp(path.join(tmpdir(), 'docket-bench-')));
  const isNew = !existsSync(path.join(folder, 'data'));
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
  const service: ServiceOptions = {
    folder,
    port: await freePort(),
    env: { DOCKET_STARTER: 'itsm' },
    ...(options.profile === undefined ? {} : { profile: options.profile }),
  };
  let child: Started | undefined;
  let leave: (() => Promise<void>) | undefined;
  try {
    child = await startService(service);
    if (isNew) {
      const bundle = path.join(folder, 'bundle');
      await mkdir(bundle);
      await writeFile(path.join(bundle, 'bench.yaml'), BUNDLE);
      await docket(service, ['apply', bundle]);
      await stop(child.child);
      const filling = await connect(folder);
      await fill(filling.db);
      await filling.leave();
      child = await startService(service);
    }
    const connected = await connect(folder);
    leave = connected.leave;
    const { db } = connected;
    const bench: Bench = { service, child, db, key: await makeKey(service, 'all') };
    await sleep(3000);
    const { rows } = await db.query(`SELECT p.place::float8 AS place, encode(p.cursor_key, 'base64') AS "cursorKey",
      (SELECT json_agg(json_build_object('id', e.id, 'after', e.after) ORDER BY e.number DESC) FROM journal_epochs e) AS epochs FROM journal_placing p`);
    const end = cursorMaker(rows[0])(Math.max(0, rows[0].place - READ));
    print('events in the journal', Number(rows[0].place).toLocaleString('en'));
    for (const round of [1, 2]) {
      await read(bench, `from the beginning, ${round}`, undefined);
      await read(bench, `to the end, ${round}`, end);
    }
    await read(bench, 'to the end, include=object', end, '&include=object');
    const accept = 'Accept: text/event-stream\r\n';
    await latency(bench);
    await idle(bench, `${IDLE} idle long polls`, POLLS_PER_KEY, (key) => get(key, '/changes?after=now&wait=25'));
    await idle(bench, `${IDLE} idle streams`, STREAMS_PER_KEY, (key) => get(key, '/changes?after=now', accept));
  } finally {
    await leave?.();
    await stop(child?.child);
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}

await main();
process.exit();
