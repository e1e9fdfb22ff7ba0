/**
 * The filter of a search, typed for each record type that the caller may read.
 *
 * A field is known if it is a system field, or if a type has it with `filter: true` and a grant makes it readable for the
 * caller. All other fields are unknown, regardless of the reason. On records of a type without the field, every condition on it is
 * false.
 */
import { type Fault, faultAt, isFault } from '../../lib/fault.ts';
import {
  type FilterField,
  type FieldResolver,
  type ParseOptions,
  parseCondition,
  SYSTEM_FIELDS,
  type TypedCondition,
  type TypedField,
} from '../../lib/filter.ts';
import { parseStrictJson } from '../../lib/json.ts';
import { JsonFault } from '../../lib/json-error.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { ownFieldView } from '../access/index.ts';
import { fieldResolver, registry } from '../metadata/index.ts';
import { readableRule } from './access.ts';
import type { RecordRule } from './query.ts';

/** The fields of a type that a filter may use. */
export interface FilterableType {
  typeId: string;
  fields: ReadonlyMap<string, FilterField>;
  /** Whether the type has its own field with this code, readable or not. */
  owns(code: string): boolean;
}

/** The types that share one typed condition. */
export interface TypedFilter {
  typeIds: string[];
  condition: TypedCondition;
  /** Whether the field with this shape belongs to the type. If not, every condition on it is false there. */
  has(typeId: string, field: TypedField): boolean;
}

function shapeOf(field: Pick<FilterField, 'kind' | 'dataType' | 'multiple'>): string {
  return `${field.kind} ${field.dataType} ${field.multiple}`;
}

/** @throws Fault INVALID_FILTER for invalid JSON */
export function readFilter(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw faultAt('INVALID_FILTER', 'query.filter', 'FILTER_NOT_JSON', { ...error.place });
  }
}

/** The field codes in the filter. Invalid parts are ignored. */
function codesIn(filter: unknown, found = new Set<string>()): Set<string> {
  if (typeof filter !== 'object' || filter === null) return found;
  const { field, conditions } = filter as { field?: unknown; conditions?: unknown };
  if (typeof field === 'string') found.add(field);
  if (Array.isArray(conditions)) for (const part of conditions) codesIn(part, found);
  return found;
}

function ownField(type: FilterableType, code: string): FilterField | undefined {
  const field = type.fields.get(code);
  if (field !== undefined) return field;
  return type.owns(code) ? undefined : SYSTEM_FIELDS.get(code);
}

/**
 * Types the filter for every type. If types have a field with the same code but different shapes, a type whose shape does not
 * fit is treated as if it did not have the field. The filter is rejected only if it fits no type.
 *
 * @throws Fault INVALID_FILTER with a JSON Pointer for each problem
 */
export function typeFilter(
  filter: unknown,
  types: readonly FilterableType[],
  base: string,
  variables: ParseOptions['variables'] = 'refused',
): TypedFilter[] {
  const codes = [...codesIn(filter)];
  // Field shapes by code over all types. A type without the field gets the shape of the first type that has it.
  const shapes = new Map<string, Map<string, FilterField>>();
  for (const code of codes) {
    const of = new Map<string, FilterField>();
    for (const type of types) {
      const field = ownField(type, code);
      if (field === undefined) continue;
      const known = of.get(shapeOf(field));
      of.set(shapeOf(field), known === undefined ? field : withOptions(known, field));
    }
    if (of.size === 0 && types.length === 0 && SYSTEM_FIELDS.has(code)) {
      const field = SYSTEM_FIELDS.get(code) as FilterField;
      of.set(shapeOf(field), field);
    }
    shapes.set(code, of);
  }
  const groups = new Map<string, { resolve: FieldResolver; typeIds: string[] }>();
  const groupOf = (type: FilterableType | null): void => {
    const chosen = new Map<string, FilterField>();
    for (const code of codes) {
      const of = shapes.get(code) ?? new Map<string, FilterField>();
      const own = type === null ? undefined : ownField(type, code);
      const field = own === undefined ? of.values().next().value : of.get(shapeOf(own));
      if (field !== undefined) chosen.set(code, field);
    }
    const key = [...chosen].map(([code, field]) => `${code} ${shapeOf(field)}`).join();
    const known = groups.get(key);
    if (known !== undefined) known.typeIds.push(...(type === null ? [] : [type.typeId]));
    else groups.set(key, { resolve: (code) => chosen.get(code), typeIds: type === null ? [] : [type.typeId] });
  };
  for (const type of types) groupOf(type);
  if (types.length === 0) groupOf(null);

  const typed: TypedFilter[] = [];
  const refused: { typeIds: string[]; fault: Fault }[] = [];
  const byId = new Map(types.map((type) => [type.typeId, type]));
  const has = (typeId: string, field: TypedField): boolean => {
    const type = byId.get(typeId);
    const own = type === undefined ? undefined : ownField(type, field.code);
    return own !== undefined && shapeOf(own) === shapeOf(field);
  };
  for (const { resolve, typeIds } of groups.values()) {
    try {
      typed.push({ typeIds, condition: parseCondition(filter, { resolve, variables, base }), has });
    } catch (error) {
      if (!isFault(error)) throw error;
      refused.push({ typeIds, fault: error });
    }
  }
  const [first] = typed;
  if (first === undefined) throw refused[0]?.fault ?? new Error('a filter was neither typed nor refused');
  for (const { typeIds } of refused) typed.push({ typeIds, condition: first.condition, has });
  return typed;
}

