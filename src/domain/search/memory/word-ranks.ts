/** Ranks of documents by words, equal to those of `../store-rerank.ts`. Pure. */
import type { Operand } from '../indexing/lexemes.ts';
import type { Operands, Part, TermQuery } from '../terms.ts';
import { compareBytes, encoded } from './dictionary.ts';
import { Bits } from './document-set.ts';
import type { DocumentTest } from './need.ts';
import type { Segment } from './segment.ts';
import { rankOfOperands, rankOfWord, type ZoneWeights } from './zones.ts';

/** The rank of the word for each of the documents, in their order. */
export function wordRanks(
  segment: Segment,
  docs: readonly number[],
  word: TermQuery,
  classes: readonly DocumentTest[],
  weights: ZoneWeights,
): number[] {
  const wanted = new Bits(segment.count);
  for (const doc of docs) wanted.add(doc);
  const ranks = partRanks(segment, docs, wanted, word.free, weights);
  for (const [index, part] of word.classes.entries()) {
    const test = classes[index];
    if (test === undefined) continue;
    for (const [at, rank] of partRanks(segment, docs, wanted, part, weights).entries()) {
      if (rank > 0 && test(docs[at] as number)) (ranks[at] as number) += rank;
    }
  }
  return ranks;
}

function partRanks(
  segment: Segment,
  docs: readonly number[],
  wanted: Bits,
  { exact, like }: Part,
  weights: ZoneWeights,
): number[] {
  const itself = operandRanks(segment, docs, wanted, exact, weights);
  const alike = operandRanks(segment, docs, wanted, like, weights);
  return docs.map((_, at) => rankOfWord(itself[at] ?? 0, alike[at] ?? 0));
}

function operandRanks(
  segment: Segment,
  docs: readonly number[],
  wanted: Bits,
  { operands, count }: Operands,
  weights: ZoneWeights,
): number[] {
  if (operands.length === 0) return [];
  const { dictionary, postings } = segment.parts;
  const sums = new Float32Array(segment.count);
  const different = sortedOperands(operands);
  for (const { lexeme, prefix } of different) {
    const [from, to] = dictionary.range(lexeme, prefix);
    if (from < to) postings.addRanks(sums, wanted, from, to, weights);
  }
  return docs.map((doc) => rankOfOperands(sums[doc] as number, different.length, count));
}

/** In the order of their bytes, as `ts_rank` adds them up. Of operands with the same lexeme, it counts one. */
function sortedOperands(operands: readonly Operand[]): Operand[] {
  const different = new Map<string, Operand>();
  for (const operand of operands)
    if (operand.prefix || !different.has(operand.lexeme)) different.set(operand.lexeme, operand);
  return [...different.values()].sort((a, b) => compareBytes(encoded(a.lexeme), encoded(b.lexeme)));
}
