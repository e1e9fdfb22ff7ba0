/** From what is needed to a match, with an estimate of how much it will find. */
import type { Analysis } from '../../lib/words.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { shareOf, type TermStatistics } from './store-statistics.ts';
import type { Match } from './store-match.ts';
import type { TextPredicate } from './store-text-predicate.ts';
import type { AccessFilter } from './store-access-filter.ts';
import type { Numbers, Term } from './terms.ts';
import { EXPENSIVE_SPARE } from './plan.ts';

/** With no more matches than this, all of them are looked up. */
const FEW = 4000;

export interface MatchSearch {
  ctx: ReadContext;
  statistics: TermStatistics;
  accessFilter: AccessFilter;
  /** Match without words: state, filter, order. */
  base: Omit<Match, 'words' | 'accessFilter' | 'statistics'>;
}

export interface Question extends MatchSearch {
  analysis: Analysis;
  q: string;
  terms: readonly Term[];
  numbers: Numbers | null;
  /** Whether comments that the caller may read lift a record. */
  comments: boolean;
  /** Hits that are counted exactly. */
  counted: number;
  /** Hits before those that are asked for. */
  from: number;
}

/** Estimated shares of all rows that hold each term. */
export async function sharesOf(
  { ctx, statistics, accessFilter }: MatchSearch,
  terms: readonly Term[],
): Promise<number[]> {
  const known = await statistics.read(ctx);
  const fieldTokens = [...accessFilter.free, ...accessFilter.classes.flatMap((of) => of.fieldTokens)];
  return terms.map(({ lexemes, near, completions, beginnings }) =>
    shareOf(known, [...lexemes, ...completions, ...near], fieldTokens, beginnings),
  );
}

/** `share`: of all rows, estimated; `dear`: whether the index of words has much to do with the question. */
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

/** Of records that hold all: words go together more often than by chance, and less often than always. */
export function together(shares: readonly number[]): number {
  const [least = 1, ...others] = [...shares].sort((a, b) => a - b);
  return others.reduce((share, other) => share * Math.sqrt(other), Math.min(1, least));
}

export function sum(shares: readonly number[]): number {
  return shares.reduce((total, share) => total + share, 0);
}
