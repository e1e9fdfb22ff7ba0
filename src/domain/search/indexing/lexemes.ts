/**
 * Lexemes of the search index, and the text formats of `tsvector` and `tsquery`. Pure.
 *
 * Words from texts never contain control characters, so users cannot type a field token: lexemes with a token start with
 * U+0001, record numbers with U+0002. The hash of a whole title starts with U+0003, after the field token if there is one.
 */
import { hash } from 'node:crypto';
import { foldNumber } from '../../../lib/filter-fields.ts';
import { normalWord } from '../../../lib/word-parts.ts';
import type { IndexLexeme } from '../../../lib/words.ts';

const FIELD_TOKEN = '\u0001';
const NUMBER = '\u0002';
const TITLE = '\u0003';
/** Length of the hash of a title in characters: 72 bits. */
const TITLE_HASH = 12;

/** PostgreSQL's maximum position; higher positions are stored as this one. */
const LAST_POSITION = 16_383;
/** Maximum number of stored positions per word; more do not change the rank noticeably. */
const MAX_PLACES = 12;
/** Maximum length of a lexeme in bytes. */
const LONGEST_LEXEME = 240;
/** Maximum size of all lexemes of a row in bytes. PostgreSQL's limit is 1 MiB with positions. */
const MAX_BYTES = 600_000;

export function fieldTokenOf(fieldCode: string): string {
  return `${FIELD_TOKEN}${fieldCode}${FIELD_TOKEN}`;
}

export function numberLexeme(number: string): string {
  return NUMBER + foldNumber(number);
}

/** The form in which titles are compared with questions: case, accents, `ё` and spacing are ignored. May be empty. */
export function titleKey(title: string): string {
  return normalWord(title).replaceAll(/\s+/g, ' ').trim();
}

/** The lexeme of a whole title; undefined for an empty one. */
function titleLexeme(title: string): string | undefined {
  const key = titleKey(title);
  return key === '' ? undefined : TITLE + hash('sha256', key, 'base64url').slice(0, TITLE_HASH);
}

/** A stored lexeme with its field token, or with `prefix` all that start with it. */
export interface Operand {
  lexeme: string;
  prefix: boolean;
  /** At most this many records have it, if that is known. */
  most?: number;
}

/** Exactly this title, under any of the field tokens. */
export function titleOperands(title: string, fieldTokens: readonly string[]): Operand[] {
  const lexeme = titleLexeme(title);
  return lexeme === undefined ? [] : fieldTokens.map((fieldToken) => ({ lexeme: fieldToken + lexeme, prefix: false }));
}

/** Whether the text has no control characters and no characters with a meaning inside quotes. */
function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x27 || code === 0x5c || (code >= 0x7f && code < 0xa0)) return false;
  }
  return true;
}

/** Empty for a text that cannot be stored. */
function clean(lexeme: string): string {
  const text = isPlain(lexeme) ? lexeme : lexeme.replaceAll(/\p{Cc}/gu, '');
  // A UTF-16 unit takes at most three bytes.
  return text.length * 3 <= LONGEST_LEXEME || Buffer.byteLength(text) <= LONGEST_LEXEME ? text : '';
}

function quoted(lexeme: string): string {
  return isPlain(lexeme) ? `'${lexeme}'` : `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** The lexemes of one field. */
export interface FieldLexemes {
  lexemes: readonly IndexLexeme[];
  zone: string;
  fieldToken: string;
  /** The title, if the field is the title of a record. */
  title?: string | undefined;
}

/**
 * The words of a row as the text of a `tsvector`, and the number of words without a field token. Words over the size limit are
 * dropped. Each field has its own share of the limit (`most` fields per row), so the text of a field does not affect which
 * words of another field are dropped.
 */
export function wordsOf(
  parts: readonly FieldLexemes[],
  most: number,
  number: string | null,
): { words: string; size: number } {
  /** Lexeme → its positions, as written. */
  const written = new Map<string, string>();
  const offsets = new Map<string, number>();
  const budget = Math.floor(MAX_BYTES / Math.max(1, most));
  let size = 0;
  for (const { lexemes, zone, fieldToken, title } of parts) {
    const whole = title === undefined ? undefined : titleLexeme(title);
    if (whole !== undefined) written.set(fieldToken + whole, `1${zone}`);
    const offset = offsets.get(fieldToken) ?? 0;
    let last = 0;
    let left = budget;
    for (const { lexeme, positions } of lexemes) {
      const word = clean(lexeme);
      if (word === '') continue;
      const key = fieldToken + word;
      // Estimates three bytes per letter.
      left -= 3 * key.length + 8 + 2 * Math.min(positions.length, MAX_PLACES);
      if (left < 0) break;
      let places = written.get(key) ?? '';
      for (let index = 0; index < positions.length && index < MAX_PLACES; index++) {
        const position = positions[index] as number;
        places += `${places === '' ? '' : ','}${Math.min(offset + position, LAST_POSITION)}${zone}`;
      }
      written.set(key, places);
      last = Math.max(last, positions.at(-1) ?? 0);
      if (fieldToken === '') size += positions.length;
    }
    // A gap between fields, so that their last and first words are not adjacent.
    offsets.set(fieldToken, offset + last + 8);
  }
  let words = '';
  for (const [lexeme, places] of written) words += `${quoted(lexeme)}:${places} `;
  if (number !== null) words += `${quoted(numberLexeme(number))}:1A`;
  return { words, size };
}

/** The lexemes under any of the field tokens; with `prefix`, also words with these prefixes. */
export function operandsOf(lexemes: readonly string[], fieldTokens: readonly string[], prefix: boolean): Operand[] {
  const operands: Operand[] = [];
  for (const lexeme of new Set(lexemes.map(clean))) {
    if (lexeme === '') continue;
    for (const fieldToken of fieldTokens) operands.push({ lexeme: fieldToken + lexeme, prefix });
  }
  return operands;
}

/** A record number that equals the text, or starts with it. */
export function numberOperand(raw: string, prefix: boolean, most: number): Operand {
  return { lexeme: NUMBER + clean(foldNumber(raw)), prefix, most };
}

/** A `tsquery` that matches any of the operands; empty if there are none. */
export function anyOperand(operands: readonly Operand[]): string {
  return operands.map(({ lexeme, prefix }) => `${quoted(lexeme)}${prefix ? ':*' : ''}`).join(' | ');
}
