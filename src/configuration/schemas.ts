/** Schemas shared by several sections of the configuration bundle (docs/spec/configuration.md#bundle). */
import Type from 'typebox';
import { type Code, CODE, described, FIELD_CODE, localized, optional } from '../contract/schemas.ts';
import type { Names } from './naming.ts';

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
export const StateCode = Type.String({ ...CODE, ...naming({ kind: 'node', part: 'states' }) });
/** An element of another list of the same item. */
export function NodeCode(part: string) {
  return Type.String({ ...CODE, ...naming({ kind: 'node', part }) });
}

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
