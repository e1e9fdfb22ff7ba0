/** Schemas that the contracts of several modules share. */
import Type, { type TSchema } from 'typebox';

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
