/** Schemas that the contracts of several modules share. */
import Type, { type TSchema, type TUnsafe } from 'typebox';

/** A lower-case UUID. A malformed one is answered with 404 in a path, and with 400 in a body. */
export const Id = Type.String({
  format: 'uuid',
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
});

export const Instant = Type.String({ format: 'date-time', description: 'RFC 3339 UTC with milliseconds.' });

/**
 * An integer from 1; strings, null and missing values are invalid. A revision that no record has reached is stale, not
 * malformed.
 */
export const Revision = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const IdOrCode = Type.String({ minLength: 1, maxLength: 64 });

/** Finds an item by an `IdOrCode`. If a code equals the id of another item, the id takes precedence. */
export function findByIdOrCode<T extends { id: string; code: string }>(
  items: Iterable<T>,
  idOrCode: string,
): T | undefined {
  const all = [...items];
  return all.find(({ id }) => id === idOrCode) ?? all.find(({ code }) => code === idOrCode);
}

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/**
 * Maximum number of values in a body. A type has at most 500 fields, so a body with many more is rejected without checking each
 * name.
 */
export const MAX_RECORD_VALUES = 1000;

/** Field code → value. */
export const Values = Type.Record(Type.String({ minLength: 1, maxLength: 63 }), Type.Unknown(), {
  maxProperties: MAX_RECORD_VALUES,
  description: 'Maps field codes to values, in the formats of the field schema.',
});

/** The locale of names and texts in answers, unless the request gives one (docs/spec/conventions.md#requests). */
export const DEFAULT_REQUEST_LOCALE = 'ru-RU';

export const localeQuery = {
  locale: Type.Optional(
    Type.String({
      maxLength: 64,
      description: `Locale of names and texts, ${DEFAULT_REQUEST_LOCALE} by default. If a text does not exist in this locale, the default locale of the service is used, then any other.`,
    }),
  ),
};

/** A closed object: an unknown property is an error, so that misspelt names are always reported. */
export function closed<P extends Record<string, TSchema>>(properties: P, options: Record<string, unknown> = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

export const CODE = { pattern: '^[a-z][a-z0-9-]{0,62}$', phrase: { phrase: 'CODE', example: 'service-desk' } };
export const FIELD_CODE = {
  pattern: '^[a-zA-Z][a-zA-Z0-9_]{0,62}$',
  phrase: { phrase: 'FIELD_CODE', example: 'dueDate' },
};

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

/** The format of a login is checked by its normalisation. */
export const Login = Type.String({ minLength: 1, maxLength: 255, names: { kind: 'item', section: 'users' } });

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

export type Localized = string | { [locale: string]: string };

/** One of several strings. The static type is given explicitly, because that of a union built from a list would be `never`. */
export function oneOf<const V extends string>(
  values: readonly V[],
  options: { description?: string; names?: object } = {},
): TUnsafe<V> {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  ) as unknown as TUnsafe<V>;
}
