/** Builds a match from a text predicate, with an estimate of the number of matches. */
import type { Analysis } from '../../lib/words.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { shareOf, type TermStatistics } from './store-statistics.ts';
import type { Match } from './store-match.ts';
import type { TextPredicate } from './store-text-predicate.ts';
import type { Tier } from './ranking.ts';
import type { AccessFilter } from './store-access-filter.ts';
import type { Numbers, Term } from './terms.ts';
import { EXPENSIVE_SPARE } from './plan.ts';

/** The score of records whose title equals the question: higher than that of any words or number. */
export const BY_TITLE = 1e7;
/** Up to this number of estimated matches, all of them are read. */
const FEW = 4000;

export interface MatchSearch {
  ctx: ReadContext;
  statistics: TermStatistics;
  accessFilter: AccessFilter;
  /** The match without words: state, filter, order. */
  base: Omit<Match, 'words' | 'accessFilter' | 'statistics'>;
}

export interface Question extends MatchSearch {
  analysis: Analysis;
  q: string;
  terms: readonly Term[];
  numbers: Numbers | null;
  /** Whether matching comments that the caller may read raise the score of a record. */
  comments: boolean;
  /** Maximum number of hits that are counted exactly. */
  counted: number;
  /** Offset of the requested page. */
  from: number;
}

/** Estimated share of all rows that contain each term. */
export async function sharesOf(
  { ctx, statistics, accessFilter }: MatchSearch,
  terms: readonly Term[],
  tier: Tier,
): Promise<number[]> {
  const known = await statistics.read(ctx);
  const fieldTokens = [...accessFilter.free, ...accessFilter.classes.flatMap((of) => of.fieldTokens)];
  return terms.map(({ lexemes, near, completions, beginnings, synonyms }) =>
    shareOf(known, [...lexemes, ...completions, ...near, ...(tier === 'all' ? [] : synonyms)], fieldTokens, beginnings),
  );
}

/**
 * @param share estimated share of all rows
 * @param expensive whether evaluating the predicate on the word index is expensive
 */
export async function matchOf(
  search: MatchSearch,
  predicate: TextPredicate,
  share: number,
  expensive = false,
): Promise<Match> {
  const { rows } = await search.statistics.read(search.ctx);
  const bounded = Math.min(1, share);
  const words = {
    ...predicate,
    share: bounded,
    common: bounded * rows > FEW,
    spare: expensive ? EXPENSIVE_SPARE : undefined,
    rank: null,
  };
  return { ...search.base, accessFilter: search.accessFilter, words, statistics: search.statistics };
}

/** Estimates the share of records that contain all words: between independent and fully correlated words. */
export function together(shares: readonly number[]): number {
  const [least = 1, ...others] = [...shares].sort((a, b) => a - b);
  return others.reduce((share, other) => share * Math.sqrt(other), Math.min(1, least));
}

export function sum(shares: readonly number[]): number {
  return shares.reduce((total, share) => total + share, 0);
}
