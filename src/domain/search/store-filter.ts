/** The filter of a search as SQL on a record `o`, including the caller's field rights. */
import sql, { join, type Sql } from 'sql-template-tag';
import type { TypedField, Variables } from '../../lib/filter.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { compileCondition } from '../../platform/database/filter-sql.ts';
import { conditionEnvironment, registry } from '../metadata/index.ts';
import { canHold, type TypedFilter } from './filter.ts';
import { whereTitleReadable } from './store-access-filter.ts';

const NOBODY = {
  me: '',
  groups: [],
  orgUnit: null,
  orgUnits: [],
};

/** Null if no record can match. Types that cannot match are left out, so that indexes of a single type can be used. */
export function filterPredicate(
  ctx: ReadContext,
  filters: readonly TypedFilter[],
  // Requests for searches may not use variables.
  variables: Variables = { ...NOBODY, now: ctx.now, today: ctx.now.slice(0, 10) },
): Sql | null {
  const types = registry(ctx);
  const parts: Sql[] = [];
  for (const filter of filters) {
    const alike = new Map<string, { typeIds: string[]; condition: Sql }>();
    for (const typeId of filter.typeIds) {
      const missing = (field: TypedField): boolean => !filter.has(typeId, field);
      if (!canHold(filter.condition, missing)) continue;
      const environment = {
        ...conditionEnvironment(types, typeId, 'o', variables),
        whereReadable: (_code: string, field: TypedField): Sql | null =>
          missing(field) ? sql`false` : whereReadable(ctx, typeId, field),
      };
      const condition = compileCondition(filter.condition, environment);
      const key = `${condition.text} ${JSON.stringify(condition.values)}`;
      const known = alike.get(key);
      if (known === undefined) alike.set(key, { typeIds: [typeId], condition });
      else known.typeIds.push(typeId);
    }
    for (const { typeIds, condition } of alike.values()) {
      const [only, ...others] = typeIds;
      parts.push(
        others.length === 0
          ? sql`(o.type_id = ${only}::uuid AND ${condition})`
          : sql`(o.type_id = ANY(${typeIds}::uuid[]) AND ${condition})`,
      );
    }
  }
  if (parts.length === 0) return null;
  return sql`(${join(parts, ' OR ')})`;
}

/** The rows of the type on which the caller may read the field; null for all visible ones. */
function whereReadable(ctx: ReadContext, typeId: string, field: TypedField): Sql | null {
  if (field.kind === 'value') return ctx.actor.fieldAccess(typeId).whereReadable('o', field.code, ctx.now);
  // The title is the text of a field and is hidden with it.
  return field.code === 'title' ? whereTitleReadable(ctx, typeId) : null;
}
