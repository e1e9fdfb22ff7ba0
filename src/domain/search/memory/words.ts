/** The documents of a segment that have the words of a question. `sql/words.ts` translates the same tree. Pure. */
import type { Operand } from '../indexing/lexemes.ts';
import type { Words } from '../query.ts';
import { Bits } from './document-set.ts';
import type { Segment } from './segment.ts';

/** Whether a document of a segment satisfies a condition. */
export type DocumentTest = (doc: number) => boolean;

/**
 * If a set has this many times fewer documents than there are postings left to read, each document is looked up instead.
 */
export const LOOK_UP = 16;
/** Up to this many words, all combinations of them are checked at once for each document. */
const MAX_TOGETHER = 10;

/** Words with their ranges of lexemes in a segment. */
interface Located {
  kind: 'all' | 'any' | 'lexemes';
  /** Of a combination, those with fewer postings first. */
  parts: readonly Located[];
  ranges: readonly (readonly [from: number, to: number])[];
  /** The documents on which the lexemes count; null for all. */
  within: DocumentTest | null;
  /** At least the number of documents that satisfy it. */
  postings: number;
  lexemes: number;
  /** The documents, when they have been searched. They do not change afterwards. */
  found: Bits | null;
}

/** What is known of the words of one question in a segment. A part that occurs several times as the same object is searched once. */
export type LocatedWords = Map<Words, Located>;

/**
 * The documents of the segment that have the words. Callers do not change the set.
 *
 * @param classes for each class of field tokens, the documents on which it may be used
 * @param few the only documents that matter; null for all. Others may be in the result, too
 * @param known for several steps of one question with the same classes
 */
