/**
 * Ranking; pure. All statistics are measured on records and fields that the caller may read, so the order reveals nothing else.
 * docs/explanation/search.md explains the formula and the effect of each part.
 *
 * There are two passes. The first ranks all candidates by a sum that SQL computes (`rankPlan`). The second ranks the best of
 * them again (`rerank`), by a variant of BM25F that also uses comments, word forms and typos in titles.
 */
import type { Analysis } from '../../lib/words.ts';
import { LetterGroups, Likeness, SharedGroups } from './letter-groups.ts';

export interface TermFacts {
  /** Estimated share of the caller's records that contain the word, 0 to 1. */
  share: number;
  /** How often the question contains the word. */
  count: number;
  last: boolean;
  /** False for a hint of similarity that no tier requires. */
  required: boolean;
}

/** Hits with all words come first, then those with some of them, then those with similar words. */
export type Tier = 'all' | 'any' | 'near';

/** Weights of a word in the zones D, C, B and A (the title), each from 0 to 1. */
export type ZoneWeights = readonly [number, number, number, number];

/** The first pass: the sum of `weights[i]` times the `ts_rank` of word i with the zone weights, normalised by `scoreOf`. */
export interface RankPlan {
  weights: readonly number[];
  zones: ZoneWeights;
  /** Strength of the length normalisation, 0 to 1. */
  b: number;
}

/** The data of a hit for reranking; lists are by term. */
export interface RerankHit {
  /** Null if the caller may not read it. */
  title: string | null;
  /** Titles of duplicates of the record that the caller may read. May contain null. */
  duplicateTitles: readonly (string | null)[];
  /** `ts_rank` of the term with weight 1: in the title only, in everything but the title, and in the best readable comment. */
  titleTf: ArrayLike<number>;
  restTf: ArrayLike<number>;
  commentTf: ArrayLike<number>;
  /** Number of words of the record. */
  size: number;
}

export interface RerankTerm extends TermFacts {
  lexemes: readonly string[];
}

/** Share of a word that no sampled record contains: half a record of a thousand. */
const LEAST_SHARE = 0.0005;
/** First pass: weight of a word in the title against one in the text, and the length normalisation. */
const ZONES = [0.5, 0.5, 0.5, 1] as const;
const LENGTH = 0.2;
/** Second pass: BM25F. */
const TITLE = 3;
const COMMENT = 0.7;
const SATURATION = 1.2;
const TITLE_LENGTH = 0.3;
const TEXT_LENGTH = 0.75;
/** Similar words in titles: the minimum similarity, and their weight relative to an exact match. */
const LEAST_LIKENESS = 0.45;
const LIKE_WORD = 0.5;
const SHORTEST_LIKE_WORD = 4;
/** Weight of the trigrams shared by question and title. */
const LETTERS = 0.2;
const LETTERS_LENGTH = 0.6;

/** The words that select candidates, and the shares of their total weight that a candidate must have, strictest first. */
const MAX_CHOOSING = 8;
const COVERAGES = [0.75, 0.5, 0.35];
/** Maximum number of word combinations in a step. */
const MAX_COMBINATIONS = 40;

/** The weight of a word: higher for rare words. */
export function weightOf({ share, count }: Pick<TermFacts, 'share' | 'count'>): number {
  const known = Math.min(1, Math.max(LEAST_SHARE, share));
  return Math.log(1 + (1 - known + LEAST_SHARE) / known) * Math.sqrt(count);
}

/** The weights of the first pass. */
export function rankPlan(terms: readonly TermFacts[]): RankPlan {
  return { weights: terms.map(weightOf), zones: ZONES, b: LENGTH };
}

/** The score of the first pass: the rank, normalised by the size of the record and rounded down, so that both back ends agree. */
export function scoreOf(rank: number, size: number, average: number, b: number): number {
  return Math.floor((1e6 * rank) / (1 - b + (b * size) / average)) / 1e6;
}

/**
 * The scores of records by their ranks and sizes, and their places, best first.
 *
 * @param byId compares the ids of the records at two places; the higher id comes first
 * @param average mean size; 0 for that of the records
 */
export function bestScores(
  ranks: ArrayLike<number>,
  sizes: ArrayLike<number>,
  b: number,
  byId: (a: number, b: number) => number,
  average = 0,
): { places: Uint32Array; scores: Float64Array } {
  const mean = average > 0 ? average : averageOf(sizes);
  const scores = Float64Array.from(ranks, (rank, at) => scoreOf(rank, sizes[at] ?? 0, mean, b));
  // A single record needs no order.
  if (scores.length === 1) scores[0] = 1;
  const places = Uint32Array.from(scores.keys());
  return { places: places.sort((a, z) => (scores[z] ?? 0) - (scores[a] ?? 0) || byId(a, z)), scores };
}

/** The same for records with their ids, ranks and sizes. */
export function scoredBest(
  rows: readonly { id: string; rank?: number; size?: number }[],
  b: number,
  average = 0,
): { id: string; score: number }[] {
  const ids = rows.map(({ id }) => id);
  const ranks = rows.map(({ rank = 0 }) => rank);
  const sizes = rows.map(({ size = 0 }) => size);
  const byId = (one: number, other: number): number => ((ids[one] ?? '') < (ids[other] ?? '') ? 1 : -1);
  const { places, scores } = bestScores(ranks, sizes, b, byId, average);
  return Array.from(places, (place) => ({ id: ids[place] ?? '', score: scores[place] ?? 0 }));
}

/**
 * Steps for selecting candidates, to be run until there are enough. Each step is a list of combinations; each combination has
 * the indexes of words that a record must all contain. The first steps require most of the weight of the question's rare words,
 * the last ones a single word, the rarest first.
 */
