/** What rules plan within a unit of work, without a database: one write for each record, with the guard of the command. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { applyBundle } from '../../configuration/engine.ts';
import { SECTIONS } from '../../../test/support/bundle-fixture.ts';
import { bundle, user } from '../../../test/support/small-configuration.ts';
import type { Caller, WriteContext } from '../../platform/unit-of-work/context.ts';
import { ConfigSnapshot, type ConfigSource } from '../../platform/unit-of-work/snapshot.ts';
import { UnitContext } from '../../platform/unit-of-work/unit-context.ts';
import { systemActor } from '../access/index.ts';
import { addComment } from '../comments/index.ts';
import { typeView } from '../metadata/index.ts';
import { createObject, plannedRow, updateObject } from '../objects/index.ts';
import { ruleReaction } from './reaction.ts';

const WORLD = `
types:
  - { code: case, title: title, workflow: flow, fields: [ { code: title, dataType: string }, { code: kind, dataType: string }, { code: team, dataType: string } ] }
  - { code: problem, title: title, fields: [ { code: title, dataType: string } ] }
workflows:
  - { code: flow, initial: new, states: [ { code: new, category: open }, { code: work, category: open } ], transitions: [ { code: take, from: [new], to: work } ] }
rules:
  - { code: a-all, on: [ObjectCreated, ObjectUpdated], types: [case], runAs: robot, when: { field: kind, operator: equals, value: all }, do: [ { comment: { visibility: public, body: 'On {{ title }}' } }, { set: { team: a } }, { transition: take }, { create: { type: problem, values: { title: 'Of {{ title }}' } } } ] }
  - { code: b-next, on: [ObjectUpdated], types: [case], runAs: robot, when: { field: changed, operator: contains, value: team }, do: [ { set: { title: Next } } ] }
  - { code: c-fail, on: [ObjectUpdated], types: [case], runAs: robot, when: { field: kind, operator: equals, value: fail }, do: [ { set: { team: b } }, { transition: take }, { transition: take } ] }
  - { code: d-reply, on: [CommentAdded], types: [case], runAs: robot, when: { field: event.via, operator: equals, value: api }, do: [ { set: { team: replied } } ] }
users:
${user('robot')}`;

/** A database without rows. */
const db = { query: async () => [], transaction: true } as never;
const AT = '2026-11-21T09:00:00.000Z';

