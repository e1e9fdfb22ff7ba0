/**
 * Changed fields and stored records (docs/spec/records.md#type-versions): decides whether stored values fit the new fields, and
 * converts them to a newer version. A compatible change applies to all records of the newest version at once; an incompatible
 * change makes a new version of the type.
 */
import { descriptorOf, isId } from '../../lib/data-types/index.ts';
import { phraseText, type PlanNote, type PlanNoteReason, planNote } from '../../lib/problem.ts';
import type { FieldDefinition } from './registry.ts';
import { richTextPlain } from './rich-text.ts';
import type { RichNode } from './rich-text-schema.ts';
import { effectiveMaxItems, effectiveMaxLength } from './value-constraints.ts';
import { checkValue, plainText } from './values.ts';

/**
 * Compares the fields of two valid definitions of one type. Compatible changes are: a new optional field, a new option, a wider
 * limit, another name, description, default, order, `readOnly` or `search`. A new required field is incompatible even with a
 * default, because stored records get the default only when they are migrated.
 *
 * @returns why stored records may not fit the new fields; empty if the change is compatible
 */
export function incompatibilities(older: readonly FieldDefinition[], newer: readonly FieldDefinition[]): PlanNote[] {
  const before = new Map(older.map((field) => [field.code, field]));
  const after = new Map(newer.map((field) => [field.code, field]));
  const notes: PlanNote[] = [];
  for (const field of older) {
    const next = after.get(field.code);
    if (next === undefined) notes.push(planNote('FIELD_REMOVED', { field: field.code }));
    else notes.push(...changes(field, next));
  }
  for (const field of newer) {
    if (!before.has(field.code) && field.required) notes.push(planNote('REQUIRED_FIELD_ADDED', { field: field.code }));
  }
  return notes;
}

function changes(older: FieldDefinition, newer: FieldDefinition): PlanNote[] {
  const field = newer.code;
  // Constraints of different data types cannot be compared.
  if (older.dataType !== newer.dataType) {
    return [planNote('DATA_TYPE_CHANGED', { field, from: older.dataType, to: newer.dataType })];
  }
  if (older.multiple !== newer.multiple) {
    return [planNote(newer.multiple ? 'BECAME_MULTIPLE' : 'NO_LONGER_MULTIPLE', { field })];
  }
  const required = newer.required && !older.required ? [planNote('BECAME_REQUIRED', { field })] : [];
  return [...required, ...narrowed(older, newer)];
}

type Narrowing = Extract<
  PlanNoteReason,
  `M${string}_${'LOWER' | 'HIGHER'}` | 'SCALE_LOWER' | 'PATTERN_CHANGED' | 'FEWER_TYPES'
>;

function narrowed(older: FieldDefinition, newer: FieldDefinition): PlanNote[] {
  const from = older.constraints;
  const to = newer.constraints;
  const field = newer.code;
  const notes: PlanNote[] = [];
  const when = (narrower: boolean, reason: Narrowing): void => {
    if (narrower) notes.push(planNote(reason, { field }));
  };
  when(effectiveMaxLength(newer) < effectiveMaxLength(older), 'MAX_LENGTH_LOWER');
  when((to.minLength ?? 0) > (from.minLength ?? 0), 'MIN_LENGTH_HIGHER');
  when(effectiveMaxItems(newer) < effectiveMaxItems(older), 'MAX_ITEMS_LOWER');
  when((to.scale ?? Number.POSITIVE_INFINITY) < (from.scale ?? Number.POSITIVE_INFINITY), 'SCALE_LOWER');
  when(to.pattern !== undefined && to.pattern !== from.pattern, 'PATTERN_CHANGED');
  when(to.min !== undefined && (from.min === undefined || compareBounds(older, to.min, from.min) > 0), 'MIN_HIGHER');
  when(to.max !== undefined && (from.max === undefined || compareBounds(older, to.max, from.max) < 0), 'MAX_LOWER');
  const options = new Set((to.options ?? []).map((option) => option.code));
  for (const { code } of from.options ?? []) {
    if (!options.has(code)) notes.push(planNote('OPTION_REMOVED', { field, option: code }));
  }
  when(to.types !== undefined && !covers(to.types, from.types), 'FEWER_TYPES');
  return notes;
}

function covers(wider: readonly string[], types: readonly string[] | undefined): boolean {
  return types?.every((code) => wider.includes(code)) ?? false;
}

function compareBounds({ dataType }: FieldDefinition, a: string | number, b: string | number): number {
  const { canonical, compare } = descriptorOf(dataType);
  return compare?.(canonical?.(a), canonical?.(b)) ?? 0;
}

