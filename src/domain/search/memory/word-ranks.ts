/** Ranks of documents by words, equal to those of `../sql/words.ts`. Pure. */
import type { Operand } from '../indexing/lexemes.ts';
import type { Alternatives, Reading, Word } from '../query.ts';
import type { ZoneWeights } from '../ranking.ts';
import { compareBytes, encoded } from './dictionary.ts';
import { Bits, MAX_DOCUMENTS } from './document-set.ts';
import type { Segment } from './segment.ts';
import { type DocumentTest, LOOK_UP } from './words.ts';
import { rankOfOperands, rankOfWord } from './zones.ts';

/** Different operands in the order of their bytes, as `ts_rank` adds them up. */
interface RankedOperands {
  operands: readonly Operand[];
  count: number;
}

interface RankedPart {
  exact: RankedOperands;
  like: RankedOperands;
}

/** A word whose operands are sorted, for all segments at once. */
export interface RankedWord {
  free: RankedPart;
  classes: readonly RankedPart[];
}

export function rankedWord({ free, classes }: Word): RankedWord {
  const part = ({ exact, like }: Reading): RankedPart => ({
    exact: sortedOperands(exact),
    like: sortedOperands(like),
  });
  return { free: part(free), classes: classes.map(part) };
}

/** Of operands with the same lexeme, `ts_rank` counts one. */
function sortedOperands({ operands, count }: Alternatives): RankedOperands {
  const different = new Map<string, Operand>();
  for (const operand of operands)
    if (operand.prefix || !different.has(operand.lexeme)) different.set(operand.lexeme, operand);
  const sorted = [...different.values()].map((operand) => ({ operand, bytes: encoded(operand.lexeme) }));
  sorted.sort((a, b) => compareBytes(a.bytes, b.bytes));
  return { operands: sorted.map(({ operand }) => operand), count };
}

/** The rank of each word with weight 1, in the title only and in everything else: for each record, one number for each word. */
export interface Occurrences {
  /** Number of words. */
  words: number;
  title: Float64Array;
  rest: Float64Array;
}

/** Sums of ranks by document, all 0. Each use leaves them so: a new array for each word costs more than the ranks. */
export function emptySums(): Float32Array {
  return new Float32Array(MAX_DOCUMENTS);
}

/** The ranks of some documents of a segment. */
export class SegmentRanks {
  readonly #segment: Segment;
  readonly #docs: readonly number[];
  /** The same, each once, in ascending order. */
  readonly #different: Uint16Array;
  readonly #classes: readonly DocumentTest[];
  readonly #sums: Float32Array;
  #wanted: Bits | undefined;

  /**
   * @param classes for each class of field tokens, the documents on which it may be read
   * @param sums `emptySums`, used for one segment after another
   */
  constructor(segment: Segment, docs: readonly number[], classes: readonly DocumentTest[], sums: Float32Array) {
    this.#segment = segment;
    this.#docs = docs;
    this.#different = Uint16Array.from(new Set(docs)).sort();
    this.#classes = classes;
    this.#sums = sums;
  }

  /** The rank of the word for each of the documents, in their order. */
  ranks(word: RankedWord, weights: ZoneWeights): Float64Array {
    const byPattern = this.#segment.parts.postings.ranksOf(weights);
    const ranks = this.#partRanks(word.free, byPattern);
    for (const [index, part] of word.classes.entries()) {
      const test = this.#classes[index];
      if (test === undefined) continue;
      for (const [at, rank] of this.#partRanks(part, byPattern).entries()) {
        if (rank > 0 && test(this.#docs[at] as number)) (ranks[at] as number) += rank;
      }
    }
    return ranks;
  }

  #partRanks({ exact, like }: RankedPart, byPattern: Float64Array): Float64Array {
    const itself = this.#operandRanks(exact, byPattern);
    // Only the last word of a question, and less strict matches, have other words than the word itself.
    if (like.operands.length === 0) return itself;
    const alike = this.#operandRanks(like, byPattern);
    for (let at = 0; at < itself.length; at++) itself[at] = rankOfWord(itself[at] as number, alike[at] as number);
    return itself;
  }

  #operandRanks({ operands, count }: RankedOperands, byPattern: Float64Array): Float64Array {
    const docs = this.#docs;
    const ranks = new Float64Array(docs.length);
    if (operands.length === 0) return ranks;
    for (const { lexeme, prefix } of operands) this.#addRanks(lexeme, prefix, byPattern);
    const sums = this.#sums;
    for (let at = 0; at < docs.length; at++) {
      const sum = sums[docs[at] as number] as number;
      if (sum > 0) ranks[at] = rankOfOperands(sum, operands.length, count);
    }
    for (const doc of this.#different) sums[doc] = 0;
    return ranks;
  }

  #addRanks(lexeme: string, prefix: boolean, byPattern: Float64Array): void {
    const { dictionary, postings } = this.#segment.parts;
    const [from, to] = dictionary.range(lexeme, prefix);
    const docs = this.#different;
    if (LOOK_UP * docs.length * (to - from) < postings.count(from, to)) {
      postings.addRanksOf(this.#sums, docs, from, to, byPattern);
    } else if (from < to) {
      this.#wanted ??= setOf(this.#segment, docs);
      postings.addRanks(this.#sums, this.#wanted, from, to, byPattern);
    }
  }
}

function setOf({ count }: Segment, docs: Uint16Array): Bits {
  const bits = new Bits(count);
  for (const doc of docs) bits.add(doc);
  return bits;
}
