/** Takes a question apart: its words, record numbers, and other spellings, as parts of the query tree (`query.ts`). Pure. */
import type { Analysis, QueryTerm } from '../../lib/words.ts';
import { numberOperand, type Operand, operandsOf, titleOperands } from './indexing/lexemes.ts';
import { allOf, type Reading, type Word, type Words } from './query.ts';
import type { Tier } from './ranking.ts';

/** Shorter prefixes do not count if other words are missing. */
const SHORTEST_BEGINNING = 3;

/** Maximum length of a record number. */
const LONGEST_NUMBER = 64;
const MAX_NUMBERS = 4;

export interface Term extends QueryTerm {
  /** Similar lexemes. */
  near: readonly string[];
  /** Lexemes of words that mean the same. */
  synonyms: readonly string[];
}

/** The field tokens of an `Access`. */
export interface FieldTokens {
  free: readonly string[];
  classes: readonly { fieldTokens: readonly string[] }[];
}

/** @param isComplete whether the last word is complete, too */
export function termsOf(analysis: Analysis, q: string, isComplete = false): Term[] {
  return analysis.queryTerms(q, isComplete).map((term) => ({ ...term, near: [], synonyms: [] }));
}

/** The words of the question in the other keyboard layout and alphabet. None is required. */
export function respelledTerms(analysis: Analysis, q: string): Term[] {
  return termsOf(analysis, respell(q).join(' '), true);
}

/**
 * The word under the caller's field tokens. If not all words are required, also its synonyms; for similar words, also those and
 * its prefix.
 */
export function wordOf(term: Term, { free, classes }: FieldTokens, tier: Tier = 'all'): Word {
  const of = (fieldTokens: readonly string[]): Reading => readingOf(fieldTokens, term, tier);
  return { kind: 'word', free: of(free), classes: classes.map(({ fieldTokens }) => of(fieldTokens)) };
}

export function readingOf(fieldTokens: readonly string[], term: Term, tier: Tier): Reading {
  const exact = new Set(term.lexemes);
  const loosely = tier === 'near';
  const like = new Set([...term.completions, ...(tier === 'all' ? [] : term.synonyms), ...(loosely ? term.near : [])]);
  const beginnings = new Set(term.beginnings);
  if (loosely && term.raw.length >= SHORTEST_BEGINNING) beginnings.add(term.raw);
  const covered = (word: string): boolean => [...beginnings].some((other) => other !== word && word.startsWith(other));
  const under = (lexemes: readonly string[], starts: readonly string[]): Operand[] => [
    ...operandsOf(lexemes, fieldTokens, false),
    ...operandsOf(starts, fieldTokens, true),
  ];
  return {
    exact: { operands: under([...exact], []), count: exact.size * fieldTokens.length },
    like: { operands: under([...like], [...beginnings]), count: (like.size + beginnings.size) * fieldTokens.length },
    matched: under(
      [...exact, ...like].filter((word) => !beginnings.has(word) && !covered(word)),
      [...beginnings].filter((word) => !covered(word)),
    ),
  };
}

/** The question as the whole title of a record. */
export function titleOf(q: string, { free, classes }: FieldTokens): Word {
  const of = (fieldTokens: readonly string[]): Reading => {
    const matched = titleOperands(q, fieldTokens);
    return { exact: { operands: matched, count: fieldTokens.length }, like: { operands: [], count: 0 }, matched };
  };
  return { kind: 'title', free: of(free), classes: classes.map(({ fieldTokens }) => of(fieldTokens)) };
}

/** The record numbers in a question. */
export interface Numbers {
  /** One for each number; a record has all of them. The last word of the question matches as a prefix. */
  operands: readonly Operand[];
  /** The remaining words of the question. */
  rest: readonly Term[];
  /** Length of the last word without hyphens if it is a number with digits; otherwise 0. */
  lastLength: number;
}

/** The form of the record numbers of a type. */
export interface Numbering {
  prefix: string;
  digits: number;
}

/**
 * Null if no word of the question can be a record number or a prefix of one.
 *
 * @param numberings the forms of record numbers
 */
export function numbersOf(analysis: Analysis, q: string, numberings: readonly Numbering[]): Numbers | null {
  const tokens = q.trim().split(/\s+/);
  const last = tokens.at(-1);
  const mayBe = (token: string): boolean => {
    const text = token.toUpperCase();
    if (token.length > LONGEST_NUMBER || !/^[A-Z0-9-]+$/.test(text)) return false;
    // The prefix of a record number alone counts only if the question has no other words.
    return numberings.some(({ prefix }) => text.startsWith(prefix) || (tokens.length === 1 && prefix.startsWith(text)));
  };
  const numbers = tokens.filter(mayBe).slice(0, MAX_NUMBERS);
  if (numbers.length === 0) return null;
  const operands = numbers.map((token) => {
    const isPrefix = token === last;
    return numberOperand(token, isPrefix, isPrefix ? countOf(token.toUpperCase(), numberings) : 1);
  });
  const others = tokens.filter((token) => !numbers.includes(token)).join(' ');
  return {
    operands,
    rest: termsOf(analysis, others).filter((term) => term.required),
    lastLength: last !== undefined && numbers.includes(last) && /\d/.test(last) ? last.replaceAll('-', '').length : 0,
  };
}

