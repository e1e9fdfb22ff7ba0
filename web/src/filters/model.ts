/**
 * The condition language in the console (docs/spec/search.md#condition-language): the shape of conditions, and its validation.
 * No side effects.
 */
import { OPERATORS, type Operator } from '../../../src/lib/data-types/index.ts';
import {
  type Condition,
  FILTER_LIMITS,
  type GroupCondition as ConditionGroup,
  type LeafCondition as Leaf,
} from '../../../src/lib/filter-types.ts';
import type { DataType, FieldSchema } from '../api/fields.ts';
import { typeOf } from '../fields/view.ts';
import { isEmpty } from '../fields/check.ts';

export { FILTER_LIMITS, OPERATORS, type Operator };
export type { Condition, ConditionGroup, Leaf };

export function isGroup(condition: Condition): condition is ConditionGroup {
  return 'conditions' in condition;
}

/** The conditions that must all hold. */
export function partsOf(condition: Condition): readonly Condition[] {
  return isGroup(condition) && condition.logic === 'AND' ? condition.conditions : [condition];
}

/** The operators of a data type, most common first. */
export function operatorsFor(dataType: DataType): readonly Operator[] {
  return typeOf(dataType).operators;
}

/** The form of an operator's value: one, many, a pair or a boolean. */
export function valueForm(operator: Operator): 'one' | 'many' | 'pair' | 'flag' {
  if (operator === 'in') return 'many';
  if (operator === 'range') return 'pair';
  return operator === 'is-empty' ? 'flag' : 'one';
}

/** The initial value after the operator changed; keeps what fits. */
export function valueFor(operator: Operator, before: unknown): unknown {
  const form = valueForm(operator);
  if (form === 'flag') return typeof before === 'boolean' ? before : true;
  const first = Array.isArray(before) ? (before[0] as unknown) : before;
  const kept = typeof first === 'boolean' ? undefined : first;
  if (form === 'many') return Array.isArray(before) ? before : kept === undefined || kept === null ? [] : [kept];
  if (form === 'pair') return Array.isArray(before) && before.length === 2 ? before : [kept ?? null, null];
  return kept ?? null;
}

/** True if every leaf has the value that its operator needs. */
export function isComplete(condition: Condition): boolean {
  if (isGroup(condition)) return condition.conditions.length > 0 && condition.conditions.every(isComplete);
  if (condition.field === '') return false;
  if (condition.operator === 'range') {
    return Array.isArray(condition.value) && condition.value.length === 2 && !condition.value.some(isEmpty);
  }
  return condition.operator === 'is-empty' || !isEmpty(condition.value);
}

/** Number of leaf conditions. */
export function countLeaves(condition: Condition): number {
  return isGroup(condition) ? condition.conditions.reduce((sum, one) => sum + countLeaves(one), 0) : 1;
}

/** Parses a condition from JSON; undefined if its shape is invalid. */
export function parseCondition(text: string): Condition | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isCondition(value, 1) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isCondition(value: unknown, depth: number): value is Condition {
  if (typeof value !== 'object' || value === null || depth > FILTER_LIMITS.depth) return false;
  const members = value as Record<string, unknown>;
  if (Object.hasOwn(members, 'conditions')) {
    const { logic, conditions } = members;
    return (
      (logic === 'AND' || logic === 'OR') &&
      Array.isArray(conditions) &&
      conditions.length > 0 &&
      conditions.length <= FILTER_LIMITS.groupConditions &&
      conditions.every((one) => isCondition(one, depth + 1))
    );
  }
  return typeof members['field'] === 'string' && OPERATORS.some((operator) => operator === members['operator']);
}

/** A field that can be used in a condition. */
export type ConditionField = Pick<FieldSchema, 'code' | 'name' | 'dataType' | 'constraints' | 'multiple'>;
