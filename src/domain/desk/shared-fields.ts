/**
 * The fields that the types of a list share: the same code, or the same role, with values of the same data type. They are
 * columns, sort keys and columns of files where a list is not about one type.
 */
import { FIELD_ROLES } from '../../contract/field-roles.ts';
import { isFault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import {
  type FieldDefinition,
  fieldInRole,
  fieldSchema,
  type FieldSchemaAnswer,
  type RecordType,
  registry,
} from '../metadata/index.ts';
import { readScope } from '../objects/index.ts';
import { filterOnRecords } from '../search/index.ts';
import { policiesOfType } from '../sla/index.ts';

/** What narrows the types of a list. */
export interface ListOfTypes {
  filter?: string | undefined;
  sla?: string | undefined;
}

/** The field of each type, by the id of the type; all have the same data type. */
export type SharedField = ReadonlyMap<string, FieldDefinition>;

/** Columns of every list, which are no fields. */
const SYSTEM: ReadonlySet<string> = new Set([
  'number',
  'title',
  'type',
  'typeCode',
  'workflowState',
  'workflowCategory',
  'revision',
  'createdAt',
  'createdBy',
  'updatedAt',
  'updatedBy',
]);

/** The types that the caller may read, in the same order in every installation. */
function readableTypes(ctx: ReadContext): RecordType[] {
  const types = registry(ctx);
  const readable = readScope(ctx, {}).typeIds.flatMap((id) => types.byId.get(id) ?? []);
  return readable.sort((a, b) => (a.code < b.code ? -1 : 1));
}

/** Those of the types whose records the list may have. @throws Fault INVALID_FILTER */
function typesOfList(ctx: ReadContext, types: readonly RecordType[], { filter, sla }: ListOfTypes): RecordType[] {
  if (filter === undefined && sla === undefined) return [...types];
  const ids = types.map(({ id }) => id);
  if (filter !== undefined) filterOnRecords(ctx, filter, ids);
  const ofStates = filter !== undefined && /"workflow(State|Category)"/.test(filter);
  return types.filter(
    (type) =>
      (!ofStates || [...type.versions.values()].some(({ workflow }) => workflow !== null)) &&
      (sla === undefined || policiesOfType(ctx, type.id).length > 0) &&
      (filter === undefined || mayMatch(ctx, filter, type.id)),
  );
}

function mayMatch(ctx: ReadContext, filter: string, typeId: string): boolean {
  try {
    return filterOnRecords(ctx, filter, [typeId]) !== null;
  } catch (error) {
    if (isFault(error, 'INVALID_FILTER')) return false;
    throw error;
  }
}

/** The fields by the code of their column, without those that the caller can never read. */
function grouped(ctx: ReadContext, types: readonly RecordType[], all: readonly RecordType[]) {
  const columns = new Map<string, Map<string, FieldDefinition>>();
  const put = (code: string, typeId: string, field: FieldDefinition): void => {
    const column = columns.get(code) ?? new Map<string, FieldDefinition>();
    if (!column.has(typeId)) columns.set(code, column.set(typeId, field));
  };
  const inRole = (type: RecordType, role: (typeof FIELD_ROLES)[number]): FieldDefinition | undefined => {
    const field = fieldInRole(type.newest, role);
    return field !== undefined && ctx.actor.fieldAccess(type.id).canRead(field.code) ? field : undefined;
  };
  // A field in a role has the column whose code most types use for the role.
  const placed = new Set<FieldDefinition>();
  for (const role of FIELD_ROLES) {
    const code = mostCommon(all.flatMap((type) => inRole(type, role)?.code ?? []));
    if (code === undefined) continue;
    for (const type of types) {
      const field = inRole(type, role);
      if (field === undefined) continue;
      put(code, type.id, field);
      placed.add(field);
    }
  }
  for (const type of types) {
    const access = ctx.actor.fieldAccess(type.id);
    for (const field of type.newest.fields.values()) {
      const own = field.code !== type.newest.titleField && !placed.has(field);
      if (own && access.canRead(field.code)) put(field.code, type.id, field);
    }
  }
  return columns;
}

/** The first of those that occur most often. */
function mostCommon(codes: readonly string[]): string | undefined {
  return largest([...Map.groupBy(codes, (code) => code).values()])?.[0];
}

function largest<One>(groups: readonly (readonly One[])[]): readonly One[] | undefined {
  return groups.toSorted((a, b) => b.length - a.length)[0];
}

/** The fields of the largest number of types with the same data type. */
function alike(column: SharedField): SharedField {
  const shapes = Map.groupBy([...column], ([, { dataType, multiple }]) => `${dataType} ${multiple}`);
  return new Map(largest([...shapes.values()]));
}

/** The field of a column; undefined if no type that the caller may read has it. @throws Fault INVALID_FILTER */
export function sharedField(ctx: ReadContext, list: ListOfTypes, code: string): SharedField | undefined {
  const all = readableTypes(ctx);
  // A condition that only types without the field can meet does not make the column unknown.
  const column = grouped(ctx, typesOfList(ctx, all, list), all).get(code) ?? grouped(ctx, all, all).get(code);
  return column === undefined || SYSTEM.has(code) ? undefined : alike(column);
}

/** Codes and names of the options of all types, in their order: an option that only one type has follows the one before it. */
export function sharedOptions(column: SharedField): NonNullable<FieldDefinition['constraints']['options']> {
  const options: NonNullable<FieldDefinition['constraints']['options']> = [];
  for (const field of column.values()) {
    let place = 0;
    for (const option of field.constraints.options ?? []) {
      const known = options.findIndex(({ code }) => code === option.code);
      if (known === -1) options.splice(place, 0, option);
      place = (known === -1 ? place : known) + 1;
    }
  }
  return options;
}

/** A field that a list offers as a column. */
interface ListField extends FieldSchemaAnswer {
  /** The code of the field by the id of the type. */
  codes: Record<string, string>;
}

/**
 * The fields that a list offers: those of at least two of its types, and those that have a role.
 *
 * @throws Fault INVALID_FILTER
 */
export function listFields(ctx: ReadContext, list: ListOfTypes): ListField[] {
  const all = readableTypes(ctx);
  const types = typesOfList(ctx, all, list);
  return [...grouped(ctx, types, all)].flatMap(([code, found]) => {
    const column = alike(found);
    const fields = [...column.values()];
    const [first] = fields;
    const role = fields.find((field) => field.role !== undefined)?.role;
    const offered = fields.length > 1 || types.length === 1 || role !== undefined;
    if (first === undefined || !offered || SYSTEM.has(code)) return [];
    const { default: _default, ...field } = first;
    const options = first.dataType === 'enum' ? { options: sharedOptions(column) } : {};
    const constraints = { ...first.constraints, ...options };
    const codes = Object.fromEntries([...column].map(([typeId, own]) => [typeId, own.code]));
    const shown = { ...field, code, constraints, ...(role === undefined ? {} : { role }) };
    return [{ ...fieldSchema(ctx, shown), required: false, readOnly: true, codes }];
  });
}
