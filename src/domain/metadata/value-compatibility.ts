/**
 * Decides whether stored records fit changed fields (docs/spec/records.md#type-versions). A compatible change applies to all
 * records of the newest version at once; an incompatible change makes a new version of the type.
 */
import { compareDecimals } from '../../lib/decimal.ts';
import { deepEqualJson } from '../../lib/json.ts';
import type { FieldDefinition } from './definitions.ts';
import { effectiveMaxItems, effectiveMaxLength } from './value-constraints.ts';
import { checkScalar } from './value-scalars.ts';

export interface Incompatibility {
  /** Code of the field. */
  field: string;
  /** Why stored records may not fit the new definition; a clause without a full stop. */
  reason: string;
}

export interface Compatibility {
  compatible: boolean;
  reasons: Incompatibility[];
}

/**
 * Compares the fields of two valid definitions of one type. Compatible changes are: a new optional field, a new option, a wider
 * limit, another name, description, default, order, `readOnly` or `search`. A new required field is incompatible even with a
 * default, because stored records get the default only when they are migrated.
 */
export function compatibility(older: readonly FieldDefinition[], newer: readonly FieldDefinition[]): Compatibility {
  const before = new Map(older.map((field) => [field.code, field]));
  const after = new Map(newer.map((field) => [field.code, field]));
  const reasons: Incompatibility[] = [];
  for (const field of older) {
    const next = after.get(field.code);
    if (next === undefined) reasons.push({ field: field.code, reason: 'the field is gone' });
    else reasons.push(...changes(field, next).map((reason) => ({ field: field.code, reason })));
  }
  for (const field of newer) {
    if (!before.has(field.code) && field.required)
      reasons.push({ field: field.code, reason: 'the field is new and required' });
  }
  return { compatible: reasons.length === 0, reasons };
}

function changes(older: FieldDefinition, newer: FieldDefinition): string[] {
  // Constraints of different data types cannot be compared.
  if (older.dataType !== newer.dataType) return [`the data type changed from ${older.dataType} to ${newer.dataType}`];
  if (older.multiple !== newer.multiple)
    return [newer.multiple ? 'the field became multiple' : 'the field is no longer multiple'];
  const reasons: string[] = [];
  if (newer.required && !older.required) reasons.push('the field became required');
  return [...reasons, ...narrowed(older, newer)];
}

function narrowed(older: FieldDefinition, newer: FieldDefinition): string[] {
  const from = older.constraints;
  const to = newer.constraints;
  const reasons: string[] = [];
  const when = (narrower: boolean, reason: string): void => {
    if (narrower) reasons.push(reason);
  };
  when(effectiveMaxLength(newer) < effectiveMaxLength(older), 'maxLength is lower');
  when((to.minLength ?? 0) > (from.minLength ?? 0), 'minLength is higher');
  when(effectiveMaxItems(newer) < effectiveMaxItems(older), 'maxItems is lower');
  when((to.scale ?? Number.POSITIVE_INFINITY) < (from.scale ?? Number.POSITIVE_INFINITY), 'scale is lower');
  when(to.pattern !== undefined && to.pattern !== from.pattern, 'the pattern changed');
  when(to.min !== undefined && (from.min === undefined || compareBounds(older, to.min, from.min) > 0), 'min is higher');
  when(to.max !== undefined && (from.max === undefined || compareBounds(older, to.max, from.max) < 0), 'max is lower');
  const options = new Set((to.options ?? []).map((option) => option.code));
  for (const { code } of from.options ?? []) when(!options.has(code), `the option ${code} is gone`);
  when(to.types !== undefined && !covers(to.types, from.types), 'fewer types may be referred to');
  return reasons;
}

function covers(wider: readonly string[], types: readonly string[] | undefined): boolean {
  return types?.every((code) => wider.includes(code)) ?? false;
}

function compareBounds(field: FieldDefinition, a: string | number, b: string | number): number {
  const plain: FieldDefinition = { ...field, multiple: false, constraints: {} };
  const stored = (bound: string | number): unknown => {
    const checked = checkScalar(plain, bound, '');
    return checked.ok ? checked.stored : bound;
  };
  const left = stored(a);
  const right = stored(b);
  if (deepEqualJson(left, right)) return 0;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (field.dataType === 'decimal') return compareDecimals(String(left), String(right));
  return String(left) < String(right) ? -1 : 1;
}
