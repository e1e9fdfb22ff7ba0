/** Text to lexemes: what a text is found by, and what a question looks for. Pure but for a bounded cache of stems. */
import { createRequire } from 'node:module';
import { fold } from './text.ts';

/** Where a word stands in a text, and the lexemes that it is found by. */
export interface Token {
  start: number;
  end: number;
  lexemes: string[];
}

export interface IndexLexeme {
  lexeme: string;
  /** From 1. */
  positions: number[];
}

/** One word of a question. */
export interface QueryTerm {
  /** Folded, as it was typed. */
  raw: string;
  /** Any of these counts as the word. */
  lexemes: string[];
  /** The word that may be unfinished. */
  last: boolean;
}

/** How text becomes lexemes; one value for the whole process, since it remembers stems. */
export interface Analysis {
  indexLexemes(text: string): IndexLexeme[];
  queryTerms(q: string): QueryTerm[];
  tokens(text: string): Iterable<Token>;
}

// The package brings no types.
const snowball = createRequire(import.meta.url)('snowball-stemmers') as { newStemmer(language: string): Stemmer };

const WORD = /[\p{L}\p{N}\p{M}]+(?:[-.'_][\p{L}\p{N}\p{M}]+)*/gu;
const PART = /[\p{L}\p{N}\p{M}]+/gu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const MOST_CACHED = 50_000;
const LONGEST = 60;

interface Stemmer {
  stem(word: string): string;
}

class Words implements Analysis {
  readonly #russian: Stemmer = snowball.newStemmer('russian');
  readonly #english: Stemmer = snowball.newStemmer('english');
  #stems = new Map<string, string>();

  #stem(word: string): string {
    let stem = this.#stems.get(word);
    if (stem === undefined) {
      stem = /^[а-я]+$/u.test(word)
        ? this.#russian.stem(word)
        : /^[a-z]+$/u.test(word)
          ? this.#english.stem(word)
          : word.replace(/^0+(?=\d+$)/, '');
      if (this.#stems.size >= MOST_CACHED) this.#stems = new Map();
      this.#stems.set(word, stem);
    }
    return stem;
  }

  *tokens(text: string): Generator<Token> {
    for (const match of text.matchAll(WORD)) {
      const start = match.index;
      const whole = strip(match[0]);
      const parts = [...match[0].matchAll(PART)];
      if (parts.length > 1 && whole.length <= LONGEST) yield { start, end: start + match[0].length, lexemes: [whole] };
      for (const part of parts) {
        const at = start + part.index;
        if (CJK.test(part[0])) yield* grams(part[0], at);
        else {
          const word = strip(part[0]).slice(0, LONGEST);
          if (word !== '') yield { start: at, end: at + part[0].length, lexemes: [this.#stem(word)] };
        }
      }
    }
  }

  indexLexemes(text: string): IndexLexeme[] {
    const found = new Map<string, number[]>();
    let position = 0;
    for (const { lexemes } of this.tokens(text)) {
      position++;
      for (const lexeme of lexemes) {
        const positions = found.get(lexeme);
        if (positions === undefined) found.set(lexeme, [position]);
        else positions.push(position);
      }
    }
    return [...found].map(([lexeme, positions]) => ({ lexeme, positions }));
  }

  queryTerms(q: string): QueryTerm[] {
    const terms: QueryTerm[] = [];
    for (const match of q.matchAll(PART)) {
      if (CJK.test(match[0])) {
        for (const { lexemes } of grams(match[0], 0)) terms.push({ raw: lexemes[0] as string, lexemes, last: false });
        continue;
      }
      const raw = strip(match[0]).slice(0, LONGEST);
      if (raw !== '') terms.push({ raw, lexemes: [this.#stem(raw)], last: false });
    }
    const long = terms.filter(({ raw }) => raw.length > 1 || /\d|[^a-zа-я]/u.test(raw));
    const kept = long.length > 0 ? long : terms;
    const last = kept.at(-1);
    if (last !== undefined) last.last = true;
    return kept;
  }
}

/** Folded, without accents. */
function strip(text: string): string {
  return fold(text).normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');
}

function* grams(text: string, at: number): Generator<Token> {
  const chars = [...text];
  let start = at;
  for (const [index, char] of chars.entries()) {
    const next = chars[index + 1] ?? '';
    if (next !== '' || chars.length === 1) {
      yield { start, end: start + char.length + next.length, lexemes: [strip(char + next)] };
    }
    start += char.length;
  }
}

export function makeAnalysis(): Analysis {
  return new Words();
}
