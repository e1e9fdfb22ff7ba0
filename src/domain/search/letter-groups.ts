/**
 * Similar spelling by letter groups (trigrams) that texts share, for reranking. Groups are numbered, so that counting them needs
 * neither strings nor sets. Pure.
 */
import { randomInt } from 'node:crypto';

const SPACE = 0x20;
/** Texts with code units from here on are folded as strings. */
const FOLDED_BY_UNIT = 0x530;
const FIRST_CAPACITY = 8192;

/** Factors of the hash. They are secret, so that nobody can write titles whose groups collide. */
const [FACTOR_A, FACTOR_B, FACTOR_C] = [randomInt(2 ** 31), randomInt(2 ** 31), randomInt(2 ** 31)];

/** By code unit: the folded letter or digit, a space for any other character, 0 if texts with it are folded as strings. */
const FOLDED = Uint16Array.from({ length: FOLDED_BY_UNIT }, (_, unit) => {
  const letter = String.fromCharCode(unit);
  // The lower-case form of a sigma depends on the letters around it.
  if (letter.toLowerCase().length > 1 || letter === 'Σ') return 0;
  const folded = foldedLetters(letter);
  return folded === '' ? SPACE : folded.charCodeAt(0);
});

/** Letters and digits in lower case, with one space between words. Only their order matters here, so accents are kept. */
function foldedLetters(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Numbers the letter groups of texts in the order in which they occur. Use one instance for texts that are compared. */
export class LetterGroups {
  /** Open addressing. By slot: the first unit of the group, the other two, and its number plus 1; 0 if the slot is empty. */
  #first = new Int32Array(FIRST_CAPACITY);
  #others = new Int32Array(FIRST_CAPACITY);
  #numbers = new Int32Array(FIRST_CAPACITY);
  #count = 0;
  /** By number: the last text that has the group. */
  #seen = new Int32Array(FIRST_CAPACITY);
  #text = 0;
  #units = new Uint16Array(256);

  /** Number of different groups so far. */
  get count(): number {
    return this.#count;
  }

  /** The different groups of a word. The two at its start count as one, because words rarely start with a typo. */
  ofWord(word: string): number[] {
    this.#reserve(word.length);
    for (let at = 0; at < word.length; at++) this.#units[at] = word.charCodeAt(at);
    const found = this.#groupsOf(word.length);
    if (word !== '') this.#add(found, 0, SPACE, word.charCodeAt(0));
    return found;
  }

  /** The different groups of the letters and digits of a text, in order. */
  ofText(text: string): number[] {
    this.#reserve(text.length);
    const units = this.#units;
    let length = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      const folded = unit < FOLDED_BY_UNIT ? (FOLDED[unit] as number) : 0;
      if (folded === 0) return this.#ofFolded(foldedLetters(text));
      // One space between words, and none at the start.
      if (folded !== SPACE || (length > 0 && units[length - 1] !== SPACE)) units[length++] = folded;
    }
    return this.#groupsOf(length > 0 && units[length - 1] === SPACE ? length - 1 : length);
  }

  #ofFolded(folded: string): number[] {
    this.#reserve(folded.length);
    for (let at = 0; at < folded.length; at++) this.#units[at] = folded.charCodeAt(at);
    return this.#groupsOf(folded.length);
  }

  #reserve(length: number): void {
    if (length > this.#units.length) this.#units = new Uint16Array(2 * length);
  }

  /** The groups of the first units, with a space before and after them. */
  #groupsOf(length: number): number[] {
    this.#text++;
    const found: number[] = [];
    const units = this.#units;
    let before = SPACE;
    for (let at = 0; at < length; at++) {
      const unit = units[at] as number;
      this.#add(found, before, unit, at + 1 < length ? (units[at + 1] as number) : SPACE);
      before = unit;
    }
    return found;
  }

  /** Adds the number of the group unless the text already had it. */
  #add(found: number[], a: number, b: number, c: number): void {
    const number = this.#numberOf(a, (b << 16) | c);
    if (this.#seen[number] === this.#text) return;
    this.#seen[number] = this.#text;
    found.push(number);
  }

  #numberOf(first: number, others: number): number {
    let slot = this.#slotOf(first, others);
    let known = this.#numbers[slot] as number;
    if (known !== 0) return known - 1;
    if (2 * this.#count >= this.#numbers.length) {
      this.#grow();
      slot = this.#slotOf(first, others);
    }
    this.#first[slot] = first;
    this.#others[slot] = others;
    known = ++this.#count;
    this.#numbers[slot] = known;
    return known - 1;
  }

  /** The slot of the group, or the empty one that it takes. */
  #slotOf(first: number, others: number): number {
    const mask = this.#numbers.length - 1;
    const sum = Math.imul(first, FACTOR_A) + Math.imul(others >>> 16, FACTOR_B) + Math.imul(others & 0xffff, FACTOR_C);
    let slot = (sum >>> 15) & mask;
    while (this.#numbers[slot] !== 0 && (this.#first[slot] !== first || this.#others[slot] !== others)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [first, others, numbers] = [this.#first, this.#others, this.#numbers];
    const capacity = 2 * numbers.length;
    this.#first = new Int32Array(capacity);
    this.#others = new Int32Array(capacity);
    this.#numbers = new Int32Array(capacity);
    for (let at = 0; at < numbers.length; at++) {
      if (numbers[at] === 0) continue;
      const slot = this.#slotOf(first[at] as number, others[at] as number);
      this.#first[slot] = first[at] as number;
      this.#others[slot] = others[at] as number;
      this.#numbers[slot] = numbers[at] as number;
    }
    const seen = new Int32Array(capacity);
    seen.set(this.#seen);
    this.#seen = seen;
  }
}

