/**
 * The condition language: one grammar for search filters, row conditions of roles, workflow conditions, SLA conditions, webhook
 * filters, export queries and catalogue rules (docs/spec/search.md#condition-language, docs/spec/search.md#search).
 *
 * `parseCondition` turns untrusted JSON into a `TypedCondition`, given the fields that a caller may name. `evaluate` evaluates
 * it on a record in memory; `platform/database/filter-sql.ts` compiles it to SQL. A property-based test checks that both give the
 * same results. A typed condition is plain JSON; its variables are resolved on evaluation.
 *
 * The operators of a field depend on its data type (`data-types/`). System fields have data types too: `number` and `title` are strings, `revision` is an integer, `createdAt` and `updatedAt` are
 * datetimes, `createdBy` and `updatedBy` users, `id` and `typeId` references, `typeCode`, `state`, `workflowState` and
 * `workflowCategory` enums.
 *
 * Decisions where the specification is silent:
 * - Durations have no order. They are equal if their canonical forms are (PT60M is PT1H, P1W is P7D; PT24H is not P1D).
 * - `before`, `after` and `range` on a multiple field match if one element matches; for `range`, the same element must be
 *   within both bounds.
 * - A `range` whose lower bound is above the upper one is valid and matches nothing.
 * - Datetimes are compared to the millisecond; finer digits of a value are truncated. Years range from 0001 to 9999.
 * - A variable stands for a whole value or for one element of `in`. List variables may also stand for the whole value of `in`,
 *   and are allowed only with `in`. `$today` can be shifted by whole days, weeks, months and years, `$now` by any duration, up
 *   to 1000 years. An undefined `$myOrgUnit` makes its condition false; among other values of `in` it is ignored.
 * - External calls have no variables: a text that starts with `$` is taken literally, and nothing is escaped.
 * - The limit of 100 conditions does not count groups.
 * - Record numbers are compared ignoring the case of ASCII letters, the only letters in their prefixes.
 */
import type { VariableName } from './data-types/index.ts';
import { isObject } from './json.ts';
import type { TypedCondition, TypedField, TypedLeaf } from './filter-types.ts';
import { isVariable } from './filter-variables.ts';

export { evaluate, type CanReadField } from './filter-evaluate.ts';
export { OPERATORS, type Operator, operatorFits, type VariableName } from './data-types/index.ts';
export { resolverOf, SYSTEM_FIELDS } from './filter-fields.ts';
export { type ParseOptions, parseCondition } from './filter-parse.ts';
export {
  type Condition,
  type FieldResolver,
  type FilterField,
  type GroupCondition,
  type LeafCondition,
  type Logic,
  type Operand,
  type RecordFacts,
  type SystemFacts,
  type TypedCondition,
  type TypedField,
  type TypedGroup,
  type TypedLeaf,
  type Variables,
} from './filter-types.ts';

/**
 * The condition as it applies to records of one type. Of an AND group that a comparison of `typeCode` limits to other types, only
 * that comparison is left: its other parts may name fields that the type lacks.
 */
export function conditionFor<T>(condition: T, typeCode: string): T {
  const { logic, conditions } = condition as { logic?: unknown; conditions?: unknown };
  if (!Array.isArray(conditions)) return condition;
  const limit = logic === 'AND' ? conditions.find((part) => isOtherType(part, typeCode)) : undefined;
  if (limit !== undefined) return limit as T;
  return { ...condition, conditions: conditions.map((part: unknown) => conditionFor(part, typeCode)) };
}

function isOtherType(part: unknown, typeCode: string): boolean {
  if (!isObject(part) || part['field'] !== 'typeCode') return false;
  const { operator, value } = part;
  return operator === 'in'
    ? Array.isArray(value) && !value.includes(typeCode)
    : operator === 'equals' && value !== typeCode;
}

/** Every leaf of the condition, in order. */
export function* leavesOf(condition: TypedCondition): Generator<TypedLeaf> {
  if (!('logic' in condition)) yield condition;
  else for (const part of condition.conditions) yield* leavesOf(part);
}

/** The distinct fields of the condition, in order. */
export function fieldsOf(condition: TypedCondition): TypedField[] {
  const found = new Map<string, TypedField>();
  for (const { field } of leavesOf(condition)) found.set(`${field.kind} ${field.code}`, field);
  return [...found.values()];
}

/** The variables that the result depends on, without the `$`. */
export function variablesOf(condition: TypedCondition): Set<VariableName> {
  const names = new Set<VariableName>();
  for (const leaf of leavesOf(condition)) {
    const operands =
      leaf.operator === 'in'
        ? leaf.values
        : leaf.operator === 'range'
          ? [leaf.from, leaf.to]
          : typeof leaf.value === 'object'
            ? [leaf.value]
            : [];
    for (const operand of operands) if (isVariable(operand)) names.add(operand.variable);
  }
  return names;
}
