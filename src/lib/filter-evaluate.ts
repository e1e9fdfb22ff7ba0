/**
 * Evaluates a typed condition on one record in memory (docs/spec/search.md#condition-language). `platform/database/filter-sql.ts`
 * is the SQL equivalent.
 */
import { descriptorOf, type Literal } from './data-types/index.ts';
import { foldNumber } from './filter-fields.ts';
import type {
  Operand,
  RecordFacts,
  SystemFacts,
  TypedCondition,
  TypedField,
  TypedLeaf,
  Variables,
} from './filter-types.ts';
import { isVariable, resolveOperand } from './filter-variables.ts';
import { fold } from './text.ts';

/** Whether a field is readable on the record being evaluated. */
export type CanReadField = (code: string, field: TypedField) => boolean;

const EVERYTHING: CanReadField = () => true;

/**
 * Whether the record matches the condition. A condition on a field that the caller cannot read, or that the record's type version
 * stores in a different shape, is false with every operator. An empty value only matches `is-empty` and `not-equals`.
 */
export function evaluate(
  condition: TypedCondition,
  record: RecordFacts,
  variables: Variables,
  canRead: CanReadField = EVERYTHING,
): boolean {
  if ('logic' in condition) {
    const holds = (part: TypedCondition): boolean => evaluate(part, record, variables, canRead);
    return condition.logic === 'AND' ? condition.conditions.every(holds) : condition.conditions.some(holds);
  }
  const { field } = condition;
  if (!canRead(field.code, field)) return false;
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
      return isOneOf(leaf.field, leaf.values, record, variables);
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

/** The literals and variables of lists of operands, computed once for each list. */
const KNOWN_LISTS = new WeakMap<readonly Operand[], { literals: ReadonlySet<unknown>; others: readonly Operand[] }>();

function isOneOf(field: TypedField, operands: readonly Operand[], record: RecordFacts, variables: Variables): boolean {
  let known = KNOWN_LISTS.get(operands);
  if (known === undefined) {
    const literals = new Set(operands.flatMap((operand) => (isVariable(operand) ? [] : [operand.literal])));
    known = { literals, others: operands.filter(isVariable) };
    KNOWN_LISTS.set(operands, known);
  }
  const { literals, others } = known;
  return equalTo(
    field,
    record,
    (element) =>
      literals.has(element) || others.some((operand) => includes(resolveOperand(operand, variables), element)),
  );
}

function includes(operands: readonly Literal[], element: unknown): boolean {
  return (operands as readonly unknown[]).includes(element);
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

function equalsAny(field: TypedField, record: RecordFacts, operands: readonly Literal[]): boolean {
  return equalTo(field, record, (element) => includes(operands, element));
}

function equalTo(field: TypedField, record: RecordFacts, isWanted: (element: unknown) => boolean): boolean {
  // Elements of a list are compared as JSON, as in SQL.
  const comparable = field.multiple ? undefined : descriptorOf(field.dataType).comparable;
  return elements(field, stored(field, record)).some((element) =>
    isWanted(comparable === undefined ? element : comparable(element)),
  );
}

type OrderLeaf = Extract<TypedLeaf, { operator: 'before' | 'after' | 'range' }>;

function inOrder(leaf: OrderLeaf, record: RecordFacts, variables: Variables): boolean {
  const { field } = leaf;
  const { compare } = descriptorOf(field.dataType);
  if (compare === undefined) return false;
  const [low, high] = bounds(leaf, variables);
  const least = leaf.operator === 'range' ? 0 : 1;
  return elements(field, stored(field, record)).some((element) => {
    if (low !== undefined && !(Math.sign(compare(element, low)) >= least)) return false;
    return high === undefined || Math.sign(compare(element, high)) <= -least;
  });
}

function bounds(leaf: OrderLeaf, variables: Variables): [Literal | undefined, Literal | undefined] {
  const one = (operand: Operand): Literal | undefined => resolveOperand(operand, variables)[0];
  switch (leaf.operator) {
    case 'after':
      return [one(leaf.value), undefined];
    case 'before':
      return [undefined, one(leaf.value)];
    case 'range':
      return [one(leaf.from), one(leaf.to)];
  }
}
