/**
 * Stored definitions of record types and workflows: the shape of the bundle with every default filled in, so that two equal
 * configurations are equal JSON (docs/spec/configuration.md#bundle).
 */
import type { Constraints, DataType } from '../../lib/data-types/index.ts';
import type { Condition } from '../../lib/filter.ts';

/** A text that may differ by locale: one string for all locales, or locale → text. */
export type LocalizedText = string | { [locale: string]: string };

export type FieldConstraints = Constraints<LocalizedText>;

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
