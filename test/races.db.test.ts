/**
 * Concurrent changes over two servers on one database: one winner per revision, one effect per Idempotency-Key, one record per
 * id, rights current within a second, a consumer of the journal that skips nothing.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireGranted, updateObject } from '../src/domain/objects/index.ts';
import { isFault } from '../src/lib/fault.ts';
import sql from 'sql-template-tag';
import { consume, isBehind, isOf } from '../src/platform/journal/consumers.ts';
import { givePlaces } from '../src/platform/journal/places.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { ACTIONS, bundle, changeRights, idOf, stored, user } from './support/small-configuration.ts';
import { duringTransaction } from './support/database.ts';

const ROUNDS = 60;
const WRITERS = 16;
const EQUAL = 32;
const KEYS = 12;
const FRESH_MS = 1000;
/** Below the time limit of a statement, above the pauses of a busy machine. */
const HANGS_MS = 25_000;

const WORLD = `
types:
  - code: thing
    name: Thing
    numbering: { prefix: THG, digits: 5 }
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: note, dataType: text }
roles:
  - code: keeper
    records: [{ type: thing, actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    rights: [key.manage, role.assign, config.manage]
    assignedTo: { users: [alice, leaver, archived], groups: [outer] }
groups:
  - { code: outer, name: Outer }
  - { code: middle, name: Middle }
  - { code: inner, name: Inner, users: [nested] }
users:
${['alice', 'leaver', 'archived', 'nested', 'late'].map(user).join('')}`;

let one: TestApp;
let two: TestApp;
let key: string;

const either = (turn: number): TestApp => (turn % 2 === 0 ? one : two);

async function create(values: Record<string, unknown> = { title: 'A thing' }): Promise<{ id: string; number: string }> {
  const made = await one.request('POST', '/api/v1/objects', { key, body: { typeDefinitionId: 'thing', values } });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.data;
}

async function counts(id: string): Promise<{ revision: number; journal: number }> {
  const [row] = await stored<{ revision: number; journal: number }>(
    one,
    `SELECT (SELECT revision FROM objects WHERE id = $1) AS revision,
      (SELECT count(*)::int FROM journal WHERE object_id = $1) AS journal`,
    [id],
  );
  assert.ok(row);
  return row;
}

function tally(answers: readonly TestAnswer[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status < 300 ? String(status) : `${status} ${body.error.code}`;
    found[name] = (found[name] ?? 0) + 1;
  }
  return found;
}

const together = async <T>(count: number, fn: (turn: number) => Promise<T>): Promise<T[]> =>
  await Promise.all(Array.from({ length: count }, (_, turn) => fn(turn)));