/** Spelling similarity between the words of titles and those of the question: 0, or from the minimum similarity up to 1. */
export class Likeness {
  readonly #groups: LetterGroups;
  readonly #least: number;
  readonly #shortest: number;
  readonly #terms: number;
  /** By lexeme: its term and the number of its groups. */
  readonly #lexemes: { term: number; size: number }[] = [];
  /** By group: the lexemes that have it. */
  readonly #having: number[][] = [];
  /** By lexeme: the number of groups that it shares with a word; all 0 between two words. */
  readonly #shared: Int32Array;
  /** Word → similar terms, each followed by its similarity. */
  readonly #known = new Map<string, readonly number[]>();

  /**
   * @param terms the lexemes of each term
   * @param least minimum similarity
   * @param shortest minimum length of similar words
   */
  constructor(groups: LetterGroups, terms: readonly (readonly string[])[], least: number, shortest: number) {
    this.#groups = groups;
    this.#least = least;
    this.#shortest = shortest;
    this.#terms = terms.length;
    for (const [term, lexemes] of terms.entries()) {
      for (const lexeme of lexemes) {
        if (lexeme.length < shortest) continue;
        const own = groups.ofWord(lexeme);
        for (const group of own) (this.#having[group] ??= []).push(this.#lexemes.length);
        this.#lexemes.push({ term, size: own.length });
      }
    }
    this.#shared = new Int32Array(this.#lexemes.length);
  }

  /** By term: the similarity of the most similar word of a title. */
  best(words: readonly string[]): Float64Array {
    const best = new Float64Array(this.#terms);
    for (const word of words) {
      if (word.length < this.#shortest) continue;
      let like = this.#known.get(word);
      if (like === undefined) this.#known.set(word, (like = this.#likeOf(word)));
      for (let at = 0; at < like.length; at += 2) {
        const [term, likeness] = [like[at] as number, like[at + 1] as number];
        if (likeness > (best[term] as number)) best[term] = likeness;
      }
    }
    return best;
  }

  #likeOf(word: string): number[] {
    const own = this.#groups.ofWord(word);
    const shared = this.#shared;
    const similar: number[] = [];
    for (const group of own) {
      // Groups that no lexeme has are numbered after the others.
      if (group >= this.#having.length) continue;
      for (const lexeme of this.#having[group] ?? []) {
        if (shared[lexeme] === 0) similar.push(lexeme);
        (shared[lexeme] as number)++;
      }
    }
    const like: number[] = [];
    for (const lexeme of similar) {
      const { term, size } = this.#lexemes[lexeme] as { term: number; size: number };
      const dice = (2 * (shared[lexeme] as number)) / (size + own.length);
      if (dice >= this.#least) like.push(term, dice);
      shared[lexeme] = 0;
    }
    return like;
  }
}

/** The weight of the groups that a title shares with the question. Groups that are common among the given titles weigh less. */
export class SharedGroups {
  readonly #groups: LetterGroups;
  readonly #norm: number;
  readonly #ofTitles: readonly (readonly number[])[];
  readonly #average: number;
  /** By group; 0 if the question does not have it. */
  readonly #weights: Float64Array;

  /** @param norm strength of the length normalisation, 0 to 1 */
  constructor(groups: LetterGroups, q: string, titles: readonly string[], norm: number) {
    this.#groups = groups;
    this.#norm = norm;
    const asked = groups.ofText(q);
    this.#ofTitles = titles.map((title) => groups.ofText(title));
    this.#average = Math.max(
      1,
      this.#ofTitles.reduce((sum, { length }) => sum + length, 0) / Math.max(1, titles.length),
    );
    const having = new Int32Array(groups.count);
    for (const of of this.#ofTitles) for (const group of of) (having[group] as number)++;
    this.#weights = new Float64Array(groups.count);
    for (const group of asked) {
      const n = having[group] as number;
      if (n > 0) this.#weights[group] = Math.log(1 + (titles.length - n + 0.5) / (n + 0.5));
    }
  }

  /** Of one of the given titles, by index. */
  ofTitle(index: number): number {
    return this.#weightOf(this.#ofTitles[index] ?? []);
  }

  /** Of any other title. */
  of(title: string): number {
    return this.#weightOf(this.#groups.ofText(title));
  }

  #weightOf(groups: readonly number[]): number {
    let sum = 0;
    for (const group of groups) sum += this.#weights[group] ?? 0;
    return sum / (1 - this.#norm + (this.#norm * groups.length) / this.#average);
  }
}
