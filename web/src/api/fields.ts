/** Field schemas for forms and conditions. A separate module, because code without a page uses it too. */
import type { Constraints, DataType } from '../../../src/lib/data-types/index.ts';

export type { DataType };

/** A field of a form: of a type, of a record, or of a transition. */
export interface FieldSchema {
  code: string;
  name: string;
  /** Help for users. */
  description?: string;
  dataType: DataType;
  required: boolean;
  readOnly: boolean;
  multiple: boolean;
  constraints: FieldConstraints;
  default?: unknown;
}

/** Constraints with names in the language of the console. */
export type FieldConstraints = Constraints<string>;