/** `stored` is null if the record has no value afterwards. `reason` completes "cannot be kept: …". */
export type Conversion = { ok: true; stored: unknown } | { ok: false; reason: string };

/**
 * Converts a stored value of `from` to the equivalent stored value of `to`, without loss. An absent value becomes the default
 * if the new field is required, and stays absent otherwise.
 *
 * The following conversions between data types exist: a value whose text is valid in the new type (`"12"` to 12, an enum's code
 * to a string, a date to its text), any value to `json` and back, one value to a list and a list of one to a value, plain
 * paragraphs to text and text to paragraphs. Ids convert only to text, because items of another kind have other ids.
 *
 * @param from the field in the older version; undefined for a new field
 */
export function convertValue(from: FieldDefinition | undefined, to: FieldDefinition, stored: unknown): Conversion {
  if (from === undefined || stored === null || stored === undefined) return absent(to);
  const elements: unknown[] = from.multiple && Array.isArray(stored) ? stored : [stored];
  if (to.dataType === 'json') return checked(to, stored);
  if (from.dataType === 'json') return fromJson(to, stored);
  if (!to.multiple && elements.length > 1) return { ok: false, reason: 'the list has more than one element' };
  const converted: unknown[] = [];
  for (const element of elements) {
    const single = convertOne(from, to, element);
    if (!single.ok) return single;
    converted.push(single.stored);
  }
  return checked(to, to.multiple ? converted : converted[0]);
}

function absent(to: FieldDefinition): Conversion {
  if (!to.required) return { ok: true, stored: null };
  if (to.default === undefined || to.default === null)
    return { ok: false, reason: 'the field is required and has no default' };
  return { ok: true, stored: to.default };
}

function checked(to: FieldDefinition, value: unknown): Conversion {
  const result = checkValue(to, value, '');
  if (!result.ok) return { ok: false, reason: result.problems[0]?.message ?? 'the value does not fit' };
  if (result.images.length > 0) return { ok: false, reason: 'the value holds images that are not kept as such' };
  return result.stored === null ? absent(to) : { ok: true, stored: result.stored };
}

function fromJson(to: FieldDefinition, value: unknown): Conversion {
  // Ids in free JSON were never checked. A string would be read as HTML.
  if (isId(to.dataType) || (to.dataType === 'rich-text' && typeof value === 'string')) {
    return { ok: false, reason: `this json does not convert to ${to.dataType}` };
  }
  return checked(to, to.multiple && !Array.isArray(value) ? [value] : value);
}

/** Converts one element to a value that `checkValue` of the new field can check. */
function convertOne(from: FieldDefinition, to: FieldDefinition, value: unknown): Conversion {
  const impossible: Conversion = { ok: false, reason: `a ${from.dataType} does not convert to ${to.dataType}` };
  if (from.dataType === to.dataType) return { ok: true, stored: value };
  if (isId(to.dataType)) return impossible;
  const source = descriptorOf(from.dataType);
  const target = descriptorOf(to.dataType);
  if (from.dataType === 'rich-text') return target.textual === true ? wordsOf(value as RichNode) : impossible;
  if (to.dataType === 'rich-text') {
    return source.textual === true ? { ok: true, stored: paragraphs(String(value)) } : impossible;
  }
  if (target.textual === true) return { ok: true, stored: plainText({ ...from, multiple: false }, value) };
  const numbers = source.comparison === 'number' && target.comparison === 'number';
  if (source.textual !== true && !numbers) return impossible;
  const stored = target.fromText === undefined ? value : target.fromText(String(value));
  return stored === undefined
    ? { ok: false, reason: `the value is not ${phraseText(target.expected)}` }
    : { ok: true, stored };
}

/** The text of a document that consists of plain paragraphs only. */
function wordsOf(doc: RichNode): Conversion {
  const plain = (doc.content ?? []).every(
    (block) => block.type === 'paragraph' && (block.content ?? []).every((node) => node.marks === undefined),
  );
  return plain
    ? { ok: true, stored: (doc.content ?? []).map(richTextPlain).join('\n') }
    : { ok: false, reason: 'the rich text is more than plain paragraphs' };
}

function paragraphs(text: string): RichNode {
  const content = text
    .split(/\r\n?|\n/)
    .map(
      (line): RichNode =>
        line === '' ? { type: 'paragraph' } : { type: 'paragraph', content: [{ type: 'text', text: line }] },
    );
  return { type: 'doc', content };
}
