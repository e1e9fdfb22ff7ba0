/**
 * The condition language: one grammar for search filters, row conditions of roles, workflow conditions, SLA conditions,
 * webhook filters, export queries and catalogue rules (configuration, section 4; api, "Search rules").
 *
 * `parseCondition` turns untrusted JSON into a `TypedCondition` against the fields that a caller may name; `evaluate`
 * judges it on a record in memory, `mechanisms/db/filter-sql.ts` compiles it to SQL, and a property-based test holds the
 * two to the same answers. A typed condition is plain JSON; variables stay symbolic in it until it is judged.
 *
 * Which operators fit which data type:
 *
 * | data type                                                 | equals, not-equals, in | contains, starts-with | before, after, range | is-empty |
 * |-----------------------------------------------------------|:---:|:---:|:---:|:---:|
 * | string, text, url, email, phone                           |  x  |  x  |     |  x  |
 * | rich-text (its plain text)                                |     |  x  |     |  x  |
 * | integer, decimal, date, datetime, time                    |  x  |     |  x  |  x  |
 * | boolean, enum, reference, user, group, org-unit, service  |  x  |     |     |  x  |
 * | duration                                                  |  x  |     |     |  x  |
 * | json                                                      |     |     |     |  x  |
 *
 * System fields take their operators from the same table: `number` and `title` are strings, `revision` an integer,
 * `createdAt` and `updatedAt` instants, `createdBy` and `updatedBy` users, `id` and `typeId` references, `typeCode`,
 * `state`, `workflowState` and `workflowCategory` enums.
 *
 * Decided where the specification is silent:
 * - Durations have no order: whether P1M is longer than P30D depends on the calendar. Equal ones are equal in one form
 *   (PT60M is PT1H, P1W is P7D; PT24H is not P1D).
 * - `before`, `after` and `range` on a multiple field hold if they hold for one element, `range` with both its bounds.
 * - A `range` whose lower bound is above the upper one is no error and holds on nothing.
 * - Instants are compared to the millisecond; finer digits of a value are cut off. Years go from 0001 to 9999.
 * - Variables stand for a whole value or for one element of `in`; those that are lists also for the whole of `in`, and
 *   only there. `$today` takes whole days, weeks, months and years as `$now` takes any duration, up to 1000 years.
 *   An undefined `$myOrgUnit` makes its condition false, among others in `in` it adds nothing.
 * - In calls from outside there are no variables: a text that starts with `$` is that text, and nothing is escaped.
 * - The 100 conditions in all are counted without the groups.
 * - Of record numbers the case is ignored in ASCII letters, of which their prefixes are made.
 */
import type { TypedCondition, TypedField, TypedLeaf, VariableName } from './filter-types.ts';
import { isVariable } from './filter-variables.ts';

export { evaluate, type FieldVisibility } from './filter-evaluate.ts';
export { operatorFits, resolverOf, SYSTEM_FIELDS } from './filter-fields.ts';
export { type ParseOptions, parseCondition } from './filter-parse.ts';
export {
  type Condition,
  type FieldResolver,
  type FilterField,
  type GroupCondition,
  type LeafCondition,
  type Logic,
  type Operand,
  OPERATORS,
  type Operator,
  type RecordFacts,
  type SystemFacts,
  type TypedCondition,
  type TypedField,
  type TypedGroup,
  type TypedLeaf,
  type VariableName,
  type Variables,
} from './filter-types.ts';

/** Every leaf of the condition, in order. */
function* leavesOf(condition: TypedCondition): Generator<TypedLeaf> {
  if (!('logic' in condition)) yield condition;
  else for (const part of condition.conditions) yield* leavesOf(part);
}

/** The fields that the condition names, each once, in order. */
export function fieldsOf(condition: TypedCondition): TypedField[] {
  const found = new Map<string, TypedField>();
  for (const { field } of leavesOf(condition)) found.set(`${field.kind} ${field.code}`, field);
  return [...found.values()];
}

/** The variables that the condition's answer depends on, without their `$`. */
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
