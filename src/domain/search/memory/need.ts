/** The words that a question needs, and the documents of a segment that contain them. Pure. */
import { Bits } from './document-set.ts';
import type { Segment } from './segment.ts';

/** A lexeme, or all lexemes that start with it. */
export interface Operand {
  lexeme: string;
  prefix: boolean;
}

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

/** A need with the ranges of lexemes of a segment. */
type Located =
  | { kind: 'all' | 'any'; parts: readonly Located[]; cost: number; lexemes: number }
  | {
      kind: 'lexemes';
      ranges: readonly [number, number][];
      within: DocumentTest | null;
      cost: number;
      lexemes: number;
    };

/**
 * The documents of the segment that satisfy the need.
 *
 * @param classes for each class of field tokens, the documents on which it may be read
 */
export function documentsWith(segment: Segment, need: Need, classes: readonly DocumentTest[]): Bits {
  return bitsOf(segment, locate(segment, need, classes));
}

function locate(segment: Segment, need: Need, classes: readonly DocumentTest[]): Located {
  const { dictionary, postings } = segment.parts;
  if (need.kind !== 'lexemes') {
    const parts = need.needs.map((part) => locate(segment, part, classes)).sort((a, b) => a.cost - b.cost);
    const sum = (pick: (part: Located) => number): number => parts.reduce((total, part) => total + pick(part), 0);
    const cost = need.kind === 'all' ? (parts[0]?.cost ?? 0) : sum((part) => part.cost);
    return { kind: need.kind, parts, cost, lexemes: sum((part) => part.lexemes) };
  }
  const ranges = need.operands
    .map(({ lexeme, prefix }) => dictionary.range(lexeme, prefix))
    .filter(([from, to]) => from < to);
  return {
    kind: 'lexemes',
    ranges,
    within: need.within === null ? null : (classes[need.within] ?? (() => false)),
    cost: ranges.reduce((sum, [from, to]) => sum + postings.count(from, to), 0),
    lexemes: ranges.reduce((sum, [from, to]) => sum + to - from, 0),
  };
}

function bitsOf(segment: Segment, need: Located): Bits {
  const bits = new Bits(segment.count);
  switch (need.kind) {
    case 'lexemes':
      for (const [from, to] of need.ranges) segment.parts.postings.addTo(bits, from, to);
      return need.within === null ? bits : filtered(segment, bits, need.within);
    case 'any':
      for (const part of need.parts) if (part.cost > 0) bits.unite(bitsOf(segment, part));
      return bits;
    case 'all': {
      const [rarest, ...others] = need.parts;
      // The parts are sorted: if one cannot match, it is the first.
      if (rarest === undefined || rarest.cost === 0) return bits;
      let found = bitsOf(segment, rarest);
      for (const part of others) {
        const left = found.count();
        if (left === 0) return found;
        if (LOOK_UP * left * part.lexemes < part.cost)
          found = filtered(segment, found, (doc) => has(segment, part, doc));
        else found.intersect(bitsOf(segment, part));
      }
      return found;
    }
  }
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
