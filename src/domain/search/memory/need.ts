/** The words that a question needs, and the documents of a segment that contain them. Pure. */
import type { Operand } from '../indexing/lexemes.ts';
import { Bits } from './document-set.ts';
import type { Segment } from './segment.ts';

/** A condition on the words of a document. An empty `any` matches nothing. */
export type Need =
  | { kind: 'all' | 'any'; needs: readonly Need[] }
  /** One of the lexemes; where `within` is a class of field tokens, only on documents on which the class may be read. */
  | { kind: 'lexemes'; operands: readonly Operand[]; within: number | null };

/** Whether a document of a segment satisfies a condition. */
export type DocumentTest = (doc: number) => boolean;

/**
 * If a set has this many times fewer documents than there are postings left to read, each document is looked up instead.
 */
const LOOK_UP = 16;

/** A need with its ranges of lexemes in a segment. */
interface Located {
  kind: Need['kind'];
  /** Of a combination, those with fewer postings first. */
  parts: readonly Located[];
  ranges: readonly (readonly [from: number, to: number])[];
  within: DocumentTest | null;
  /** At least the number of documents that satisfy it. */
  postings: number;
  lexemes: number;
  /** The documents, when they have been searched. */
  found: Bits | null;
}

/**
 * The documents of the segment that satisfy the need. A need that occurs several times as the same object is searched once.
 *
 * @param classes for each class of field tokens, the documents on which it may be read
 * @param few the only documents that matter; null for all. Others may be in the result, too
 */
export function documentsWith(
  segment: Segment,
  need: Need,
  classes: readonly DocumentTest[],
  few: Uint16Array | null = null,
): Bits {
  const known = new Map<Need, Located>();
  const located = (one: Need): Located => {
    let found = known.get(one);
    if (found === undefined) {
      found = one.kind === 'lexemes' ? lexemesOf(segment, one, classes) : combined(one.kind, one.needs.map(located));
      known.set(one, found);
    }
    return found;
  };
  const whole = located(need);
  if (few === null || LOOK_UP * few.length * whole.lexemes >= whole.postings) return bitsOf(segment, whole);
  const bits = new Bits(segment.count);
  for (const doc of few) if (has(segment, whole, doc)) bits.add(doc);
  return bits;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function combined(kind: 'all' | 'any', given: readonly Located[]): Located {
  const parts = [...given].sort((a, b) => a.postings - b.postings);
  const postings = kind === 'all' ? (parts[0]?.postings ?? 0) : sum(parts.map((part) => part.postings));
  const lexemes = sum(parts.map((part) => part.lexemes));
  return { kind, parts, ranges: [], within: null, postings, lexemes, found: null };
}

function lexemesOf(
  segment: Segment,
  { operands, within }: Extract<Need, { kind: 'lexemes' }>,
  classes: readonly DocumentTest[],
): Located {
  const { dictionary, postings } = segment.parts;
  const ranges = operands
    .map(({ lexeme, prefix }) => dictionary.range(lexeme, prefix))
    .filter(([from, to]) => from < to);
  return {
    kind: 'lexemes',
    parts: [],
    ranges,
    within: within === null ? null : (classes[within] ?? (() => false)),
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
      for (const part of need.parts) if (part.postings > 0) bits.unite(bitsOf(segment, part));
      return bits;
    case 'all':
      return need.postings === 0 ? bits : allOf(segment, need.parts, bits);
  }
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
  for (const doc of bits.backwards()) if (test(doc)) kept.add(doc);
  return kept;
}
