/** Rules for all text values, independent of their data type. */
import type { FaultDetail } from '../../lib/fault.ts';
import { hasLongMarkRun, isWellFormedText, nfc } from '../../lib/text.ts';

/** Number of Unicode code points. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) count--;
  }
  return count;
}

// NFC shortens a text at most by this factor, so a longer input is too long without being normalised.
const MOST_UNITS_FOR_ONE = 8;

/**
 * Returns `input` in NFC and within `maxLength` code points, or its problem.
 *
 * @param path JSON Pointer of the value
 */
export function readText(input: unknown, maxLength: number, path: string): string | FaultDetail {
  if (typeof input !== 'string') return { path, code: 'WRONG_TYPE', message: 'The value must be a JSON string.' };
  const tooLong = { path, code: 'TOO_LONG', message: `The value may have at most ${maxLength} characters.` };
  if (input.length > maxLength * MOST_UNITS_FOR_ONE) return tooLong;
  if (!isWellFormedText(input)) {
    return { path, code: 'INVALID_TEXT', message: 'The value holds U+0000 or half of a surrogate pair.' };
  }
  if (hasLongMarkRun(input)) {
    return { path, code: 'INVALID_TEXT', message: 'The value has too many combining marks in a row.' };
  }
  const text = nfc(input);
  return text.length > maxLength && codePoints(text) > maxLength ? tooLong : text;
}

const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;

export function hasLineBreak(text: string): boolean {
  return LINE_BREAK.test(text);
}
