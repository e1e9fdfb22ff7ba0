/** Rules with a written order do the same under any codes; and the order that a plan shows. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { applyBundle } from '../../configuration/engine.ts';
import { SECTIONS } from '../../../test/support/bundle-fixture.ts';
import { bundle, user } from '../../../test/support/small-configuration.ts';
import { isFault } from '../../lib/fault.ts';
import { ConfigSnapshot, type ConfigSource } from '../../platform/unit-of-work/snapshot.ts';
import { UnitContext } from '../../platform/unit-of-work/unit-context.ts';
import { systemActor } from '../access/index.ts';
import { typeView } from '../metadata/index.ts';
import { createObject, plannedRow, updateObject } from '../objects/index.ts';
import { orderAround, runOrder } from './order.ts';
import { ruleReaction } from './reaction.ts';
import type { RuleDefinition } from './registry.ts';

const WORLD = `
types:
  - { code: case, title: a, workflow: flow, fields: [ { code: a, dataType: string }, { code: b, dataType: string }, { code: c, dataType: string } ] }
workflows:
  - { code: flow, initial: s0, states: [ { code: s0, category: open }, { code: s1, category: open }, { code: s2, category: open } ], transitions: [ { code: t1, from: [s0], to: s1 }, { code: t2, from: [s1, s0], to: s2 }, { code: t0, from: [s1, s2], to: s0 } ] }
users:
${user('robot')}`;

const db = { query: async () => [], transaction: true } as never;
const AT = '2026-11-21T09:00:00.000Z';

const newUnit = (config: ConfigSnapshot): UnitContext => {
  const actor = systemActor(config.version === 1 ? null : config.get(typeView));
  const caller = { actor, via: 'api' as const, keyId: null, correlationId: 'test', config };
  return new UnitContext(caller, AT, db, async () => db);
};

async function configured(rules: readonly object[]): Promise<ConfigSnapshot> {
  const unit = newUnit(new ConfigSnapshot(1, { items: [], typeVersions: [] }));
  const files = [...bundle(WORLD), { name: 'rules.yaml', text: JSON.stringify({ rules }) }];
  await applyBundle(unit, SECTIONS, files, {});
  const rowsOf = (name: string): any[] => unit.planned.get(name)?.rows ?? [];
  const items = rowsOf('insert_config_items').map((row) => ({ ...row, state: 'ACTIVE', version: 1 }));
  const typeVersions = rowsOf('insert_type_versions').map((row) => ({ ...row, typeId: row.type_id }));
  return new ConfigSnapshot(2, { items, typeVersions } as ConfigSource);
}

/** Creates a record and changes it in one unit, so that the rules find several events of the command. */
async function outcome(rules: readonly object[], placeOf: ReadonlyMap<string, number>): Promise<unknown> {
  const config = await configured(rules);
  const unit = newUnit(config);
  const actorOf = async (userId: string) => ({ ...systemActor(config.get(typeView)), userId, displayName: 'Robot' });
  const { id } = await createObject(unit, { typeDefinitionId: 'case', values: { a: '0' } });
  await updateObject(unit, { objectId: id, expectedRevision: 1, changes: { b: '0' } });
  const place = (code: unknown): number | undefined => placeOf.get(code as string);
  try {
    await ruleReaction(actorOf, () => {}).follow(unit, [...unit.events], async () => {});
  } catch (error) {
    assert.ok(isFault(error) && error.code === 'RULE_LOOP', String(error));
    return (error.details as { rules: string[] }).rules.map(place);
  }
  const row = plannedRow(unit, id);
  return {
    values: row?.values,
    state: config.get(typeView).states.get(row?.workflowStateId ?? '')?.code,
    updatedBy: row?.updatedBy === null,
    events: unit.events.map(({ type, changes, data }) => ({ type, changes, rule: place(data?.['rule']) })),
    fired: unit.reactions.map(({ code, outcome: result }) => [place(code), result]),
    runs: (unit.planned.get('insert_rule_runs')?.rows ?? []).map((run: any) => [run.event_type, run.chain.map(place)]),
  };
}

