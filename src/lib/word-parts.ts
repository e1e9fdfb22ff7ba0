/**
 * Finds the words of a text and splits them into parts. Pure; `words.ts` converts the parts to lexemes.
 *
 * A compound is a run of words joined by `.`, `-`, `_`, `@` or an apostrophe (`jquery.ui`, `RFC-2616`, `don't`). Its segments
 * are the parts between the joiners. The pieces of a segment are the parts that its spelling distinguishes: inner capitals
 * (`fadeIn`), digits next to letters (`IE8`), Cyrillic next to Latin. Scripts without spaces are split into letters.
 */
import { fold, isPlainText } from './text.ts';

/** A position in the text: UTF-16 offsets. */
export interface Span {
  start: number;
  end: number;
}

/** A word in the normal form of the index, not stemmed. */
export interface Piece extends Span {
  text: string;
}

export interface Segment extends Piece {
  /** The pieces of the segment; empty if there is only one. */
  pieces: Piece[];
}

export interface Compound extends Span {
  /** `spaceless`: each segment is one letter of a script without spaces. */
  kind: 'word' | 'spaceless';
  segments: Segment[];
  /** The compound without joiners (between digits one `.` is kept), in normal form; null if it is too long for a word. */
  joined: string | null;
}

/** Maximum length of a lexeme; the rest of a longer word is ignored. */
export const LONGEST_WORD = 60;
/** A segment with more pieces is not a name but noise (keys, hashes, encoded data). */
const MAX_PIECES = 6;
const MAX_ALTERNATIONS = 3;
/** Matches most words: those with a single piece and trivial folding. */
const SIMPLE = /^(?:[A-Z]?[a-z]+|[А-Я]?[а-я]+|[1-9][0-9]*)$/;
const MAX_LOOKED_AT = 4 * LONGEST_WORD;

/** Invisible characters inside words. */
const INVISIBLE = '\\u00AD\\u200B-\\u200D\\u2060\\uFEFF\\uFE00-\\uFE0F';
const RUN = `[\\p{L}\\p{M}\\p{N}${INVISIBLE}]+`;
const COMPOUND = new RegExp(
  `${RUN}(?:[-.'_@\\u2010\\u2011\\u2019]${RUN})*(?:(?<=(?<![\\p{L}\\p{M}\\p{N}])[A-Za-z]{1,2})(?:\\+\\+|#)(?![\\p{L}\\p{M}\\p{N}]))?`,
  'gu',
);
const SEGMENT = new RegExp(`${RUN}`, 'gu');
const INVISIBLES = new RegExp(`[${INVISIBLE}]`, 'gu');
const SPACELESS_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan'];
const SPACELESS_LETTER = `[${SPACELESS_SCRIPTS.map((name) => `\\p{Script=${name}}`).join('')}\\u30FC\\uFF70]`;
/** A run of one kind: letters of scripts without spaces, or other characters. */
const STRETCH = new RegExp(`(?:${SPACELESS_LETTER}[\\p{M}\\uFF9E\\uFF9F]*)+|(?:(?!${SPACELESS_LETTER})[^])+`, 'gu');
const SPACELESS = new RegExp(`^${SPACELESS_LETTER}`, 'u');
const UNIT = /\P{M}[\p{M}\uFF9E\uFF9F]*/gu;
/** Boundaries between alphabets and between letters and digits; below, boundaries marked by capitals. */
const OTHER_KIND =
  /(?<=\p{Script=Latin}\p{M}*)(?=\p{Script=Cyrillic})|(?<=\p{Script=Cyrillic}\p{M}*)(?=\p{Script=Latin})|(?<=\p{N})(?=\p{L})|(?<=\p{L}\p{M}*)(?=\p{N})/u;
const CAPITAL = /(?<=\p{Ll}\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})/u;

/** Cyrillic letters and the Latin letters that look like them in upper or lower case. */
const LOOKALIKES = new Map(
  [...'авекмнорстухі'].map((letter, index) => [letter, [...'abekmhopctyxi'][index] as string] as const),
);
const CYRILLIC_LIKE = new Map([...LOOKALIKES].map(([cyrillic, latin]) => [latin, cyrillic] as const));
/** Letters that Unicode decomposition does not split. */
const LETTERS_WITHOUT_MARK: Readonly<Record<string, string>> = {
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ı: 'i',
  ħ: 'h',
  ŧ: 't',
};

/**
 * The form in which words are compared. Compatibility characters (`ﬁ`, full width) are unified, case, `ё` and accents are
 * folded, Arabic and Hebrew points are removed. Marks that form a different letter in Cyrillic (`й`, `ї`) and vowel signs of
 * Indic scripts are kept.
 */
