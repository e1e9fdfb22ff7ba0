/** For tests: record types with two versions, records of either version, and conditions on them. */
import fc from 'fast-check';
import { canonicalInstant, DATA_TYPES, type DataType } from '../../src/lib/data-types/index.ts';
import {
  type FilterField,
  OPERATORS,
  type Operator,
  operatorFits,
  type RecordFacts,
  resolverOf,
  SYSTEM_FIELDS,
  type Variables,
} from '../../src/lib/filter.ts';
import { nfc } from '../../src/lib/text.ts';
import {
  escaped,
  factsOf,
  given,
  id,
  INSTANTS,
  part,
  type Shape,
  shift,
  STATES,
  text,
  TYPES,
  VARIABLES,
} from './filter-sql-edges.ts';

/** A field in the newest version of a type and in the previous one. */
export interface Field extends FilterField {
  old: Shape;
}

const shape: fc.Arbitrary<Shape> = fc.record({ dataType: fc.constantFrom(...DATA_TYPES), multiple: fc.boolean() });
const CODES = ['title', 'constructor', 'select', 'toString', 'aB_9', 'values', 'x'.repeat(63)];
const fields: fc.Arbitrary<Field[]> = fc
  .tuple(
    fc.shuffledSubarray(CODES, { minLength: 5 }),
    fc.array(fc.tuple(shape, shape, fc.boolean()), { minLength: 7, maxLength: 7 }),
  )
  .map(([codes, shapes]) =>
    codes.map((code, index) => {
      const [now, other, same] = shapes[index] as [Shape, Shape, boolean];
      return { code, kind: 'value', ...now, old: same ? now : other };
    }),
  );

export interface Row {
  facts: RecordFacts;
  version: number;
  stateId: string | null;
}

function row(of: Field[]): fc.Arbitrary<Row> {
  return fc
    .tuple(
      fc.constantFrom(1, 2, 2),
      fc.tuple(
        ...of.map((field) => {
          const value = (as: Shape): fc.Arbitrary<unknown> =>
            fc.option(
              as.multiple ? fc.uniqueArray(given[as.dataType], { minLength: 1, maxLength: 3 }) : given[as.dataType],
            );
          return fc.tuple(value(field), value(field.old));
        }),
      ),
      fc.record({
        id,
        number: fc.constantFrom(null, 'INC0000001', 'inc1', 'Ёж-7', 'ЁЖ-12', 'ÉÄ1'),
        title: fc.option(text.map(nfc)),
        typeCode: fc.constantFrom('incident', 'problem'),
        state: fc.constantFrom('ACTIVE', 'ARCHIVED'),
        revision: fc.integer({ min: 1, max: 4 }),
        createdAt: fc.constantFrom(...INSTANTS),
        createdBy: fc.option(id),
        updatedAt: fc.constantFrom(...INSTANTS),
        updatedBy: fc.option(id),
      }),
      fc.option(fc.constantFrom(...STATES)),
    )
    .map(([version, values, system, state]) => {
      const kept = new Map<string, Shape & { value: unknown }>();
      for (const [index, field] of of.entries()) {
        const value = (values[index] as [unknown, unknown])[version === 1 ? 1 : 0];
        if (value !== null) kept.set(field.code, { ...(version === 1 ? field.old : field), value });
      }
      const mismatched = (code: string): boolean => {
        const field = of.find((one) => one.code === code);
        return version === 1 && field !== undefined && differs(field);
      };
      const facts = factsOf(kept, {
        ...system,
        typeId: TYPES.get(system.typeCode) as string,
        createdAt: canonicalInstant(system.createdAt) as string,
        updatedAt: canonicalInstant(system.updatedAt) as string,
        workflowState: state?.code ?? null,
        workflowCategory: state?.category ?? null,
      });
      return { facts: { ...facts, mismatched }, version, stateId: state?.id ?? null };
    });
}

export function differs(field: Field): boolean {
  return field.dataType !== field.old.dataType || field.multiple !== field.old.multiple;
}

