/**
 * Values of fields: their API form, their stored form, and what is derived from them (docs/spec/records.md#values). Pure.
 *
 * Stored forms are canonical: equal values are equal JSON, and storing a stored value again does not change it. Texts are in
 * NFC. A decimal is the shortest string of its digits. An instant is in UTC with milliseconds. Ids are in lower case. An empty
 * value is no value: null, the empty list, the empty string of `string` and `text`, and an empty rich text are all stored as an
 * absent key.
 */
import { RE2JS } from 're2js';
import {
  type DataType,
  descriptorOf,
  type IdOf,
  isBlank,
  isFolded,
  mostElements,
  Refusal,
  type Referent,
  type ServerDataType,
} from '../../lib/data-types/index.ts';
import { type FaultDetail, isFault } from '../../lib/fault.ts';
import { deepEqualJson, parseStrictJson, pointer } from '../../lib/json.ts';
import { problemAt } from '../../lib/problem.ts';
import { fold } from '../../lib/text.ts';
import type { FieldConstraints, FieldDefinition, TypeVersion } from './registry.ts';
import { checkRichText, richTextPlain } from './rich-text.ts';
import type { InlineImage } from './rich-text-images.ts';
import type { RichNode } from './rich-text-schema.ts';

/** Data types whose parser needs libraries that the console does not load. */
const SERVER_TYPES = {
  'rich-text': {
    check: (input, path) => checkRichText(input, path),
    text: (stored) => richTextPlain(stored as RichNode),
  },
} satisfies Record<ServerDataType, { check(input: unknown, path: string): ValueCheck; text(stored: unknown): string }>;

function isServerType(dataType: DataType): dataType is ServerDataType {
  return descriptorOf(dataType).parse === undefined;
}

const NO_IMAGES: readonly InlineImage[] = [];

/** `stored` is null for an empty value. `images` were extracted from a rich text and must be stored as blobs. */
export type ValueCheck =
  | { ok: true; stored: unknown; images: readonly InlineImage[] }
  | { ok: false; problems: FaultDetail[] };

/**
 * Returns the stored form of a value from a request. Whether an empty value is allowed (`checkValues`) and whether ids exist
 * (`idsIn`) is checked elsewhere, where the whole record is known.
 *
 * @param path JSON Pointer of the value; details point to the value or into it
 */
export function checkValue(field: FieldDefinition, input: unknown, path: string): ValueCheck {
  if (input === null || input === undefined) return { ok: true, stored: null, images: NO_IMAGES };
  if (isServerType(field.dataType)) return SERVER_TYPES[field.dataType].check(input, path);
  if (field.multiple) return checkElements(field, input, path);
  const checked = checkScalar(field, input, path);
  return checked.ok
    ? { ok: true, stored: lacks(field, checked.stored) ? null : checked.stored, images: NO_IMAGES }
    : { ok: false, problems: [checked.problem] };
}

/** Whether a stored text is only white space. Such a value does not satisfy `required`. */
export function isBlankText(field: FieldDefinition, stored: unknown): boolean {
  return isBlank(field.dataType, stored);
}

function lacks(field: FieldDefinition, stored: unknown): boolean {
  return stored === null || (field.required && isBlankText(field, stored));
}

const patterns = new WeakMap<FieldConstraints, RE2JS>();

/**
 * Whether the text matches the pattern of the constraints, which `checkConstraints` accepted. The cache depends only on the
 * constraints, so it may outlive a unit of work. It is weak, so entries are released with their definition.
 */
function matchesPattern(text: string, constraints: FieldConstraints, pattern: string): boolean {
  let compiled = patterns.get(constraints);
  if (compiled === undefined) {
    compiled = RE2JS.compile(pattern);
    patterns.set(constraints, compiled);
  }
  return compiled.testExact(text);
}

export type ScalarCheck = { ok: true; stored: unknown } | { ok: false; problem: FaultDetail };

/**
 * Checks one value that is not null; for a multiple field, one element. `stored` is null for an empty string in `string` and
 * `text`, which counts as no value. Not for types of `SERVER_TYPES`.
 */
export function checkScalar(field: FieldDefinition, input: unknown, path: string): ScalarCheck {
  const { dataType, constraints } = field;
  const descriptor = descriptorOf(dataType);
  if (descriptor.parse === undefined) throw new Error(`no parser for values of ${dataType}`);
  const parsed = descriptor.parse(input, constraints);
  if (parsed instanceof Refusal) return { ok: false, problem: { path, ...parsed.problem } };
  const { pattern } = constraints;
  if (pattern !== undefined && typeof parsed === 'string' && !matchesPattern(parsed, constraints, pattern)) {
    return { ok: false, problem: problemAt(path, 'VALUE_PATTERN') };
  }
  return { ok: true, stored: parsed ?? null };
}

