/**
 * The pass over the bytes of a JSON text before it is parsed. It judges what the parser would let through or choke on; the
 * grammar itself is left to `JSON.parse`, so on malformed input it only has to end, not to understand.
 */
import { isUtf8 } from 'node:buffer';
import { doubleHolds } from './decimal.ts';
import type { Fault } from './fault.ts';
import { flawFault } from './json-flaw.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_U = 0x75;

/** Keys that reach a prototype when somebody assigns them to a plain object. */
const UNSAFE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function isUnsafeKey(key: string): boolean {
  return UNSAFE_KEYS.has(key);
}

/** So many bytes of a string are looked at one by one before the search is handed to native code. */
const NEAR = 48;
/** Numbers of at most so many characters, without exponent, are held by a double as written. */
const PLAIN_NUMBER = 15;
/** Longer numbers are compared with their double only once the text is known to be JSON. */
const LONGEST_NUMBER = 1100;
/** What a number that no double holds weighs beside its own two: it is parsed apart. */
const INEXACT_WEIGHT = 6;

export interface Scan {
  /** How many keys the document has. */
  keys: number;
  /** Beginning and end of each number that no double holds, one after the other. */
  inexact: number[];
}

/**
 * Checks depth, weight, keys and strings, and finds the numbers that no double holds as they are written.
 *
 * @throws Fault INVALID_JSON
 */
export function scanJson(bytes: Buffer, maxDepth: number, maxValues: number): Scan {
  if (!isUtf8(bytes)) throw at(bytes, firstInvalid(bytes), 'the text is not valid UTF-8');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw at(bytes, 0, 'a byte order mark stands before the JSON');
  }
  const strings = new StringScan(bytes);
  const length = bytes.length;
  let index = 0;
  let depth = 0;
  let weight = 1;
  let keys = 0;
  let keyStart = 0;
  const inexact: number[] = [];
  while (index < length) {
    const byte = bytes[index] as number;
    if (byte === QUOTE) {
      keyStart = index + 1;
      index = strings.end(keyStart) + 1;
    } else if (byte === COMMA) {
      if (++weight > maxValues) throw tooMany(bytes, index, maxValues);
      index++;
    } else if (byte === COLON) {
      refuseUnsafeKey(bytes, keyStart, strings.last, strings.escaped);
      keys++;
      if (++weight > maxValues) throw tooMany(bytes, index, maxValues);
      index++;
    } else if ((byte >= ZERO && byte <= NINE) || byte === MINUS) {
      const { end, held } = numberAt(bytes, index);
      if (end - index > PLAIN_NUMBER && ++weight > maxValues) throw tooMany(bytes, index, maxValues);
      if (!held) {
        inexact.push(index, end);
        weight += INEXACT_WEIGHT;
        if (weight > maxValues) throw tooMany(bytes, index, maxValues);
      }
      index = end;
    } else {
      // `[` and `{` are 0x5b and 0x7b, `]` and `}` two above: the bit 0x20 tells the pairs apart.
      const bracket = byte | 0x20;
      if (bracket === 0x7b) {
        if (++depth > maxDepth) throw at(bytes, index, `the nesting is more than ${maxDepth} deep`);
        if (++weight > maxValues) throw tooMany(bytes, index, maxValues);
      } else if (bracket === 0x7d) depth--;
      index++;
    }
  }
  return { keys, inexact };
}

function tooMany(bytes: Buffer, offset: number, maxValues: number): Fault {
  return at(bytes, offset, `there are more than ${maxValues} values and keys`);
}

function at(bytes: Buffer, offset: number, reason: string): Fault {
  return flawFault(bytes, offset, reason);
}

/** Where decoding and encoding again first changes something. */
function firstInvalid(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'), 'utf8');
  let offset = 0;
  while (offset < bytes.length && bytes[offset] === again[offset]) offset++;
  return offset;
}

