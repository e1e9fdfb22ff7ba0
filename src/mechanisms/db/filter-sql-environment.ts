/** What compiling a condition needs to know, and the parts that leaves on values and on system fields share. */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { Operand, TypedField, TypedLeaf, Variables } from '../../lib/filter.ts';
import { resolveOperand } from '../../lib/filter-variables.ts';

export interface CompileEnvironment {
  /** Under which the query names the table of records. */
  alias: string;
  variables: Variables;
  /** Predicate that is true on rows whose type version stores the field in another shape; null: on none. */
  mismatch?(field: TypedField): Sql | null;
  /** Predicate that is true on rows where the caller may read the field, system fields too; null: on all. */
  visible?(code: string, field: TypedField): Sql | null;
  /** Ids of the workflow states that have the code; empty where there is none. */
  stateIdsByCode(code: string): readonly string[];
  stateIdsByCategory(category: string): readonly string[];
  typeIdByCode(code: string): string | undefined;
}

export type Scalar = string | number | boolean;
export type EqualityLeaf = Extract<TypedLeaf, { operator: 'equals' | 'not-equals' | 'in' }>;
export type TextLeaf = Extract<TypedLeaf, { operator: 'contains' | 'starts-with' }>;
export type OrderLeaf = Extract<TypedLeaf, { operator: 'before' | 'after' | 'range' }>;
/** PostgreSQL types as which operands travel. */
export type OperandType = 'text' | 'numeric' | 'bigint' | 'uuid' | 'timestamptz';

export const NEVER = sql`false`;

/**
 * `equals`, `in` and `not-equals` by one predicate that says "equals one of these". It must be in parentheses and never
 * NULL, since `not-equals` is its contrary. Where nothing is there to compare with, all three are false.
 */
export function equality(leaf: EqualityLeaf, variables: Variables, equalsAny: (operands: Scalar[]) => Sql): Sql {
  const operands =
    leaf.operator === 'in'
      ? leaf.values.flatMap((operand) => [...resolveOperand(operand, variables)])
      : [...resolveOperand(leaf.value, variables)];
  if (operands.length === 0) return NEVER;
  const equal = equalsAny(operands);
  return leaf.operator === 'not-equals' ? sql`(NOT ${equal})` : equal;
}

/** `key = value`, or `key = ANY(values)` where there are several: both can be answered by an index on the key. */
export function anyOf(key: Sql, operands: readonly Scalar[], type: OperandType): Sql {
  const texts = operands.map(String);
  const cast = raw(type);
  return texts.length === 1 ? sql`${key} = ${texts[0]}::${cast}` : sql`${key} = ANY(${texts}::${cast}[])`;
}

/** `before` and `after` strictly, `range` with both bounds. NULL where the key is. */
export function inOrder(leaf: OrderLeaf, variables: Variables, key: Sql, type: OperandType): Sql {
  const cast = raw(type);
  const bound = (operand: Operand): string => String(resolveOperand(operand, variables)[0]);
  switch (leaf.operator) {
    case 'before':
      return sql`${key} < ${bound(leaf.value)}::${cast}`;
    case 'after':
      return sql`${key} > ${bound(leaf.value)}::${cast}`;
    case 'range':
      return sql`${key} >= ${bound(leaf.from)}::${cast} AND ${key} <= ${bound(leaf.to)}::${cast}`;
  }
}

/** Whether a folded text has the part or begins with it. NULL where the text is. Bytes are compared, nothing is escaped. */
export function hasPart(leaf: TextLeaf, folded: Sql): Sql {
  return leaf.operator === 'contains'
    ? sql`strpos(${folded} COLLATE "C", ${leaf.value}::text) > 0`
    : sql`starts_with(${folded} COLLATE "C", ${leaf.value}::text)`;
}

/** Makes a predicate that is NULL where `key` is NULL false there, and leaves it fit for an index. */
export function present(key: Sql, predicate: Sql): Sql {
  return sql`(${key} IS NOT NULL AND ${predicate})`;
}