function checkElements(field: FieldDefinition, input: unknown, path: string): ValueCheck {
  if (!Array.isArray(input)) {
    return { ok: false, problems: [problemAt(path, 'VALUE_TYPE', { expected: { phrase: 'LIST' } })] };
  }
  const most = mostElements(field.constraints);
  if (input.length > most) return { ok: false, problems: [problemAt(path, 'LIST_TOO_LONG', { max: most })] };
  const stored: unknown[] = [];
  const seen = new Set<unknown>();
  const problems: FaultDetail[] = [];
  for (const [index, element] of input.entries()) {
    const at = `${path}/${index}`;
    const checked = checkScalar(field, element, at);
    if (!checked.ok) problems.push(checked.problem);
    else if (lacks(field, checked.stored)) {
      problems.push(problemAt(at, 'EMPTY_ELEMENT'));
    } else if (seen.has(checked.stored)) {
      problems.push(problemAt(at, 'REPEATED_ELEMENT'));
    } else {
      seen.add(checked.stored);
      stored.push(checked.stored);
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, stored: stored.length > 0 ? stored : null, images: NO_IMAGES };
}

/** The same text for a field that does not exist and one that the caller may not read. */
export function unknownField(path: string): FaultDetail {
  return problemAt(path, 'UNKNOWN_FIELD');
}

export type ValuesCheck =
  | {
      ok: true;
      /** Field code → stored value, without empty values. */
      values: Record<string, unknown>;
      /** Codes of the fields whose given value is empty. */
      cleared: string[];
      images: readonly InlineImage[];
    }
  | { ok: false; problems: FaultDetail[] };

/**
 * Returns the stored forms of a map of values, or all problems at once. With `whole`, for a new record, defaults fill absent
 * keys (never a `null`) and required values must be present. Without it, only clearing a required field is a problem.
 *
 * @param fields the fields that the caller may name; any other key is an unknown field
 * @param at JSON Pointer of the map
 */
export function checkValues(
  fields: Iterable<FieldDefinition>,
  input: Readonly<Record<string, unknown>>,
  { at = '/values', whole }: { at?: string; whole: boolean },
): ValuesCheck {
  const known = new Map(Array.from(fields, (field) => [field.code, field]));
  const values: [string, unknown][] = [];
  const cleared: string[] = [];
  const images: InlineImage[] = [];
  const problems: FaultDetail[] = [];
  const required = (code: string): unknown => problems.push(problemAt(at + pointer(code), 'REQUIRED'));
  for (const [code, value] of Object.entries(input)) {
    const field = known.get(code);
    const checked = field === undefined ? undefined : checkValue(field, value, at + pointer(code));
    if (field === undefined || checked === undefined) problems.push(unknownField(at + pointer(code)));
    else if (!checked.ok) problems.push(...checked.problems);
    else if (checked.stored !== null) {
      values.push([code, checked.stored]);
      images.push(...checked.images);
    } else if (field.required) required(code);
    else cleared.push(code);
  }
  for (const field of whole ? known.values() : []) {
    if (Object.hasOwn(input, field.code)) continue;
    if (field.default !== undefined && field.default !== null) values.push([field.code, field.default]);
    else if (field.required) required(field.code);
  }
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, values: Object.fromEntries(values), cleared, images };
}

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
  if (isServerType(field.dataType)) return SERVER_TYPES[field.dataType].text(stored);
  const { text } = descriptorOf(field.dataType);
  if (text !== undefined) return text(stored);
  return Array.isArray(stored) ? stored.map(String).join('; ') : String(stored);
}

/**
 * Field code → folded copy, for the text fields that `contains` and `starts-with` search
 * (docs/spec/search.md#condition-language).
 *
 * @param known text → folded text, of texts that were folded already
 */
export function foldedCopy(
  fields: Iterable<FieldDefinition>,
  stored: Readonly<Record<string, unknown>>,
  known?: ReadonlyMap<string, string>,
): Record<string, string | string[]> {
  const copies: [string, string | string[]][] = [];
  for (const field of fields) {
    if (!isFolded(field.dataType) || !Object.hasOwn(stored, field.code)) continue;
    const value = stored[field.code];
    if (value === null || value === undefined) continue;
    const folded = (text: string): string => known?.get(text) ?? fold(text);
    copies.push([
      field.code,
      Array.isArray(value) ? value.map((element) => fold(String(element))) : folded(plainText(field, value)),
    ]);
  }
  return Object.fromEntries(copies);
}