export function documentsWith(
  segment: Segment,
  words: Words,
  classes: readonly DocumentTest[],
  few: Uint16Array | null = null,
  known: LocatedWords = new Map(),
): Bits {
  const located = (one: Words): Located => {
    let found = known.get(one);
    if (found === undefined) known.set(one, (found = locate(one)));
    return found;
  };
  const locate = (one: Words): Located => {
    switch (one.kind) {
      case 'word':
      case 'title': {
        const readable = one.classes.map(({ matched }, index) =>
          lexemesOf(segment, matched, classes[index] ?? (() => false)),
        );
        return combined('any', [lexemesOf(segment, one.free.matched, null), ...readable]);
      }
      case 'number':
        return lexemesOf(segment, [one.operand], null);
      default:
        return combined(one.kind, one.parts.map(located));
    }
  };
  const whole = located(words);
  if (few === null || LOOK_UP * few.length * whole.lexemes >= whole.postings) return bitsOf(segment, whole);
  const bits = new Bits(segment.count);
  for (const doc of few) if (has(segment, whole, doc)) bits.add(doc);
  return bits;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function combined(kind: 'all' | 'any', given: readonly Located[]): Located {
  // What matches nothing adds nothing to others.
  const among = kind === 'any' ? given.filter(({ postings }) => postings > 0) : given;
  const [only] = among;
  if (only !== undefined && among.length === 1) return only;
  const parts = [...among].sort((a, b) => a.postings - b.postings);
  const postings = kind === 'all' ? (parts[0]?.postings ?? 0) : sum(parts.map((part) => part.postings));
  const lexemes = sum(parts.map((part) => part.lexemes));
  return { kind, parts, ranges: [], within: null, postings, lexemes, found: null };
}

function lexemesOf(segment: Segment, operands: readonly Operand[], within: DocumentTest | null): Located {
  const { dictionary, postings } = segment.parts;
  const ranges = operands
    .map(({ lexeme, prefix }) => dictionary.range(lexeme, prefix))
    .filter(([from, to]) => from < to);
  return {
    kind: 'lexemes',
    parts: [],
    ranges,
    within,
    postings: sum(ranges.map(([from, to]) => postings.count(from, to))),
    lexemes: sum(ranges.map(([from, to]) => to - from)),
    found: null,
  };
}

function bitsOf(segment: Segment, need: Located): Bits {
  need.found ??= searched(segment, need);
  return need.found;
}

function searched(segment: Segment, need: Located): Bits {
  const bits = new Bits(segment.count);
  switch (need.kind) {
    case 'lexemes':
      for (const [from, to] of need.ranges) segment.parts.postings.addTo(bits, from, to);
      return need.within === null ? bits : filtered(segment, bits, need.within);
    case 'any':
      return anyOf(segment, need.parts, bits);
    case 'all':
      return need.postings === 0 ? bits : allOf(segment, need.parts, bits);
  }
}

/** @param bits an empty set for the result */
function anyOf(segment: Segment, parts: readonly Located[], bits: Bits): Bits {
  const combinations = parts.filter(({ kind }) => kind === 'all');
  const words = [...new Set(combinations.flatMap((one) => one.parts))];
  const areTogether = combinations.length > 1 && words.length <= MAX_TOGETHER;
  if (areTogether) addCombinations(segment, combinations, words, bits);
  for (const part of parts) {
    if (part.postings > 0 && !(areTogether && part.kind === 'all')) bits.unite(bitsOf(segment, part));
  }
  return bits;
}

/**
 * Adds the documents that have one of the combinations of words. Only those are checked that have a word without which no
 * combination is complete.
 */
function addCombinations(
  segment: Segment,
  combinations: readonly Located[],
  words: readonly Located[],
  bits: Bits,
): void {
  const rarestFirst = words.toSorted((a, b) => a.postings - b.postings);
  const masks = combinations.map(({ parts }) =>
    parts.reduce((mask, part) => mask | (1 << rarestFirst.indexOf(part)), 0),
  );
  const isComplete = Uint8Array.from({ length: 1 << words.length }, (_, mask) =>
    masks.some((wanted) => (mask & wanted) === wanted) ? 1 : 0,
  );
  const candidates = new Bits(segment.count);
  for (let at = 0; at < words.length; at++) {
    // Each combination has one of the words before this one.
    if (masks.every((mask) => (mask & ((1 << at) - 1)) !== 0)) break;
    candidates.unite(bitsOf(segment, rarestFirst[at] as Located));
  }
  const count = candidates.count();
  if (count === 0) return;
  const tests = rarestFirst.map((word): DocumentTest => {
    if (word.found === null && LOOK_UP * count * word.lexemes < word.postings) return (doc) => has(segment, word, doc);
    const found = bitsOf(segment, word);
    return (doc) => found.has(doc);
  });
  candidates.each((doc) => {
    let mask = 0;
    for (let at = 0; at < tests.length; at++) if ((tests[at] as DocumentTest)(doc)) mask |= 1 << at;
    if (isComplete[mask] === 1) bits.add(doc);
  });
}

/** @param bits an empty set for the result */
function allOf(segment: Segment, [rarest, ...others]: readonly Located[], bits: Bits): Bits {
  if (rarest === undefined) return bits;
  bits.unite(bitsOf(segment, rarest));
  let left = bits;
  for (const part of others) {
    const count = left.count();
    if (count === 0) return left;
    const isCheaper = part.found === null && LOOK_UP * count * part.lexemes < part.postings;
    if (isCheaper) left = filtered(segment, left, (doc) => has(segment, part, doc));
    else left.intersect(bitsOf(segment, part));
  }
  return left;
}

function has(segment: Segment, need: Located, doc: number): boolean {
  if (need.kind === 'all') return need.parts.length > 0 && need.parts.every((part) => has(segment, part, doc));
  if (need.kind === 'any') return need.parts.some((part) => has(segment, part, doc));
  const isThere = need.ranges.some(([from, to]) => segment.parts.postings.has(doc, from, to));
  return isThere && (need.within === null || need.within(doc));
}

function filtered(segment: Segment, bits: Bits, test: DocumentTest): Bits {
  const kept = new Bits(segment.count);
  bits.each((doc) => {
    if (test(doc)) kept.add(doc);
  });
  return kept;
}
