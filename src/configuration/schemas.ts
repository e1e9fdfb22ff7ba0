/** Schemas shared by several sections of the configuration bundle (docs/spec/configuration.md#bundle). */
import Type, { type TSchema, type TUnsafe } from 'typebox';
import type { Names } from './naming.ts';

const CODE = { pattern: '^[a-z][a-z0-9-]{0,62}$', phrase: { phrase: 'CODE', example: 'service-desk' } };
const FIELD_CODE = { pattern: '^[a-zA-Z][a-zA-Z0-9_]{0,62}$', phrase: { phrase: 'FIELD_CODE', example: 'dueDate' } };

/**
 * The schema of a required property with a description, which editors show where the property is written. It says what the name
 * does not: the effect, the unit, the default.
 */
export function described<S extends TSchema>(description: string, schema: S): S {
  return { ...schema, description };
}

/** The same for a property that may be absent. */
export function optional<S extends TSchema>(description: string, schema: S) {
  return Type.Optional(described(description, schema));
}

/** The own code of an item, or of a part of one. Codes of other things are `CodeOf`, `NodeCode`, `StateCode` or `TransitionCode`. */
export const Code = Type.String({
  ...CODE,
  description:
    'Names this entry in the configuration and in calls; unique in its list. Lower-case letters, digits and hyphens, such as service-desk.',
});

/** The own code of a field. Codes of fields of record types are `FieldOf`. */
export const FieldCode = Type.String({
  ...FIELD_CODE,
  description:
    'Names the field in values, conditions, rights and calls; unique in the type. Letters, digits and underscores, such as dueDate.',
});

function naming(names: Names): { names: Names } {
  return { names };
}

/** The code of an item of a section. */
export function CodeOf(section: string) {
  return Type.String({ ...CODE, ...naming({ kind: 'item', section }) });
}
/** A field of the record types in scope (`typesAt` of an object around it). */
export const FieldOf = Type.String({ ...FIELD_CODE, ...naming({ kind: 'field' }) });
/** The same, where a list only names fields and nothing depends on their values. */
export const ListedField = Type.String({ ...FIELD_CODE, ...naming({ kind: 'field', listed: true }) });
/** A transition of the workflows of the record types in scope. */
export const TransitionCode = Type.String({ ...CODE, ...naming({ kind: 'transition' }) });
/** A state of the workflow itself. */
export const StateCode = Type.String({ ...CODE, ...naming({ kind: 'state' }) });
/** An element of another list of the same item. */
export function NodeCode(part: string) {
  return Type.String({ ...CODE, ...naming({ kind: 'node', part }) });
}

/** The format of a login is checked by its normalisation. */
export const Login = Type.String({ minLength: 1, maxLength: 255, ...naming({ kind: 'item', section: 'users' }) });

export const LOCALE = '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$';

export const LocaleCode = Type.String({ pattern: LOCALE, phrase: { phrase: 'LOCALE', example: 'ru-RU' } });

const oneText = (maxLength: number) => Type.String({ minLength: 1, maxLength });

export function localized(maxLength: number) {
  return Type.Union([
    oneText(maxLength),
    Type.Object(
      {},
      {
        minProperties: 1,
        additionalProperties: false,
        patternProperties: { [LOCALE]: described('The text in the language of this locale.', oneText(maxLength)) },
      },
    ),
  ]);
}

export const Name = described(
  'The name that people see: a text, or one text for each locale. Default: the code.',
  localized(200),
);
export const Description = described(
  'An explanation for people: a text, or one text for each locale. Forms show those of types and fields as help.',
  localized(4000),
);

/** A switch of something that acts by itself. */
export function enabled(standard: boolean) {
  return optional(`If false, it is kept and does nothing until it is enabled. Default: ${standard}.`, Type.Boolean());
}

/** Former codes of a renamed item, field, option, state or transition. Those that do not exist are ignored. */
function was(code: typeof Code) {
  return optional(
    'Former code or list of former codes. What has one of them is renamed: values, rights and conditions follow. Codes that do not exist are ignored.',
    Type.Union([code, Type.Array(code, { minItems: 1, maxItems: 20, uniqueItems: true })]),
  );
}
export const WasCode = was(Type.String(CODE));
export const WasFieldCode = was(Type.String(FIELD_CODE));
export const WasOption = was(Type.String({ minLength: 1, maxLength: 63 }));

export type Was = string | string[];

export type Localized = string | { [locale: string]: string };

/** A condition. The condition language validates its grammar. */
export const ConditionSchema = Type.Object(
  {
    field: Type.Optional(Type.Unknown()),
    operator: Type.Optional(Type.Unknown()),
    value: Type.Optional(Type.Unknown()),
    logic: Type.Optional(Type.Unknown()),
    conditions: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true, ...naming({ kind: 'condition' }) },
);

/** Field code → value. */
export const SetSchema = Type.Object({}, { additionalProperties: true, ...naming({ kind: 'set' }) });
/** The same, where texts may have placeholders for values of a record of the types of the scope around it. */
export const FilledSetSchema = Type.Object({}, { additionalProperties: true, ...naming({ kind: 'filledSet' }) });

/** One of several strings. The static type is given explicitly, because that of a union built from a list would be `never`. */
export function oneOf<const V extends string>(
  values: readonly V[],
  options: { description?: string; names?: Names } = {},
): TUnsafe<V> {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  ) as unknown as TUnsafe<V>;
}
