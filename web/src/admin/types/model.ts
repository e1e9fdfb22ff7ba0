/** A type's fields as a bundle writes them, and what a form of records makes of them. */
import type { DataType, FieldConstraints, FieldSchema } from '../../api/types.ts';
import { type ItemValue, nameIn } from '../config/yaml-text.ts';

export const DATA_TYPES: readonly DataType[] = [
  'string',
  'text',
  'rich-text',
  'integer',
  'decimal',
  'boolean',
  'date',
  'datetime',
  'time',
  'duration',
  'enum',
  'reference',
  'user',
  'group',
  'org-unit',
  'service',
  'email',
  'phone',
  'url',
  'json',
];

export interface FieldItem {
  code: string;
  name?: unknown;
  dataType: DataType;
  required?: boolean;
  readOnly?: boolean;
  multiple?: boolean;
  default?: unknown;
  constraints?: Record<string, unknown> & { options?: { code: string; name?: unknown }[] };
  search?: { text?: boolean; filter?: boolean; facet?: boolean };
}

/** The fields that the text has; what is no field yet is left out. */
export function fieldsOf(item: ItemValue): FieldItem[] {
  const fields = item['fields'];
  if (!Array.isArray(fields)) return [];
  return fields.filter(
    (one): one is FieldItem => typeof one === 'object' && one !== null && typeof one.code === 'string',
  );
}

/** The field with another type of data: limits and defaults of one type mean nothing to another. */
export function ofType(field: FieldItem, dataType: DataType): FieldItem {
  if (dataType === field.dataType) return field;
  const { constraints: _limits, default: _value, ...rest } = field;
  return { ...rest, dataType, ...(dataType === 'enum' ? { constraints: { options: [{ code: 'option-1' }] } } : {}) };
}

/** A field as the forms of records take it. */
export function schemaOf(field: FieldItem, language: string): FieldSchema {
  const options = Array.isArray(field.constraints?.options) ? field.constraints.options : undefined;
  return {
    code: field.code,
    name: nameIn(field.name, language) || field.code,
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