const field = fc.constantFrom('a', 'b', 'c');
const value = fc.constantFrom('0', '1');
const leaf = fc.oneof(
  { weight: 3, arbitrary: fc.record({ field, operator: fc.constantFrom('equals', 'not-equals'), value }) },
  fc.record({
    field: fc.constant('changed'),
    operator: fc.constant('contains'),
    value: fc.oneof(field, fc.constant('workflowState')),
  }),
  fc.record({
    field: fc.constant('workflowState'),
    operator: fc.constant('equals'),
    value: fc.constantFrom('s0', 's1', 's2'),
  }),
);
const when = fc.oneof(
  leaf,
  fc.record({ logic: fc.constantFrom('AND', 'OR'), conditions: fc.array(leaf, { minLength: 2, maxLength: 3 }) }),
);
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(field, fc.oneof(value, fc.constant(null))).map(([code, to]) => ({ set: { [code]: to } })),
  },
  fc.constantFrom('t0', 't1', 't2').map((transition) => ({ transition })),
  fc.constant({ comment: { visibility: 'public', body: 'On {{ a }}{{ b }}{{ c }}' } }),
);
const events = fc.subarray(['ObjectCreated', 'ObjectUpdated', 'ObjectTransitioned', 'CommentAdded'], { minLength: 1 });
const rule = fc.record({
  on: events,
  when,
  do: fc.array(action, { minLength: 1, maxLength: 3 }),
  once: fc.constantFrom('becomes-true', 'every-time'),
});

describe('rules with a written order', () => {
  it('do the same under any codes', async () => {
    const sets = fc
      .array(rule, { minLength: 2, maxLength: 9 })
      .chain((rules) =>
        fc.tuple(fc.constant(rules), fc.shuffledSubarray([...rules.keys()], { minLength: rules.length })),
      );
    let fired = 0;
    await fc.assert(
      fc.asyncProperty(sets, async ([rules, codes]) => {
        const named = (codeAt: (at: number) => number) =>
          rules.map((one, at) => ({ ...one, code: `r${codeAt(at)}`, order: at, types: ['case'], runAs: 'robot' }));
        const outcomes: unknown[] = [];
        for (const codeAt of [(at: number) => at, (at: number) => codes[at] as number]) {
          const all = named(codeAt);
          outcomes.push(await outcome(all, new Map(all.map(({ code }, at) => [code, at]))));
        }
        if (JSON.stringify(outcomes[0]).includes('DONE')) fired++;
        assert.deepEqual(outcomes[1], outcomes[0]);
      }),
      { numRuns: 80 },
    );
    assert.ok(fired > 10, `only ${fired} sets did anything`);
  });

  it('are shown between their neighbours on the same event and type', () => {
    const parts = (code: string, order?: number, on = ['ObjectCreated'], types = ['case']) =>
      ({ code, on, types, ...(order === undefined ? {} : { order }) }) as unknown as RuleDefinition;
    const all = [
      parts('c'),
      parts('b'),
      parts('a', 7),
      parts('d', -1),
      parts('e', -2),
      parts('f', 0, ['ObjectCreated'], ['problem']),
      parts('g', 3, ['ObjectUpdated', 'ObjectCreated'], ['problem', 'case']),
    ];
    const order = runOrder(all);
    assert.deepEqual(
      all.map((one) => orderAround(one, order)),
      ['… → b → c → g → …', '… → d → b → c → …', '… → g → a', 'e → d → b → …', 'e → d → …', 'f → g', '… → f → g → a'],
    );
    assert.equal(
      orderAround(parts('alone', 0, ['CommentAdded']), runOrder([parts('alone', 0, ['CommentAdded'])])),
      undefined,
    );
  });
});