export function candidateSteps(terms: readonly TermFacts[]): number[][][] {
  const byWeight = terms
    .map((term, index) => ({ index, weight: weightOf({ share: term.share, count: 1 }), required: term.required }))
    .filter(({ required }) => required)
    .sort((a, b) => b.weight - a.weight || a.index - b.index);
  const choosing = byWeight.slice(0, MAX_CHOOSING);
  const total = choosing.reduce((sum, { weight }) => sum + weight, 0);
  const steps: number[][][] = [];
  const seen = new Set<string>();
  for (const coverage of COVERAGES) {
    const combinations = leastCombinations(choosing, coverage * total).filter((indices) => indices.length > 1);
    const key = JSON.stringify(combinations);
    if (combinations.length > 0 && !seen.has(key)) steps.push(combinations);
    seen.add(key);
  }
  for (const { index } of byWeight) steps.push([[index]]);
  return steps;
}

interface Weighed {
  index: number;
  weight: number;
}

/** The minimal combinations that reach `least`; if there are many, the heaviest ones. */
function leastCombinations(words: readonly Weighed[], least: number): number[][] {
  const found: { mask: number; weight: number }[] = [];
  // By combination: the sum of its weights, and the least of them. Each is that of the combination without its last word, and that word.
  const weights = new Float64Array(1 << words.length);
  const lightest = new Float64Array(1 << words.length).fill(Number.POSITIVE_INFINITY);
  for (const [bit, { weight }] of words.entries()) {
    for (let others = 0; others < 1 << bit; others++) {
      const mask = others | (1 << bit);
      weights[mask] = (weights[others] as number) + weight;
      lightest[mask] = Math.min(lightest[others] as number, weight);
    }
  }
  for (let mask = 1; mask < weights.length; mask++) {
    const weight = weights[mask] as number;
    const isMinimal = weight - (lightest[mask] as number) < least - 1e-9;
    if (weight >= least - 1e-9 && isMinimal) found.push({ mask, weight });
  }
  return found
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_COMBINATIONS)
    .map(({ mask }) => words.filter((_, bit) => (mask & (1 << bit)) !== 0).map(({ index }) => index));
}

const WHOLE_SUM = Math.PI ** 2 / 6;

/**
 * The number of occurrences of a word, from its `ts_rank` with weight 1: the sum of 1/j² up to the count, divided by the sum of
 * the whole series.
 */
export function timesOf(rank: number): number {
  if (!(rank > 0)) return 0;
  const left = WHOLE_SUM * (1 - Math.min(rank, 0.999));
  return Math.max(1, 1 / left - 0.5);
}

/**
 * New scores for the best hits of the first pass, by index; never below 0.
 *
 * @param analysis the one that created the terms: words of titles are compared by their stems
 */
export function rerank(
  hits: readonly RerankHit[],
  terms: readonly RerankTerm[],
  q: string,
  analysis: Pick<Analysis, 'lexemes'>,
): number[] {
  const weights = terms.map(weightOf);
  const titles = hits.map(({ title }) => analysis.lexemes(title ?? ''));
  // The titles of duplicates are compared like titles of hits, but have no part in the averages.
  const averageTitle = averageOf(titles.map((words) => words.length));
  const averageSize = averageOf(hits.map(({ size }) => size));
  const groups = new LetterGroups();
  const lexemes = terms.map((term) => term.lexemes);
  const likeness = new Likeness(groups, lexemes, LEAST_LIKENESS, SHORTEST_LIKE_WORD);
  const shared = new SharedGroups(
    groups,
    q,
    hits.map(({ title }) => title ?? ''),
    LETTERS_LENGTH,
  );
  // By term: what text and comments of a hit add to any title.
  const rest = new Float64Array(terms.length);
  const comments = new Float64Array(terms.length);
  const scoreOf = (words: readonly string[], letters: number, times: (index: number) => number): number => {
    const titleNorm = 1 - TITLE_LENGTH + (TITLE_LENGTH * words.length) / averageTitle;
    const like = likeness.best(words);
    let score = LETTERS * letters;
    for (let index = 0; index < weights.length; index++) {
      const inTitle = times(index) || LIKE_WORD * (like[index] as number);
      const all = (TITLE * inTitle) / titleNorm + (rest[index] as number) + (comments[index] as number);
      score += ((weights[index] as number) * all * (SATURATION + 1)) / (all + SATURATION);
    }
    return score;
  };
  return hits.map((hit, at) => {
    const textNorm = 1 - TEXT_LENGTH + (TEXT_LENGTH * hit.size) / averageSize;
    for (let index = 0; index < weights.length; index++) {
      rest[index] = timesOf(hit.restTf[index] ?? 0) / textNorm;
      comments[index] = COMMENT * timesOf(hit.commentTf[index] ?? 0);
    }
    const own = scoreOf(titles[at] ?? [], shared.ofTitle(at), (index) => timesOf(hit.titleTf[index] ?? 0));
    const lifted = hit.duplicateTitles.map((title) => {
      const words = analysis.lexemes(title ?? '');
      return scoreOf(words, shared.of(title ?? ''), (index) => countOf(words, lexemes[index] ?? []));
    });
    return Math.max(own, ...lifted);
  });
}

function countOf(words: readonly string[], lexemes: readonly string[]): number {
  return words.reduce((count, word) => count + (lexemes.includes(word) ? 1 : 0), 0);
}

/** At least 1, since it is used as a divisor. */
function averageOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at] ?? 0;
  return Math.max(1, sum / Math.max(1, values.length));
}