function withOptions(known: FilterField, field: FilterField): FilterField {
  if (known.options === undefined || field.options === undefined) return known;
  return { ...known, options: new Set([...known.options, ...field.options]) };
}

/**
 * The condition with the rights on its fields: on a record where a field is hidden, every condition on it is false.
 *
 * @param readable the records on which a field may be read: null for all, undefined for none
 * @returns undefined if it can never hold
 */
export function withRights(
  condition: TypedCondition,
  readable: (field: TypedField) => TypedCondition | null | undefined,
): TypedCondition | undefined {
  if (!('logic' in condition)) {
    const rule = readable(condition.field);
    return rule === null ? condition : rule && { logic: 'AND', conditions: [rule, condition] };
  }
  const { logic } = condition;
  const parts = condition.conditions.map((part) => withRights(part, readable));
  const conditions = parts.filter((part) => part !== undefined);
  if (conditions.length === 0 || (logic === 'AND' && conditions.length < parts.length)) return undefined;
  return { logic, conditions };
}

/** The records that the filters permit, as far as the caller may read the fields. */
export function ruleOfFilters(ctx: ReadContext, filters: readonly TypedFilter[]): RecordRule {
  const rule = new Map<string, TypedCondition>();
  for (const { typeIds, condition, has } of filters) {
    for (const typeId of typeIds) {
      const readable = (field: TypedField): ReturnType<typeof readableRule> =>
        has(typeId, field) ? readableRule(ctx, typeId, field) : undefined;
      const own = withRights(condition, readable);
      if (own !== undefined) rule.set(typeId, own);
    }
  }
  return rule;
}

/** Whether indexes on the fields find all records for which the condition holds. */
export function isIndexed(condition: TypedCondition, hasIndex: (field: TypedField) => boolean): boolean {
  if (!('logic' in condition)) {
    return (condition.operator === 'equals' || condition.operator === 'in') && hasIndex(condition.field);
  }
  const indexed = (part: TypedCondition): boolean => isIndexed(part, hasIndex);
  return condition.logic === 'AND' ? condition.conditions.some(indexed) : condition.conditions.every(indexed);
}

/**
 * Whether indexes find the active records that rights and filter admit: those of fields with `filter: true`, and those of fields
 * that grants compare with the caller. There may still be many of them.
 */
export function areIndexed(ctx: ReadContext, rights: RecordRule, filter: RecordRule | null): boolean {
  const among = [...rights.keys()].filter((typeId) => filter?.has(typeId) ?? true);
  return among.every((typeId) => {
    const own = ctx.config.get(ownFieldView).get(typeId);
    const fields = registry(ctx).byId.get(typeId)?.newest.fields;
    const hasIndex = ({ kind, code }: TypedField): boolean =>
      kind === 'value'
        ? fields?.get(code)?.search.filter === true || own?.fields.has(code) === true
        : code === 'createdBy' && own?.createdBy === true;
    // An index is of one type, and a filter on several types is one condition on all of them.
    const rules = among.length === 1 ? [rights, filter] : [rights];
    return rules.some((rule) => {
      const condition = rule?.get(typeId) ?? null;
      return condition !== null && isIndexed(condition, hasIndex);
    });
  });
}

/** The fields that the filter of the caller may use on each type that they may read. */
export function filterableTypes(ctx: ReadContext, typeIds?: readonly string[]): FilterableType[] {
  const types = registry(ctx);
  const readable = ctx.actor.typesFor('read').filter((typeId) => typeIds === undefined || typeIds.includes(typeId));
  const known = readable.flatMap((typeId) => types.byId.get(typeId) ?? []);
  // The order is the same in every installation, because the first type determines the error message.
  return known
    .sort((a, b) => (a.code < b.code ? -1 : 1))
    .map((type) => {
      const typeId = type.id;
      const resolve = fieldResolver(type);
      const fields = new Map<string, FilterField>();
      for (const { code, search } of type.newest.fields.values()) {
        const field = search.filter && ctx.actor.fieldAccess(typeId).canRead(code) ? resolve(code) : undefined;
        if (field !== undefined) fields.set(code, field);
      }
      return { typeId, fields, owns: (code) => type.newest.fields.has(code) };
    });
}
