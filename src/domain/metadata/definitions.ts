/**
 * Stored definitions of record types and workflows: the shape of the bundle with every default filled in, so that two equal
 * configurations are equal JSON (docs/spec/configuration.md#bundle).
 */
import type { DataType } from '../../lib/data-types.ts';
import type { Condition } from '../../lib/filter.ts';

/** A text that may differ by locale: one string for all locales, or locale → text. */
export type LocalizedText = string | { [locale: string]: string };

export interface EnumOption {
  code: string;
  name: LocalizedText;
}

/** Constraints on a value. Only keys that fit the field's data type are accepted. */
export interface FieldConstraints {
  minLength?: number;
  maxLength?: number;
  /** RE2 syntax, matched in linear time against the whole value. */
  pattern?: string;
  /** Bounds of integer and decimal (decimal as string), date, datetime and time. */
  min?: number | string;
  max?: number | string;
  /** Maximum number of digits after the decimal point. */
  scale?: number;
  /** Codes and names of an enum, in order. */
  options?: EnumOption[];
  /** Codes of the record types that a reference may point to; absent: any. */
  types?: string[];
  /** Maximum number of elements of a multiple field, at most 100. */
  maxItems?: number;
}

/** How the field is indexed for search. */
export interface FieldSearch {
  text: boolean;
  filter: boolean;
  facet: boolean;
}

export interface FieldDefinition {
  code: string;
  name: LocalizedText;
  description?: LocalizedText;
  dataType: DataType;
  required: boolean;
  readOnly: boolean;
  multiple: boolean;
  constraints: FieldConstraints;
  /** In stored configuration: as in the bundle (codes, logins). In a loaded type version: as stored in a record (ids). */
  default?: unknown;
  search: FieldSearch;
}

export interface TypeDefinition {
  code: string;
  name: LocalizedText;
  description?: LocalizedText;
  category: 'object' | 'dictionary';
  numbering?: { prefix: string; digits: number };
  /** Code of the field whose text is the title of a record. */
  title?: string;
  /** Code of the workflow. */
  workflow?: string;
  fields: FieldDefinition[];
}

export type WorkflowCategory = 'open' | 'waiting' | 'done';

export interface WorkflowState {
  code: string;
  name: LocalizedText;
  category: WorkflowCategory;
}

/** A field of a transition's form: a field of the record, or `$reason` (text) or `$decisionReport` (rich text). */
export interface TransitionField {
  code: string;
  required: boolean;
}

export interface TransitionDefinition {
  code: string;
  name: LocalizedText;
  from: string[] | '*';
  to: string;
  condition?: Condition;
  fields: TransitionField[];
  set: { [fieldCode: string]: unknown };
}

export interface WorkflowDefinition {
  code: string;
  name: LocalizedText;
  initial: string;
  states: WorkflowState[];
  transitions: TransitionDefinition[];
}
