/**
 * Group commit (`src/platform/unit-of-work/groups.ts`): units that one statement writes end as some order of the same units alone,
 * each with its own guards, claims and answer.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { MODULES } from '../src/modules.ts';
import { collect } from '../src/platform/module.ts';
import { runCheck } from '../src/platform/audit/checks.ts';
import { FileBlobs } from '../src/platform/blobs/filesystem.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { assertHistories, writeAtRandom } from './proofs/group-writers.ts';
import { ACTIONS, bundle, stored, user } from './support/small-configuration.ts';
import { duringTransaction } from './support/database.ts';

const WRITERS = 64;
const ROUNDS = 3;

const WORLD = `
types:
  - code: thing
    name: Thing
    numbering: { prefix: GRP, digits: 5 }
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: note, dataType: text }
      - { code: assignee, dataType: user }
workflows:
  - code: flow
    name: Flow
    initial: new
    states: [{ code: new, name: New, category: open }, { code: done, name: Done, category: done }]
    transitions: [{ code: finish, name: Finish, from: [new], to: done }, { code: reopen, name: Reopen, from: [done], to: new }]
roles:
  - code: keeper
    records: [{ type: thing, actions: [${ACTIONS}], transitions: '*', fields: { read: '*', write: '*' } }]
    assignedTo: { users: [alice] }
users:
${['alice', 'bob'].map(user).join('')}`;

interface Made {
  id: string;
  number: string;
}

describe('group commit', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    ({ key } = await app.createKey({ login: 'alice' }));
  });
  after(() => app.close());

  const send = (method: string, path: string, body: unknown, idempotencyKey?: string): Promise<TestAnswer> =>
    app.request(method, `/api/v1${path}`, { key, body, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
  const create = (title: string, idempotencyKey?: string, more: object = {}): Promise<TestAnswer> =>
    send('POST', '/objects', { typeDefinitionId: 'thing', values: { title, ...more } }, idempotencyKey);
  const together = <T>(count: number, fn: (turn: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, turn) => fn(turn)));
  const made = async (count: number): Promise<Made[]> =>
    (await together(count, (turn) => create(`made ${turn}`))).map(({ body }) => body.data as Made);
  /** Concurrent calls that reach the database at about the same time. */
  const atOnce = <T>(count: number, fn: (turn: number) => Promise<T>): Promise<T[]> =>
    duringTransaction(app.db, async (client) => {
      await client.query('LOCK TABLE journal IN SHARE MODE');
      const calls = together(count, fn);
      await sleep(500);
      await client.query('ROLLBACK');
      return await calls;
    });
  /** How many transactions wrote the events of these records. */
  const transactions = async (ids: readonly string[]): Promise<number> => {
    const [row] = await stored<{ n: number }>(
      app,
      'SELECT count(DISTINCT txid)::int AS n FROM journal WHERE object_id = ANY($1::uuid[])',
      [ids],
    );
    return row?.n ?? 0;
  };
  const assertSound = async (): Promise<void> => {
    const parts = { blobs: new FileBlobs(app.blobFolder), config: app.app.versions.current() };
    for (const check of collect(MODULES, 'checks'))
      assert.deepEqual((await runCheck(app.db, check, parts)).named, [], check.name);
  };

  it('gives each of many concurrent creates its own number, answer and stored response', async () => {
    const keys = Array.from({ length: 2 * WRITERS }, () => randomUUID());
    const answers = await atOnce(keys.length, (turn) => create(`create ${turn}`, keys[turn]));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    const rows = await stored<{ id: string; number: string; title: string }>(
      app,
      'SELECT id, number, title FROM objects WHERE id = ANY($1::uuid[])',
      [answers.map(({ body }) => body.data.id)],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const [turn, { body }] of answers.entries()) {
      const { id, number } = body.data as Made;
      assert.deepEqual(byId.get(id), { id, number, title: `create ${turn}` });
    }
    assert.equal(new Set(rows.map(({ number }) => number)).size, keys.length);
    const written = await transactions([...byId.keys()]);
    assert.ok(written < keys.length, `${keys.length} creates in ${written} transactions`);
    const again = await together(keys.length, (turn) => create(`create ${turn}`, keys[turn]));
    for (const [turn, { headers, body }] of again.entries()) {
      assert.equal(headers.get('idempotency-replayed'), 'true');
      assert.deepEqual(body.data, answers[turn]?.body.data);
    }
  });

  it('fails only the units whose own guards, keys and constraints fail', async () => {
    const [record] = (await made(1)) as [Made];
    const [users] = await stored<{ alice: string; bob: string }>(
      app,
      `SELECT (SELECT id FROM users WHERE login = 'alice') AS alice, (SELECT id FROM users WHERE login = 'bob') AS bob`,
    );
    const body = { typeDefinitionId: 'thing', values: { title: 'mixed' } };
    const answers = await atOnce(WRITERS, (turn) => {
      if (turn % 8 === 0) return send('POST', '/objects', { ...body, objectId: record.id });
      if (turn % 8 === 1) return create('mixed', 'one-key-of-several-units');
      if (turn % 8 === 2) return create('mixed', undefined, { assignee: randomUUID() });
      return create('mixed', undefined, { assignee: turn % 2 === 0 ? users?.alice : users?.bob });
    });
    const wanted = [409, 201, 400, 201, 201, 201, 201, 201];
    for (const [turn, { status, body: said }] of answers.entries()) {
      const isBusy = said.error?.code === 'IDEMPOTENCY_IN_PROGRESS';
      assert.ok(status === wanted[turn % 8] || (turn % 8 === 1 && isBusy), `${turn}: ${JSON.stringify(said)}`);
    }
    const [count] = await stored<{ n: number }>(app, "SELECT count(*)::int AS n FROM objects WHERE title = 'mixed'");
    assert.equal(count?.n, (WRITERS / 8) * 5 + 1);
  });

  for (const records of [1, 10, 150]) {
    it(`keeps histories exact under ${WRITERS} writers on ${records} records`, async () => {
      const targets = (await made(records)).map(({ id }) => id);
      const done = await writeAtRandom({ app, key, targets, writers: WRITERS, rounds: ROUNDS });
      await assertHistories(app, done);
      if (records < WRITERS) return;
      const mixed = await stored(
        app,
        'SELECT txid FROM journal WHERE object_id = ANY($1::uuid[]) GROUP BY txid HAVING count(DISTINCT type) > 1',
        [targets],
      );
      assert.ok(mixed.length > 0, 'groups hold units of several kinds');
    });
  }

  it(`lets ${WRITERS} writers change one record without a pause, refusing few and overloading nothing`, async () => {
    const [{ id }] = (await made(1)) as [Made];
    let expectedRevision = 1;
    const statuses = new Map<number, number>();
    const until = performance.now() + 2000;
    await together(WRITERS, async (writer) => {
      for (let turn = 0; performance.now() < until; turn++) {
        const changes = { note: `${writer} ${turn}` };
        const { status, body } = await send('PATCH', `/objects/${id}`, { expectedRevision, changes });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 200) expectedRevision = Math.max(expectedRevision, body.data.revision);
      }
    });
    const said = JSON.stringify([...statuses]);
    assert.deepEqual([...statuses.keys()].sort(), [200, 409], said);
    // After the first change all others are refused; if none of them waited for the others, so they were after each one.
    const [changed = 0, refused = 0] = [statuses.get(200), statuses.get(409)];
    assert.ok(refused < 2 * WRITERS + (changed * WRITERS) / 2, said);
    const [{ revision } = { revision: 0 }] = await stored<{ revision: number }>(
      app,
      'SELECT revision FROM objects WHERE id = $1',
      [id],
    );
    assert.equal(revision, 1 + changed);
  });

  it('does not let a locked record hold up the others', async () => {
    const [locked, ...free] = await made(33);
    assert.ok(locked);
    await duringTransaction(app.db, async (client) => {
      await client.query('SELECT 1 FROM objects WHERE id = $1 FOR UPDATE', [locked.id]);
      const change = { expectedRevision: 1, changes: { note: 'changed' } };
      let over = false;
      const waiting = send('PATCH', `/objects/${locked.id}`, change).finally(() => {
        over = true;
      });
      await sleep(20);
      const answers = await together(free.length, (turn) => send('PATCH', `/objects/${free[turn]?.id}`, change));
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.ok(!over, 'the change of the locked record waits longer than all of them');
      await client.query('ROLLBACK');
      assert.equal((await waiting).status, 200, 'it waited, and was not refused');
    });
  });

  it('leaves nothing that the integrity checks find', async () => {
    await assertSound();
    const waits = await app.db.query<{ deadlocks: number }>(
      sql`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`,
    );
    assert.equal(waits[0]?.deadlocks, 0);
  });
});
