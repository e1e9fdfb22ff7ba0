/** Reads of record types. Only types and fields that a grant of the caller concerns are returned. */
import type { FieldRole } from '../../contract/field-roles.ts';
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type FieldDefinition, findType, localized, named, type RecordType, registry } from './registry.ts';

export interface FieldSchemaAnswer {
  code: string;
  name: string;
  /** Only for the console: answers of the public API do not have it. */
  description?: string;
  dataType: string;
  required: boolean;
  readOnly: boolean;
  multiple: boolean;
  /** Only for the console, as the description. */
  role?: FieldRole;
  constraints: Record<string, unknown>;
  default?: unknown;
}

/**
 * A field in API answers, with names in the `asked` locale, by default the caller's. A required field with a default is shown
 * as not required, because the caller may leave it out.
 */
export function fieldSchema(ctx: ReadContext, field: FieldDefinition, asked?: string): FieldSchemaAnswer {
  const fallback = registry(ctx).settings.defaultLocale;
  const locale = asked ?? ctx.locale ?? fallback;
  const { options, ...constraints } = field.constraints;
  const help = ctx.surface === 'console' ? field.description : undefined;
  return {
    code: field.code,
    name: localized(field.name, locale, fallback),
    ...(help === undefined ? {} : { description: localized(help, locale, fallback) }),
    dataType: field.dataType,
    required: field.required && field.default === undefined,
    readOnly: field.readOnly,
    multiple: field.multiple,
    ...(ctx.surface === 'console' && field.role !== undefined ? { role: field.role } : {}),
    constraints: {
      ...constraints,
      ...(options === undefined
        ? {}
        : {
            options: options.map((option) => ({ code: option.code, name: localized(option.name, locale, fallback) })),
          }),
    },
    ...(field.default === undefined ? {} : { default: field.default }),
  };
}

function accessible(ctx: ReadContext, type: RecordType): boolean {
  return type.active && (ctx.actor.mayEver(type.id, 'read') || ctx.actor.mayEver(type.id, 'create'));
}

export async function listTypes(ctx: ReadContext): Promise<{ types: unknown[] }> {
  const { active } = registry(ctx);
  const types = active.filter((type) => accessible(ctx, type));
  return {
    types: types.map((type) => ({
      id: type.id,
      code: type.code,
      name: named(ctx, type.newest.definition.name),
      objectCategory: type.newest.definition.category,
    })),
  };
}

/** @throws Fault NOT_FOUND when no grant of the caller concerns the type, as if it were not configured */
export async function getTypeFields(ctx: ReadContext, idOrCode: string): Promise<unknown> {
  const type = findType(registry(ctx), idOrCode);
  if (type === undefined || !accessible(ctx, type)) throw new Fault('NOT_FOUND', 'There is no such record type.');
  const fields = [...type.newest.fields.values()].filter((field) => ctx.actor.fieldAccess(type.id).canRead(field.code));
  return {
    id: type.id,
    objectCategory: type.newest.definition.category,
    fields: fields.map((field) => {
      const schema = fieldSchema(ctx, field);
      return ctx.actor.fieldAccess(type.id).canWrite(field.code) ? schema : { ...schema, readOnly: true };
    }),
  };
}
