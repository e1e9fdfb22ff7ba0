/** The environment of compiling a condition, and code shared by conditions on values and on system fields. */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { Operand, TypedField, TypedLeaf, Variables } from '../../lib/filter.ts';
import { resolveOperand } from '../../lib/filter-variables.ts';

export interface CompileEnvironment {
  /** The query's alias of the table of records. */
  alias: string;
  variables: Variables;
  /** A predicate that is true on rows whose type version stores the field in a different shape; null if there are none. */
  mismatch?(field: TypedField): Sql | null;
  /**
   * A predicate that is true on rows where the caller may read the field, including system fields; null if that is all rows.
   */
  whereReadable?(code: string, field: TypedField): Sql | null;
  /** Ids of the workflow states with the code; empty if there are none. */
  stateIdsByCode(code: string): readonly string[];
  stateIdsByCategory(category: string): readonly string[];
  typeIdByCode(code: string): string | undefined;
}

export type Scalar = string | number | boolean;
export type EqualityLeaf = Extract<TypedLeaf, { operator: 'equals' | 'not-equals' | 'in' }>;
export type TextLeaf = Extract<TypedLeaf, { operator: 'contains' | 'starts-with' }>;
export type OrderLeaf = Extract<TypedLeaf, { operator: 'before' | 'after' | 'range' }>;
/** PostgreSQL types of operands that are passed as parameters. */
export type OperandType = 'text' | 'numeric' | 'bigint' | 'uuid' | 'timestamptz';

export const NEVER = sql`false`;

/**
 * `equals`, `in` and `not-equals`, built from a predicate for "equals one of these". The predicate must be in parentheses and
 * never NULL, since `not-equals` negates it. Without operands, all three are false.
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

/** `key = value`, or `key = ANY(values)` if there are several. Both can use an index on the key. */
export function anyOf(key: Sql, operands: readonly Scalar[], type: OperandType): Sql {
  const texts = operands.map(String);
  const cast = raw(type);
  return texts.length === 1 ? sql`${key} = ${texts[0]}::${cast}` : sql`${key} = ANY(${texts}::${cast}[])`;
}

/** `before` and `after` exclude their bound, `range` includes both bounds. NULL if the key is NULL. */
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

/**
 * Whether a folded text contains the operand or starts with it; NULL if the text is NULL. Bytes are compared, so nothing needs
 * escaping.
 */
export function hasPart(leaf: TextLeaf, folded: Sql): Sql {
  return leaf.operator === 'contains'
    ? sql`strpos(${folded} COLLATE "C", ${leaf.value}::text) > 0`
    : sql`starts_with(${folded} COLLATE "C", ${leaf.value}::text)`;
}

/** Makes a predicate false instead of NULL if `key` is NULL. An index on the key can still be used. */
export function present(key: Sql, predicate: Sql): Sql {
  return sql`(${key} IS NOT NULL AND ${predicate})`;
}
