/** Data derived from stored values: their API form, their text, their folded copies, the ids they contain. */
import { type DataType, ID_TYPES, TEXT_TYPES } from '../../lib/data-types.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { fold } from '../../lib/text.ts';
import type { FieldDefinition } from './definitions.ts';
import { richTextPlain } from './rich-text.ts';
import type { RichNode } from './rich-text-schema.ts';

/** The API form of a stored value. All stored forms are API forms; an absent value is null. */
export function toWire(_field: FieldDefinition, stored: unknown): unknown {
  return stored ?? null;
}

/** Whether two stored values are equal; an absent value equals null. */
export function sameValue(a: unknown, b: unknown): boolean {
  return deepEqualJson(a ?? null, b ?? null);
}

/** A stored value as plain text for display and files: elements of a list joined by `; `, a rich text as its plain text. */
export function plainText(field: FieldDefinition, stored: unknown): string {
  if (stored === null || stored === undefined) return '';
  if (field.dataType === 'rich-text') return richTextPlain(stored as RichNode);
  if (field.dataType === 'json') return JSON.stringify(stored);
  return Array.isArray(stored) ? stored.map(String).join('; ') : String(stored);
}

/**
 * Field code → folded copy, for the text fields that `contains` and `starts-with` search
 * (docs/spec/search.md#condition-language).
 */
export function foldedCopy(
  fields: Iterable<FieldDefinition>,
  stored: Readonly<Record<string, unknown>>,
): Record<string, string | string[]> {
  const copies: [string, string | string[]][] = [];
  for (const field of fields) {
    if (!TEXT_TYPES.has(field.dataType) || !Object.hasOwn(stored, field.code)) continue;
    const value = stored[field.code];
    if (value === null || value === undefined) continue;
    copies.push([
      field.code,
      Array.isArray(value) ? value.map((element) => fold(String(element))) : fold(plainText(field, value)),
    ]);
  }
  return Object.fromEntries(copies);
}

/** The ids in the value of one field, for lookups. */
export interface NamedIds {
  code: string;
  dataType: DataType;
  ids: string[];
  /** Codes of the record types that a reference may point to; absent: any. */
  types?: string[];
}

/** The ids in stored values, by field. */
export function idsIn(fields: Iterable<FieldDefinition>, stored: Readonly<Record<string, unknown>>): NamedIds[] {
  const named: NamedIds[] = [];
  for (const { code, dataType, constraints } of fields) {
    if (!ID_TYPES.has(dataType) || !Object.hasOwn(stored, code)) continue;
    const value = stored[code];
    const ids = (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');
    if (ids.length === 0) continue;
    named.push({ code, dataType, ids, ...(constraints.types === undefined ? {} : { types: constraints.types }) });
  }
  return named;
}
