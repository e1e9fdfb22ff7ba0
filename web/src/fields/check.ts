/**
 * Validates field values while the user types (docs/spec/records.md#values). The service validates again; this
 * only gives early feedback. No side effects.
 */
import type { FieldSchema } from '../api/fields.ts';
import { parseDuration } from './duration.ts';

/** Code of the message, and its parameter. */
export interface Problem {
  code: string;
  bound?: string | number;
}

const LENGTHS: Readonly<Record<string, number>> = { string: 1000, text: 100_000, url: 2048, email: 254, phone: 60 };
const MOST_ELEMENTS = 100;

export function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The problem of a value; undefined if it is valid. */
export function checkField(field: FieldSchema, value: unknown): Problem | undefined {
  if (isEmpty(value)) return field.required ? { code: 'REQUIRED' } : undefined;
  const text = field.dataType === 'string' || field.dataType === 'text';
  if (field.required && text && typeof value === 'string' && value.trim() === '') return { code: 'REQUIRED' };
  if (!field.multiple) return checkOne(field, value);
  const list = value as unknown[];
  const most = Math.min(field.constraints.maxItems ?? MOST_ELEMENTS, MOST_ELEMENTS);
  if (list.length > most) return { code: 'TOO_MANY', bound: most };
  if (new Set(list).size < list.length) return { code: 'NOT_UNIQUE' };
  for (const element of list) {
    const problem = checkOne(field, element);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkOne(field: FieldSchema, value: unknown): Problem | undefined {
  switch (field.dataType) {
    case 'string':
    case 'text':
    case 'url':
    case 'email':
    case 'phone':
      return checkText(field, String(value));
    case 'integer':
    case 'decimal':
      return checkNumber(field, value);
    case 'enum':
      return field.constraints.options?.some((option) => option.code === value) === false
        ? { code: 'NOT_AN_OPTION' }
        : undefined;
    case 'duration':
      return parseDuration(String(value)) === undefined ? { code: 'NOT_A_DURATION' } : undefined;
    case 'date':
      return checkTimed(field, String(value), /^\d{4}-\d\d-\d\d$/, 'NOT_A_DATE');
    case 'time':
      return checkTimed(field, String(value), /^\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/, 'NOT_A_TIME');
    case 'datetime':
      return Number.isNaN(Date.parse(String(value)))
        ? { code: 'NOT_A_DATE' }
        : checkTimed(field, new Date(String(value)).toISOString(), /./, 'NOT_A_DATE');
    default:
      return undefined;
  }
}

function checkText(field: FieldSchema, text: string): Problem | undefined {
  const { constraints, dataType } = field;
  const length = [...text].length;
  const most = constraints.maxLength ?? LENGTHS[dataType] ?? 1000;
  if (length > most) return { code: 'TOO_LONG', bound: most };
  if (dataType !== 'text' && /[\n\r\u2028\u2029]/.test(text)) return { code: 'NOT_ONE_LINE' };
  if (constraints.minLength !== undefined && length < constraints.minLength) {
    return { code: 'TOO_SHORT', bound: constraints.minLength };
  }
  if (dataType === 'url' && !isWebAddress(text)) return { code: 'NOT_AN_ADDRESS' };
  if (dataType === 'email' && !/^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/u.test(text)) return { code: 'NOT_AN_EMAIL' };
  if (dataType === 'phone' && !/^[+(\d][\d()\s./-]*\d\)?(?:[\s,;]*(?:ext\.?|x|доб\.?|#)\s?\d+)?$/iu.test(text)) {
    return { code: 'NOT_A_PHONE' };
  }
  return undefined;
}

/** True for http and https URLs without credentials. */
export function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s\\<>"`{}|^]+$/iu.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

function checkNumber(field: FieldSchema, value: unknown): Problem | undefined {
  const text = String(value);
  const { min, max, scale } = field.constraints;
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) {
    return { code: field.dataType === 'integer' ? 'NOT_AN_INTEGER' : 'NOT_A_NUMBER' };
  }
  if (field.dataType === 'integer' && (text.includes('.') || !Number.isSafeInteger(Number(text)))) {
    return { code: 'NOT_AN_INTEGER' };
  }
  if (scale !== undefined && (text.split('.')[1]?.length ?? 0) > scale) return { code: 'TOO_PRECISE', bound: scale };
  // Approximate, for early feedback; the service compares exactly.
  if (min !== undefined && Number(text) < Number(min)) return { code: 'TOO_SMALL', bound: min };
  if (max !== undefined && Number(text) > Number(max)) return { code: 'TOO_LARGE', bound: max };
  return undefined;
}

function checkTimed(field: FieldSchema, text: string, form: RegExp, code: string): Problem | undefined {
  if (!form.test(text)) return { code };
  const { min, max } = field.constraints;
  if (typeof min === 'string' && text < min) return { code: 'TOO_SMALL', bound: min };
  if (typeof max === 'string' && text > max) return { code: 'TOO_LARGE', bound: max };
  return undefined;
}
