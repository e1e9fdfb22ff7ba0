/**
 * Evaluates conditions of grants and filters on the documents of a segment. It gives the results of `evaluate` of the condition
 * language, which it calls once for each distinct value. Pure.
 */
import {
  evaluate,
  leavesOf,
  type RecordFacts,
  type SystemFacts,
  type TypedCondition,
  type TypedField,
  type TypedLeaf,
  type Variables,
  variablesOf,
} from '../../../lib/filter.ts';
import type { RecordRule } from '../query.ts';
import { type ColumnValue, valueAt } from './columns.ts';
import type { Segment } from './segment.ts';
import type { DocumentTest } from './words.ts';

/** The columns of system fields; they cannot be codes of fields. */
export const TYPE_COLUMN = '$typeId';
export const VERSION_COLUMN = '$typeVersion';
const STATE_COLUMN = '$workflowStateId';

/** What the configuration says about stored ids. Plain data, like everything that a question consists of. */
export interface ConditionNames {
  typeCodes: ReadonlyMap<string, string>;
  states: ReadonlyMap<string, { code: string; category: string }>;
  /** `keyOfField` of a type → the versions of the type that store the field in another shape than conditions expect. */
  mismatched: ReadonlyMap<string, ReadonlySet<number>>;
}

export function keyOfField(typeId: string, code: string): string {
  return `${typeId} ${code}`;
}

export interface ConditionEnvironment {
  names: ConditionNames;
  variables: Variables;
}

/** The column that holds the values of a field; null for what every document has. */
function columnOf({ kind, code, storedAs }: TypedField): string | null {
  if (kind === 'value') return storedAs ?? code;
  switch (code) {
    case 'id':
    case 'updatedAt':
      return null;
    case 'typeCode':
      return TYPE_COLUMN;
    case 'workflowState':
    case 'workflowCategory':
      return STATE_COLUMN;
    default:
      return `$${code}`;
  }
}

/** The columns with the values that the condition compares. Without them, only SQL can answer. */
export function columnsOfCondition(condition: TypedCondition): string[] {
  return [...leavesOf(condition)].flatMap(({ field }) => columnOf(field) ?? []);
}

/** Whether the result depends on the time of the question. If not, it can be kept as long as the segment and the variables. */
export function isTimed(rule: RecordRule): boolean {
  return [...rule.values()].some((condition) => {
    const variables = condition === null ? new Set() : variablesOf(condition);
    return variables.has('now') || variables.has('today');
  });
}

/** Tests documents of the segment. Values that were already compared are remembered. */
export function ruleTest(segment: Segment, rule: RecordRule, environment: ConditionEnvironment): DocumentTest {
  const tests = new Map([...rule].map(([typeId, condition]) => [typeId, testOf(segment, condition, environment)]));
  const { columns } = segment.parts;
  return (doc) => {
    const typeId = valueAt(columns, TYPE_COLUMN, doc)?.value as string | undefined;
    return typeId !== undefined && tests.get(typeId)?.(doc) === true;
  };
}

function testOf(segment: Segment, condition: TypedCondition | null, environment: ConditionEnvironment): DocumentTest {
  if (condition === null) return () => true;
  if (!('logic' in condition)) return guarded(segment, condition, environment);
  const tests = condition.conditions.map((part) => testOf(segment, part, environment));
  return condition.logic === 'AND'
    ? (doc) => tests.every((test) => test(doc))
    : (doc) => tests.some((test) => test(doc));
}

/** The condition on one field, false where the field has another shape. */
function guarded(segment: Segment, leaf: TypedLeaf, environment: ConditionEnvironment): DocumentTest {
  const { field } = leaf;
  const { columns } = segment.parts;
  const { names } = environment;
  const test = leafTest(segment, leaf, environment);
  const isMismatched = (doc: number): boolean => {
    if (field.kind !== 'value') return false;
    const typeId = valueAt(columns, TYPE_COLUMN, doc)?.value as string;
    const versions = names.mismatched.get(keyOfField(typeId, field.code));
    return versions?.has(valueAt(columns, VERSION_COLUMN, doc)?.value as number) === true;
  };
  return (doc) => test(doc) && !isMismatched(doc);
}

function leafTest(segment: Segment, leaf: TypedLeaf, environment: ConditionEnvironment): DocumentTest {
  const { columns, updatedAt } = segment.parts;
  const { names, variables } = environment;
  const { field } = leaf;
  const holds = (value: ColumnValue | undefined): boolean =>
    evaluate(leaf, factsOf(field, value === undefined ? undefined : named(field, value, names)), variables);
  const name = columnOf(field);
  if (name === null) {
    return field.code === 'id'
      ? (doc) => holds({ value: segment.id(doc) })
      : (doc) => holds({ value: new Date(updatedAt[doc] as number).toISOString() });
  }
  const column = columns.get(name);
  const empty = holds(undefined);
  if (column === undefined) return () => empty;
  // 0: not compared yet, 1: false, 2: true.
  const known = new Uint8Array(column.values.length + 1);
  known[0] = empty ? 2 : 1;
  return (doc) => {
    const number = column.numbers[doc] as number;
    if (known[number] === 0) known[number] = holds(column.values[number - 1]) ? 2 : 1;
    return known[number] === 2;
  };
}

/** The value that a condition compares, for the ids and the codes of options that the columns keep. */
function named(field: TypedField, stored: ColumnValue, names: ConditionNames): ColumnValue {
  if (field.kind === 'value') return renamed(field, stored);
  const id = stored.value as string;
  switch (field.code) {
    case 'typeCode':
      return { value: names.typeCodes.get(id) ?? null };
    case 'workflowState':
      return { value: names.states.get(id)?.code ?? null };
    case 'workflowCategory':
      return { value: names.states.get(id)?.category ?? null };
    default:
      return stored;
  }
}

/** Options that were renamed are stored under their first code. */
function renamed({ optionsStoredAs }: TypedField, stored: ColumnValue): ColumnValue {
  if (optionsStoredAs === undefined) return stored;
  const codes = new Map(
    Object.entries(optionsStoredAs).map(([code, storedAs]) => [storedAs, code] as [unknown, string]),
  );
  const current = (value: unknown): unknown => codes.get(value) ?? value;
  return { value: Array.isArray(stored.value) ? stored.value.map(current) : current(stored.value) };
}

/** The facts of a record as far as a condition on one field needs them. */
function factsOf({ kind, code }: TypedField, stored: ColumnValue | undefined): RecordFacts {
  const none = Object.create(null) as Record<string, unknown>;
  if (stored === undefined) return { values: none, folded: none, system: none as unknown as SystemFacts };
  if (kind === 'system') {
    return { values: none, folded: none, system: { [code]: stored.value } as unknown as SystemFacts };
  }
  const folded = stored.folded === undefined ? none : own(code, stored.folded);
  return { values: own(code, stored.value), folded, system: none as unknown as SystemFacts };
}

/** An object with one property, whatever its name. */
function own(name: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries([[name, value]]);
}
