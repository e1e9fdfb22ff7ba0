/** Shapes of the condition language: as it travels, as it is typed, and what it is judged on. See `filter.ts`. */
import type { DataType } from './data-types.ts';

export const OPERATORS = [
  'equals',
  'not-equals',
  'in',
  'contains',
  'starts-with',
  'before',
  'after',
  'range',
  'is-empty',
] as const;
export type Operator = (typeof OPERATORS)[number];

export type Logic = 'AND' | 'OR';

// ------------------------------------------------------------------ on the wire

export interface LeafCondition {
  field: string;
  operator: Operator;
  value?: unknown;
}

export interface GroupCondition {
  logic: Logic;
  conditions: Condition[];
}

/** A condition as a caller or a bundle writes it (api, "Search rules" 6 and 7). */
export type Condition = LeafCondition | GroupCondition;

// ------------------------------------------------------------------ fields

/** A field that a condition may name: a system field of section 4, or a field of a type. */
export interface FilterField {
  code: string;
  kind: 'system' | 'value';
  dataType: DataType;
  multiple: boolean;
  /** Codes that a value may have, where they are a closed list. */
  options?: ReadonlySet<string>;
}

/** What is kept of a field in a typed condition: plain JSON. */
export type TypedField = Pick<FilterField, 'code' | 'kind' | 'dataType' | 'multiple'>;

/** Answers `undefined` for a field that does not exist and for one that is hidden from the caller alike. */
export type FieldResolver = (code: string) => FilterField | undefined;

// ------------------------------------------------------------------ variables

/** What the variables of configuration stand for at the moment of judging. */
export interface Variables {
  /** Id of the user who acts. */
  me: string;
  /** Ids of the user's groups, nested ones included. */
  groups: readonly string[];
  orgUnit: string | null;
  /** Ids of the user's unit and of all below. */
  orgUnits: readonly string[];
  /** RFC 3339 UTC with milliseconds. */
  now: string;
  /** `YYYY-MM-DD`, in whatever zone the caller lives by. */
  today: string;
}

export type VariableName = 'me' | 'myGroups' | 'myOrgUnit' | 'myOrgUnits' | 'now' | 'today';

/** `shift` is an ISO 8601 duration, negative for the past; on `now` and `today` alone. */
export interface VariableOperand {
  variable: VariableName;
  shift?: string;
}

export interface LiteralOperand {
  /** In the stored form of the field's data type. */
  literal: string | number | boolean;
}

export type Operand = LiteralOperand | VariableOperand;

// ------------------------------------------------------------------ typed

export type TypedLeaf = { field: TypedField } & (
  | { operator: 'equals' | 'not-equals'; value: Operand }
  | { operator: 'before' | 'after'; value: Operand }
  /** The value is folded. */
  | { operator: 'contains' | 'starts-with'; value: string }
  | { operator: 'in'; values: Operand[] }
  | { operator: 'range'; from: Operand; to: Operand }
  | { operator: 'is-empty'; value: boolean }
);

export interface TypedGroup {
  logic: Logic;
  conditions: TypedCondition[];
}

/** A condition that `parseCondition` accepted: every field known, every value in stored form. Plain JSON. */
export type TypedCondition = TypedLeaf | TypedGroup;

// ------------------------------------------------------------------ facts

/** System fields of a record as section 4 names them; instants as RFC 3339 UTC with milliseconds. */
export interface SystemFacts {
  id: string;
  number: string | null;
  title: string | null;
  typeId: string;
  typeCode: string;
  state: string;
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
  /** Field code → stored value; an empty value is an absent key. */
  values: Readonly<Record<string, unknown>>;
  /** Field code → folded copy of the text of `values`; a list for a multiple field. */
  folded: Readonly<Record<string, unknown>>;
  system: SystemFacts;
  /** Whether the record's type version has another shape for that field; then no condition on it holds. */
  mismatched?: (code: string) => boolean;
}
