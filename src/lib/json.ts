/**
 * Strict JSON. All JSON that enters the service, from bodies, filters or imports, is parsed by `parseStrictJson`
 * (docs/spec/conventions.md). It rejects JSON that parsers interpret differently and values that the database cannot store. One
 * pass before `JSON.parse` enforces the limits, so that oversized or deeply nested input never reaches the parser.
 */
import { hash } from 'node:crypto';
import { Fault } from './fault.ts';
import { ExactNumber, exactNumber } from './exact-number.ts';
import { jsonFault, locateJsonError } from './json-error.ts';
import { scanJson } from './json-scan.ts';

export { isUnsafeKey } from './text.ts';

export interface JsonLimits {
  /** Maximum nesting of arrays and objects; `[]` is 1. */
  maxDepth?: number;
  /**
   * Maximum number of brackets, commas and colons together, which approximates the number of values and keys. Numbers of more
   * than 15 characters count twice, and those that no double represents exactly count eight times. Default 200,000. The worst
   * document of that weight (numbers with exponents, or one object with as many keys) takes about 70 ms in all and blocks the
   * event loop for that time.
   */
  maxValues?: number;
}

/** Maximum nesting of request bodies. */
export const MAX_DEPTH = 64;
/** Default of `JsonLimits.maxValues`. */
export const MAX_VALUES = 200_000;

/**
 * Parses JSON that all parsers interpret alike and that can be stored unchanged.
 *
 * Besides malformed JSON, it rejects: invalid UTF-8, a byte order mark, nesting and size beyond `limits`, duplicate keys in an
 * object, the keys `__proto__`, `constructor` and `prototype`, and U+0000 and lone surrogates in strings and keys. A number
 * that no double represents exactly (`9007199254740993`, `1e400`) becomes an `ExactNumber`.
 *
 * @param input UTF-8 bytes, or text that was decoded already
 * @throws Fault INVALID_JSON with line and column of the first error
 */
export function parseStrictJson(input: Uint8Array | string, limits: JsonLimits = {}): unknown {
  return readStrictJson(input, limits).value;
}

/**
 * Like `parseStrictJson`, but also returns the byte offsets of the numbers that no double represents exactly, for
 * `parseReadJson`.
 */
export function readStrictJson(
  input: Uint8Array | string,
  limits: JsonLimits = {},
): { value: unknown; inexact: readonly number[] } {
  const bytes = asBytes(input);
  const { keys, inexact } = scanJson(bytes, limits.maxDepth ?? MAX_DEPTH, limits.maxValues ?? MAX_VALUES);
  const text = typeof input === 'string' ? input : bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(inexact.length === 0 ? text : withPlaces(bytes, inexact));
  } catch {
    throw locateJsonError(text);
  }
  // A duplicate key leaves only one property: fewer properties than colons means that some key was repeated.
  const places = inexact.length / 2;
  if (keys + places > 0 && countKeys(value) !== keys + places) throw locateJsonError(text);
  return { value: places === 0 ? value : withNumbers(value), inexact };
}

/** Parses bytes that `readStrictJson` already checked in another thread. */
export function parseReadJson(bytes: Buffer, inexact: readonly number[]): unknown {
  if (inexact.length === 0) return JSON.parse(bytes.toString('utf8'));
  return withNumbers(JSON.parse(withPlaces(bytes, inexact)));
}

/** The only key of the placeholder objects for inexact numbers. The scan rejects this key in the input, so it is unique. */
const PLACE = '__proto__';
const BEFORE = Buffer.from(`{"${PLACE}":"`);
const BEHIND = Buffer.from('"}');

/**
 * Replaces each number that no double represents exactly by a placeholder object. A `JSON.parse` reviver would take ten times
 * as long.
 */
function withPlaces(bytes: Buffer, inexact: readonly number[]): string {
  const longer = (inexact.length / 2) * (BEFORE.length + BEHIND.length);
  const text = Buffer.allocUnsafe(bytes.length + longer);
  let from = 0;
  let to = 0;
  for (let index = 0; index < inexact.length; index += 2) {
    const [start = 0, end = 0] = [inexact[index], inexact[index + 1]];
    // Malformed numbers must be rejected, not turned into strings.
    const number = bytes.toString('latin1', start, end);
    if (!NUMBER.test(number)) throw new SyntaxError('no number');
    to += bytes.copy(text, to, from, start);
    to += BEFORE.copy(text, to);
    to += bytes.copy(text, to, start, end);
    to += BEHIND.copy(text, to);
    from = end;
  }
  to += bytes.copy(text, to, from);
  return text.toString('utf8', 0, to);
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Replaces the placeholders by `ExactNumber`. Recursion is safe, as in `countKeys`. */
function withNumbers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) {
      if (typeof member === 'object') value[index] = withNumbers(member);
    }
    return value;
  }
  const object = value as Record<string, unknown>;
  if (Object.hasOwn(object, PLACE)) return exactNumber(object[PLACE] as string);
  for (const key of Object.keys(object)) {
    if (typeof object[key] === 'object') object[key] = withNumbers(object[key]);
  }
  return value;
}