interface IdsOf<R extends Referent> {
  code: string;
  /** The kind that the field names. Another kind with this id does not count. */
  refersTo: R;
  ids: IdOf<R>[];
  /** Codes of the record types that a reference may point to; absent: any. */
  types?: string[];
}

/** The ids in the value of one field, for lookups. */
export type NamedIds = { [R in Referent]: IdsOf<R> }[Referent];

/** The different ids that are to name items of the kind. */
export function idsOf<R extends Referent>(named: readonly NamedIds[], kind: R): IdOf<R>[] {
  const isOfKind = (entry: NamedIds): entry is NamedIds & IdsOf<R> => entry.refersTo === kind;
  return [...new Set(named.filter(isOfKind).flatMap(({ ids }) => ids))];
}

/** The ids in stored values, by field. */
export function idsIn(fields: Iterable<FieldDefinition>, stored: Readonly<Record<string, unknown>>): NamedIds[] {
  const named: NamedIds[] = [];
  for (const { code, dataType, constraints } of fields) {
    const { refersTo } = descriptorOf(dataType);
    if (refersTo === undefined || !Object.hasOwn(stored, code)) continue;
    const value = stored[code];
    const ids = (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');
    if (ids.length === 0) continue;
    const { types } = constraints;
    // The only place where a text becomes an id of a kind: that of its field.
    named.push({ code, refersTo, ids, ...(types === undefined ? {} : { types }) } as NamedIds);
  }
  return named;
}

const LONGEST_TITLE = 1000;

/** The title of a record, from the type's title field; null if it has none. */
export function titleText(version: TypeVersion, values: Record<string, unknown>): string | null {
  if (version.titleField === null) return null;
  const field = version.fields.get(version.titleField);
  const value = values[version.titleField];
  if (field === undefined || value === undefined) return null;
  const text = plainText(field, value);
  if (text === '') return null;
  // Cut by code points, so that no surrogate pair is split.
  return text.length <= LONGEST_TITLE ? text : [...text].slice(0, LONGEST_TITLE).join('');
}

// Cells of CSV files (docs/spec/import-export-bulk.md). Reading a written cell returns the same value in its API form, so
// importing an unchanged export changes nothing. Elements of a list are joined by `; `. An element that contains a semicolon or
// a quote, is empty, or has surrounding blanks is put in double quotes, with inner quotes doubled. Documents and free JSON are
// written as JSON.

const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;

/** The stored value as text; empty for an absent value. */
export function cellOf(field: FieldDefinition, stored: unknown): string {
  if (stored === null || stored === undefined) return '';
  if (!field.multiple || !Array.isArray(stored)) return scalarCell(field, stored);
  return stored.map((element) => quoted(scalarCell(field, element))).join('; ');
}

/** Whether a spreadsheet could misread the cell, for example as a formula. Only a plain number may start with a sign. */
export function needsGuard(field: FieldDefinition, cell: string): boolean {
  return isFolded(field.dataType) || !NUMBER.test(cell);
}

function scalarCell(field: FieldDefinition, stored: unknown): string {
  const { toCell, text = String } = descriptorOf(field.dataType);
  return (toCell ?? text)(stored);
}

function quoted(element: string): string {
  return element === '' || /[;"]|^\s|\s$/.test(element) ? `"${element.replaceAll('"', '""')}"` : element;
}

/**
 * The API value of a cell's text, by the data type of the field; null for an empty cell. Text that is not a value of the type
 * is returned unchanged, and the later check of values reports the problem.
 */
export function valueOfCell(field: FieldDefinition, cell: string): unknown {
  if (cell === '') return null;
  if (!field.multiple) return scalarValue(field, cell);
  return elementsOf(cell).map((element) => scalarValue(field, element));
}

function scalarValue(field: FieldDefinition, text: string): unknown {
  const { fromCell } = descriptorOf(field.dataType);
  return fromCell === undefined ? text : fromCell(text, jsonOf);
}

function jsonOf(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch (error) {
    if (isFault(error)) return undefined;
    throw error;
  }
}

/** The elements of a joined list. Unquoted elements are trimmed, and empty ones are dropped. */
function elementsOf(cell: string): string[] {
  const elements: string[] = [];
  const element = /\s*(?:"((?:[^"]|"")*)"\s*(?=;|$)|([^;]*))(?:;|$)/y;
  while (element.lastIndex < cell.length) {
    const found = element.exec(cell);
    if (found === null) break;
    const [, inQuotes, bare] = found;
    if (inQuotes !== undefined) elements.push(inQuotes.replaceAll('""', '"'));
    else if (bare !== undefined && bare.trim() !== '') elements.push(bare.trim());
  }
  return elements;
}