function refuseUnsafeKey(bytes: Buffer, start: number, end: number, escaped: boolean): void {
  const length = end - start;
  if (!escaped && length !== 9 && length !== 11) return;
  let key = bytes.toString('utf8', start, end);
  if (escaped) {
    try {
      key = JSON.parse(`"${key}"`);
    } catch {
      return; // malformed: the parser will say so
    }
  }
  if (UNSAFE_KEYS.has(key))
    throw at(bytes, start - 1, 'the keys __proto__, constructor and prototype are not accepted');
}

/** Where the number at `start` ends, and whether a double holds it. */
function numberAt(bytes: Buffer, start: number): { end: number; held: boolean } {
  let index = start + 1;
  let plain = true;
  for (; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if ((byte >= ZERO && byte <= NINE) || byte === 0x2e) continue;
    if (byte !== 0x65 && byte !== 0x45 && byte !== 0x2b && byte !== MINUS) break;
    plain = false;
  }
  if (plain && index - start <= PLAIN_NUMBER) return { end: index, held: true };
  // What is no number at all is left to the parser, which says so.
  if (index - start > LONGEST_NUMBER) return { end: index, held: false };
  const text = bytes.toString('latin1', start, index);
  return { end: index, held: doubleHolds(text) || Number.isNaN(Number(text)) };
}

/** Finds where strings end, and refuses what none may hold. Long stretches are searched natively. */
class StringScan {
  readonly #bytes: Buffer;
  /** Position of the closing quote of the last string. */
  last = 0;
  /** Whether the last string has an escape. */
  escaped = false;
  // The first quote and backslash at or behind the place they were searched from. Both are kept until they are passed:
  // searching anew at each escape would read the rest of a long string as often as it has escapes.
  #quote = -1;
  #backslash = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Position of the quote that closes the string whose first character is at `start`, or the length of the text. */
  end(start: number): number {
    const bytes = this.#bytes;
    let index = start;
    this.escaped = false;
    for (;;) {
      index = this.#special(index);
      if (index >= bytes.length || bytes[index] === QUOTE) {
        this.last = index;
        return index;
      }
      this.escaped = true;
      index = bytes[index + 1] === LOWER_U ? this.#unicode(index) : index + 2;
    }
  }

  /** The first quote or backslash from `start` on, or the length of the text. */
  #special(start: number): number {
    const bytes = this.#bytes;
    const near = Math.min(start + NEAR, bytes.length);
    let index = start;
    for (; index < near; index++) {
      const byte = bytes[index];
      if (byte === QUOTE || byte === BACKSLASH) return index;
    }
    if (index === bytes.length) return index;
    if (this.#quote < index) this.#quote = this.#find(QUOTE, index);
    if (this.#backslash < index) this.#backslash = this.#find(BACKSLASH, index);
    return Math.min(this.#quote, this.#backslash);
  }

  #find(byte: number, from: number): number {
    const found = this.#bytes.indexOf(byte, from);
    return found < 0 ? this.#bytes.length : found;
  }

  /** Behind the escape `\uXXXX` at `index`, its other half included. */
  #unicode(index: number): number {
    const code = this.#hex(index);
    if (code === 0) throw at(this.#bytes, index, 'a string holds U+0000');
    if (code < 0xd800 || code > 0xdfff) return index + 2;
    const low = this.#bytes[index + 6] === BACKSLASH && this.#bytes[index + 7] === LOWER_U ? this.#hex(index + 6) : -1;
    if (code < 0xdc00 && low >= 0xdc00 && low <= 0xdfff) return index + 12;
    throw at(this.#bytes, index, 'half of a surrogate pair stands alone');
  }

  /** The code of the escape `\uXXXX` at `index`, or -1 when it is malformed, which the parser will say. */
  #hex(index: number): number {
    let code = 0;
    for (let at = index + 2; at < index + 6; at++) {
      const digit = hexDigit(this.#bytes[at] ?? 0);
      if (digit < 0) return -1;
      code = code * 16 + digit;
    }
    return code;
  }
}

function hexDigit(byte: number): number {
  if (byte >= ZERO && byte <= NINE) return byte - ZERO;
  const letter = (byte | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}
