/**
 * Acknowledged is durable and whole (reliability, ID2, CR1, CR2): the real service on its own embedded database on disk is
 * killed, and its database is, while clients create and change records; then every answer is held against what is stored.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { docket, type Environment, freePort, type Service, startService } from './harness/fault-service.ts';
import { attempt, type Journal, random, runClient } from './harness/load-clients.ts';

const SERVICE_KILLS = 20;
const DATABASE_KILLS = 5;
const CLIENTS = 16;
/** The service starts, and the database recovers, within this. */
const BACK_MS = 15_000;

const WORLD = `
types:
  - code: thing
    name: Thing
    numbering: { prefix: THG, digits: 6 }
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: tag, dataType: string, required: true }
roles:
  - code: keeper
    records: [{ type: thing, actions: [read, create, update, history], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [alice] }
users:
  - { login: alice, displayName: Alice, email: alice@example.org }
`;

/** What must hold after any fault (reliability, 5.1); each query finds what breaks it. */
const INVARIANTS: Readonly<Record<string, string>> = {
  'I1 every keyed create is there once': `SELECT "values" ->> 'tag' AS tag FROM objects GROUP BY 1 HAVING count(*) <> 1`,
  'I2 a revision for each event, without gaps': `
    SELECT o.id FROM objects o LEFT JOIN (
      SELECT object_id, count(*) AS events, count(DISTINCT revision) AS revisions, min(revision) AS first, max(revision) AS last
      FROM journal WHERE object_id IS NOT NULL GROUP BY 1) j ON j.object_id = o.id
    WHERE (j.events, j.revisions, j.last, j.first) IS DISTINCT FROM (o.revision::bigint, o.revision::bigint, o.revision, 1)`,
  'I3 one outbox row for each event': `
    SELECT j.id FROM journal j LEFT JOIN outbox x ON x.event_id = j.id GROUP BY j.id HAVING count(x.event_id) <> 1`,
  'I4 no event of nothing': `
    SELECT j.id FROM journal j LEFT JOIN objects o ON o.id = j.object_id
    WHERE j.object_id IS NOT NULL AND (o.id IS NULL OR j.revision > o.revision)
    UNION ALL SELECT x.event_id FROM outbox x LEFT JOIN journal j ON j.id = x.event_id WHERE j.id IS NULL`,
  'I5 one effect for each kept answer, one kept answer for each effect': `
    SELECT o.id::text FROM objects o FULL JOIN idempotency i ON (i.answer::jsonb ->> 'id')::uuid = o.id AND i.key = o."values" ->> 'tag'
    GROUP BY o.id HAVING count(i.key) <> 1 OR o.id IS NULL`,
  'no number twice, none missing': `SELECT number FROM objects GROUP BY number HAVING count(*) <> 1 OR number IS NULL`,
};

let folder: string;
let env: Environment;
let service: Service;
let key: string;

interface Connection {
  host: string;
  port: number;
  user: string;
  password: string;
}

async function connected<T>(fn: (client: pg.Client) => Promise<T>): Promise<T> {
  const file = readFileSync(path.join(folder, 'data', 'postgres.json'), 'utf8');
  const { host, port, user, password } = JSON.parse(file) as Connection;
  const client = new pg.Client({ host, port, user, password, database: 'docket' });
  client.on('error', () => {});
  await client.connect();
  try {
    return await fn(client);
  } finally {
    await client.end();
  }
}