export function normalWord(word: string): string {
  if (isPlainText(word)) return fold(word);
  const folded = fold(word.replace(INVISIBLES, '').normalize('NFKC'));
  if (/^[a-z0-9а-я]*$/.test(folded)) return folded;
  return folded
    .normalize('NFD')
    .replace(/([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, '$1')
    .normalize('NFC')
    .replace(/[\u0300-\u036F\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u064B-\u065F\u0670]/g, '')
    .replace(/[øđðłæœþıħŧ]/g, (letter) => LETTERS_WITHOUT_MARK[letter] ?? letter)
    .replace(/\p{Nd}/gu, westernDigit);
}

/** Converts digits of any script to `0` to `9`. */
function westernDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  if (code < 128) return digit;
  // The ten digits of a script are consecutive code points, starting with zero.
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && code - zero < 9) zero--;
  return String(code - zero);
}

/** Converts a word with mixed Cyrillic and Latin letters to one alphabet, if all letters of the other one are lookalikes. */
export function oneAlphabet(word: string): string {
  const letters = [...word];
  const cyrillic = letters.filter((letter) => /\p{Script=Cyrillic}/u.test(letter));
  if (cyrillic.length === 0) return word;
  const latin = letters.filter((letter) => /\p{Script=Latin}/u.test(letter));
  const digits = /\d/.test(word);
  if (latin.length === 0 && !digits) return word;
  const toLatin = cyrillic.every((letter) => LOOKALIKES.has(letter));
  if (toLatin && (latin.length >= cyrillic.length || (latin.length === 0 && cyrillic.length <= 2))) {
    return letters.map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
  }
  if (latin.length > 0 && latin.every((letter) => CYRILLIC_LIKE.has(letter))) {
    return letters.map((letter) => CYRILLIC_LIKE.get(letter) ?? letter).join('');
  }
  return word;
}

function cut(word: string): string {
  return word.length <= LONGEST_WORD ? word : [...word].slice(0, LONGEST_WORD).join('');
}

function withoutZeros(word: string): string {
  return word.replace(/(?<!\d)0+(?=\d)/g, '');
}

function piecesOf(segment: string, start: number): Piece[] {
  const texts = segment.split(OTHER_KIND).flatMap((text) => text.split(CAPITAL));
  if (texts.length < 2 || texts.length > MAX_PIECES) return [];
  // `iPhone` and `jQuery` are one word.
  if (/^\p{L}$/u.test(texts[0] ?? '') && !/\p{N}/u.test(segment)) return [];
  // A word that mixes alphabets may only contain lookalike letters; its pieces are then not words.
  const whole = normalWord(segment);
  if (oneAlphabet(whole) !== whole && !/\d/.test(whole)) return [];
  const pieces: Piece[] = [];
  let at = start;
  for (const text of texts) {
    pieces.push({ text: cut(withoutZeros(normalWord(text))), start: at, end: at + text.length });
    at += text.length;
  }
  const numbers = pieces.filter(({ text }) => /^\d/.test(text)).length;
  return (numbers > 0 && pieces.length > MAX_ALTERNATIONS) || pieces.some(({ text }) => text === '') ? [] : pieces;
}

function simpleSegment(run: string, start: number): Segment {
  return { text: run.toLowerCase(), start, end: start + run.length, pieces: [] };
}

function segmentOf(run: string, start: number): Segment | null {
  if (run.length <= LONGEST_WORD && SIMPLE.test(run)) return simpleSegment(run, start);
  // Characters beyond this length are ignored, so that the cost of a run is linear in its length.
  const text = run.length <= MAX_LOOKED_AT ? run : run.slice(0, MAX_LOOKED_AT).replace(/[\uD800-\uDBFF]$/, '');
  const normal = cut(withoutZeros(oneAlphabet(normalWord(text))));
  if (normal === '') return null;
  return { text: normal, start, end: start + run.length, pieces: piecesOf(text, start) };
}

/** Unified Han ideographs and Hangul syllables: letters that are always in normal form. */
function isPlainSign(unit: number): boolean {
  return (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0xac00 && unit <= 0xd7a3);
}

function spaceless(stretch: string, start: number): Compound {
  const segments: Segment[] = [];
  let at = 0;
  while (at < stretch.length) {
    // A letter followed by another plain letter has no combining marks.
    for (; isPlainSign(stretch.charCodeAt(at)); at++) {
      if (at + 1 < stretch.length && !isPlainSign(stretch.charCodeAt(at + 1))) break;
      segments.push({ text: stretch[at] as string, start: start + at, end: start + at + 1, pieces: [] });
    }
    UNIT.lastIndex = at;
    const unit = UNIT.exec(stretch);
    if (unit === null) break;
    const text = normalWord(unit[0]);
    const end = unit.index + unit[0].length;
    if (text !== '') segments.push({ text, start: start + unit.index, end: start + end, pieces: [] });
    at = end;
  }
  return { kind: 'spaceless', segments, joined: null, start, end: start + stretch.length };
}

