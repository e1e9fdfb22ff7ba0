/** Schemas shared by several sections of the configuration bundle (docs/spec/configuration.md#bundle). */
import Type, { type TUnsafe } from 'typebox';

export const Code = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,62}$',
  phrase: { phrase: 'CODE', example: 'service-desk' },
});

export const FieldCode = Type.String({
  pattern: '^[a-zA-Z][a-zA-Z0-9_]{0,62}$',
  phrase: { phrase: 'FIELD_CODE', example: 'dueDate' },
});

/** The format of a login is checked by its normalisation. */
export const Login = Type.String({ minLength: 1, maxLength: 255 });

export const LOCALE = '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$';

export const LocaleCode = Type.String({ pattern: LOCALE, phrase: { phrase: 'LOCALE', example: 'ru-RU' } });

const oneLine = (maxLength: number) => Type.String({ minLength: 1, maxLength });

export function localized(maxLength: number) {
  return Type.Union([
    oneLine(maxLength),
    Type.Object(
      {},
      {
        minProperties: 1,
        additionalProperties: false,
        patternProperties: { [LOCALE]: oneLine(maxLength) },
      },
    ),
  ]);
}

export const Name = localized(200);
export const Description = localized(4000);

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
  { additionalProperties: true },
);

/** Field code → value. */
export const SetSchema = Type.Object({}, { additionalProperties: true });

/** One of several strings. The static type is given explicitly, because that of a union built from a list would be `never`. */
export function oneOf<const V extends string>(values: readonly V[]): TUnsafe<V> {
  return Type.Union(values.map((value) => Type.Literal(value))) as unknown as TUnsafe<V>;
}
