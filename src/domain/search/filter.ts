/**
 * The filter of a search, typed for each record type that the caller may read. Pure.
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

/** Whether the condition can hold if all conditions on `missing` fields are false. */
export function canHold(condition: TypedCondition, missing: (field: TypedField) => boolean): boolean {
  if (!('logic' in condition)) return !missing(condition.field);
  const holds = (part: TypedCondition): boolean => canHold(part, missing);
  return condition.logic === 'AND' ? condition.conditions.every(holds) : condition.conditions.some(holds);
}