describe('rules within a unit of work', () => {
  let config: ConfigSnapshot;
  let robot: string;

  const callerWith = (snapshot: ConfigSnapshot): Caller => {
    return { actor: systemActor(null), via: 'api', keyId: null, correlationId: 'test', config: snapshot };
  };
  const newUnit = (snapshot: ConfigSnapshot, actor = systemActor(null)): UnitContext =>
    new UnitContext({ ...callerWith(snapshot), actor }, AT, db, async () => db);
  const rowsOf = (unit: UnitContext, name: string): any[] => unit.planned.get(name)?.rows ?? [];

  /** Runs a command with the system's rights, and the rules on its events. */
  async function run(command: (ctx: WriteContext) => Promise<any>): Promise<{ unit: UnitContext; data: any }> {
    const unit = newUnit(config, systemActor(config.get(typeView)));
    const data = await command(unit);
    const actorOf = async (userId: string) => ({ ...systemActor(config.get(typeView)), userId, displayName: 'Robot' });
    await ruleReaction(actorOf, () => assert.fail()).follow(unit, [...unit.events], async () => {});
    unit.reacted();
    return { unit, data };
  }
  /** The same on a stored record. */
  async function on(values: object, command: (ctx: WriteContext, id: string) => Promise<any>) {
    const made = await run((ctx) =>
      createObject(ctx, { typeDefinitionId: 'case', values: { title: 'Old', ...values } }),
    );
    const { id } = made.data;
    const stored = plannedRow(made.unit, id);
    return await run(async (ctx) => {
      ctx.memo.set(`objects:${id}`, stored);
      return await command(ctx, id);
    });
  }

  before(async () => {
    const unit = newUnit(new ConfigSnapshot(1, { items: [], typeVersions: [] }));
    await applyBundle(unit, SECTIONS, bundle(WORLD), {});
    robot = rowsOf(unit, 'insert_users')[0].id;
    const items = rowsOf(unit, 'insert_config_items').map((row) => ({ ...row, state: 'ACTIVE', version: 1 }));
    const typeVersions = rowsOf(unit, 'insert_type_versions').map((row) => ({ ...row, typeId: row.type_id }));
    config = new ConfigSnapshot(2, { items, typeVersions } as ConfigSource);
  });

  it('make all changes of a created record part of its insert', async () => {
    const values = { title: 'Printer', kind: 'all' };
    const { unit, data } = await run((ctx) => createObject(ctx, { typeDefinitionId: 'case', values }));
    const [own, other, ...rest] = rowsOf(unit, 'insert_object');
    assert.deepEqual(
      [own.values, own.title, own.by, own.updated_by],
      [{ title: 'Next', kind: 'all', team: 'a' }, 'Next', null, robot],
    );
    assert.deepEqual(
      [other.title, rest, rowsOf(unit, 'change_object'), rowsOf(unit, 'hold_active')],
      ['Of Printer', [], [], []],
    );
    assert.deepEqual([data.revision, data.title, data.workflowState.code], [1, 'Next', 'work']);
    assert.deepEqual(
      unit.events.map(({ type, revision, data: more }) => [type, revision, more?.['rule']]),
      [
        ['ObjectCreated', 1, undefined],
        ['CommentAdded', undefined, 'a-all'],
        ['ObjectUpdated', 1, 'a-all'],
        ['ObjectTransitioned', 1, 'a-all'],
        ['ObjectCreated', 1, 'a-all'],
        ['ObjectUpdated', 1, 'b-next'],
      ],
    );
    assert.deepEqual(
      unit.reactions.map(({ code, outcome }) => [code, outcome]),
      [
        ['a-all', 'DONE'],
        ['b-next', 'DONE'],
      ],
    );
    assert.equal(rowsOf(unit, 'insert_rule_runs').length, 2);
  });

  it('keep the revision that the command read as the guard, and raise it once', async () => {
    const { unit, data } = await on({}, (ctx, objectId) =>
      updateObject(ctx, { objectId, expectedRevision: 1, changes: { kind: 'all' } }),
    );
    const [change, ...rest] = rowsOf(unit, 'change_object');
    assert.deepEqual([change.expected, change.values, rest], [1, { title: 'Next', kind: 'all', team: 'a' }, []]);
    assert.deepEqual([data.revision, data.values.team, rowsOf(unit, 'hold_active')], [2, 'a', []]);
  });

  it('replace the lock of a comment by the guard of their change', async () => {
    const { unit } = await on({}, (ctx, objectId) =>
      addComment(ctx, { objectId, body: 'Hello', visibility: 'public' }),
    );
    assert.deepEqual([rowsOf(unit, 'hold_active'), rowsOf(unit, 'change_object')[0].expected], [[], 1]);
    assert.equal(plannedRow(unit, rowsOf(unit, 'change_object')[0].id)?.revision, 2);
  });

  it('drop everything that a failed rule planned', async () => {
    const { unit, data } = await on({}, (ctx, objectId) =>
      updateObject(ctx, { objectId, expectedRevision: 1, changes: { kind: 'fail' } }),
    );
    const [change] = rowsOf(unit, 'change_object');
    assert.deepEqual([change.values, change.by], [{ title: 'Old', kind: 'fail' }, null]);
    assert.deepEqual([data.values, data.revision, data.workflowState.code], [{ title: 'Old', kind: 'fail' }, 2, 'new']);
    assert.equal(unit.events.length, 1);
    const [log] = rowsOf(unit, 'insert_rule_runs');
    assert.deepEqual([log.outcome, log.error.code, log.effects], ['FAILED', 'TRANSITION_NOT_AVAILABLE', []]);
  });
});
