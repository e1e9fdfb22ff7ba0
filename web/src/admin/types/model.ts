/** Fields of a type in bundle format, and their conversion to form fields. */
import type { FieldRole } from '../../../../src/contract/field-roles.ts';
import type { DataType, FieldConstraints, FieldSchema } from '../../api/types.ts';
import { typeOf } from '../../fields/view.ts';
import type { Coded } from '../config/codes.ts';
import { type ItemValue, nameIn } from '../config/yaml-text.ts';

export interface FieldItem extends Coded {
  description?: unknown;
  dataType: DataType;
  required?: boolean;
  readOnly?: boolean;
  multiple?: boolean;
  role?: FieldRole;
  default?: unknown;
  constraints?: Record<string, unknown> & { options?: Coded[] };
  search?: { text?: boolean; filter?: boolean; facet?: boolean };
}

/** The fields in the item; incomplete ones are omitted. */
export function fieldsOf(item: ItemValue): FieldItem[] {
  const fields = item['fields'];
  if (!Array.isArray(fields)) return [];
  return fields.filter(
    (one): one is FieldItem => typeof one === 'object' && one !== null && typeof one.code === 'string',
  );
}

/** A section of the form as written in the bundle. */
export interface LayoutSection {
  name?: unknown;
  columns?: number;
  fields: string[];
}

/** The sections of the form's layout; incomplete ones are omitted. */
export function sectionsOf(item: ItemValue): LayoutSection[] {
  const { sections } = (item['layout'] ?? {}) as { sections?: unknown };
  if (!Array.isArray(sections)) return [];
  return sections.filter((one): one is LayoutSection => Array.isArray((one as Partial<LayoutSection> | null)?.fields));
}

/** The layout of these sections as a value of the item; undefined without sections. */
export function layoutItem(sections: readonly LayoutSection[]): { sections: readonly LayoutSection[] } | undefined {
  return sections.length === 0 ? undefined : { sections };
}

/** The sections without a field that was removed. */
export function withoutField(sections: readonly LayoutSection[], code: string): LayoutSection[] {
  return sections.map((section) => ({ ...section, fields: section.fields.filter((one) => one !== code) }));
}

/** Changes the data type and removes constraints, default and role, which are specific to the old data type. */
export function ofType(field: FieldItem, dataType: DataType): FieldItem {
  if (dataType === field.dataType) return field;
  const { constraints: _limits, default: _value, role: _role, ...rest } = field;
  return {
    ...rest,
    dataType,
    ...(typeOf(dataType).constraints.includes('options') ? { constraints: { options: [{ code: 'option-1' }] } } : {}),
  };
}

/** Converts a field to the schema of record forms. */
export function schemaOf(field: FieldItem, language: string): FieldSchema {
  const options = Array.isArray(field.constraints?.options) ? field.constraints.options : undefined;
  return {
    code: field.code,
    name: nameIn(field.name, language) || field.code,
    ...(nameIn(field.description, language) === '' ? {} : { description: nameIn(field.description, language) }),
    dataType: field.dataType,
    required: field.required === true && field.default === undefined,
    readOnly: field.readOnly === true,
    multiple: field.multiple === true,
    constraints: {
      ...(field.constraints as FieldConstraints | undefined),
      ...(options === undefined
        ? {}
        : { options: options.map(({ code, name }) => ({ code, name: nameIn(name, language) || code })) }),
    },
  };
}
