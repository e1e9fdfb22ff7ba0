/**
 * Types and limits of the condition language: input conditions, typed conditions and the facts that they are evaluated on. The
 * console uses this file, too. See `filter.ts`.
 */
import type { DataType, Literal, Operator, VariableName } from './data-types/index.ts';

export type Logic = 'AND' | 'OR';

// ------------------------------------------------------------------ on the wire

/** Limits of a condition: conditions of a group, depth of groups, conditions in all, values of `in`. */
export const FILTER_LIMITS = { groupConditions: 20, depth: 5, conditions: 100, inValues: 200 } as const;

export interface LeafCondition {
  field: string;
  operator: Operator;
  value?: unknown;
}

export interface GroupCondition {
  logic: Logic;
  conditions: Condition[];
}

/** A condition as a caller or a bundle writes it (docs/spec/search.md#condition-language). */
export type Condition = LeafCondition | GroupCondition;

// ------------------------------------------------------------------ fields

/** A field that a condition may name: a system field, or a field of a type. */
export interface FilterField {
  code: string;
  kind: 'system' | 'value';
  dataType: DataType;
  multiple: boolean;
  /** Allowed codes, if values come from a closed list. */
  options?: ReadonlySet<string>;
  /** The code under which values are stored, if the field was renamed. */
  storedAs?: string;
  /** Option code → the code under which it is stored, for renamed options. */
  optionsStoredAs?: Readonly<Record<string, string>>;
}

/** The part of a field that a typed condition stores; plain JSON. */
export type TypedField = Omit<FilterField, 'options'>;

/** Returns `undefined` both for a field that does not exist and for one that is hidden from the caller. */
export type FieldResolver = (code: string) => FilterField | undefined;

// ------------------------------------------------------------------ variables

/** Values of the configuration variables at the time of evaluation. */
export interface Variables {
  /** Id of the acting user. */
  me: string;
  /** Ids of the user's groups, including nested ones. */
  groups: readonly string[];
  orgUnit: string | null;
  /** Ids of the user's unit and of all units below it. */
  orgUnits: readonly string[];
  /** RFC 3339 UTC with milliseconds. */
  now: string;
  /** `YYYY-MM-DD` in the time zone chosen by the caller. */
  today: string;
}

/** `shift` is an ISO 8601 duration, negative for the past; only for `now` and `today`. */
export interface VariableOperand {
  variable: VariableName;
  shift?: string;
}

export interface LiteralOperand {
  /** In the stored form of the field's data type. */
  literal: Literal;
}

export type Operand = LiteralOperand | VariableOperand;

// ------------------------------------------------------------------ typed

export type TypedLeaf = { field: TypedField } & (
  | { operator: 'equals' | 'not-equals'; value: Operand }
  | { operator: 'before' | 'after'; value: Operand }
  /** The value is case-folded. */
  | { operator: 'contains' | 'starts-with'; value: string }
  | { operator: 'in'; values: Operand[] }
  | { operator: 'range'; from: Operand; to: Operand }
  | { operator: 'is-empty'; value: boolean }
);

export interface TypedGroup {
  logic: Logic;
  conditions: TypedCondition[];
}

/** A condition that `parseCondition` accepted: all fields are known, all values are in stored form. Plain JSON. */
export type TypedCondition = TypedLeaf | TypedGroup;

// ------------------------------------------------------------------ facts

/** System fields of a record; datetimes are RFC 3339 UTC with milliseconds. */
export interface SystemFacts {
  id: string;
  number: string | null;
  title: string | null;
  typeId: string;
  typeCode: string;
  state: 'ACTIVE' | 'ARCHIVED';
  workflowState: string | null;
  workflowCategory: string | null;
  revision: number;
  createdAt: string;
  createdBy: string | null;
  updatedAt: string;
  updatedBy: string | null;
}

/** A stored or planned record as conditions see it. */
export interface RecordFacts {
  /** Field code → stored value. Empty values have no key. */
  values: Readonly<Record<string, unknown>>;
  /** Field code → case-folded copy of the text in `values`; a list for a multiple field. */
  folded: Readonly<Record<string, unknown>>;
  system: SystemFacts;
  /** Whether the record's type version stores the field in a different shape. Conditions on such a field are false. */
  mismatched?: (code: string) => boolean;
}