describe('concurrent changes', () => {
  before(async () => {
    one = await startTestApp({ bundle: bundle(WORLD) });
    two = await startTestApp({ on: one });
    ({ key } = await one.createKey({ login: 'alice' }));
    await two.app.versions.refresh();
  });
  after(async () => {
    await two.close();
    await one.close();
  });

  it(`accept one of ${WRITERS} writers of one revision, ${ROUNDS} times`, async () => {
    const { id } = await create();
    for (let revision = 1; revision <= ROUNDS; revision++) {
      const answers = await together(WRITERS, (turn) =>
        either(turn).request('PATCH', `/api/v1/objects/${id}`, {
          key,
          body: { expectedRevision: revision, changes: { title: `${revision} by ${turn}` } },
        }),
      );
      assert.deepEqual(tally(answers), { 200: 1, '409 REVISION_CONFLICT': WRITERS - 1 }, `round ${revision}`);
      const winner = answers.findIndex(({ status }) => status === 200);
      assert.equal(answers[winner]?.body.data.revision, revision + 1);
      for (const { status, body } of answers) {
        if (status === 200) continue;
        assert.deepEqual(Object.keys(body.error.details), ['changedSince']);
        assert.deepEqual(Object.keys(body.error.details.changedSince[0]).sort(), ['actor', 'at', 'field']);
      }
      const [row] = await stored<{ title: string }>(one, 'SELECT title FROM objects WHERE id = $1', [id]);
      assert.equal(row?.title, `${revision} by ${winner}`);
      const now = await counts(id);
      assert.deepEqual(now, { revision: revision + 1, journal: revision + 1 });
    }
  });

  it('accept either an update or an archive', async () => {
    for (let round = 0; round < 20; round++) {
      const { id } = await create();
      const answers = await together(WRITERS, (turn) =>
        turn % 4 < 2
          ? either(turn).request('DELETE', `/api/v1/objects/${id}`, { key, body: { expectedRevision: 1 } })
          : either(turn).request('PATCH', `/api/v1/objects/${id}`, {
              key,
              body: { expectedRevision: 1, changes: { title: `${turn}` } },
            }),
      );
      assert.equal(answers.filter(({ status }) => status === 200).length, 1, JSON.stringify(tally(answers)));
      assert.equal(answers.filter(({ status }) => status === 409).length, WRITERS - 1);
      assert.deepEqual(await counts(id), { revision: 2, journal: 2 });
    }
  });

  it(`have one effect of ${EQUAL} equal creates with one Idempotency-Key`, async () => {
    for (let round = 0; round < KEYS; round++) {
      const idempotencyKey = `equal-${round}`;
      const title = `equal ${round}`;
      const bodies = [
        { typeDefinitionId: 'thing', values: { title, note: 'n' } },
        { values: { note: 'n', title }, typeDefinitionId: 'thing' },
      ];
      const send = (turn: number): Promise<TestAnswer> =>
        either(turn).request('POST', '/api/v1/objects', { key, idempotencyKey, body: bodies[turn % 2] });
      const answers = await together(EQUAL, send);
      const done = answers.filter(({ status }) => status === 201);
      const busy = answers.filter(({ body }) => body.error?.code === 'IDEMPOTENCY_IN_PROGRESS');
      assert.equal(done.length + busy.length, EQUAL, JSON.stringify(tally(answers)));
      assert.ok(done.length >= 1);
      for (const answer of busy) assert.equal(answer.headers.get('retry-after'), '1');
      assert.equal(done.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
      const first = done[0]?.body.data;
      for (const { body } of done) assert.deepEqual(body.data, first);
      assert.match(first.number, /^THG\d{5}$/);
      for (const turn of [0, 1, 2]) {
        const again = await send(turn);
        assert.equal(again.status, 201);
        assert.equal(again.headers.get('idempotency-replayed'), 'true');
        assert.deepEqual(again.body.data, first);
      }
      const effects = await stored<{ id: string }>(one, 'SELECT id FROM objects WHERE title = $1', [title]);
      assert.deepEqual(effects, [{ id: first.id }]);
      assert.deepEqual(await counts(first.id), { revision: 1, journal: 1 });
      const kept = await stored(one, 'SELECT 1 FROM idempotency WHERE key = $1', [idempotencyKey]);
      assert.equal(kept.length, 1);
    }
  });

  it('give an explicit id to one of many', async () => {
    for (let round = 0; round < 20; round++) {
      const objectId = randomUUID();
      const body = { typeDefinitionId: 'thing', objectId, values: { title: 'Explicit' } };
      const keyed = round % 2 === 0 ? {} : { idempotencyKey: objectId };
      const answers = await together(WRITERS, (turn) =>
        either(turn).request('POST', '/api/v1/objects', { key, body, ...keyed }),
      );
      const created = answers.filter(({ status }) => status === 201);
      if (round % 2 === 0) {
        assert.deepEqual(tally(answers), { 201: 1, '409 ALREADY_EXISTS': WRITERS - 1 });
        for (const { status, body: said } of answers) {
          if (status === 409) assert.deepEqual(said.error.details, { field: 'objectId' });
        }
      } else {
        for (const { body: said } of created) assert.equal(said.data.id, objectId);
        const busy = answers.filter(({ body: said }) => said.error?.code === 'IDEMPOTENCY_IN_PROGRESS');
        assert.equal(created.length + busy.length, WRITERS, JSON.stringify(tally(answers)));
      }
      assert.deepEqual(await counts(objectId), { revision: 1, journal: 1 });
    }
  });

  it('assign no number twice', async () => {
    const made = await together(96, async (turn) => {
      const body = { typeDefinitionId: 'thing', values: { title: `number ${turn}` } };
      return (await either(turn).request('POST', '/api/v1/objects', { key, body })).body.data.number as string;
    });
    for (const number of made) assert.match(number, /^THG\d{5}$/);
    assert.equal(new Set(made).size, made.length);
    const later = await create();
    assert.ok(
      made.every((number) => number < later.number),
      'numbers rise',
    );
  });

  it('resolve opposite lock orders into successes and conflict responses', async () => {
    const ids = await together(6, async () => (await create()).id);
    const actor = one.app.system();
    let won = 0;
    const unit = async (turn: number): Promise<void> => {
      const app = either(turn);
      const order = turn % 4 < 2 ? ids : [...ids].reverse();
      try {
        await app.app.work.write({ ...actor, config: app.app.versions.current() }, async (ctx) => {
          for (const objectId of order) {
            const { row } = await requireGranted(ctx, objectId, 'update');
            const changes = { title: `unit ${randomUUID()}` };
            await updateObject(ctx, { objectId, expectedRevision: row.revision, changes });
          }
        });
        won++;
      } catch (error) {
        assert.ok(isFault(error), String(error));
        assert.ok(['OVERLOADED', 'REVISION_CONFLICT'].includes(error.code), `${error.code}: ${error.message}`);
      }
    };
    for (let round = 0; round < 15; round++) await together(8, unit);
    assert.ok(won >= 15, `${won} units were let through`);
    for (const id of ids) {
      assert.deepEqual(await counts(id), { revision: won + 1, journal: won + 1 });
    }
  });

  it('accept one bulk call per record in opposite order, without a deadlock', async () => {
    const ids = await together(8, async () => (await create()).id);
    for (let revision = 1; revision <= 10; revision++) {
      const answers = await together(8, (turn) => {
        const order = turn % 4 < 2 ? ids : [...ids].reverse();
        const items = order.map((objectId) => ({
          objectId,
          expectedRevision: revision,
          changes: { title: `${revision} by ${turn}` },
        }));
        return either(turn).request('POST', '/api/v1/bulk', { key, body: { operation: 'update', items } });
      });
      const results = answers.flatMap(({ status, body }) => {
        assert.equal(status, 200, JSON.stringify(body));
        return body.data as { objectId: string; status: string; error?: { code: string } }[];
      });
      for (const id of ids) {
        const about = results.filter(({ objectId }) => objectId === id);
        assert.equal(about.filter(({ status }) => status === 'SUCCEEDED').length, 1, JSON.stringify(about));
        const lost = about.filter(({ status }) => status === 'FAILED').map(({ error }) => error?.code);
        assert.deepEqual(lost, Array(7).fill('REVISION_CONFLICT'));
        assert.deepEqual(await counts(id), { revision: revision + 1, journal: revision + 1 });
      }
    }
  });

  it('see changes of rights on the other server within a second', async () => {
    const { id } = await create();
    const read = (who: string): Promise<TestAnswer> => two.request('GET', `/api/v1/objects/${id}`, { key: who });
    const until = async (who: string, status: number, change: () => Promise<unknown>): Promise<void> => {
      assert.notEqual((await read(who)).status, status, 'the change is none');
      await change();
      const committed = performance.now();
      // The clock starts before a request, as a caller would count: a request that begins a second after the commit must see the change.
      for (;;) {
        const began = performance.now();
        const answer = await read(who);
        if (answer.status === status) break;
        assert.ok(
          began - committed < FRESH_MS,
          `${answer.status} ${Math.round(began - committed)} ms after the change`,
        );
        await sleep(20);
      }
      for (let again = 0; again < 5; again++) assert.equal((await read(who)).status, status, 'it stays so');
    };
    const keyOf = async (login: string): Promise<{ id: string; key: string }> => await one.createKey({ login });
    const [leaver, doomed, archived, nested, late] = await Promise.all(
      ['leaver', 'alice', 'archived', 'nested', 'late'].map(keyOf),
    );
    assert.ok(leaver && doomed && archived && nested && late);
    await two.app.versions.refresh();
    const role = await idOf(one, 'config_items', 'keeper');
    const person = await idOf(one, 'users', 'leaver');
    await until(leaver.key, 404, () =>
      changeRights(one, 'DELETE FROM role_assignments WHERE role_id = $1 AND member_id = $2', [role, person]),
    );
    const admin = await one.createKey({ login: 'alice', scopes: ['admin:manage'] });
    await until(doomed.key, 401, async () => {
      const revoked = await one.request('POST', `/api/admin/v1/keys/${doomed.id}/revoke`, { key: admin.key });
      assert.equal(revoked.status, 200);
      const here = await one.request('GET', `/api/v1/objects/${id}`, { key: doomed.key });
      assert.equal(here.status, 401, 'the process that made the change knows at once');
    });
    await until(archived.key, 401, () =>
      changeRights(one, "UPDATE users SET state = 'ARCHIVED' WHERE login = $1", ['archived']),
    );
    await until(archived.key, 200, () =>
      changeRights(one, "UPDATE users SET state = 'ACTIVE' WHERE login = $1", ['archived']),
    );
    const [outer, middle, inner] = await Promise.all(
      ['outer', 'middle', 'inner'].map((code) => idOf(one, 'groups', code)),
    );
    const nest = (group: string | undefined, member: string | undefined): Promise<void> =>
      changeRights(
        one,
        `INSERT INTO group_members (id, group_id, member_type, member_id, created_at) VALUES ($1, $2, 'group', $3, now())`,
        [randomUUID(), group, member],
      );
    await nest(middle, inner);
    await until(nested.key, 200, () => nest(outer, middle));
    await until(nested.key, 404, () => changeRights(one, 'DELETE FROM group_members WHERE member_id = $1', [middle]));
    await until(late.key, 200, () =>
      one.apply(
        bundle(`roles: [{ code: watcher, name: W, records: [{ type: thing, actions: [read], fields: { read: '*', write: [] } }],
          assignedTo: { users: [late] } }]\n`),
      ),
    );
  });

  it('are rejected if the version row was not read for a second', async () => {
    const path = `/api/v1/objects/${(await create()).id}`;
    const apps = await together(2, () => startTestApp({ on: one, impatient: true }));
    try {
      await duringTransaction(one.db, async (client) => {
        await client.query('LOCK TABLE cache_versions IN ACCESS EXCLUSIVE MODE');
        for (const app of apps) {
          while (app.app.versions.age <= FRESH_MS) await sleep(20);
          const began = performance.now();
          const refused = await app.request('GET', path, { key });
          assert.deepEqual([refused.status, refused.body.error.code], [503, 'DATABASE_UNAVAILABLE']);
          assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
          assert.ok(performance.now() - began < HANGS_MS, 'and does not hang until the database gives up');
        }
      });
      // As soon as it can be read again; on a busy machine a second may have gone by once more.
      const until = performance.now() + HANGS_MS;
      for (const app of apps)
        while ((await app.request('GET', path, { key })).status !== 200) assert.ok(performance.now() < until);
    } finally {
      for (const app of apps) await app.close();
    }
  });

  it('deliver every committed event to a consumer once, however late it commits', async () => {
    while (await givePlaces(one.db));
    await one.db.query(sql`INSERT INTO journal_consumers (name, place) SELECT 'races', place FROM journal_placing`);
    const committed = new Set<string>();
    const seen: string[] = [];
    let writing = true;
    const reader = async (app: TestApp, turn: number): Promise<void> => {
      for (let round = turn; ; round++) {
        const last = !writing;
        let taken: string[] = [];
        await givePlaces(app.db);
        const count = await consume(app.db, 'races', 7, async (batch, tx) => {
          const rows = await tx.query<{ id: string }>(sql`SELECT j.id FROM journal j WHERE ${isOf('j', batch)}`);
          taken = rows.map((row) => row.id);
          // A failing reader commits nothing, so its events are delivered again.
          if (round % 5 === 0) throw new Error('the receiver is not there');
        }).catch(() => undefined);
        if (count !== undefined) seen.push(...taken);
        if (last && count === false && !(await isBehind(app.db, 'races')) && !(await givePlaces(app.db))) return;
        if (count !== true) await sleep(5);
      }
    };
    const writer = async (turn: number): Promise<void> => {
      for (let round = 0; round < 4; round++) {
        const event = randomUUID();
        await duringTransaction(either(turn).db, async (client) => {
          await client.query("INSERT INTO journal (id, type, at, via, hash) VALUES ($1, 'T', now(), 'api', '\\x00')", [
            event,
          ]);
          await sleep(round === 0 ? 1000 - turn * 10 : Math.random() * 600);
          const keep = (turn + round) % 6 !== 0;
          await client.query(keep ? 'COMMIT' : 'ROLLBACK');
          if (keep) committed.add(event);
        });
        const { id } = await create();
        const [row] = await stored<{ id: string }>(one, 'SELECT id FROM journal WHERE object_id = $1', [id]);
        committed.add(row?.id ?? 'the event of a create');
      }
    };
    const readers = [reader(one, 0), reader(two, 2)];
    // Fewer concurrent calls per server than connections, so that readers and API keep theirs.
    const half = WRITERS / 2;
    try {
      await Promise.all([together(half, (turn) => writer(turn)), together(half, (turn) => writer(turn + half))]);
    } finally {
      writing = false;
      await Promise.all(readers);
    }
    assert.equal(seen.length, new Set(seen).size, 'no event came twice');
    assert.deepEqual([...seen].sort(), [...committed].sort());
    assert.ok(committed.size >= 110);
  });
});
