/** What the index in memory needs of a caller and a question: the same rights and filters as the SQL, as conditions. */
import type { ItemState } from '../../contract/state.ts';
import type { TypedCondition, TypedField } from '../../lib/filter.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { mismatchedVersions, registry, variables } from '../metadata/index.ts';
import { canHold, type TypedFilter } from './filter.ts';
import type { ConditionEnvironment, ConditionNames, RecordRule } from './memory/conditions.ts';
import type { Scope } from './memory/search.ts';
import type { AccessFilter } from './store-access-filter.ts';

/** @param filters null for no filter; null is returned if no record can match them */
export function scopeOf(
  ctx: ReadContext,
  accessFilter: AccessFilter,
  asked: { state: ItemState; workflowStateIds: readonly string[] | null; filters: readonly TypedFilter[] | null },
): Scope | null {
  const { typeIds, trustedBy, classes } = accessFilter;
  const filter = asked.filters === null ? null : ruleOfFilters(asked.filters);
  if (filter?.size === 0) return null;
  const { userId, roles } = ctx.actor;
  const given = variables(ctx);
  const kept = { ...ctx.actor.variables, today: undefined };
  return {
    state: asked.state,
    workflowStateIds: asked.workflowStateIds,
    rights: ctx.actor.rule('read', typeIds),
    classes: classes.map(({ rule }) => rule),
    trusted: trustedBy,
    filter,
    environment: environmentOf(ctx, given, asked.filters ?? []),
    key: JSON.stringify([ctx.config.version, userId, roles, kept, typeIds]),
  };
}

/** A record matches if a filter of its type does. */
function ruleOfFilters(filters: readonly TypedFilter[]): RecordRule {
  const rule = new Map<string, TypedCondition>();
  for (const { typeIds, condition, has } of filters) {
    for (const typeId of typeIds) {
      if (!canHold(condition, (field) => !has(typeId, field))) continue;
      const known = rule.get(typeId);
      rule.set(typeId, known === undefined ? condition : { logic: 'OR', conditions: [known, condition] });
    }
  }
  return rule;
}

function environmentOf(
  ctx: ReadContext,
  given: ConditionEnvironment['variables'],
  filters: readonly TypedFilter[],
): ConditionEnvironment {
  const typeIds = [...new Set(filters.flatMap((filter) => filter.typeIds))];
  const isMissing = (typeId: string, field: TypedField): boolean =>
    !filters.some((filter) => filter.typeIds.includes(typeId) && filter.has(typeId, field));
  return {
    names: namesOf(ctx),
    variables: given,
    whereReadable: (field) => {
      const rule = new Map<string, TypedCondition | null>();
      for (const typeId of typeIds) {
        const condition = isMissing(typeId, field) ? undefined : readableRule(ctx, typeId, field);
        if (condition !== undefined) rule.set(typeId, condition);
      }
      return rule;
    },
  };
}

/** The records of the type on which the field may be read; null for all of them, undefined for none. */
function readableRule(ctx: ReadContext, typeId: string, field: TypedField): TypedCondition | null | undefined {
  const access = ctx.actor.fieldAccess(typeId);
  if (field.kind === 'value') return access.ruleOf(field.code);
  if (field.code !== 'title') return null;
  // The title is the text of a field, and versions may have different ones: all of them must be readable.
  const versions = registry(ctx).byId.get(typeId)?.versions.values() ?? [];
  const codes = new Set([...versions].flatMap(({ titleField }) => (titleField === null ? [] : [titleField])));
  const rules = [...codes].map((code) => access.ruleOf(code));
  if (rules.includes(undefined)) return undefined;
  const conditions = rules.filter((rule) => rule !== null && rule !== undefined);
  return conditions.length === 0 ? null : { logic: 'AND', conditions };
}

function namesOf(ctx: ReadContext): ConditionNames {
  const types = registry(ctx);
  const mismatched = new Map<string, ReadonlySet<number>>();
  return {
    typeCode: (typeId) => types.byId.get(typeId)?.code ?? null,
    workflow: (stateId) => types.states.get(stateId) ?? null,
    mismatched: (typeId, version, { code }) => {
      const type = types.byId.get(typeId);
      if (type === undefined) return false;
      const key = `${typeId} ${code}`;
      let versions = mismatched.get(key);
      if (versions === undefined) {
        versions = new Set(mismatchedVersions(type, code));
        mismatched.set(key, versions);
      }
      return versions.has(version);
    },
  };
}
