/** Planned rows of a unit of work that are replaced or dropped, and parts that are undone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlannedEvent, TableWrite } from '../src/platform/unit-of-work/context.ts';
import { UnitContext, writeContextAs } from '../src/platform/unit-of-work/unit-context.ts';

interface Row {
  id: string;
  value?: number;
}
const write = (name: string) => ({ name, guard: true, sql: () => assert.fail() }) as unknown as TableWrite<Row>;
const [CHANGE, HOLD] = [write('change'), write('hold')];
const actor = (userId: string) => ({ userId, displayName: userId }) as never;

function unit(): UnitContext {
  const caller = { actor: actor('caller'), via: 'api', keyId: 'key', correlationId: 'c', config: {} } as const;
  return new UnitContext(caller as never, '2026-01-01T00:00:00.000Z', {} as never);
}
const plannedIn = (ctx: UnitContext): Record<string, unknown[]> =>
  Object.fromEntries([...ctx.planned].map(([name, { rows }]) => [name, rows]));

describe('a unit of work', () => {
  it('replaces and drops planned rows', () => {
    const ctx = unit();
    for (const id of ['a', 'b']) ctx.plan(CHANGE, { id, value: 1 });
    ctx.plan(HOLD, { id: 'a' });
    ctx.replan(CHANGE, (row) => (row.id === 'a' ? { ...row, value: 2 } : row));
    ctx.replan(HOLD, () => undefined);
    ctx.replan(write('other'), () => assert.fail());
    assert.deepEqual(plannedIn(ctx), {
      change: [
        { id: 'a', value: 2 },
        { id: 'b', value: 1 },
      ],
    });
  });

  it('restores replaced and dropped rows, events and values when a part fails', async () => {
    const ctx = unit();
    ctx.plan(HOLD, { id: 'a' });
    ctx.plan(CHANGE, { id: 'b', value: 1 });
    ctx.memo.set('seen', 1);
    const before = structuredClone(plannedIn(ctx));
    await assert.rejects(
      ctx.attempt(async () => {
        ctx.plan(CHANGE, { id: 'c', value: 1 });
        ctx.replan(CHANGE, (row) => ({ ...row, value: 2 }));
        ctx.replan(HOLD, () => undefined);
        ctx.plan(CHANGE, { id: 'd', value: 1 });
        ctx.plan(write('other'), { id: 'e' });
        ctx.memo.set('seen', 2);
        ctx.emit({ type: 'ObjectUpdated', objectId: 'a' });
        ctx.onReacted(() => assert.fail());
        throw new Error('undone');
      }),
      /undone/,
    );
    assert.deepEqual(plannedIn(ctx), before);
    assert.deepEqual([...ctx.planned.keys()], ['hold', 'change']);
    assert.deepEqual([ctx.events, ctx.memo.get('seen')], [[], 1]);
    ctx.reacted();
  });

  it('lets another user act, and answers its caller', () => {
    const ctx = unit();
    const made: PlannedEvent[] = [];
    const own = writeContextAs(ctx, {
      actor: actor('robot'),
      via: 'rule',
      data: { rule: 'r' },
      onEmit: (one) => made.push(one),
    });
    own.plan(CHANGE, { id: 'a' });
    own.emit({ type: 'ObjectUpdated', objectId: 'a', data: { other: 1 } });
    own.returning('number', { write: 'insert_object', id: 'a' });
    own.markAuthorized();
    assert.deepEqual([own.actor.userId, own.via, own.keyId], ['robot', 'rule', null]);
    assert.deepEqual([ctx.returnedValue, ctx.checked], [undefined, false]);
    assert.deepEqual(made, ctx.events);
    assert.deepEqual(made[0]?.data, { other: 1, rule: 'r' });
    assert.equal(made[0]?.origin?.via, 'rule');
    assert.deepEqual(plannedIn(ctx), { change: [{ id: 'a' }] });
  });
});
