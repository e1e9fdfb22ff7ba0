/**
 * Converts text to lexemes, both for the index and for queries, which must agree. `word-parts.ts` finds the words and their
 * parts. Pure except for a bounded cache of words.
 */
import { createRequire } from 'node:module';
import { type Compound, compoundsOf, type Piece, runsOf, type Segment } from './word-parts.ts';

/** The position of a word in a text (UTF-16 offsets), and the lexemes that match it. */
export interface Token {
  start: number;
  end: number;
  lexemes: string[];
}

export interface IndexLexeme {
  lexeme: string;
  /** Positions from 1. A word and its parts share one position. */
  positions: number[];
}

/** One word of a query. */
export interface QueryTerm {
  /** The word as typed, folded. */
  raw: string;
  /** Any of these lexemes matches the word. */
  lexemes: string[];
  /** How often the word occurs in the query. */
  count: number;
  /** Whether a match must contain the word. If false, the word only affects ranking. */
  required: boolean;
  /** Whether this is the last word, which may be incomplete. */
  last: boolean;
  /** For the last word: lexemes with any of these prefixes match, too. */
  beginnings: string[];
  /** For the last word: these stems of longer words with the same prefix match, too. */
  completions: string[];
}

/** Converts text to lexemes. Use one instance per process, since it caches words. */
export interface Analysis {
  indexLexemes(text: string): IndexLexeme[];
  /** @param isComplete whether the last word is complete, too: it then has neither prefixes nor completions */
  queryTerms(q: string, isComplete?: boolean): QueryTerm[];
  tokens(text: string): Iterable<Token>;
  /**
   * The lexemes of the words of a text, in order. A word may have several, and a lexeme occurs as often as its word. Those of short
   * texts are cached.
   */
  lexemes(text: string): readonly string[];
}

/** Maximum number of distinct words of a query; further words are ignored. */
export const MAX_TERMS = 64;
/** Maximum number of cached words, and the maximum length of a cached word. */
const MAX_REMEMBERED = 30_000;
const LONGEST_REMEMBERED = 40;
/** Maximum length of a cached text. At most a third as many texts as words are cached. */
const LONGEST_TEXT = 200;
/** The space character. All lower codes are control characters, which words do not contain either. */
const BLANK = 0x20;
/** Endings that may complete a half-typed word. */
const ENDINGS = {
  latin: 'e d s g c l m r t y ed es ng ing n on ion nt ent ul us ly lly er tion ty ity lity bility sm'.split(' '),
  cyrillic: 'а я и й е у ю ь м х ие ия ий ть ся ми ого ется л ла'.split(' '),
};
/** Shorter stems are prefixes of too many words. */
const SHORTEST_COMPLETION = 3;

interface Stemmer {
  stem(word: string): string;
}

// The package has no type declarations.
const snowball = createRequire(import.meta.url)('snowball-stemmers') as { newStemmer(language: string): Stemmer };

class Words implements Analysis {
  readonly #russian: Stemmer = snowball.newStemmer('russian');
  readonly #english: Stemmer = snowball.newStemmer('english');
  readonly #most: number;
  #runs = new Map<string, readonly Token[]>();
  /** Text between spaces → the lexemes of its words, in order. */
  #chunks = new Map<string, readonly (readonly string[])[]>();
  /** Short text, such as a title → its lexemes. */
  #texts = new Map<string, readonly string[]>();
  /** The last word of a query → its completions, which take 35 stems to find. */
  #completed = new Map<string, readonly string[]>();

  constructor(most: number) {
    this.#most = most;
  }

