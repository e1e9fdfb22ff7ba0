/** Statements that the database refuses, and statements that several requests share. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { createTestDatabase, type TestDatabase, duringTransaction } from '../../../test/support/database.ts';
import { byId, find } from '../database/lookups.ts';
import type { TableWrite } from './context.ts';
import { Groups, LOCK_MS } from './groups.ts';
import { Statements } from './statement.ts';
import { Database, type QueryOptions, type Statement } from '../database/pool.ts';

/** Counts its statements, and delays each on its way to the server and back. */
class SlowDatabase extends Database {
  sent = 0;
  delayMs = 0;

  override async query<Row>(statement: Statement, options?: QueryOptions): Promise<Row[]> {
    this.sent++;
    await sleep(Math.random() * this.delayMs);
    const rows = await super.query<Row>(statement, options);
    await sleep(Math.random() * this.delayMs);
    return rows;
  }
}

interface Thing {
  id: string;
  value: number;
  share: number;
}

const thingById = byId<Thing>((id) => sql`SELECT t.id, t.value, 1 / t.value AS share FROM things t WHERE t.id = ${id}`);

describe('statements', () => {
  let database: TestDatabase;
  let db: SlowDatabase;
  before(async () => {
    database = await createTestDatabase();
    db = new SlowDatabase({ url: database.url, max: 4, statementMs: 400, applicationName: 'refused' });
    await db.query(sql`CREATE TABLE things (id uuid PRIMARY KEY, value integer NOT NULL)`);
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const backends = async (): Promise<string[]> => {
    const rows = await db.query<{ pid: number; began: string }>(
      sql`SELECT pid, backend_start::text AS began FROM pg_stat_activity WHERE application_name = 'refused' ORDER BY pid`,
    );
    return rows.map(({ pid, began }) => `${pid} since ${began}`);
  };
  const insert = async (value: number, id: string = randomUUID()): Promise<string> => {
    await db.query(sql`INSERT INTO things (id, value) VALUES (${id}::uuid, ${value}::int)`);
    return id;
  };
  it('that the database refuses do not end their connections', async () => {
    await Promise.all(Array.from({ length: 4 }, () => db.query(sql`SELECT pg_sleep(0.05)`)));
    const started = await backends();
    assert.equal(started.length, 4);
    const id = await insert(1);
    const refused: [string, Statement][] = [
      ['DK001', sql`SELECT docket_require('any', 0, 1)`],
      ['23505', sql`INSERT INTO things (id, value) VALUES (${id}::uuid, 1)`],
      ['57014', sql`SELECT pg_sleep(2)`],
      [
        '55P03',
        sql`SELECT docket_require('any', 0, 1) WHERE set_config('lock_timeout', '1', true) IS NULL UNION ALL
        SELECT true FROM (SELECT id FROM things FOR UPDATE NOWAIT) AS t`,
      ],
      ['22012', sql`SELECT 1 / ${0}::int`],
      ['42P01', sql`SELECT 1 FROM nothing`],
    ];
    await duringTransaction(db, async (client) => {
      await client.query('SELECT id FROM things FOR UPDATE');
      for (const [code, statement] of refused) {
        for (let round = 0; round < 3; round++) {
          assert.deepEqual(await Promise.all([1, 2, 3].map(() => codeOf(db.query(statement)))), [code, code, code]);
        }
      }
    });
    assert.equal(
      await codeOf(db.transaction('BEGIN', (tx) => tx.query(sql`SELECT docket_require('any', 0, 1)`))),
      'DK001',
    );
    assert.deepEqual(await backends(), started);
  });

  it('on a connection that breaks end it, and only it', async () => {
    const started = await backends();
    assert.equal(await codeOf(db.query(sql`SELECT pg_terminate_backend(pg_backend_pid())`)), '57P01');
    await Promise.all(Array.from({ length: 4 }, () => db.query(sql`SELECT pg_sleep(0.05)`)));
    const left = await backends();
    assert.equal(left.filter((one) => started.includes(one)).length, 3);
    assert.equal(left.length, 4);
  });

  it('look up concurrent keys together, with the answers of single look-ups', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, (_, at) => insert(at + 1)));
    const asked = Array.from({ length: 300 }, (_, at) =>
      at % 5 === 0 ? randomUUID() : (ids[(at * 7) % 40] as string),
    );
    db.sent = 0;
    const together = await Promise.all(asked.map((id) => find(db, thingById, { id })));
    assert.ok(db.sent < 40, `${db.sent} statements`);
    const alone = await db.transaction('BEGIN', async (tx) => {
      const found: (Thing | undefined)[] = [];
      for (const id of asked) found.push(await find(tx, thingById, { id }));
      return found;
    });
    assert.deepEqual(together, alone);
    const [first, second] = await Promise.all([1, 2].map(() => find(db, thingById, { id: ids[0] as string })));
    assert.notEqual(first, second, 'no two requests share a row');
  });

  it('see everything that was committed before their request', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => insert(1)));
    const committed = new Map(ids.map((id) => [id, 1]));
    db.delayMs = 15;
    let reads = 0;
    const until = performance.now() + 1500;
    const writer = async (id: string): Promise<void> => {
      for (let value = 2; performance.now() < until; value++) {
        await db.query(sql`UPDATE things SET value = ${value}::int WHERE id = ${id}::uuid`);
        committed.set(id, value);
      }
    };
    const reader = async (id: string): Promise<void> => {
      while (performance.now() < until) {
        const least = committed.get(id) ?? 0;
        const row = await find(db, thingById, { id });
        assert.ok((row?.value ?? 0) >= least, `${row?.value} is older than ${least}`);
        reads++;
      }
    };
    await Promise.all([...ids.slice(0, 2).map(writer), ...ids.flatMap((id) => [reader(id), reader(id), reader(id)])]);
    db.delayMs = 0;
    assert.ok(reads > 100, `${reads} reads`);
  });

  it('send a request that comes during a batch in a later one', async () => {
    const id = await insert(1);
    // Holds the answer of the first batch back, while the row changes and others ask for it.
    const held = Promise.withResolvers<void>();
    const { query } = db;
    let batches = 0;
    db.query = async (statement, options) => {
      const rows = await query.call(db, statement, options);
      if (batches++ === 0) await held.promise;
      return rows as never;
    };
    try {
      const early = find(db, thingById, { id });
      while (batches === 0) await sleep(1);
      await query.call(db, sql`UPDATE things SET value = 2 WHERE id = ${id}::uuid`);
      const late = await Promise.all([1, 2, 3].map(() => find(db, thingById, { id })));
      assert.deepEqual(
        late.map((row) => row?.value),
        [2, 2, 2],
      );
      held.resolve();
      assert.equal((await early)?.value, 1);
      assert.equal(batches, 2);
    } finally {
      held.resolve();
      db.query = query;
    }
  });

  it('fail alone if only their row cannot be read', async () => {
    const broken = await insert(0);
    const ids = await Promise.all(Array.from({ length: 20 }, () => insert(2)));
    const answers = await Promise.allSettled([...ids, broken].map((id) => find(db, thingById, { id })));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [...ids.map(() => 'fulfilled'), 'rejected'],
    );
    assert.equal(await codeOf(find(db, thingById, { id: broken })), '22012');
  });
});

