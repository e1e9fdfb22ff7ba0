import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import sql, { type Sql } from 'sql-template-tag';
import type { TableWrite } from './context.ts';
import { type Flushed, flushStatement, type Planned } from './flush.ts';
import { Statements } from './statement.ts';

const things: TableWrite<{ id: string; note: unknown }> = {
  name: 'put_things',
  guard: true,
  frequent: true,
  columns: { id: 'uuid', note: 'jsonb' },
  sql: (rows: Sql, alone: boolean) =>
    sql`INSERT INTO things SELECT id, note, ${alone}::boolean FROM ${rows} RETURNING 1`,
};

const under = (limit: number): TableWrite<{ id: string }> => ({
  name: 'see_things',
  guard: true,
  varies: true,
  frequent: true,
  columns: { id: 'uuid' },
  sql: (rows: Sql) => sql`SELECT 1 FROM ${rows} JOIN things t ON t.id = r.id WHERE t.size < ${limit}`,
});

const rows = (count: number): { id: string; note: unknown }[] =>
  Array.from({ length: count }, (_, index) => ({ id: `id${index}`, note: index === 0 ? null : { index } }));

function flushed(statements: Statements, ...planned: Planned[]): { text: string; values: unknown[] } {
  const { text, values } = flushStatement(statements, [
    { planned, claimed: undefined, returned: undefined, invalidated: new Set() },
  ]);
  // Every placeholder has exactly one value.
  const places = [...text.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place));
  assert.deepEqual(
    places,
    Array.from(values, (_, index) => index + 1),
  );
  return { text, values };
}

const plan = <Row>(write: TableWrite<Row>, given: Row[]): Planned => ({
  write: write as TableWrite<unknown>,
  rows: given,
});

describe('the statement of a unit of work', () => {
  it('has one text for all values', () => {
    const statements = new Statements();
    const first = flushed(statements, plan(things, [{ id: 'a', note: 1 }]));
    const second = flushed(statements, plan(things, [{ id: 'b', note: { x: [1] } }]));
    assert.equal(first.text, second.text);
    assert.deepEqual(first.values, [true, 'a', '1', 1]);
    assert.deepEqual(second.values, [true, 'b', '{"x":[1]}', 1]);
  });

  it('sends a few rows as parameters and many as JSON, with one text for the latter', () => {
    const statements = new Statements();
    const few = flushed(statements, plan(things, rows(2)));
    assert.deepEqual(few.values, [false, 'id0', null, 'id1', '{"index":1}', 2]);
    const many = flushed(statements, plan(things, rows(5)));
    assert.deepEqual(many.values, [false, JSON.stringify(rows(5)), 5]);
    assert.equal(many.text, flushed(statements, plan(things, rows(900))).text);
    assert.notEqual(many.text, few.text);
  });

  it('uses the current values each time', () => {
    const statements = new Statements();
    const small = flushed(statements, plan(under(3), [{ id: 'a' }]));
    const large = flushed(statements, plan(under(9), [{ id: 'a' }]));
    assert.equal(small.text, large.text);
    assert.deepEqual(small.values, ['a', 3, 1]);
    assert.deepEqual(large.values, ['a', 9, 1]);
    const other = { ...under(3), sql: (given: Sql) => sql`SELECT 2 FROM ${given}` };
    assert.match(flushed(statements, plan(other, [{ id: 'a' }])).text, /SELECT 2/);
  });

  it('renumbers parameters if the same parts come in another order', () => {
    const statements = new Statements();
    const one = plan(things, rows(1));
    const two = plan(under(3), [{ id: 'z' }]);
    assert.deepEqual(flushed(statements, one, two).values, [true, 'id0', null, 'z', 3, 1, 1]);
    assert.deepEqual(flushed(statements, two, one).values, ['z', 3, true, 'id0', null, 1, 1]);
  });

  it('writes what waits for guards after those of all units, in whatever order they come', () => {
    const copy: TableWrite<{ id: string }> = {
      name: 'log_copies',
      guard: false,
      sql: (given: Sql, _alone: boolean, ready: Sql) =>
        sql`INSERT INTO log SELECT id FROM jsonb_to_recordset(${given}) AS r (id uuid) WHERE ${ready} RETURNING id`,
    };
    const log: TableWrite<{ id: string }> = { ...copy, name: 'log_rows', guard: 'awaited' };
    const take: TableWrite<{ id: string }> = { ...copy, name: 'take_row', guard: true };
    const unit = (...planned: Planned[]): Flushed => ({
      planned,
      claimed: undefined,
      returned: undefined,
      invalidated: new Set(),
    });
    const logged = unit(plan(things, rows(1)), plan(log, [{ id: 'a' }]), plan(copy, [{ id: 'a' }]));
    const silent = unit(plan(take, [{ id: 'b' }]));
    for (const units of [
      [logged, silent],
      [silent, logged],
    ]) {
      const { text } = flushStatement(new Statements(), units);
      const places = ['put_things', 'take_row', 'log_rows', 'log_copies'].map((name) => text.indexOf(`${name} AS (`));
      assert.ok(!places.includes(-1), text);
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
        text,
      );
    }
  });
});
