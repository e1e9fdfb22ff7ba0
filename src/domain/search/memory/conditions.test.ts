import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { evaluate, parseCondition, resolverOf, type TypedCondition, type TypedField } from '../../../lib/filter.ts';
import { differs, type Row, type Scenario, scenario } from '../../../../test/support/filter-sql-arbitraries.ts';
import { STATES, TYPES, uuid } from '../../../../test/support/filter-sql-edges.ts';
import { columnsOfCondition, type ConditionEnvironment, isTimed, keyOfField, ruleTest } from './conditions.ts';
import { withRights } from '../filter.ts';
import type { RecordRule } from '../query.ts';
import type { ColumnValue } from './columns.ts';
import { buildSegment, type IndexedDocument } from './segment.ts';

const NOTHING = new Map<string, string>();

/** The size is the place of the row. */
function documentOf({ facts: { values, folded, system }, version, stateId }: Row, place: number): IndexedDocument {
  const kept = new Map<string, ColumnValue>();
  for (const code of Object.keys(values)) {
    kept.set(code, { value: values[code], ...(Object.hasOwn(folded, code) ? { folded: folded[code] } : {}) });
  }
  const stored = { ...system, typeVersion: version, workflowStateId: stateId };
  for (const [name, value] of Object.entries(stored)) if (value !== null) kept.set(`$${name}`, { value });
  const { id, updatedAt } = system;
  return {
    id,
    updatedAt: Date.parse(updatedAt),
    profileId: 1,
    versions: [1, 1],
    size: place,
    lexemes: NOTHING,
    values: kept,
  };
}

function environmentOf({ of, variables }: Scenario): ConditionEnvironment {
  const differing = of
    .filter(differs)
    .flatMap(({ code }) => [...TYPES.values()].map((typeId) => keyOfField(typeId, code)));
  return {
    names: {
      typeCodes: new Map([...TYPES].map(([code, id]) => [id, code])),
      states: new Map(STATES.map((state) => [state.id, state])),
      mismatched: new Map(differing.map((key) => [key, new Set([1])])),
    },
    variables,
  };
}

describe('Conditions on documents of the index', () => {
  test('give the results of the condition language', () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const resolve = resolverOf(given.of);
        const typed = (input: unknown): TypedCondition => parseCondition(input, { resolve, variables: 'allowed' });
        const limits = [
          null,
          typed({ field: 'revision', operator: 'in', value: [2, 4] }),
          typed({ field: 'createdBy', operator: 'equals', value: uuid(1) }),
          typed({ field: 'typeCode', operator: 'equals', value: 'unknown' }),
        ];
        const everyType = (condition: TypedCondition | null): RecordRule =>
          new Map([...TYPES.values()].map((typeId) => [typeId, condition]));
        const environment = environmentOf(given);
        const limitOf = ({ code }: { code: string }): TypedCondition | null =>
          limits[given.visibility[given.of.findIndex((field) => field.code === code)] ?? 0] ?? null;
        const segment = buildSegment(given.rows.map(documentOf));
        for (const input of given.conditions) {
          const condition = typed(input);
          const limited = withRights(condition, limitOf) ?? assert.fail();
          const test = ruleTest(segment, everyType(limited), environment);
          for (let doc = 0; doc < segment.count; doc++) {
            const { facts } = given.rows[segment.parts.sizes[doc] as number] as Row;
            const canRead = (code: string): boolean => {
              const limit = limitOf({ code });
              return limit === null || evaluate(limit, facts, given.variables);
            };
            const right = evaluate(condition, facts, given.variables, canRead);
            assert.equal(test(doc), right, `${JSON.stringify(input)} on ${JSON.stringify(facts)}`);
            assert.equal(test(doc), right, 'the second time');
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  const field = (code: string, kind: 'system' | 'value' = 'value'): TypedField => ({
    code,
    kind,
    dataType: 'string',
    multiple: false,
  });
  const empty = (of: TypedField): TypedCondition => ({ field: of, operator: 'is-empty', value: true });

  test('name the columns that they need', () => {
    const columnsOf = (one: TypedCondition): string[] =>
      columnsOfCondition({ logic: 'OR', conditions: [empty(field('kind')), one] });
    assert.deepEqual(columnsOf(empty(field('workflowCategory', 'system'))), ['kind', '$workflowStateId']);
    assert.deepEqual(columnsOf(empty(field('updatedAt', 'system'))), ['kind']);
    assert.deepEqual(columnsOf(empty({ ...field('region'), storedAs: 'area' })), ['kind', 'area']);
    assert.deepEqual(columnsOf(empty(field('title', 'system'))), ['kind', '$title']);
  });

  test('depend on the time only if they name it', () => {
    const before = (variable: 'now' | 'me'): TypedCondition => ({
      field: field('at'),
      operator: 'before',
      value: { variable },
    });
    assert.ok(isTimed(new Map([['t', { logic: 'OR', conditions: [empty(field('kind')), before('now')] }]])));
    assert.ok(!isTimed(new Map([['t', before('me')]])));
    assert.ok(!isTimed(new Map([['t', null]])));
  });

  test('compare renamed fields and options by their present codes', () => {
    const values = new Map([
      ['$typeId', { value: 't' }],
      ['first', { value: ['old', 'same'] }],
    ]);
    const segment = buildSegment([
      { id: uuid(1), updatedAt: 1, profileId: 1, versions: [1, 1], size: 1, lexemes: NOTHING, values },
    ]);
    const environment = environmentOf({ of: [], variables: {}, visibility: [] } as unknown as Scenario);
    const kind: TypedField = {
      code: 'second',
      storedAs: 'first',
      kind: 'value',
      dataType: 'enum',
      multiple: true,
      optionsStoredAs: { new: 'old' },
    };
    const holds = (literal: string): boolean =>
      ruleTest(segment, new Map([['t', { field: kind, operator: 'equals', value: { literal } }]]), environment)(0);
    assert.deepEqual(['new', 'same', 'old'].map(holds), [true, true, false]);
    assert.deepEqual(columnsOfCondition(empty(kind)), ['first']);
  });

  test('hold on no record of a type without a rule', () => {
    const segment = buildSegment([
      {
        id: uuid(1),
        updatedAt: 1,
        profileId: 1,
        versions: [1, 1],
        size: 1,
        lexemes: NOTHING,
        values: new Map([['$typeId', { value: 't' }]]),
      },
    ]);
    const environment = environmentOf({ of: [], variables: {}, visibility: [] } as unknown as Scenario);
    assert.equal(ruleTest(segment, new Map([['t', null]]), environment)(0), true);
    assert.equal(ruleTest(segment, new Map([['other', null]]), environment)(0), false);
  });
});