/** The process of the database server; 0 while none has said that it runs. */
function serverPid(): number {
  try {
    return Number(readFileSync(path.join(folder, 'data', 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return 0;
  }
}

async function untilAnswered(limitMs: number): Promise<number> {
  const began = performance.now();
  for (;;) {
    const answer = await attempt(service.url, key, 'GET', '/api/v1/objects?pageSize=1');
    const ms = performance.now() - began;
    if (answer?.status === 200) return ms;
    assert.ok(ms < limitMs, `no answer ${Math.round(ms)} ms after the fault:\n${service.output().slice(-2000)}`);
    await sleep(25);
  }
}

/** Runs clients while `faults` happen, then holds every answer against the database. */
async function underLoad(seed: number, name: string, faults: (next: () => number) => Promise<void>): Promise<Journal> {
  const journal: Journal = { records: [], surprises: [], acknowledged: 0, refused: 0, slowest: 0 };
  let running = true;
  let givenUp = Number.POSITIVE_INFINITY;
  const clients = Array.from({ length: CLIENTS }, (_, turn) =>
    runClient({
      url: service.url,
      key,
      typeCode: 'thing',
      name: `${name}-${turn}`,
      random: random(seed + turn + 1),
      journal,
      running: () => running,
      patient: () => performance.now() < givenUp,
    }),
  );
  try {
    await faults(random(seed));
  } finally {
    // What was under way is answered soon after the last fault: no key is stuck.
    running = false;
    givenUp = performance.now() + BACK_MS;
    await Promise.all(clients);
  }
  assert.deepEqual(journal.surprises, []);
  await connected(async (client) => {
    for (const [invariant, query] of Object.entries(INVARIANTS)) {
      assert.deepEqual((await client.query(query)).rows, [], invariant);
    }
    const { rows } = await client.query<{ id: string; revision: number; title: string; tag: string; said: string }>(
      `SELECT o.id, o.revision, o.title, o."values" ->> 'tag' AS tag,
        (SELECT j.changes -> 'title' ->> 1 FROM journal j WHERE j.object_id = o.id AND j.revision = o.revision) AS said
      FROM objects o WHERE o."values" ->> 'tag' LIKE $1`,
      [`${name}-%`],
    );
    const there = new Map(rows.map((row) => [row.id, row]));
    assert.equal(
      rows.length,
      journal.records.length,
      'every create was answered in the end, and nothing else is there',
    );
    for (const { id, key: tag, revision, title } of journal.records) {
      assert.deepEqual(there.get(id), { id, revision, title, tag, said: title });
    }
  });
  return journal;
}

describe('crash', () => {
  before(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'docket-crash-')));
    const bundle = path.join(folder, 'bundle');
    await mkdir(bundle);
    await writeFile(path.join(bundle, 'world.yaml'), WORLD);
    env = {
      DOCKET_DATA_DIR: path.join(folder, 'data'),
      DOCKET_PORT: String(await freePort()),
      DOCKET_STARTER: 'none',
      DOCKET_RATE_LIMIT: 'off',
    };
    // Without workers nothing takes the outbox, so that it can be counted.
    service = await startService(env, ['--role', 'api']);
    const applied = await docket(['apply', bundle, '--json'], env);
    assert.equal(applied.code, 0, applied.stderr);
    const made = await docket(
      ['keys', 'create', '--owner', 'alice', '--name', 'crash', '--scopes', 'all', '--json'],
      env,
    );
    assert.equal(made.code, 0, made.stderr);
    ({ key } = JSON.parse(made.stdout) as { key: string });
    await untilAnswered(BACK_MS);
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it(`keeps what it acknowledged through ${SERVICE_KILLS} kills of the service`, async (t) => {
    const seed = Number(process.env['DOCKET_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
    t.diagnostic(`DOCKET_TEST_SEED=${seed}`);
    const journal = await underLoad(seed, 's', async (next) => {
      for (let kill = 0; kill < SERVICE_KILLS; kill++) {
        await sleep(next() * 500);
        await service.kill();
        service = await startService(env, ['--role', 'api']);
        await untilAnswered(BACK_MS);
      }
    });
    t.diagnostic(`${journal.acknowledged} writes acknowledged, ${journal.records.length} records`);
    assert.ok(journal.acknowledged > SERVICE_KILLS * CLIENTS);
  });

  it(`keeps what it acknowledged through ${DATABASE_KILLS} kills of the database, and goes on by itself`, async (t) => {
    const seed = Number(process.env['DOCKET_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
    t.diagnostic(`DOCKET_TEST_SEED=${seed}`);
    const back: number[] = [];
    const journal = await underLoad(seed, 'd', async (next) => {
      for (let kill = 0; kill < DATABASE_KILLS; kill++) {
        await sleep(200 + next() * 500);
        const pid = serverPid();
        process.kill(pid, 'SIGKILL');
        const began = performance.now();
        // A connection may outlive its server for a moment, so that an answer alone does not say that it is back.
        while (serverPid() === pid || serverPid() === 0) {
          assert.ok(performance.now() - began < BACK_MS, 'nobody starts the database again');
          await sleep(20);
        }
        await untilAnswered(BACK_MS);
        back.push(Math.round(performance.now() - began));
        assert.ok(service.alive(), service.output().slice(-2000));
      }
    });
    t.diagnostic(`answering again after ${back.join(', ')} ms; ${journal.acknowledged} writes acknowledged`);
    t.diagnostic(`${journal.refused} refusals meanwhile, the slowest after ${Math.round(journal.slowest)} ms`);
    assert.ok(journal.slowest < 5000, 'a refusal comes soon, it does not hang');
    assert.ok(journal.acknowledged > DATABASE_KILLS * CLIENTS);
  });

  it('stops when it is asked to, and takes its database with it', async () => {
    const pid = serverPid();
    assert.equal(await service.stop(), 0, service.output().slice(-2000));
    assert.throws(() => process.kill(pid, 0), 'the database server is gone');
    service = await startService(env, ['--role', 'api']);
    await untilAnswered(BACK_MS);
  });
});
