/**
 * Lexemes as the projection holds them, and the text forms of `tsvector` and `tsquery`. Pure.
 *
 * Words of people's text never hold control characters, so that a label cannot be written by typing it: a labelled lexeme
 * begins with U+0001, a record's number with U+0002.
 */
import { foldNumber } from '../../lib/filter-fields.ts';
import type { IndexLexeme } from '../../lib/words.ts';

const LABEL = '\u0001';
const NUMBER = '\u0002';

/** As PostgreSQL counts: positions above this are one. */
const LAST_POSITION = 16_383;
/** More places of one word say nothing more; the rank saturates long before. */
const MOST_PLACES = 12;
/** Bytes of one lexeme. */
const LONGEST_LEXEME = 240;
/** Bytes that all lexemes of a row may take together; PostgreSQL's limit is 1 MiB with positions. */
const MOST_BYTES = 600_000;

export function labelOf(fieldCode: string): string {
  return `${LABEL}${fieldCode}${LABEL}`;
}

export function numberLexeme(number: string): string {
  return NUMBER + foldNumber(number);
}

/** Whether there is neither a control character in it nor what has a meaning of its own between quotes. */
function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x27 || code === 0x5c || (code >= 0x7f && code < 0xa0)) return false;
  }
  return true;
}

/** Empty for what cannot be kept. */
function clean(lexeme: string): string {
  const text = isPlain(lexeme) ? lexeme : lexeme.replaceAll(/\p{Cc}/gu, '');
  // A UTF-16 unit is at most three bytes.
  return text.length * 3 <= LONGEST_LEXEME || Buffer.byteLength(text) <= LONGEST_LEXEME ? text : '';
}

function quoted(lexeme: string): string {
  return isPlain(lexeme) ? `'${lexeme}'` : `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** What one field gives to a row. */
export interface Part {
  lexemes: readonly IndexLexeme[];
  zone: string;
  fieldToken: string;
}

/**
 * The row's words as text of a `tsvector`, and the number of words without label. What is too much is left out, counted field
 * by field among the `most` that a row can have, so that the text of one field decides nothing about another's.
 */
export function wordsOf(parts: readonly Part[], most: number, number: string | null): { words: string; size: number } {
  /** Lexeme → its places, as they are written. */
  const written = new Map<string, string>();
  const offsets = new Map<string, number>();
  const budget = Math.floor(MOST_BYTES / Math.max(1, most));
  let size = 0;
  for (const { lexemes, zone, fieldToken } of parts) {
    const offset = offsets.get(fieldToken) ?? 0;
    let last = 0;
    let left = budget;
    for (const { lexeme, positions } of lexemes) {
      const word = clean(lexeme);
      if (word === '') continue;
      const key = fieldToken + word;
      // As if every letter took three bytes.
      left -= 3 * key.length + 8 + 2 * Math.min(positions.length, MOST_PLACES);
      if (left < 0) break;
      let places = written.get(key) ?? '';
      for (let index = 0; index < positions.length && index < MOST_PLACES; index++) {
        const position = positions[index] as number;
        places += `${places === '' ? '' : ','}${Math.min(offset + position, LAST_POSITION)}${zone}`;
      }
      written.set(key, places);
      last = Math.max(last, positions.at(-1) ?? 0);
      if (fieldToken === '') size += positions.length;
    }
    // A gap, so that the last word of one field and the first of the next are no neighbours.
    offsets.set(fieldToken, offset + last + 8);
  }
  let words = '';
  for (const [lexeme, places] of written) words += `${quoted(lexeme)}:${places} `;
  if (number !== null) words += `${quoted(numberLexeme(number))}:1A`;
  return { words, size };
}

/** A `tsquery` that any of the lexemes satisfies, each under each label; with `prefix`, also words that begin so. */
export function anyLexeme(lexemes: readonly string[], fieldTokens: readonly string[], prefix: boolean): string {
  const parts: string[] = [];
  for (const lexeme of new Set(lexemes.map(clean))) {
    if (lexeme === '') continue;
    for (const fieldToken of fieldTokens) parts.push(`${quoted(fieldToken + lexeme)}${prefix ? ':*' : ''}`);
  }
  return parts.join(' | ');
}

/** A `tsquery` for records whose number is the text, or begins with it. */
export function numberQuery(raw: string, prefix: boolean): string {
  const text = clean(foldNumber(raw));
  return text === '' ? '' : `${quoted(NUMBER + text)}${prefix ? ':*' : ''}`;
}
