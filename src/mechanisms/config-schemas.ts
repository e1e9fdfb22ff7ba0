/** Schemas that several sections of the configuration bundle share (configuration, section 3). */
import Type, { type TUnsafe } from 'typebox';

export const Code = Type.String({ pattern: '^[a-z][a-z0-9-]{0,62}$', description: 'a code such as service-desk' });

export const FieldCode = Type.String({
  pattern: '^[a-zA-Z][a-zA-Z0-9_]{0,62}$',
  description: 'a field code such as dueDate',
});

/** How a login may look is judged by the normal form of names. */
export const Login = Type.String({ minLength: 1, maxLength: 255 });

export const LOCALE = '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$';

export const LocaleCode = Type.String({ pattern: LOCALE, description: 'a locale such as ru-RU' });

const oneLine = (maxLength: number) => Type.String({ minLength: 1, maxLength });

function localized(maxLength: number) {
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

/** A condition; its grammar is judged by the condition language. */
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

/** One of some texts. Its static type is told here, since that of a union made from a list would be `never`. */
export function oneOf<const V extends string>(values: readonly V[]): TUnsafe<V> {
  return Type.Union(values.map((value) => Type.Literal(value))) as unknown as TUnsafe<V>;
}
