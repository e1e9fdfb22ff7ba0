/** How hits are weighed; pure. */

export interface TermFacts {
  /** Estimated share of the caller's records that hold the word, 0 to 1. */
  share: number;
  last: boolean;
}

/** The first hits hold all words, then come those with some of them, then those with words nearly alike. */
export type Tier = 'all' | 'any' | 'near';

export interface RankPlan {
  /** Weight of a word in the zones D, C, B, A. */
  zones: [number, number, number, number];
  termWeights: number[];
  /** How much a long text counts less, 0 to 1. */
  b: number;
}

export function rankPlan(terms: readonly TermFacts[], _tier: Tier): RankPlan {
  return {
    zones: [0.4, 0.5, 0.7, 1],
    termWeights: terms.map(({ share }) => Math.log(1 + 1 / Math.max(share, 0.0001))),
    b: 0.4,
  };
}
