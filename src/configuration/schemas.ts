/** Schemas shared by several sections of the configuration bundle (docs/spec/configuration.md#bundle). */
import Type, { type TUnsafe } from 'typebox';
import type { Names } from './naming.ts';

const CODE = { pattern: '^[a-z][a-z0-9-]{0,62}$', phrase: { phrase: 'CODE', example: 'service-desk' } };
const FIELD_CODE = { pattern: '^[a-zA-Z][a-zA-Z0-9_]{0,62}$', phrase: { phrase: 'FIELD_CODE', example: 'dueDate' } };

/** The own code of an item, or of a part of one. Codes of other things are `CodeOf`, `NodeCode`, `StateCode` or `TransitionCode`. */
export const Code = Type.String(CODE);

/** The own code of a field. Codes of fields of record types are `FieldOf`. */
export const FieldCode = Type.String(FIELD_CODE);

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

/** Former codes of a renamed item, field, option, state or transition. Those that do not exist are ignored. */
function was(code: typeof Code) {
  return Type.Optional(Type.Union([code, Type.Array(code, { minItems: 1, maxItems: 20, uniqueItems: true })]));
}
export const WasCode = was(Code);
export const WasFieldCode = was(FieldCode);
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
