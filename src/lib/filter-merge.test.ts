import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PLAIN, VARIABLES } from '../../test/support/filter-sql-edges.ts';
import { evaluate, type TypedCondition, type TypedField, type TypedLeaf } from './filter.ts';
import { anyOfConditions, mergeAlternatives } from './filter-merge.ts';

const field = (code: string): TypedField => ({ code, kind: 'value', dataType: 'integer', multiple: false });
const equals = (code: string, literal: number): TypedLeaf => ({
  field: field(code),
  operator: 'equals',
  value: { literal },
});
const isOneOf = (code: string, literals: number[]): TypedLeaf => ({
  field: field(code),
  operator: 'in',
  values: literals.map((literal) => ({ literal })),
});
const all = (...conditions: TypedCondition[]): TypedCondition => ({ logic: 'AND', conditions });

// Few fields and values, so that many alternatives can be merged.
const code = fc.constantFrom('a', 'b', 'c');
const value = fc.integer({ min: 0, max: 3 });
const leaf: fc.Arbitrary<TypedLeaf> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(code, value).map(([of, one]) => equals(of, one)) },
  {
    weight: 2,
    arbitrary: fc.tuple(code, fc.array(value, { minLength: 1, maxLength: 3 })).map(([of, some]) => isOneOf(of, some)),
  },
  fc
    .tuple(code, value)
    .map(([of, one]): TypedLeaf => ({ field: field(of), operator: 'not-equals', value: { literal: one } })),
  code.map((of): TypedLeaf => ({ field: field(of), operator: 'is-empty', value: true })),
);
const condition = fc.letrec<{ condition: TypedCondition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({
      logic: fc.constantFrom('AND' as const, 'OR' as const),
      conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }),
    }),
  ),
})).condition;
const record = fc
  .record({ a: value, b: value, c: value }, { requiredKeys: [] })
  .map((values) => ({ values, folded: {}, system: PLAIN }));

describe('merged alternatives', () => {
  it('hold exactly where one of the alternatives holds', () => {
    let fewer = 0;
    fc.assert(
      fc.property(
        fc.array(condition, { minLength: 1, maxLength: 20 }),
        fc.array(record, { minLength: 10 }),
        (given, records) => {
          const merged = mergeAlternatives(given);
          if (merged.length < given.length) fewer++;
          for (const facts of records) {
            const expected = given.some((one) => evaluate(one, facts, VARIABLES));
            assert.equal(
              merged.some((one) => evaluate(one, facts, VARIABLES)),
              expected,
            );
            assert.equal(evaluate(anyOfConditions(given), facts, VARIABLES), expected);
          }
        },
      ),
      { numRuns: 500 },
    );
    assert.ok(fewer > 100, `${fewer} of 500 became fewer`);
  });

  it('become one condition if they differ in one value', () => {
    const teams = Array.from({ length: 500 }, (_, index) => index);
    const [one, ...others] = mergeAlternatives(teams.map((team) => all(equals('a', 1), equals('b', team))));
    assert.deepEqual(others, []);
    assert.ok(one !== undefined && 'logic' in one && one.conditions.length === 2);
    assert.equal(mergeAlternatives(teams.flatMap((team) => [equals('a', team), equals('b', team)])).length, 2);
    // Two values of one field and all values of the other.
    const pairs = teams.flatMap((team) => [
      all(equals('a', 1), equals('b', team)),
      all(equals('b', team), equals('a', 2)),
    ]);
    assert.equal(mergeAlternatives(pairs).length, 1);
  });
});
