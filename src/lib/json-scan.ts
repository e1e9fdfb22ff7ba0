/**
 * Scans the bytes of a JSON text before it is parsed. It rejects input that `JSON.parse` would accept but the service must not,
 * and input that would be too expensive to parse. The grammar itself is left to `JSON.parse`: on malformed input the scan only
 * has to terminate.
 */
import { isUtf8 } from 'node:buffer';
import { doubleHolds } from './decimal.ts';
import type { Fault } from './fault.ts';
import { jsonFault } from './json-error.ts';
import { isUnsafeKey } from './text.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_U = 0x75;

/** The number of bytes of a string that are checked one by one before a native search is used. */
const NEAR = 48;
/** A double represents every number of at most this many characters without an exponent exactly. */
const PLAIN_NUMBER = 15;
/** Longer numbers are not compared with their double in the scan, but only after the text was parsed. */
const LONGEST_NUMBER = 1100;
/** Additional weight of a number that no double represents exactly, on top of its own two: it is parsed separately. */
const INEXACT_WEIGHT = 6;

export interface Scan {
  /** The number of keys in the document. */
  keys: number;
  /** Start and end offsets of the numbers that no double represents exactly, flattened into one list. */
  inexact: number[];
}

/**
 * Checks depth, weight, keys and strings, and finds the numbers that no double represents exactly.
 *
 * @throws Fault INVALID_JSON
 */
export function scanJson(bytes: Buffer, maxDepth: number, maxValues: number): Scan {
  if (!isUtf8(bytes)) throw jsonFault(bytes, firstInvalid(bytes), { phrase: 'JSON_NOT_UTF8' });
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw jsonFault(bytes, 0, { phrase: 'JSON_BYTE_ORDER_MARK' });
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
      // `[` and `{` are 0x5b and 0x7b, `]` and `}` are two higher. Setting the bit 0x20 maps each pair to one value.
      const bracket = byte | 0x20;
      if (bracket === 0x7b) {
        if (++depth > maxDepth) throw jsonFault(bytes, index, { phrase: 'JSON_TOO_DEEP', max: maxDepth });
        if (++weight > maxValues) throw tooMany(bytes, index, maxValues);
      } else if (bracket === 0x7d) depth--;
      index++;
    }
  }
  return { keys, inexact };
}

function tooMany(bytes: Buffer, offset: number, maxValues: number): Fault {
  return jsonFault(bytes, offset, { phrase: 'JSON_TOO_MANY_VALUES', max: maxValues });
}

/** Offset of the first byte that decoding and re-encoding changes. */
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
      return; // malformed: left to the parser
    }
  }
  if (isUnsafeKey(key)) throw jsonFault(bytes, start - 1, { phrase: 'JSON_UNSAFE_KEY' });
}

/** The end of the number at `start`, and whether a double represents it exactly. */
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
  // Malformed numbers are left to the parser.
  if (index - start > LONGEST_NUMBER) return { end: index, held: false };
  const text = bytes.toString('latin1', start, index);
  return { end: index, held: doubleHolds(text) || Number.isNaN(Number(text)) };
}

/** Finds the end of strings and rejects invalid content. Long stretches are searched natively. */
class StringScan {
  readonly #bytes: Buffer;
  /** Position of the closing quote of the last string. */
  last = 0;
  /** Whether the last string contains an escape. */
  escaped = false;
  // The first quote and backslash at or after the offset of the last search. Both are cached until they are passed: repeating
  // the search at each escape would take quadratic time on long strings with many escapes.
  #quote = -1;
  #backslash = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Offset of the quote that closes the string whose first character is at `start`, or the length of the text. */
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

  /** Offset of the first quote or backslash from `start` on, or the length of the text. */
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

  /** Offset after the escape `\uXXXX` at `index`, including the low surrogate of a pair. */
  #unicode(index: number): number {
    const code = this.#hex(index);
    if (code === 0) throw jsonFault(this.#bytes, index, { phrase: 'JSON_ZERO' });
    if (code < 0xd800 || code > 0xdfff) return index + 2;
    const low = this.#bytes[index + 6] === BACKSLASH && this.#bytes[index + 7] === LOWER_U ? this.#hex(index + 6) : -1;
    if (code < 0xdc00 && low >= 0xdc00 && low <= 0xdfff) return index + 12;
    throw jsonFault(this.#bytes, index, { phrase: 'JSON_SURROGATE' });
  }

  /** The code unit of the escape `\uXXXX` at `index`, or -1 if it is malformed, which is left to the parser. */
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