/** Records with these numbers that also contain the rest of the question. */
export function numbered({ operands, rest }: Numbers, fieldTokens: FieldTokens): Words {
  const numbers = operands.map((operand): Words => ({ kind: 'number', operand }));
  return allOf([...numbers, ...rest.map((term) => wordOf(term, fieldTokens))]);
}

/** The same numbers without prefixes. */
export function exactNumbers(numbers: Numbers): Numbers {
  return { ...numbers, operands: numbers.operands.map(({ lexeme }) => ({ lexeme, prefix: false })) };
}

/** The words without prefixes that are only a part of a record number: too many words start with the same digits. */
export function besideNumbers(terms: readonly Term[], numbers: Numbers | null): Term[] {
  const shortest = numbers?.lastLength ?? 0;
  return terms.map((term) => ({ ...term, beginnings: term.beginnings.filter(({ length }) => length >= shortest) }));
}

/** How many records have a number that starts so, at most. */
function countOf(text: string, numberings: readonly Numbering[]): number {
  const counts = numberings.map(({ prefix, digits }) => {
    if (!text.startsWith(prefix)) return prefix.startsWith(text) ? Number.POSITIVE_INFINITY : 0;
    return 10 ** Math.max(0, digits - (text.length - prefix.length));
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

// The question as it reads in the other keyboard layout and in the other alphabet, English and Russian.

/** The keys of the two layouts, in the same order. */
const LATIN_KEYS = "`qwertyuiop[]asdfghjkl;'zxcvbnm,.";
const RUSSIAN_KEYS = 'ёйцукенгшщзхъфывапролджэячсмитьбю';

/** Letters as people write them without a standard; longer groups first. */
const TO_CYRILLIC: readonly (readonly [string, string])[] = [
  ['shch', 'щ'],
  ['sch', 'щ'],
  ['yo', 'е'],
  ['zh', 'ж'],
  ['kh', 'х'],
  ['ts', 'ц'],
  ['ch', 'ч'],
  ['sh', 'ш'],
  ['yu', 'ю'],
  ['ju', 'ю'],
  ['ya', 'я'],
  ['ja', 'я'],
  ['ck', 'к'],
  ['ph', 'ф'],
  ...[...'abvgdezijklmnoprstufhcyqwx'].map(
    (letter, index) => [letter, [...'абвгдезийклмнопрстуфхцыквк'][index] ?? ''] as const,
  ),
];
const CYRILLIC = 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя';
const LATIN = 'a b v g d e e zh z i y k l m n o p r s t u f h ts ch sh sch  y  e yu ya'.split(' ');

/** Longer questions have enough words that are spelt right. */
const MAX_WORDS = 8;
/** Shorter words are similar to too many others. */
const SHORTEST = 3;

function byKeys(word: string, from: string, to: string): string {
  return [...word].map((letter) => to[from.indexOf(letter)] ?? letter).join('');
}

function toLatin(word: string): string {
  return [...word].map((letter) => LATIN[CYRILLIC.indexOf(letter)] ?? '').join('');
}

function toCyrillic(word: string): string {
  let text = '';
  for (let at = 0; at < word.length; ) {
    const [latin, cyrillic] = TO_CYRILLIC.find(([group]) => word.startsWith(group, at)) ?? [
      word[at] ?? '',
      word[at] ?? '',
    ];
    text += cyrillic;
    at += latin.length;
  }
  return text;
}

/**
 * The other spellings of the words of a question: typed in the wrong layout (`ghbynth` is `принтер`), and written in the other
 * alphabet (`printer` is `принтер`, `сервер` is `server`). Words with letters of both alphabets have none.
 */
export function respell(q: string): string[] {
  return q
    .toLowerCase()
    .split(/\s+/)
    .slice(0, MAX_WORDS)
    .filter((word) => word.length >= SHORTEST)
    .flatMap((word) => {
      if (/^[a-z`[\];',.]+$/.test(word) && /[a-z]/.test(word)) {
        return [byKeys(word, LATIN_KEYS, RUSSIAN_KEYS), ...(/^[a-z]+$/.test(word) ? [toCyrillic(word)] : [])];
      }
      if (!/^[а-яё]+$/.test(word)) return [];
      return [byKeys(word, RUSSIAN_KEYS, LATIN_KEYS), toLatin(word)];
    });
}

/** Edit distance 1. Pure. */

/** Shorter words are too similar to each other. */
export const SHORTEST_WITH_TYPO = 5;

/** Whether the words differ by one inserted, deleted or replaced letter, or by two swapped neighbours. */
export function isWithinOneEdit(a: string, b: string): boolean {
  if (a === b) return false;
  const [short, long] = a.length <= b.length ? [[...a], [...b]] : [[...b], [...a]];
  if (long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short[short.length - 1 - end] === long[long.length - 1 - end]) end++;
  const left = short.length - start - end;
  if (long.length > short.length) return left === 0;
  if (left === 1) return true;
  return left === 2 && short[start] === long[start + 1] && short[start + 1] === long[start];
}

/** Whether typos in the word are corrected: only in words of letters that are long enough. */
export function mayHoldTypo(word: string): boolean {
  return /^\p{L}+$/u.test(word) && [...word].length >= SHORTEST_WITH_TYPO;
}
