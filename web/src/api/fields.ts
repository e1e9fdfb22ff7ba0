/** Field schemas for forms and conditions. A separate module, because code without a page uses it too. */
import type { DataType } from '../../../src/lib/data-types/index.ts';

export type { DataType };

/** A field of a form: of a type, of a record, or of a transition. */
export interface FieldSchema {
  code: string;
  name: string;
  dataType: DataType;
  required: boolean;
  readOnly: boolean;
  multiple: boolean;
  constraints: FieldConstraints;
  default?: unknown;
}

export interface FieldConstraints {
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  min?: number | string;
  max?: number | string;
  scale?: number;
  maxItems?: number;
  options?: { code: string; name: string }[];
  types?: string[];
}
