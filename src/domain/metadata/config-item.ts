/** Schema of a record type in a bundle, and its conversion to a definition with all defaults filled in. */
import Type, { type Static } from 'typebox';
import { closed, nullable } from '../../contract/schemas.ts';
import { DATA_TYPES, descriptorOf } from '../../lib/data-types/index.ts';
import { Code, Description, FieldCode, type Localized, Name, oneOf } from '../../configuration/schemas.ts';
import type { FieldConstraints, FieldDefinition, FieldSearch, TypeDefinition } from './definitions.ts';

const Bound = Type.Union([Type.Number(), Type.String({ maxLength: 1000 })]);

const Constraints = closed({
  minLength: Type.Optional(Type.Integer()),
  maxLength: Type.Optional(Type.Integer()),
  pattern: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  min: Type.Optional(Bound),
  max: Type.Optional(Bound),
  scale: Type.Optional(Type.Integer()),
  options: Type.Optional(
    Type.Array(closed({ code: Type.String({ minLength: 1, maxLength: 63 }), name: Type.Optional(Name) }), {
      maxItems: 1000,
    }),
  ),
  types: Type.Optional(Type.Array(Code, { minItems: 1, maxItems: 1000, uniqueItems: true })),
  maxItems: Type.Optional(Type.Integer()),
});

const FieldItem = closed({
  code: FieldCode,
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  dataType: oneOf(DATA_TYPES),
  required: Type.Optional(Type.Boolean()),
  readOnly: Type.Optional(Type.Boolean()),
  multiple: Type.Optional(Type.Boolean()),
  constraints: Type.Optional(Constraints),
  default: Type.Optional(Type.Unknown()),
  search: Type.Optional(
    closed({
      text: Type.Optional(Type.Boolean()),
      filter: Type.Optional(Type.Boolean()),
      facet: Type.Optional(Type.Boolean()),
    }),
  ),
});

export const TypeItem = closed({
  code: Code,
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  category: Type.Optional(oneOf(['object', 'dictionary'])),
  numbering: Type.Optional(
    closed({
      // A prefix must not end with a digit: prefix and number would run together, and two types could produce the same number.
      prefix: Type.String({ pattern: '^[A-Z]([A-Z0-9-]{0,14}[A-Z-])?$', description: 'a prefix such as INC' }),
      digits: Type.Optional(Type.Integer({ minimum: 1, maximum: 15 })),
    }),
  ),
  title: Type.Optional(nullable(FieldCode)),
  workflow: Type.Optional(nullable(Code)),
  fields: Type.Optional(Type.Array(FieldItem, { maxItems: 500 })),
});

export type TypeItem = Static<typeof TypeItem>;
type FieldItem = Static<typeof FieldItem>;

function normaliseSearch(item: FieldItem): FieldSearch {
  const { text, filter, facet } = item.search ?? {};
  const { searched = false } = descriptorOf(item.dataType);
  return { text: text ?? searched, filter: filter ?? false, facet: facet ?? false };
}

function normaliseConstraints(constraints: FieldItem['constraints']): FieldConstraints {
  if (constraints === undefined) return {};
  const { options, ...rest } = constraints;
  if (options === undefined) return rest as FieldConstraints;
  const named = options.map(({ code, name }) => ({ code, name: (name as Localized | undefined) ?? code }));
  return { ...(rest as FieldConstraints), options: named };
}

function normaliseField(item: FieldItem): FieldDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    dataType: item.dataType,
    required: item.required ?? false,
    readOnly: item.readOnly ?? false,
    multiple: item.multiple ?? false,
    constraints: normaliseConstraints(item.constraints),
    ...(item.default === undefined || item.default === null ? {} : { default: item.default }),
    search: normaliseSearch(item),
  };
}

/** If `title` is absent, a field with the code `title` becomes the title field. Null means that the type has none. */
export function normaliseType(item: TypeItem): TypeDefinition {
  const fields = (item.fields ?? []).map(normaliseField);
  const title = item.title === undefined ? fields.find((field) => field.code === 'title')?.code : item.title;
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...(item.description === undefined ? {} : { description: item.description as Localized }),
    category: item.category ?? 'object',
    ...(item.numbering === undefined
      ? {}
      : { numbering: { prefix: item.numbering.prefix, digits: item.numbering.digits ?? 7 } }),
    ...(title === undefined || title === null ? {} : { title }),
    ...(item.workflow === undefined || item.workflow === null ? {} : { workflow: item.workflow }),
    fields,
  };
}
