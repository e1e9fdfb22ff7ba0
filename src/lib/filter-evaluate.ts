/**
 * Evaluates a typed condition on one record in memory (docs/spec/search.md#condition-language). `platform/database/filter-sql.ts`
 * is the SQL equivalent.
 */
import { canonicalDecimal, compareDecimals } from './decimal.ts';
import { foldNumber } from './filter-fields.ts';
import type {
  LiteralOperand,
  Operand,
  RecordFacts,
  SystemFacts,
  TypedCondition,
  TypedField,
  TypedLeaf,
  Variables,
} from './filter-types.ts';
import { compareText } from './filter-values.ts';
import { resolveOperand } from './filter-variables.ts';
import { fold } from './text.ts';

type Scalar = LiteralOperand['literal'];

/** Whether a field is readable on the record being evaluated. */
export type FieldVisibility = (code: string, field: TypedField) => boolean;

const EVERYTHING: FieldVisibility = () => true;

/**
 * Whether the record matches the condition. A condition on a field that is not `visible`, or that the record's type version
 * stores in a different shape, is false with every operator. An empty value only matches `is-empty` and `not-equals`.
 */
export function evaluate(
  condition: TypedCondition,
  record: RecordFacts,
  variables: Variables,
  visible: FieldVisibility = EVERYTHING,
): boolean {
  if ('logic' in condition) {
    const holds = (part: TypedCondition): boolean => evaluate(part, record, variables, visible);
    return condition.logic === 'AND' ? condition.conditions.every(holds) : condition.conditions.some(holds);
  }
  const { field } = condition;
  if (!visible(field.code, field)) return false;
  if (field.kind === 'value' && record.mismatched?.(field.code) === true) return false;
  return holdsOn(condition, record, variables);
}

function holdsOn(leaf: TypedLeaf, record: RecordFacts, variables: Variables): boolean {
  switch (leaf.operator) {
    case 'is-empty':
      return (stored(leaf.field, record) === undefined) === leaf.value;
    case 'contains':
      return texts(leaf.field, record).some((text) => text.includes(leaf.value));
    case 'starts-with':
      return texts(leaf.field, record).some((text) => text.startsWith(leaf.value));
    case 'equals':
      return equalsAny(leaf.field, record, resolveOperand(leaf.value, variables));
    case 'in':
      return equalsAny(leaf.field, record, resolveAll(leaf.values, variables));
    case 'not-equals': {
      const operands = resolveOperand(leaf.value, variables);
      return operands.length > 0 && !equalsAny(leaf.field, record, operands);
    }
    case 'before':
    case 'after':
    case 'range':
      return inOrder(leaf, record, variables);
  }
}

function resolveAll(operands: readonly Operand[], variables: Variables): Scalar[] {
  return operands.flatMap((operand) => [...resolveOperand(operand, variables)]);
}

/** The stored value; `undefined` if it is empty. */
function stored(field: TypedField, record: RecordFacts): unknown {
  if (field.kind === 'system') return record.system[field.code as keyof SystemFacts] ?? undefined;
  return Object.hasOwn(record.values, field.code) ? record.values[field.code] : undefined;
}

/** The value as a list of elements. A value whose shape does not match the field has none. */
function elements(field: TypedField, value: unknown): readonly unknown[] {
  if (field.multiple) return Array.isArray(value) ? value : [];
  return value === undefined ? [] : [value];
}

/** The folded texts that `contains` and `starts-with` search. */
function texts(field: TypedField, record: RecordFacts): string[] {
  if (field.kind === 'system') {
    const text = stored(field, record);
    if (typeof text !== 'string') return [];
    return [field.code === 'number' ? foldNumber(text) : fold(text)];
  }
  const copy = Object.hasOwn(record.folded, field.code) ? record.folded[field.code] : undefined;
  return elements(field, copy).filter((text) => typeof text === 'string');
}

/** The comparable form of a stored element: text, numbers and booleans unchanged, decimals in canonical form. */
function comparable(field: TypedField, element: unknown): unknown {
  return field.dataType === 'decimal' && !field.multiple ? canonicalDecimal(element) : element;
}

function equalsAny(field: TypedField, record: RecordFacts, operands: readonly Scalar[]): boolean {
  return elements(field, stored(field, record)).some((element) =>
    (operands as readonly unknown[]).includes(comparable(field, element)),
  );
}

type OrderLeaf = Extract<TypedLeaf, { operator: 'before' | 'after' | 'range' }>;

function inOrder(leaf: OrderLeaf, record: RecordFacts, variables: Variables): boolean {
  const { field } = leaf;
  const [low, high] = bounds(leaf, variables);
  const strict = leaf.operator !== 'range';
  return elements(field, stored(field, record)).some((element) => {
    const least = strict ? 1 : 0;
    if (low !== undefined && !(order(field, element, low) >= least)) return false;
    return high === undefined || order(field, element, high) <= -least;
  });
}

function bounds(leaf: OrderLeaf, variables: Variables): [Scalar | undefined, Scalar | undefined] {
  const one = (operand: Operand): Scalar | undefined => resolveOperand(operand, variables)[0];
  switch (leaf.operator) {
    case 'after':
      return [one(leaf.value), undefined];
    case 'before':
      return [undefined, one(leaf.value)];
    case 'range':
      return [one(leaf.from), one(leaf.to)];
  }
}

/** Negative, zero or positive if the element is before, at or after the bound; NaN if the types do not match. */
function order(field: TypedField, element: unknown, bound: Scalar): number {
  if (field.dataType === 'integer') {
    return typeof element === 'number' && typeof bound === 'number' ? Math.sign(element - bound) : Number.NaN;
  }
  if (typeof bound !== 'string') return Number.NaN;
  if (field.dataType === 'decimal') {
    const decimal = canonicalDecimal(element);
    return decimal === undefined ? Number.NaN : Math.sign(compareDecimals(decimal, bound));
  }
  return typeof element === 'string' ? Math.sign(compareText(element, bound)) : Number.NaN;
}