interface Change {
  id: string;
  expected: number;
  value: number;
}

const changeThing: TableWrite<Change> = {
  name: 'change_thing',
  guard: true,
  records: ({ id }) => [id],
  frequent: true,
  columns: { id: 'uuid', expected: 'integer', value: 'integer' },
  sql: (rows) =>
    sql`UPDATE things t SET value = r.value FROM ${rows} WHERE t.id = r.id AND t.value = r.expected RETURNING 1`,
};

const takeName: TableWrite<{ id: string; name: string }> = {
  name: 'take_name',
  guard: false,
  records: () => [],
  frequent: true,
  columns: { id: 'uuid', name: 'text' },
  sql: (rows) => sql`INSERT INTO names (id, name) SELECT id, name FROM ${rows}`,
};

describe('units of work in groups', () => {
  let database: TestDatabase;
  let db: SlowDatabase;
  before(async () => {
    database = await createTestDatabase();
    db = new SlowDatabase({ url: database.url, max: 20 });
    await db.query(sql`CREATE TABLE things (id uuid PRIMARY KEY, value integer NOT NULL)`);
    await db.query(sql`CREATE TABLE names (id uuid NOT NULL, name text PRIMARY KEY)`);
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  it('end as some order of the same units alone', async () => {
    const groups = new Groups(db, new Statements(), 16);
    let calm = { units: 0, statements: 0 };
    for (let round = 0; round < 40; round++) {
      // In some rounds all units can succeed; in others they compete for records and names, or know old values.
      const records = round % 4 === 0 ? 20 : 12;
      const ids = Array.from({ length: records }, () => randomUUID());
      await db.query(sql`INSERT INTO things (id, value) SELECT id, 0 FROM unnest(${ids}::uuid[]) AS id`);
      const plans = Array.from({ length: 20 }, (_, at) => {
        const isCalm = round % 4 === 0;
        const id = ids[isCalm ? at : Math.floor(Math.random() * records)] as string;
        const name = isCalm ? randomUUID() : `${round} ${Math.floor(Math.random() * 18)}`;
        const expected = !isCalm && Math.random() < 0.1 ? 7 : 0;
        // In half of the rounds the units plan different writes.
        const kind = Math.floor(round / 4) % 2 === 0 ? 'both' : (['both', 'change', 'name'] as const)[at % 3];
        const changes = kind !== 'name';
        return { unit: randomUUID(), id, name, expected, value: at + 100, changes, names: kind !== 'change' };
      });
      db.delayMs = 4;
      db.sent = 0;
      const outcomes = await Promise.all(
        plans.map(async ({ unit, id, name, expected, value, changes, names }) => {
          const change = { write: changeThing as TableWrite<unknown>, rows: [{ id, expected, value }] };
          const take = { write: takeName as TableWrite<unknown>, rows: [{ id: unit, name }] };
          const planned = [...(changes ? [change] : []), ...(names ? [take] : [])];
          return await codeOf(
            groups.write({ planned, claimed: undefined, returned: undefined, invalidated: new Set() }, randomUUID()),
          );
        }),
      );
      db.delayMs = 0;
      if (round % 4 === 0) calm = { units: calm.units + plans.length, statements: calm.statements + db.sent };
      const done = plans.filter((_, at) => outcomes[at] === 'none');
      const changed = done.filter(({ changes }) => changes);
      const values = await db.query<Thing>(sql`SELECT id, value FROM things WHERE id = ANY(${ids}::uuid[])`);
      const names = await db.query<{ id: string; name: string }>(
        sql`SELECT id, name FROM names WHERE id = ANY(${plans.map(({ unit }) => unit)}::uuid[])`,
      );
      assert.deepEqual(
        names.map(({ id, name }) => `${id} ${name}`).sort(),
        done.flatMap(({ unit, name, names: takes }) => (takes ? [`${unit} ${name}`] : [])).sort(),
      );
      for (const { id, value } of values) assert.equal(value, changed.find((one) => one.id === id)?.value ?? 0);
      assert.equal(new Set(changed.map(({ id }) => id)).size, changed.length, 'one unit changed each record');
      for (const [at, outcome] of outcomes.entries()) {
        const { id, name, expected } = plans[at] as (typeof plans)[number];
        if (outcome === 'DK001') assert.ok(expected !== 0 || changed.some((one) => one.id === id), 'its guard failed');
        else if (outcome === '23505')
          assert.ok(
            done.some((one) => one.names && one.name === name),
            'its name was taken',
          );
        else assert.equal(outcome, 'none');
      }
    }
    assert.ok(calm.statements < calm.units / 2, JSON.stringify(calm));
  });

  it('that wait for a lock delay the others of their group only for the limit of the group', async () => {
    // If the group waited for the lock itself, the statement would be cancelled, and all of its units with it.
    const strict = new SlowDatabase({ url: database.url, max: 20, statementMs: 20_000 });
    try {
      const groups = new Groups(strict, new Statements(), 16);
      const ids = Array.from({ length: 16 }, () => randomUUID());
      await db.query(sql`INSERT INTO things (id, value) SELECT id, 0 FROM unnest(${ids}::uuid[]) AS id`);
      await duringTransaction(db, async (client) => {
        await client.query('SELECT FROM things WHERE id = $1 FOR UPDATE', [ids[7]]);
        const over = new Set<number>();
        const units = ids.map(async (id, at) => {
          const change = { write: changeThing as TableWrite<unknown>, rows: [{ id, expected: 0, value: at + 1 }] };
          const unit = { planned: [change], claimed: undefined, returned: undefined, invalidated: new Set<never>() };
          await groups.write(unit, randomUUID()).finally(() => over.add(at));
        });
        await Promise.all(units.filter((_, at) => at !== 7));
        assert.deepEqual(
          [over.has(7), strict.sent, groups.counts.refused],
          [false, 17, 1],
          'one group, then each alone',
        );
        await client.query('ROLLBACK');
        await units[7];
      });
      const rows = await db.query<Thing>(sql`SELECT id, value FROM things WHERE id = ANY(${ids}::uuid[])`);
      assert.deepEqual(new Map(rows.map(({ id, value }) => [id, value])), new Map(ids.map((id, at) => [id, at + 1])));
    } finally {
      await strict.close();
    }
    const [deadlock] = await db.query<{ ms: number }>(
      sql`SELECT setting::int AS ms FROM pg_settings WHERE name = 'deadlock_timeout'`,
    );
    assert.ok(LOCK_MS < (deadlock?.ms ?? 0), 'no group waits until the server looks for deadlocks');
  });

  it('are not in a group with others on the same record', async () => {
    const groups = new Groups(db, new Statements(), 16);
    const write = { ...takeName, name: 'take_name_of_record', records: ({ id }) => [id] } satisfies typeof takeName;
    const id = randomUUID();
    await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        // Every second one is on a record of its own.
        const rows = [{ id: at % 2 === 0 ? id : randomUUID(), name: randomUUID() }];
        const planned = [{ write: write as TableWrite<unknown>, rows }];
        await groups.write({ planned, claimed: undefined, returned: undefined, invalidated: new Set() }, randomUUID());
      }),
    );
    const { units, statements, refused } = groups.counts;
    assert.deepEqual([units, statements, refused], [8, 4, 0], 'one group of five, and three alone');
  });

  it('get the error of their own guard only', async () => {
    const groups = new Groups(db, new Statements(), 16);
    const ids = Array.from({ length: 16 }, () => randomUUID());
    await db.query(sql`INSERT INTO things (id, value) SELECT id, 0 FROM unnest(${ids}::uuid[]) AS id`);
    db.sent = 0;
    const outcomes = await Promise.all(
      ids.map(async (id, at) => {
        const rows = [{ id, expected: at % 5 === 0 ? 7 : 0, value: at + 1 }];
        const planned = [{ write: changeThing as TableWrite<unknown>, rows }];
        return await codeOf(
          groups.write({ planned, claimed: undefined, returned: undefined, invalidated: new Set() }, randomUUID()),
        );
      }),
    );
    assert.deepEqual(
      outcomes,
      ids.map((_, at) => (at % 5 === 0 ? 'DK001' : 'none')),
    );
    assert.deepEqual([db.sent, groups.counts.refused], [17, 1], 'one group, then each alone');
  });
});

async function codeOf(failing: Promise<unknown>): Promise<string> {
  return await failing.then(
    () => 'none',
    (error: unknown) => String((error as { code?: string }).code),
  );
}
