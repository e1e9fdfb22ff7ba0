/**
 * `npm run test:feed [-- --kills 30 --writers 16 --seed N]`: readers of the changes feed that keep only their cursors, under
 * writers whose transactions are held open for seconds, kill -9 of the service, of connections and of the database, a failover
 * without loss, a restored backup, and a failover with loss. Afterwards each reader must hold exactly what the journal holds.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { WEBHOOK_EVENTS } from '../../src/contract/events.ts';
import { startTestCluster } from '../support/cluster.ts';
import { random } from './fault-client.ts';
import { type FeedClients, HOLD_SQL, PageReader, runFeedWriter, StreamReader } from './feed-clients.ts';
import { type FeedHistoryEntry, judgeFeed, type SeenEvent } from './feed-history.ts';
import { FeedInstallation } from './feed-installation.ts';
import { longRun } from './long-run.ts';

const MIRROR = fileURLToPath(new URL('../../examples/mirror/mirror.mjs', import.meta.url));
const HELD_SHARE = 4;
const LOST_MS = 3000;
const PLACED_MS = 60_000;

const run = longRun({ kills: 30, writers: 16 });
const dice = random(run.seed);
const installation = await FeedInstallation.start();
const warehouse = await startTestCluster();
const history: FeedHistoryEntry[] = [];
const problems: string[] = [];
let isRunning = true;
let isPlaced = false;
const clients: FeedClients = {
  urls: () => installation.urls,
  key: installation.key,
  history,
  random: dice,
  isRunning: () => isRunning,
};

/** Kills in turn a process of the service, a connection, the database. */
async function killSome(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await sleep(300 + dice() * 1500);
    if (turn % 3 === 0) await installation.killService(Math.floor(dice() * installation.urls.length));
    else if (turn % 3 === 1) await installation.killBackend();
    else await installation.killDatabase();
  }
  const reads = history.filter((entry) => entry.kind === 'read').reduce((sum, { events }) => sum + events.length, 0);
  run.say(`${count} kills; ${acknowledged()} writes acknowledged, ${reads} events read`);
}

function acknowledged(): number {
  return history.filter(({ kind }) => kind === 'acknowledged').length;
}

/** Brings the mirror of the example up to date. @returns the ids of its events, and its records with their revisions */
async function mirror(): Promise<{ events: string[]; records: string[] }> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(warehouse.url);
  const env = {
    PATH: process.env['PATH'],
    DOCKET_URL: installation.urls[0],
    DOCKET_KEY: installation.key,
    PGHOST: searchParams.get('host') ?? hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: pathname.slice(1),
  };
  await promisify(execFile)(process.execPath, [MIRROR, '--once'], { env, cwd: path.dirname(MIRROR) });
  const client = new pg.Client({ connectionString: warehouse.url });
  await client.connect();
  const ids = async (text: string): Promise<string[]> =>
    (await client.query<{ id: string }>(text)).rows.map(({ id }) => id);
  const events = await ids('SELECT id FROM docket.events ORDER BY seq');
  const records = await ids(`SELECT id || ' ' || revision AS id FROM docket.records ORDER BY id`);
  await client.end();
  return { events, records };
}

async function journal(): Promise<SeenEvent[]> {
  return await installation.rows<SeenEvent>(
    `SELECT id AS "eventId", type AS "eventType", object_id AS "objectId", revision::int FROM journal
     WHERE object_id IS NOT NULL AND type = ANY('{${WEBHOOK_EVENTS.join(',')}}') ORDER BY seq`,
  );
}

/** Waits until every row of the journal has its place. */
async function untilPlaced(): Promise<void> {
  for (const began = performance.now(); performance.now() - began < PLACED_MS; await sleep(200)) {
    const [row] = await installation.rows<{ rest: number }>(
      'SELECT (SELECT count(*) FROM journal)::int - (SELECT count(*) FROM journal_places)::int AS rest',
    );
    if (row?.rest === 0) return;
  }
  problems.push(`rows of the journal have no place after ${PLACED_MS / 1000} s`);
}

/** Compares the mirror with the tables of the service. */
async function judgeMirror(before: readonly string[], events: readonly SeenEvent[]): Promise<void> {
  const stored = new Set(events.map(({ eventId }) => eventId));
  if (before.every((id) => stored.has(id)))
    problems.push('the mirror held nothing that was lost, so it was not rewound');
  const now = await mirror();
  const twice = now.events.length - new Set(now.events).size;
  const missing = events.filter(({ eventId }) => !now.events.includes(eventId)).length;
  const invented = now.events.filter((id) => !stored.has(id)).length;
  if (twice + missing + invented > 0)
    problems.push(`the mirror holds ${twice} events twice, ${invented} that are not there, and lacks ${missing}`);
  const records = await installation.rows<{ id: string }>(
    `SELECT id || ' ' || revision AS id FROM objects ORDER BY id`,
  );
  if (JSON.stringify(now.records) !== JSON.stringify(records.map(({ id }) => id)))
    problems.push('the records of the mirror are not those of the service');
}

try {
  await installation.rows(HOLD_SQL);
  const readers = [
    new PageReader(clients, 'pages'),
    new PageReader(clients, 'more pages'),
    new StreamReader(clients, 'stream'),
  ];
  const reading = readers.map((reader) => reader.run(() => isPlaced));
  const count = run.number('writers');
  const writers = Array.from({ length: count }, (_, index) =>
    runFeedWriter(clients, String(index), index % HELD_SHARE === 0),
  );
  // A failure of a client must not wait for the end of the faults.
  for (const one of [...reading, ...writers]) one.catch((error) => run.end([String(error), installation.said()]));
  const kills = run.number('kills');
  const part = Math.ceil(kills / 3);
  await killSome(part);
  await installation.synchronize();
  await installation.failOver();
  run.say(`failover without loss; ${acknowledged()} writes acknowledged`);
  const backup = path.join(installation.folder, 'service.docket');
  const atBackup = history.length;
  await installation.command(['backup', backup]);
  await killSome(part);
  const before = await mirror();
  await installation.restore(backup, () => history.push({ kind: 'loss', since: atBackup }));
  await installation.rows(HOLD_SQL);
  run.say(`backup restored; ${acknowledged()} writes acknowledged`);
  await killSome(kills - 2 * part);
  const atDetach = history.length;
  await installation.caughtUp();
  await installation.detachReplica();
  await sleep(LOST_MS);
  await installation.failOver(() => history.push({ kind: 'loss', since: atDetach }));
  run.say(`failover with loss; ${acknowledged()} writes acknowledged`);
  await sleep(2000);
  isRunning = false;
  await Promise.all(writers);
  await untilPlaced();
  isPlaced = true;
  await Promise.all(reading);
  const events = await journal();
  problems.push(
    ...judgeFeed(
      readers.map(({ name }) => name),
      history,
      events,
    ),
  );
  for (const { name, rewinds } of readers) run.say(`${name}: rewound ${rewinds} times`);
  if (readers.some(({ rewinds }) => rewinds === 0)) problems.push('a reader was not rewound, so the run lost nothing');
  await judgeMirror(before.events, events);
  await installation.rows('DROP TRIGGER held_open ON journal');
  problems.push(...(await installation.defects()));
  run.say(`${acknowledged()} writes acknowledged, ${events.length} events in the journal at the end`);
} catch (error) {
  problems.push(String(error), installation.said());
} finally {
  isRunning = false;
  await installation.close();
  await warehouse.stop();
}
run.end(problems);
