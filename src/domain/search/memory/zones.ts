/**
 * Ranks of words, equal to PostgreSQL's `ts_rank` of words that are combined by OR. Pure.
 *
 * Such a rank depends only on the zones of a word's occurrences, in the order of their positions. They are kept as a pattern,
 * for example `ABB`: once in the title (zone A), then twice in zone B. A segment has few different patterns.
 */
import type { ZoneWeights } from '../ranking.ts';

/** Weights that count occurrences in the title, and in everything but the title. */
export const TITLE_ONLY: ZoneWeights = [0, 0, 0, 1];
export const ALL_BUT_TITLE: ZoneWeights = [1, 1, 1, 0];

const ORDER = 'DCBA';
/** The sum of 1/j², with the digits that PostgreSQL uses. */
const WHOLE_SUM = 1.64493406685;
/** The rank of one occurrence with weight 1, the most that words with a prefix count together. */
const ONCE = 6 / Math.PI ** 2;

/**
 * The part of one word in the rank. PostgreSQL computes with 32 bits up to the last division; the order of additions and the
 * rounding after each are the same here, so that ranks are equal to the last digit.
 */
export function rankOfPattern(pattern: string, weights: ZoneWeights): number {
  let sum = 0;
  let most = -1;
  let place = 0;
  for (let at = 0; at < pattern.length; at++) {
    const weight = Math.fround(weights[ORDER.indexOf(pattern[at] as string)] ?? 0);
    sum = Math.fround(sum + Math.fround(weight / ((at + 1) * (at + 1))));
    if (weight > most) {
      most = weight;
      place = at;
    }
  }
  return Math.fround(Math.fround(most + sum) - Math.fround(most / ((place + 1) * (place + 1)))) / WHOLE_SUM;
}

/** `ts_rank` divides the sum by the number of its operands; the ranking multiplies by it. @param sum with 32 bits */
export function rankOfOperands(sum: number, operands: number, count: number): number {
  return operands === 0 ? 0 : count * Math.fround(sum / operands);
}

/** The rank of a word: its own, or that of all words that it may be the start of, which count as one occurrence at most. */
export function rankOfWord(itself: number, alike: number): number {
  return Math.max(itself, Math.min(ONCE, alike));
}
