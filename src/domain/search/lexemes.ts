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
const CONTROLS = /\p{Cc}/gu;

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

function clean(lexeme: string): string {
  const text = lexeme.replace(CONTROLS, '');
  // A UTF-16 unit is at most three bytes.
  return text.length * 3 <= LONGEST_LEXEME || Buffer.byteLength(text) <= LONGEST_LEXEME ? text : '';
}

function quoted(lexeme: string): string {
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** What one field gives to a row. */
export interface Part {
  lexemes: readonly IndexLexeme[];
  zone: string;
  label: string;
}

/**
 * The row's words as text of a `tsvector`, and the number of words without label. What is too much is left out, counted field
 * by field among the `most` that a row can have, so that the text of one field decides nothing about another's.
 */
export function wordsOf(parts: readonly Part[], most: number, number: string | null): { words: string; size: number } {
  const places = new Map<string, string[]>();
  const offsets = new Map<string, number>();
  const budget = Math.floor(MOST_BYTES / Math.max(1, most));
  let size = 0;
  for (const { lexemes, zone, label } of parts) {
    const offset = offsets.get(label) ?? 0;
    let last = 0;
    let left = budget;
    for (const { lexeme, positions } of lexemes) {
      const word = clean(lexeme);
      if (word === '') continue;
      const key = label + word;
      left -= Buffer.byteLength(key) + 8 + 2 * Math.min(positions.length, MOST_PLACES);
      if (left < 0) break;
      const of = places.get(key) ?? [];
      for (const position of positions) {
        last = Math.max(last, position);
        if (of.length < MOST_PLACES) of.push(`${Math.min(offset + position, LAST_POSITION)}${zone}`);
      }
      places.set(key, of);
      if (label === '') size += positions.length;
    }
    // A gap, so that the last word of one field and the first of the next are no neighbours.
    offsets.set(label, offset + last + 8);
  }
  let words = '';
  for (const [lexeme, of] of places) words += `${quoted(lexeme)}:${of.join()} `;
  if (number !== null) words += `${quoted(numberLexeme(number))}:1A`;
  return { words, size };
}

/** A `tsquery` that any of the lexemes satisfies, each under each label; with `prefix`, also words that begin so. */
export function anyLexeme(lexemes: readonly string[], labels: readonly string[], prefix: boolean): string {
  const parts: string[] = [];
  for (const lexeme of new Set(lexemes.map(clean))) {
    if (lexeme === '') continue;
    for (const label of labels) parts.push(`${quoted(label + lexeme)}${prefix ? ':*' : ''}`);
  }
  return parts.join(' | ');
}

/** A `tsquery` for records whose number is the text, or begins with it. */
export function numberQuery(raw: string, prefix: boolean): string {
  const text = clean(foldNumber(raw));
  return text === '' ? '' : `${quoted(NUMBER + text)}${prefix ? ':*' : ''}`;
}
