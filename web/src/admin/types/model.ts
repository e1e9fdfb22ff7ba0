/** Fields of a type in bundle format, and their conversion to form fields. */
import type { DataType, FieldConstraints, FieldSchema } from '../../api/types.ts';
import { typeOf } from '../../fields/view.ts';
import { type ItemValue, nameIn } from '../config/yaml-text.ts';

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

/** The fields in the item; incomplete ones are omitted. */
export function fieldsOf(item: ItemValue): FieldItem[] {
  const fields = item['fields'];
  if (!Array.isArray(fields)) return [];
  return fields.filter(
    (one): one is FieldItem => typeof one === 'object' && one !== null && typeof one.code === 'string',
  );
}

/** Changes the data type and removes constraints and default, which are specific to the old data type. */
export function ofType(field: FieldItem, dataType: DataType): FieldItem {
  if (dataType === field.dataType) return field;
  const { constraints: _limits, default: _value, ...rest } = field;
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
