/** Rules of rights and filters as predicates on a record `o`. `memory/conditions.ts` evaluates the same rules. */
import sql, { join, type Sql } from 'sql-template-tag';
import { compileCondition } from '../../../platform/database/filter-sql.ts';
import type { ReadContext } from '../../../platform/unit-of-work/context.ts';
import { conditionEnvironment, registry, variables } from '../../metadata/index.ts';
import { titleRule } from '../access.ts';
import { ruleOfFilters, type TypedFilter } from '../filter.ts';
import type { RecordRule } from '../query.ts';

/** The records of the rule. Types with equal conditions share one. */
export function whereRule(ctx: ReadContext, rule: RecordRule): Sql {
  const types = registry(ctx);
  const now = variables(ctx);
  const alike = new Map<string, { typeIds: string[]; condition: Sql | null }>();
  for (const [typeId, one] of rule) {
    const condition = one === null ? null : compileCondition(one, conditionEnvironment(types, typeId, 'o', now));
    const key = condition === null ? '' : `${condition.text} ${JSON.stringify(condition.values)}`;
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { typeIds: [typeId], condition });
    else known.typeIds.push(typeId);
  }
  const parts = [...alike.values()].map(({ typeIds, condition }) => {
    const [only, ...others] = typeIds;
    const isOfType = others.length === 0 ? sql`o.type_id = ${only}::uuid` : sql`o.type_id = ANY(${typeIds}::uuid[])`;
    return condition === null ? isOfType : sql`(${isOfType} AND ${condition})`;
  });
  return parts.length === 0 ? sql`false` : sql`(${join(parts, ' OR ')})`;
}

/** The records of these types on which the caller may read the title, among those that they may read. */
export function whereTitlesReadable(ctx: ReadContext, typeIds: readonly string[]): Sql {
  return whereRule(ctx, titleRule(ctx, typeIds));
}

/**
 * The records that the filters permit, as far as the caller may read the fields; null if no record can match. Types that cannot
 * match are left out, so that indexes of a single type can be used.
 */
export function filterPredicate(ctx: ReadContext, filters: readonly TypedFilter[]): Sql | null {
  const rule = ruleOfFilters(ctx, filters);
  return rule.size === 0 ? null : whereRule(ctx, rule);
}
