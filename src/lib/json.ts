/**
 * Strict JSON: what enters the service as JSON, from bodies, filters and import contents alike, enters through
 * `parseStrictJson` (decisions, "Requests, envelope, errors"). It refuses what two readers could understand differently
 * or what the database cannot keep, and it does so in one pass before `JSON.parse`, so that no bomb reaches the parser.
 */
import { hash } from 'node:crypto';
import { Fault } from './fault.ts';
import { ExactNumber, exactNumber } from './exact-number.ts';
import { flawFault, locateFlaw } from './json-flaw.ts';
import { scanJson } from './json-scan.ts';

export { isUnsafeKey } from './json-scan.ts';

export interface JsonLimits {
  /** Deepest nesting of arrays and objects that passes; `[]` is 1. */
  maxDepth?: number;
  /**
   * Most brackets, commas and colons together, which is about the values and keys; numbers of more than 15 characters count
   * twice, and those that no double holds eight times. 200,000 by default: the worst document of that weight (numbers with
   * exponents, or one object of as many keys) takes about 70 ms in all, and nothing else runs in that time.
   */
  maxValues?: number;
}

/** Deepest nesting that bodies may have. */
export const MAX_DEPTH = 64;
/** Default of `JsonLimits.maxValues`. */
export const MAX_VALUES = 200_000;

/**
 * Parses JSON that every reader understands alike and that can be stored unchanged.
 *
 * Refused beside malformed JSON: invalid UTF-8, a byte order mark, nesting and size beyond `limits`, a key that stands
 * twice in one object, the keys `__proto__`, `constructor` and `prototype`, U+0000 and lone surrogates in strings and keys.
 * A number that no double holds as written (`9007199254740993`, `1e400`) becomes an `ExactNumber`.
 *
 * @param input UTF-8 bytes, or text that was decoded already
 * @throws Fault INVALID_JSON with line and column of the first flaw
 */
export function parseStrictJson(input: Uint8Array | string, limits: JsonLimits = {}): unknown {
  return readStrictJson(input, limits).value;
}

/** As `parseStrictJson`, with the places of the numbers that no double holds, for `parseReadJson`. */
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
    throw locateFlaw(text);
  }
  // A key that stands twice leaves one property: fewer properties than colons means that some key was repeated.
  const places = inexact.length / 2;
  if (keys + places > 0 && countKeys(value) !== keys + places) throw locateFlaw(text);
  return { value: places === 0 ? value : withNumbers(value), inexact };
}

/** The value of bytes that `readStrictJson` read before, in another thread. */
export function parseReadJson(bytes: Buffer, inexact: readonly number[]): unknown {
  if (inexact.length === 0) return JSON.parse(bytes.toString('utf8'));
  return withNumbers(JSON.parse(withPlaces(bytes, inexact)));
}

/** The only key of the objects that stand in the place of numbers: the scan lets it through nowhere else. */
const PLACE = '__proto__';
const BEFORE = Buffer.from(`{"${PLACE}":"`);
const BEHIND = Buffer.from('"}');

/** The text with an object in the place of each number that no double holds: a reviver takes ten times as long. */
function withPlaces(bytes: Buffer, inexact: readonly number[]): string {
  const longer = (inexact.length / 2) * (BEFORE.length + BEHIND.length);
  const text = Buffer.allocUnsafe(bytes.length + longer);
  let from = 0;
  let to = 0;
  for (let index = 0; index < inexact.length; index += 2) {
    const [start = 0, end = 0] = [inexact[index], inexact[index + 1]];
    // A number that is none must not become a string.
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

/** The value with its numbers in their places; recursion is safe, as in `countKeys`. */
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

/** Where a stored text may hold a number that no double holds: one of many digits, or with an exponent. */
const UNUSUAL_NUMBER = /(?:^|[[:, ])-?(?:[0-9.]{16}|[0-9.]+[eE])/;

/** Parses what the service or the database wrote, numbers that no double holds included. */
export function parseStoredJson(text: string): unknown {
  if (!UNUSUAL_NUMBER.test(text)) return JSON.parse(text);
  return parseStrictJson(text, { maxDepth: Number.POSITIVE_INFINITY, maxValues: Number.POSITIVE_INFINITY });
}

function asBytes(input: Uint8Array | string): Buffer {
  if (typeof input !== 'string') {
    return Buffer.isBuffer(input) ? input : Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  }
  if (!input.isWellFormed()) {
    const repaired = input.toWellFormed();
    let offset = 0;
    while (input.charCodeAt(offset) === repaired.charCodeAt(offset)) offset++;
    throw flawFault(input, offset, 'half of a surrogate pair stands alone');
  }
  return Buffer.from(input, 'utf8');
}

/** Recursion is safe here: the scan has bounded the depth. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Array.isArray(value) ? value : Object.values(value);
  let count = Array.isArray(value) ? 0 : members.length;
  for (const member of members) if (typeof member === 'object' && member !== null) count += countKeys(member);
  return count;
}

/** Deeper values are no JSON that this service takes in or builds; the bound keeps the recursion off the stack's end. */
const DEEPEST = 512;

function tooDeep(): Fault {
  return new Fault('INVALID_JSON', `The JSON is nested more than ${DEEPEST} deep.`);
}

/**
 * One text for equal JSON values: keys sorted by UTF-16 code unit, no blanks. Properties that are `undefined` are left out
 * and numbers that JSON does not know are `null`, as in `JSON.stringify`.
 *
 * @throws Fault INVALID_JSON for a value nested more than 512 deep
 */
export function canonicalJson(value: unknown): string {
  const sorted = sortedKeys(value, 0);
  return sorted === UNSORTABLE ? canonical(value, 0) : (JSON.stringify(sorted) ?? 'null');
}

/** Names that objects enumerate before all others, by their number, whatever order they were given in. */
const INDEX = /^(?:0|[1-9]\d*)$/;
const UNSORTABLE = Symbol('unsortable');

/** The value with the keys of objects in order, to be written natively at once; what no order can be given to is left to `canonical`. */
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

/** SHA-256 of the canonical text: equal for equal JSON values, however they were written. */
export function fingerprint(value: unknown): Buffer {
  return hash('sha256', canonicalJson(value), 'buffer');
}

/**
 * Whether two JSON values are equal, whatever the order of keys.
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

/** One segment of a JSON Pointer (RFC 6901). */
export function escapePointer(segment: string | number): string {
  return String(segment).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A JSON Pointer of these segments: `pointer('values', 'a/b')` is `/values/a~1b`, `pointer()` is the whole document. */
export function pointer(...segments: (string | number)[]): string {
  return segments.map((segment) => `/${escapePointer(segment)}`).join('');
}
