/**
 * Compiles a typed condition into a predicate on the table of records (configuration, section 4). It holds on exactly the
 * rows on which `evaluate` holds in memory; `filter-sql.db.test.ts` proves it.
 *
 * - Every part of the predicate is true or false, never NULL, so that it may stand under NOT or in a select list.
 * - No stored value makes it raise an error.
 * - Text is compared by code point (`COLLATE "C"`) on copies that the service folded; `lower()` and `ILIKE` never occur.
 *   `folded` must hold under each field's code the folded copy of its text, and under `$title` that of the record's title.
 */
import sql, { join, type Sql } from 'sql-template-tag';
import type { TypedCondition } from '../../lib/filter.ts';
import type { CompileEnvironment } from './filter-sql-environment.ts';
import { systemLeaf } from './filter-sql-system.ts';
import { valueLeaf } from './filter-sql-values.ts';

export type { CompileEnvironment } from './filter-sql-environment.ts';
export { creatorIndex, type FieldIndex, fieldIndex } from './filter-sql-index.ts';

/** The predicate of the condition, in parentheses. Field codes stand in its text, every value is a parameter. */
export function compileCondition(condition: TypedCondition, environment: CompileEnvironment): Sql {
  if ('logic' in condition) {
    const parts = condition.conditions.map((part) => compileCondition(part, environment));
    return sql`(${join(parts, condition.logic === 'AND' ? ' AND ' : ' OR ')})`;
  }
  const { field } = condition;
  const guards: Sql[] = [];
  const visible = environment.visible?.(field.code, field) ?? null;
  if (visible !== null) guards.push(sql`(${visible}) IS TRUE`);
  const mismatch = field.kind === 'value' ? (environment.mismatch?.(field) ?? null) : null;
  if (mismatch !== null) guards.push(sql`(${mismatch}) IS NOT TRUE`);
  const leaf = field.kind === 'system' ? systemLeaf(condition, environment) : valueLeaf(condition, environment);
  return guards.length === 0 ? leaf : sql`(${join([...guards, leaf], ' AND ')})`;
}