const SYSTEM_VALUES = new Map<string, fc.Arbitrary<unknown>>([
  ['number', fc.constantFrom('INC0000001', 'inc', 'ёж', 'Еж', 'INC', '1', 'ÉÄ')],
  ['typeCode', fc.constantFrom('incident', 'problem', 'unknown')],
  ['state', fc.constantFrom('ACTIVE', 'ARCHIVED')],
  ['workflowState', fc.constantFrom('new', 'closed', 'unknown')],
  ['workflowCategory', fc.constantFrom('open', 'waiting', 'done')],
  ['revision', fc.constantFrom(0, 1, 2, 3, 4, 2 ** 53 - 1)],
]);

function variable(dataType: DataType): fc.Arbitrary<string>[] {
  if (dataType === 'user') return [fc.constant('$me')];
  if (dataType === 'org-unit') return [fc.constant('$myOrgUnit')];
  if (dataType === 'datetime') return [shift.map((by) => `$now${by}`)];
  if (dataType === 'date') return [shift.map((by) => `$today${by.includes('T') ? '' : by}`)];
  return [];
}

function wireValue(operator: Operator, field: FilterField): fc.Arbitrary<unknown> {
  const { dataType } = field;
  const literal = (SYSTEM_VALUES.get(field.kind === 'system' ? field.code : '') ?? given[dataType]).map(escaped);
  const one = fc.oneof(
    { weight: 3, arbitrary: literal },
    ...variable(dataType).map((arbitrary) => ({ weight: 2, arbitrary })),
  );
  const lists = dataType === 'group' ? ['$myGroups'] : dataType === 'org-unit' ? ['$myOrgUnits'] : [];
  switch (operator) {
    case 'is-empty':
      return fc.constantFrom(undefined, true, false);
    case 'in':
      return fc.oneof(
        fc.array(fc.oneof(one, ...lists.map((l) => fc.constant(l))), { minLength: 1, maxLength: 4 }),
        ...lists.map((l) => fc.constant(l)),
      );
    case 'range':
      return fc.tuple(one, one);
    case 'contains':
    case 'starts-with':
      return SYSTEM_VALUES.has(field.code) ? literal : part.map(escaped);
    default:
      return one;
  }
}

function condition(of: readonly FilterField[], system: readonly FilterField[]): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(fc.constantFrom(...of), fc.constantFrom(...of), fc.constantFrom(...system)).chain((field) =>
    fc.constantFrom(...OPERATORS.filter((operator) => operatorFits(operator, field.dataType))).chain((operator) =>
      wireValue(operator, field).map((value) => ({
        field: field.code,
        operator,
        ...(value === undefined ? {} : { value }),
      })),
    ),
  );
  const group = (member: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.record({ logic: fc.constantFrom('AND', 'OR'), conditions: fc.array(member, { minLength: 1, maxLength: 4 }) });
  const small = fc.oneof(leaf, group(leaf));
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 2, arbitrary: group(small) },
    { weight: 1, arbitrary: group(group(small)) },
  );
}

export interface Scenario {
  of: Field[];
  rows: Row[];
  /** As in a request. */
  conditions: unknown[];
  /** For each field, the index of the visibility rule that applies. */
  visibility: number[];
  variables: Variables;
}

export const scenario: fc.Arbitrary<Scenario> = fields.chain((of) => {
  const resolve = resolverOf(of);
  const system = [...SYSTEM_FIELDS.values()].filter((field) => resolve(field.code) === field);
  return fc.record({
    of: fc.constant(of),
    rows: fc.array(row(of), { minLength: 25, maxLength: 25 }),
    conditions: fc.array(condition(of, system), { minLength: 24, maxLength: 24 }),
    visibility: fc.array(fc.constantFrom(0, 0, 0, 0, 1, 2, 3), { minLength: 20, maxLength: 20 }),
    variables: fc.record({
      me: fc.constant(VARIABLES.me),
      groups: fc.constantFrom(VARIABLES.groups, VARIABLES.groups, []),
      orgUnit: fc.constantFrom(VARIABLES.orgUnit, VARIABLES.orgUnit, null),
      orgUnits: fc.constant(VARIABLES.orgUnits),
      now: fc.constant(VARIABLES.now),
      today: fc.constant(VARIABLES.today),
    }),
  });
});