/** Joins the segments. A `.` is kept between digits, so that 1.42 differs from 14.2. */
function join(segments: readonly Segment[]): string | null {
  let joined = '';
  for (const { text } of segments) {
    joined += /\d$/.test(joined) && /^\d/.test(text) ? `.${text}` : text;
    if (joined.length > LONGEST_WORD) return null;
  }
  return joined;
}

/** Merges adjacent numbers into one segment (`1.4.2` in `jquery-1.4.2.js` and `v1.4.2`), with the numbers as its pieces. */
function withNumbers(segments: readonly Segment[]): Segment[] {
  const found: Segment[] = [];
  let run: Segment[] = [];
  const flush = (): void => {
    const number = run.length > 1 ? join(run) : null;
    const [first] = run;
    const end = run.at(-1)?.end ?? 0;
    if (first !== undefined && number !== null) found.push({ text: number, start: first.start, end, pieces: run });
    else found.push(...run);
    run = [];
  };
  for (const [index, segment] of segments.entries()) {
    const version = /^v\d+$/.test(segment.text) && /^\d+$/.test(segments[index + 1]?.text ?? '');
    if (/^\d+$/.test(segment.text)) run.push(segment);
    else {
      flush();
      if (version) run.push({ ...segment, text: segment.text.slice(1), pieces: [] });
      else found.push(segment);
    }
  }
  flush();
  return found;
}

function* within(compound: string): Generator<Compound> {
  let segments: Segment[] = [];
  const flush = function* (): Generator<Compound> {
    const first = segments[0];
    const last = segments.at(-1);
    if (first === undefined || last === undefined) return;
    yield { kind: 'word', segments: withNumbers(segments), joined: join(segments), start: first.start, end: last.end };
    segments = [];
  };
  for (const { 0: run, index: runAt } of compound.matchAll(SEGMENT)) {
    for (const { 0: stretch, index } of run.matchAll(STRETCH)) {
      const at = runAt + index;
      if (SPACELESS.test(stretch)) {
        yield* flush();
        yield spaceless(stretch, at);
      } else {
        const segment = segmentOf(stretch, at);
        // Digits and letters next to a letter of a script without spaces are separate words.
        if (index > 0) yield* flush();
        if (segment !== null) segments.push(segment);
      }
    }
  }
  yield* flush();
}

/**
 * Treats a compound with apostrophes as one word: `user's` is `user`, `don't` is `dont`; `l'ordinateur` also has the piece
 * `ordinateur`. Null if it is not a single word.
 */
function withApostrophes(text: string): Compound[] | null {
  if (!/['\u2019]/.test(text)) return null;
  const whole = text.replace(/['\u2019][sSсС]$/u, '').replace(/['\u2019]/g, '');
  const found = [...within(whole)];
  const [only] = found;
  if (found.length !== 1 || only?.kind !== 'word') return null;
  const tail = text.split(/['\u2019]/).at(-1) ?? '';
  const span = { start: 0, end: text.length };
  const pieces =
    only.segments.length === 1 && normalWord(tail).length >= 4 ? [{ ...span, text: normalWord(tail) }] : [];
  return [{ ...only, ...span, segments: only.segments.map((segment) => ({ ...segment, ...span, pieces })) }];
}

/** The compounds of a text as written, in order. `compoundsOf` splits each of them. */
export function* runsOf(text: string): Generator<Run> {
  for (const { 0: run, index } of text.matchAll(COMPOUND)) yield { text: run, start: index };
}

export interface Run {
  text: string;
  start: number;
}

/** The compounds of a run, with offsets relative to the run. */
export function compoundsOf(run: string): Compound[] {
  if (run.length <= LONGEST_WORD && SIMPLE.test(run)) {
    const segment = simpleSegment(run, 0);
    return [{ kind: 'word', segments: [segment], joined: segment.text, start: 0, end: run.length }];
  }
  const sign = /(?:\+\+|#)$/.exec(run);
  if (sign === null) return withApostrophes(run) ?? [...within(run)];
  const word = normalWord(run.slice(0, sign.index)) + sign[0];
  const span = { start: 0, end: run.length };
  return [{ ...span, kind: 'word', segments: [{ ...span, text: word, pieces: [] }], joined: word }];
}
