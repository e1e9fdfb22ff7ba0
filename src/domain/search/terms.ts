/** A question as the projection is asked it. Pure. */
import type { Analysis } from '../../lib/words.ts';
import { anyLexeme, numberQuery } from './lexemes.ts';

/** Most different words of a question that count; the first ones do. */
const MOST_TERMS = 100;
/** Beginnings shorter than this say nothing when other words are missing. */
const SHORTEST_BEGINNING = 3;

export interface Term {
  raw: string;
  lexemes: readonly string[];
  last: boolean;
  /** Further lexemes that nearly are the word. */
  near: readonly string[];
}

/** Labels as `Reach` has them. */
export interface Labels {
  free: readonly string[];
  classes: readonly { labels: readonly string[] }[];
}

/** `tsquery` texts of one word: where the labels are free, and for each class of labels that hangs on the record. */
export interface TermQuery {
  free: string;
  classes: readonly string[];
}

export function termsOf(analysis: Analysis, q: string): Term[] {
  const terms = new Map<string, Term>();
  for (const { raw, lexemes, last } of analysis.queryTerms(q)) {
    const key = [...lexemes].sort().join('\u0000');
    const known = terms.get(key);
    if (known === undefined && terms.size >= MOST_TERMS) continue;
    terms.set(key, { raw, lexemes, last: last || known?.last === true, near: [] });
  }
  return [...terms.values()];
}

function under(labels: readonly string[], term: Term, loosely: boolean): string {
  const parts = [anyLexeme(term.lexemes, labels, false)];
  if (term.last || (loosely && term.raw.length >= SHORTEST_BEGINNING)) parts.push(anyLexeme([term.raw], labels, true));
  if (loosely) parts.push(anyLexeme(term.near, labels, false));
  return parts.filter((part) => part !== '').join(' | ');
}

/**
 * The word under the caller's labels; a record's number matches whole, and by its beginning where the word is the last.
 * `loosely`: also by its beginning, and by words that nearly are it.
 */
export function termQuery(term: Term, labels: Labels, loosely = false): TermQuery {
  const number = numberQuery(term.raw, term.last);
  const free = [under(labels.free, term, loosely), number].filter((part) => part !== '').join(' | ');
  return { free, classes: labels.classes.map((of) => under(of.labels, term, loosely)) };
}

/** All of the word's queries in one: what a record must at least hold to be looked at. */
export function widest(query: TermQuery): string {
  return [query.free, ...query.classes].filter((part) => part !== '').join(' | ');
}

/** A number written with hyphens is one word of the question and several of the analysis. */
export function wholeNumber(q: string): string {
  const text = q.trim();
  return /^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+$/.test(text) ? numberQuery(text, true) : '';
}