/** Matches stored text that may contain a number that no double represents exactly: many digits, or an exponent. */
const UNUSUAL_NUMBER = /(?:^|[[:, ])-?(?:[0-9.]{16}|[0-9.]+[eE])/;

/** Parses JSON that the service or the database wrote, including numbers that no double represents exactly. */
export function parseStoredJson(text: string): unknown {
  if (!UNUSUAL_NUMBER.test(text)) return JSON.parse(text);
  return parseStrictJson(text, { maxDepth: Number.POSITIVE_INFINITY, maxValues: Number.POSITIVE_INFINITY });
}

/** A JSON value as text that the database wrote. An answer sends it unchanged. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return parseStoredJson(this.text);
  }
}

function asBytes(input: Uint8Array | string): Buffer {
  if (typeof input !== 'string') {
    return Buffer.isBuffer(input) ? input : Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  }
  if (!input.isWellFormed()) {
    const repaired = input.toWellFormed();
    let offset = 0;
    while (input.charCodeAt(offset) === repaired.charCodeAt(offset)) offset++;
    throw jsonFault(input, offset, { phrase: 'JSON_SURROGATE' });
  }
  return Buffer.from(input, 'utf8');
}

/** Recursion is safe: the scan has limited the depth. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Array.isArray(value) ? value : Object.values(value);
  let count = Array.isArray(value) ? 0 : members.length;
  for (const member of members) if (typeof member === 'object' && member !== null) count += countKeys(member);
  return count;
}

/** The service neither accepts nor builds deeper values. The limit prevents a stack overflow in the recursion. */
const DEEPEST = 512;

function tooDeep(): Fault {
  return new Fault('INVALID_JSON', `The JSON is nested too deep. Use at most ${DEEPEST} levels.`);
}

/**
 * The canonical JSON text, the same for equal values: keys sorted by UTF-16 code unit, no whitespace. As in `JSON.stringify`,
 * properties that are `undefined` are omitted, and NaN and infinities become `null`.
 *
 * @throws Fault INVALID_JSON for a value nested more than 512 deep
 */
export function canonicalJson(value: unknown): string {
  const sorted = sortedKeys(value, 0);
  return sorted === UNSORTABLE ? canonical(value, 0) : (JSON.stringify(sorted) ?? 'null');
}

/** Integer-like keys: objects enumerate them first and in numeric order, regardless of insertion order. */
const INDEX = /^(?:0|[1-9]\d*)$/;
const UNSORTABLE = Symbol('unsortable');

/**
 * A copy with sorted keys, which the native `JSON.stringify` can then write. Returns UNSORTABLE if some key cannot be ordered
 * by insertion; `canonical` handles those values.
 */
function sortedKeys(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (depth >= DEEPEST) throw tooDeep();
  if (Array.isArray(value)) {
    const members: unknown[] = [];
    for (const member of value) {
      const sorted = sortedKeys(member, depth + 1);
      if (sorted === UNSORTABLE) return UNSORTABLE;
      members.push(sorted);
    }
    return members;
  }
  const object = value as Record<string, unknown>;
  const ordered: Record<string, unknown> = {};
  for (const key of Object.keys(object).sort()) {
    if (isIndex(key) || key === '__proto__' || key === 'toJSON') return UNSORTABLE;
    const sorted = sortedKeys(object[key], depth + 1);
    if (sorted === UNSORTABLE) return UNSORTABLE;
    ordered[key] = sorted;
  }
  return ordered;
}

function isIndex(key: string): boolean {
  const code = key.charCodeAt(0);
  return code >= 0x30 && code <= 0x39 && INDEX.test(key);
}

function canonical(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return JSON.stringify(value) ?? 'null';
  if (depth >= DEEPEST) throw tooDeep();
  let text = '';
  if (Array.isArray(value)) {
    for (const member of value) text += `${text === '' ? '' : ','}${canonical(member, depth + 1)}`;
    return `[${text}]`;
  }
  const object = value as Record<string, unknown>;
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(member, depth + 1)}`;
  }
  return `{${text}}`;
}

/** SHA-256 of the canonical text. Equal JSON values have equal fingerprints, regardless of formatting and key order. */
export function fingerprint(value: unknown): Buffer {
  return hash('sha256', canonicalJson(value), 'buffer');
}

/**
 * Whether two JSON values are equal, ignoring the order of keys.
 *
 * @throws Fault INVALID_JSON for values nested more than 512 deep
 */
export function deepEqualJson(a: unknown, b: unknown): boolean {
  return equal(a, b, 0);
}

function equal(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof ExactNumber || b instanceof ExactNumber) {
    return a instanceof ExactNumber && b instanceof ExactNumber && a.text === b.text;
  }
  if (depth >= DEEPEST) throw tooDeep();
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((member, index) => equal(member, b[index], depth + 1));
  }
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key], depth + 1))
  );
}

/** Whether a JSON value is an object: neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object's own property; undefined if it has none of that name. */
export function ownMember(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Escapes one segment of a JSON Pointer (RFC 6901). */
export function escapePointer(segment: string | number): string {
  if (typeof segment === 'number' || !/[~/]/.test(segment)) return String(segment);
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Builds a JSON Pointer from segments: `pointer('values', 'a/b')` is `/values/a~1b`, `pointer()` is the whole document. */
export function pointer(...segments: (string | number)[]): string {
  return segments.map((segment) => `/${escapePointer(segment)}`).join('');
}
