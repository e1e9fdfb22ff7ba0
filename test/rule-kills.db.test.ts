/** Rules while processes of the service are killed: each event and each moment has one effect (docs/spec/rules.md). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, TEST_KEY, type TestApp } from './support/app.ts';
import { type Service, startService } from './proofs/fault-service.ts';
import { ACTIONS, bundle, stored } from './support/small-configuration.ts';

const PROCESSES = 3;
const RECORDS = 120;
const TIMED = 60;
const DELAY_MS = 3000;
const WAIT_MS = 60_000;

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: team, dataType: string }
      - { code: planned, dataType: datetime }
  - { code: problem, title: title, fields: [{ code: title, dataType: string, required: true }] }
relationDefinitions: [{ code: caused-by, sourceTypes: [case], targetTypes: [problem] }]
rules:
  - code: on-create
    on: [ObjectCreated]
    types: [case]
    runAs: robot
    do:
      - set: { team: first }
      - comment: { visibility: internal, body: 'Created' }
      - create: { type: problem, relation: caused-by, values: { title: 'Cause of {{ title }}' } }
  - code: on-update
    on: [ObjectUpdated]
    types: [case]
    runAs: robot
    once: every-time
    when: { field: changed, operator: contains, value: title }
    do: [ { comment: { visibility: internal, body: 'Updated' } } ]
  - code: on-time
    after: { duration: PT3S, since: planned }
    types: [case]
    runAs: robot
    do: [ { comment: { visibility: internal, body: 'Due' } } ]
roles:
  - code: robot
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [robot, chief] }
users: [{ login: robot, displayName: Robot }, { login: chief, displayName: Chief }]`;

describe('rules under kill -9', () => {
  let app: TestApp;
  let folder: string;
  let key: string;
  let services: Service[] = [];

  const start = (): Promise<Service> =>
    startService({
      DATABASE_URL: app.databaseUrl,
      DOCKET_DATA_DIR: folder,
      DOCKET_SECRET_KEY: TEST_KEY,
      DOCKET_PORT: '0',
      DOCKET_POOL: '5',
      DOCKET_MIGRATE: 'off',
      DOCKET_RATE_LIMIT: 'off',
    });
  const rows = <Row = any>(statement: string, values: unknown[] = []): Promise<Row[]> => stored(app, statement, values);

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    folder = await mkdtemp(path.join(tmpdir(), 'docket-rules-'));
    key = (await app.createKey({ login: 'chief' })).key;
    services = await Promise.all(Array.from({ length: PROCESSES }, start));
  });
  after(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await app.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Asks one service after another under the same idempotency key, until one answers. */
  async function ask(method: string, place: string, body: object): Promise<void> {
    const idempotencyKey = randomUUID();
    const until = performance.now() + WAIT_MS;
    for (let turn = Math.floor(Math.random() * PROCESSES); ; turn++) {
      const answer = await fetch(`${services[turn % services.length]?.url}/api/v1${place}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
          connection: 'close',
        },
        body: JSON.stringify(body),
      }).catch(() => undefined);
      if (answer?.ok === true) return void (await answer.text());
      const text = (await answer?.text().catch(() => '')) ?? '';
      const mayRetry = answer === undefined || answer.status === 503 || text.includes('IDEMPOTENCY_IN_PROGRESS');
      assert.ok(mayRetry, `${method} ${place}: ${answer?.status} ${text}`);
      assert.ok(performance.now() < until, `${method} ${place}: no service answers`);
      await sleep(50);
    }
  }
  async function eachOf(ids: readonly string[], act: (id: string) => Promise<void>): Promise<void> {
    const left = [...ids];
    const worker = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) await act(id);
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  }
  const make = (objectId: string, values: object = {}): Promise<void> =>
    ask('POST', '/objects', { typeDefinitionId: 'case', objectId, values: { title: `Case ${objectId}`, ...values } });

  /** Kills services until the work is done, and starts another one for each. */
  async function killDuring(work: Promise<void>): Promise<number> {
    let isDone = false;
    let kills = 0;
    const settled = work.finally(() => {
      isDone = true;
    });
    const killing = (async () => {
      while (!isDone && kills < 2) {
        await sleep(100 + 200 * Math.random());
        const at = kills % services.length;
        await services[at]?.kill();
        kills++;
        services[at] = await start();
      }
    })();
    await Promise.all([settled, killing]);
    return kills;
  }

  /** The timed rule on the records: how often it ran, and how late at most in milliseconds. */
  const firings = (ids: readonly string[]) =>
    rows<{ id: string; runs: number; late: number }>(
      `SELECT o.id, count(r.id)::int AS runs,
         coalesce(max(extract(epoch FROM r.at - (o."values" ->> 'planned')::timestamptz) * 1000), 0)::float8 - ${DELAY_MS} AS late
       FROM objects o LEFT JOIN (rule_runs r JOIN config_items i ON i.id = r.rule_id AND i.code = 'on-time')
         ON r.object_id = o.id
       WHERE o.id = ANY($1::uuid[]) GROUP BY o.id`,
      [ids],
    );
  async function allFired(ids: readonly string[]): Promise<Awaited<ReturnType<typeof firings>>> {
    const until = performance.now() + WAIT_MS;
    for (;;) {
      const found = await firings(ids);
      if (found.every(({ runs }) => runs > 0)) break;
      assert.ok(performance.now() < until, 'not all rules fired');
      await sleep(200);
    }
    // Time for a second effect.
    await sleep(2500);
    const found = await firings(ids);
    const comments = await rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM comments WHERE object_id = ANY($1::uuid[]) AND body = 'Due' GROUP BY object_id`,
      [ids],
    );
    assert.deepEqual([found.length, comments.length], [ids.length, ids.length]);
    assert.ok(found.every(({ runs }) => runs === 1) && comments.every(({ n }) => n === 1));
    return found;
  }

  it('have one effect for each event, with the change or not at all', async () => {
    const ids = Array.from({ length: RECORDS }, () => randomUUID());
    const kills = await killDuring(
      eachOf(ids, async (id) => {
        await make(id);
        await ask('PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { title: `Changed ${id}` } });
      }),
    );
    assert.ok(kills > 0, 'services were killed meanwhile');
    const found = await rows(
      `SELECT o.revision, o."values" ->> 'team' AS team,
         (SELECT count(*)::int FROM comments c WHERE c.object_id = o.id AND c.body = 'Created') AS created,
         (SELECT count(*)::int FROM comments c WHERE c.object_id = o.id AND c.body = 'Updated') AS updated,
         (SELECT count(*)::int FROM objects p WHERE p.title = 'Cause of Case ' || o.id) AS problems,
         (SELECT count(*)::int FROM rule_runs r WHERE r.object_id = o.id) AS runs
       FROM objects o WHERE o.id = ANY($1::uuid[])`,
      [ids],
    );
    assert.equal(found.length, RECORDS);
    const expected = { revision: 2, team: 'first', created: 1, updated: 1, problems: 1, runs: 2 };
    for (const row of found) assert.deepEqual(row, expected);
  });

  it('fire once at their time, with three processes of which one is killed', async () => {
    const ids = Array.from({ length: TIMED }, () => randomUUID());
    await eachOf(ids, (id) => make(id, { planned: new Date().toISOString() }));
    await sleep(DELAY_MS / 2);
    await services.shift()?.kill();
    const found = await allFired(ids);
    for (const { id, late } of found) assert.ok(late >= 0 && late <= 5000, `${id} fired after ${late} ms`);
  });

  it('fire once after downtime, when three processes start together', async () => {
    const ids = Array.from({ length: TIMED }, () => randomUUID());
    await Promise.all(services.map((service) => service.kill()));
    const planned = new Date().toISOString();
    // This process does no background work.
    await eachOf(ids, async (objectId) => {
      const body = { typeDefinitionId: 'case', objectId, values: { title: 'Left alone', planned } };
      assert.equal((await app.request('POST', '/api/v1/objects', { key, body })).status, 201);
    });
    await sleep(Math.max(0, Date.parse(planned) + DELAY_MS + 500 - Date.now()));
    assert.ok(
      (await firings(ids)).every(({ runs }) => runs === 0),
      'nobody was there to fire them',
    );
    services = await Promise.all(Array.from({ length: PROCESSES }, start));
    const started = Date.now();
    const found = await allFired(ids);
    const latest = Math.max(...found.map(({ late }) => late)) + Date.parse(planned) + DELAY_MS;
    assert.ok(latest - started <= 5000, `the last one fired ${latest - started} ms after the start`);
  });
});