  #stem(word: string): string {
    if (/^[a-z]+$/.test(word)) return this.#english.stem(word);
    return /^[а-я]+$/.test(word) ? this.#russian.stem(word) : word;
  }

  /** The whole compound and its parts, at the position of the first part. */
  *#tokensOf(compound: Compound): Generator<Token> {
    const { segments, joined, kind } = compound;
    if (kind === 'spaceless') {
      for (const [index, { text, start, end }] of segments.entries()) {
        const next = segments[index + 1];
        yield { start, end: next?.end ?? end, lexemes: next === undefined ? [text] : [text, text + next.text] };
      }
      return;
    }
    for (const [index, segment] of segments.entries()) {
      const lexemes = new Set([this.#stem(segment.text)]);
      if (index === 0 && joined !== null && segments.length > 1) lexemes.add(this.#stem(joined));
      const [first, ...others] = segment.pieces.filter(({ text }) => isLong(text));
      if (first !== undefined) lexemes.add(this.#stem(first.text));
      yield { start: segment.start, end: segment.end, lexemes: [...lexemes] };
      for (const { text, start, end } of others) yield { start, end, lexemes: [this.#stem(text)] };
    }
  }

  /** The tokens of a run, with offsets relative to the run. */
  #tokensIn(run: string): readonly Token[] {
    const known = this.#runs.get(run);
    if (known !== undefined) return known;
    const long = run.length > LONGEST_REMEMBERED;
    const own = long ? run : copied(run);
    const tokens = compoundsOf(own).flatMap((compound) => [...this.#tokensOf(compound)]);
    if (long) return tokens;
    // Cleared rather than evicted one by one: common words are cached again soon.
    if (this.#runs.size >= this.#most) this.#runs = new Map();
    this.#runs.set(own, tokens);
    return tokens;
  }

  /** The lexemes of each word in a text without spaces. */
  #lexemesIn(chunk: string): readonly (readonly string[])[] {
    const known = this.#chunks.get(chunk);
    if (known !== undefined) return known;
    const words: (readonly string[])[] = [];
    for (const run of runsOf(chunk)) for (const { lexemes } of this.#tokensIn(run.text)) words.push(lexemes);
    if (chunk.length > LONGEST_REMEMBERED) return words;
    if (this.#chunks.size >= this.#most) this.#chunks = new Map();
    this.#chunks.set(copied(chunk), words);
    return words;
  }

  *tokens(text: string): Generator<Token> {
    for (const run of runsOf(text)) {
      for (const { start, end, lexemes } of this.#tokensIn(run.text)) {
        yield { start: run.start + start, end: run.start + end, lexemes: [...lexemes] };
      }
    }
  }

  indexLexemes(text: string): IndexLexeme[] {
    const found = new Map<string, number[]>();
    let position = 0;
    this.#eachWord(text, (lexemes) => {
      position++;
      for (const lexeme of lexemes) {
        const positions = found.get(lexeme);
        if (positions === undefined) found.set(lexeme, [position]);
        else positions.push(position);
      }
    });
    return [...found].map(([lexeme, positions]) => ({ lexeme, positions }));
  }

  lexemes(text: string): readonly string[] {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const found: string[] = [];
    this.#eachWord(text, (lexemes) => {
      for (const lexeme of lexemes) found.push(lexeme);
    });
    if (text.length > LONGEST_TEXT) return found;
    if (3 * this.#texts.size >= this.#most) this.#texts = new Map();
    this.#texts.set(text, found);
    return found;
  }

  #eachWord(text: string, take: (lexemes: readonly string[]) => void): void {
    let start = 0;
    // No word contains a space, so each text between spaces can be looked up in the cache as it is.
    for (let end = 0; end <= text.length; end++) {
      if (end < text.length && text.charCodeAt(end) > BLANK) continue;
      if (end > start) for (const lexemes of this.#lexemesIn(text.slice(start, end))) take(lexemes);
      start = end + 1;
    }
  }

  #term(raw: string, words: readonly string[], required: boolean): QueryTerm {
    const lexemes = [...new Set(words.map((word) => this.#stem(word)))];
    return {
      raw,
      lexemes,
      count: 1,
      required,
      last: false,
      beginnings: [...new Set([raw, ...words])],
      completions: [],
    };
  }

  *#termsOf(compound: Compound): Generator<QueryTerm> {
    const { kind, segments, joined } = compound;
    if (kind === 'spaceless') {
      for (const [index, { text }] of segments.entries()) {
        const next = segments[index + 1];
        if (next !== undefined) yield this.#term(text + next.text, [text + next.text], true);
        else if (index === 0) yield this.#term(text, [text], true);
      }
      return;
    }
    const also = segments.length > 1 && joined !== null ? [joined] : [];
    for (const segment of segments) yield* this.#segmentTerms(segment, also);
    if (also.length > 0) yield this.#term(joined as string, also, false);
  }

  /**
   * Terms of one segment. Letters next to digits may be separated in the searched text, so the pieces are required. Numbers and
   * names with inner capitals must match as a whole.
   */
  *#segmentTerms({ text, pieces }: Segment, also: readonly string[]): Generator<QueryTerm> {
    const apart = /^\p{L}+\d|^\d+\p{L}/u.test(text) && pieces.every((piece) => isLong(piece.text));
    if (apart && pieces.length > 1) {
      for (const piece of pieces) yield this.#term(piece.text, [piece.text, text, ...also], true);
      yield this.#term(text, [text], false);
      return;
    }
    // A single piece is the part after an apostrophe.
    const [tail] = pieces.length === 1 ? pieces : [];
    yield this.#term(text, [text, ...(tail === undefined ? [] : [tail.text]), ...also], true);
    if (pieces.length > 1)
      for (const piece of pieces.filter(isTelling)) yield this.#term(piece.text, [piece.text], false);
  }

  queryTerms(q: string, isComplete = false): QueryTerm[] {
    const all: QueryTerm[] = [];
    for (const run of runsOf(q)) for (const compound of compoundsOf(run.text)) all.push(...this.#termsOf(compound));
    const long = all.filter(({ lexemes }) => lexemes.some(isLong));
    const kept = long.some(({ required }) => required) ? long.filter(({ raw }) => isLong(raw)) : all;
    const terms = new Map<string, QueryTerm>();
    for (const term of kept) {
      const key = term.lexemes.join('\u0000');
      const known = terms.get(key);
      if (known !== undefined) {
        known.count++;
        known.required ||= term.required;
      } else if (terms.size < MAX_TERMS) terms.set(key, term);
    }
    const found = [...terms.values()];
    return isComplete ? found.map((term) => ({ ...term, beginnings: [] })) : this.#withLast(found, kept);
  }

  /** Marks the last required word of the query, which may be incomplete and then also matches by prefix. */
  #withLast(terms: readonly QueryTerm[], asked: readonly QueryTerm[]): QueryTerm[] {
    const key = (term: QueryTerm): string => term.lexemes.join('\u0000');
    const last = asked.findLast(({ required }) => required);
    return terms.map((term) =>
      last !== undefined && key(term) === key(last)
        ? { ...term, last: true, completions: this.#completions(term) }
        : { ...term, beginnings: [] },
    );
  }

  /** Stems of words that continue the prefix but that the prefix itself does not match. */
  #completions({ raw, lexemes }: QueryTerm): string[] {
    let stems = this.#completed.get(raw);
    if (stems === undefined) {
      const endings = /^[a-z]+$/.test(raw) ? ENDINGS.latin : /^[а-я]+$/.test(raw) ? ENDINGS.cyrillic : [];
      const all = new Set(endings.map((ending) => this.#stem(raw + ending)));
      stems = [...all].filter((stem) => stem.length >= SHORTEST_COMPLETION && !stem.startsWith(raw));
      if (raw.length <= LONGEST_REMEMBERED) {
        if (this.#completed.size >= this.#most) this.#completed = new Map();
        this.#completed.set(copied(raw), stems);
      }
    }
    return stems.filter((stem) => !lexemes.includes(stem));
  }
}

/** A substring keeps its whole source string in memory. Cached strings must not, so they are copied. */
function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** Words of one letter are not significant; single digits and Han characters are. */
function isLong(word: string): boolean {
  return [...word].length > 1 || /^[\p{N}\p{Script=Han}]$/u.test(word);
}

function isTelling({ text }: Piece): boolean {
  return text.length >= 3 && /^\p{L}/u.test(text);
}

/** @param remembered maximum number of cached words */
export function makeAnalysis(remembered: number = MAX_REMEMBERED): Analysis {
  return new Words(remembered);
}
