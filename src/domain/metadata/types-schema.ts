/** The schema of an item of the bundle's section `types` (docs/spec/configuration.md#bundle). */
import Type, { type Static, type TSchema } from 'typebox';
import { CodeOf, Description, FieldOf, ListedField, WasFieldCode, WasOption } from '../../configuration/schemas.ts';
import { FIELD_ROLES } from '../../contract/field-roles.ts';
import { closed, Code, described, FieldCode, Name, nullable, oneOf, optional } from '../../contract/schemas.ts';
import { type ConstraintKey, DATA_TYPES } from '../../lib/data-types/index.ts';

const Bound = Type.Union([Type.Number(), Type.String({ maxLength: 1000 })]);

const Constraints = closed({
  minLength: optional('Smallest number of characters of a text. Default: 0.', Type.Integer()),
  maxLength: optional(
    'Largest number of characters of a text. Default: that of the data type, such as 1000 for string.',
    Type.Integer(),
  ),
  pattern: optional(
    'Regular expression in RE2 syntax that the whole text must match.',
    Type.String({ minLength: 1, maxLength: 1000 }),
  ),
  min: optional('Smallest number, or earliest date or time, in the format of the values of the field.', Bound),
  max: optional('Largest number, or latest date or time, in the format of the values of the field.', Bound),
  scale: optional('Largest number of digits after the decimal point, 0 to 130. Default: no limit.', Type.Integer()),
  options: optional(
    'The choices of an enum field, in the order in which forms show them.',
    Type.Array(
      closed(
        {
          code: described(
            'The value that records store and conditions compare; unique in the field.',
            Type.String({ minLength: 1, maxLength: 63 }),
          ),
          was: WasOption,
          name: Type.Optional(Name),
        },
        { part: 'option' },
      ),
      { maxItems: 1000 },
    ),
  ),
  types: optional(
    'Codes of the record types that a reference may point to. Default: all.',
    Type.Array(CodeOf('types'), { minItems: 1, maxItems: 1000, uniqueItems: true }),
  ),
  maxItems: optional('Largest number of values of a field with several values. Default: 100.', Type.Integer()),
} satisfies Record<ConstraintKey, TSchema>);

const FieldItem = closed(
  {
    code: FieldCode,
    was: WasFieldCode,
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    dataType: described(
      'What values are. It decides the format, the constraints and the operators of conditions.',
      oneOf(DATA_TYPES),
    ),
    required: optional(
      'If true, a record cannot be stored without a value; a text needs more than white space. Default: false.',
      Type.Boolean(),
    ),
    readOnly: optional(
      'If true, forms show the field without input. It takes no right away: roles decide who may write. Default: false.',
      Type.Boolean(),
    ),
    multiple: optional('If true, the value is a list of different values, in order. Default: false.', Type.Boolean()),
    role: optional(
      'What the field is for, such as assignee or due. Notifications, assignment and other features look for it; once in a type.',
      oneOf(FIELD_ROLES, { names: { kind: 'own' } }),
    ),
    constraints: optional('Limits of the values. Which ones are possible depends on the data type.', Constraints),
    default: optional(
      'The value of new records that are created without one. Users, groups, units and services are logins and codes.',
      Type.Unknown({ names: { kind: 'value' } }),
    ),
    search: optional(
      'How the field takes part in search, lists and exports.',
      closed({
        text: optional(
          'If true, a search by words finds records by this field. Default: true for string, text and rich-text, else false.',
          Type.Boolean(),
        ),
        filter: optional(
          'If true, searches and exports can filter by the field, and an index is built for it. Default: false.',
          Type.Boolean(),
        ),
        facet: optional(
          'If true, the answer of a search counts the hits of each value on the page. Default: false.',
          Type.Boolean(),
        ),
      }),
    ),
  },
  { part: 'field' },
);

/** Sections of the record form. Fields in no section follow the last one. */
export const LayoutItem = closed({
  sections: described(
    'The sections of the form, in order. Fields in no section follow the last one.',
    Type.Array(
      closed({
        name: optional('Heading of the section: a text, or one text for each locale. Absent: no heading.', Name),
        columns: optional(
          'Number of columns on wide screens; long texts and the title take all of them. Default: 1.',
          Type.Union([Type.Literal(1), Type.Literal(2)]),
        ),
        fields: described(
          'Codes of the fields in the section, in order. A field can be in one section only.',
          Type.Array(ListedField, { maxItems: 500 }),
        ),
      }),
      { maxItems: 50 },
    ),
  ),
});

export const TypeItem = closed({
  code: Code,
  name: Type.Optional(Name),
  plural: optional(
    'The name of a list of records, such as Incidents: a text, or one text for each locale. Default: the name.',
    Name,
  ),
  description: Type.Optional(Description),
  category: optional(
    'object is for work and things that people deal with, dictionary for reference lists that other records point to. Default: object.',
    oneOf(['object', 'dictionary']),
  ),
  numbering: optional(
    'Gives each record a number such as INC0000042. Absent: records have no number.',
    closed({
      // A prefix must not end with a digit: prefix and number would run together, and two types could produce the same number.
      prefix: described(
        'Text in front of the number: capital letters, digits and hyphens, not ending with a digit.',
        Type.String({ pattern: '^[A-Z]([A-Z0-9-]{0,14}[A-Z-])?$', phrase: { phrase: 'PREFIX', example: 'INC' } }),
      ),
      digits: optional(
        'Number of digits, filled with zeros in front; larger numbers get more. Default: 7.',
        Type.Integer({ minimum: 1, maximum: 15 }),
      ),
    }),
  ),
  title: optional(
    'Code of the field that names a record in lists, links and search. Absent: the field title, if there is one; null: none.',
    nullable(FieldOf),
  ),
  workflow: optional(
    'Code of the workflow with the states of the records. Absent or null: records have no states.',
    nullable(CodeOf('workflows')),
  ),
  assignable: optional(
    'Absent: the field with the role `assignee` accepts only users who may read the record, and update it, comment internally or, at the desk, make transitions. `anyone`: all active users.',
    Type.Literal('anyone'),
  ),
  fields: optional(
    'The fields of a record, in the order of forms without a layout.',
    Type.Array(FieldItem, { maxItems: 500 }),
  ),
  layout: optional(
    'Groups and orders the fields in forms and on the record page. Absent or null: required and long fields come first.',
    nullable(LayoutItem),
  ),
});

export type TypeItem = Static<typeof TypeItem>;
export type FieldItem = Static<typeof FieldItem>;
