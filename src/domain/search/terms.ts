/** A question as the projection is asked it. Pure. */
import type { Analysis, QueryTerm } from '../../lib/words.ts';
import { anyLexeme, numberQuery } from './lexemes.ts';

/** Beginnings shorter than this say nothing when other words are missing. */
const SHORTEST_BEGINNING = 3;

/** No record's number is longer. */
const LONGEST_NUMBER = 64;
const MOST_NUMBERS = 4;

export interface Term extends QueryTerm {
  /** Further lexemes that nearly are the word. */
  near: readonly string[];
}

/** Labels as `Reach` has them. */
export interface Labels {
  free: readonly string[];
  classes: readonly { fieldTokens: readonly string[] }[];
}

/** A `tsquery` and the number of its operands, by which `ts_rank` divides. */
export interface Part {
  text: string;
  operands: number;
  /** The same matches by fewer operands: what a beginning covers is not looked up apart. */
  match: string;
}

/** One word: where the labels are free, and for each class of labels that hangs on the record. */
export interface TermQuery {
  free: Part;
  classes: readonly Part[];
}

export function termsOf(analysis: Analysis, q: string): Term[] {
  return analysis.queryTerms(q).map((term) => ({ ...term, near: [] }));
}

function under(fieldTokens: readonly string[], term: Term, loosely: boolean): Part {
  const exact = new Set([...term.lexemes, ...term.completions, ...(loosely ? term.near : [])]);
  const beginnings = new Set(term.beginnings);
  if (loosely && term.raw.length >= SHORTEST_BEGINNING) beginnings.add(term.raw);
  const covered = (word: string): boolean => [...beginnings].some((other) => other !== word && word.startsWith(other));
  const asked = (lexemes: readonly string[], starts: readonly string[]): string =>
    [anyLexeme(lexemes, fieldTokens, false), anyLexeme(starts, fieldTokens, true)]
      .filter((part) => part !== '')
      .join(' | ');
  return {
    text: asked([...exact], [...beginnings]),
    operands: (exact.size + beginnings.size) * fieldTokens.length,
    match: asked(
      [...exact].filter((word) => !beginnings.has(word) && !covered(word)),
      [...beginnings].filter((word) => !covered(word)),
    ),
  };
}

/** The word under the caller's labels. `loosely`: also by its beginning, and by words that nearly are it. */
export function termQuery(term: Term, fieldTokens: Labels, loosely = false): TermQuery {
  return {
    free: under(fieldTokens.free, term, loosely),
    classes: fieldTokens.classes.map((of) => under(of.fieldTokens, term, loosely)),
  };
}

/** All of the word's queries in one: what a record must at least hold to be looked at. */
export function widest(query: TermQuery): string {
  return [query.free, ...query.classes]
    .map(({ match }) => match)
    .filter((match) => match !== '')
    .join(' | ');
}

/** Numbers of records in a question. */
export interface Numbers {
  /** `tsquery` of records that have all of them; the last one of the question matches by its beginning. */
  query: string;
  /** The same without beginnings: these are what is meant before all. */
  exact: string;
  /** What else the question says. */
  rest: readonly Term[];
}

/**
 * Null where no word of the question can be a record's number, or begin one.
 *
 * @param prefixes what numbers begin with
 */
export function numbersOf(analysis: Analysis, q: string, prefixes: readonly string[]): Numbers | null {
  const tokens = q.trim().split(/\s+/);
  const last = tokens.at(-1);
  const mayBe = (token: string): boolean => {
    const text = token.toUpperCase();
    if (token.length > LONGEST_NUMBER || !/^[A-Z0-9-]+$/.test(text)) return false;
    // A beginning alone stands for a number only where nothing else is asked.
    return prefixes.some((prefix) => text.startsWith(prefix) || (tokens.length === 1 && prefix.startsWith(text)));
  };
  const numbers = tokens.filter(mayBe).slice(0, MOST_NUMBERS);
  if (numbers.length === 0) return null;
  const together = (loosely: boolean): string =>
    numbers.map((token) => `(${numberQuery(token, loosely && token === last)})`).join(' & ');
  const others = tokens.filter((token) => !numbers.includes(token)).join(' ');
  return {
    query: together(true),
    exact: together(false),
    rest: termsOf(analysis, others).filter((term) => term.required),
  };
}
