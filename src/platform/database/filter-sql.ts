/**
 * Compiles a typed condition to a predicate on the table of records (docs/spec/search.md#condition-language). It matches
 * exactly the rows for which `evaluate` is true in memory; `filter-sql.db.test.ts` tests this.
 *
 * - Every part of the predicate is true or false, never NULL, so that it may be negated or selected.
 * - No stored value makes it raise an error.
 * - Text is compared by code point (`COLLATE "C"`) on copies folded by the service; `lower()` and `ILIKE` are not used.
 *   `folded` must contain the folded copy of each field's text under its code, and that of the title under `$title`.
 */
import sql, { join, type Sql } from 'sql-template-tag';
import type { TypedCondition } from '../../lib/filter.ts';
import type { CompileEnvironment } from './filter-sql-environment.ts';
import { systemLeaf } from './filter-sql-system.ts';
import { valueLeaf } from './filter-sql-values.ts';

export type { CompileEnvironment } from './filter-sql-environment.ts';
export { creatorIndex, type FieldIndex, fieldIndex, namedIndex, stateIndex, WORK_FIELDS } from './filter-sql-fields.ts';

/** The predicate of the condition, in parentheses. Field codes are part of its text, all values are parameters. */
export function compileCondition(condition: TypedCondition, environment: CompileEnvironment): Sql {
  if ('logic' in condition) {
    const parts = condition.conditions.map((part) => compileCondition(part, environment));
    return sql`(${join(parts, condition.logic === 'AND' ? ' AND ' : ' OR ')})`;
  }
  const { field } = condition;
  const guards: Sql[] = [];
  const readable = environment.whereReadable?.(field.code, field) ?? null;
  if (readable !== null) guards.push(sql`(${readable}) IS TRUE`);
  const mismatch = field.kind === 'value' ? (environment.mismatch?.(field) ?? null) : null;
  if (mismatch !== null) guards.push(sql`(${mismatch}) IS NOT TRUE`);
  const leaf = field.kind === 'system' ? systemLeaf(condition, environment) : valueLeaf(condition, environment);
  return guards.length === 0 ? leaf : sql`(${join([...guards, leaf], ' AND ')})`;
}
