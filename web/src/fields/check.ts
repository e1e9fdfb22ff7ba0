/**
 * Validates field values while the user types, with the functions that the server uses (docs/spec/records.md#values). The server
 * validates again; it also checks patterns, rich text and whether ids exist. No side effects.
 */
import { mostElements, Refusal, type View } from '../../../src/lib/data-types/index.ts';
import type { FieldSchema } from '../api/fields.ts';
import { typeOf } from './view.ts';

export interface Problem {
  code: string;
  /** The violated limits. */
  limits?: Refusal['limits'];
  /** Present if the value does not have the form of its data type. */
  view?: View;
}

export function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The problem of a value; undefined if it is valid. */
export function checkField(field: FieldSchema, value: unknown): Problem | undefined {
  if (isEmpty(value)) return field.required ? { code: 'REQUIRED' } : undefined;
  if (!field.multiple) return checkOne(field, value);
  const list = value as unknown[];
  const max = mostElements(field.constraints);
  if (list.length > max) return { code: 'TOO_MANY', limits: { max } };
  if (new Set(list).size < list.length) return { code: 'NOT_UNIQUE' };
  for (const element of list) {
    const problem = checkOne(field, element);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkOne(field: FieldSchema, value: unknown): Problem | undefined {
  const { blank = false, parse, view } = typeOf(field.dataType);
  if (field.required && blank && typeof value === 'string' && value.trim() === '') return { code: 'REQUIRED' };
  const parsed = parse?.(value, field.constraints);
  if (!(parsed instanceof Refusal)) return undefined;
  const { code, limits } = parsed;
  return code === 'WRONG_TYPE' || code === 'INVALID_FORMAT' ? { code, view } : { code, limits };
}
