/** From a question to what the projection is asked, with an estimate of how much it will find. */
import { shareOf, type WordHints } from './store-hints.ts';
import type { Match } from './store-match.ts';
import type { Need } from './store-need.ts';
import type { Reach } from './store-reach.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import { type Term, type TermQuery, termQuery } from './terms.ts';
import type { Tier } from './ranking.ts';

export { allOf, anyOf } from './store-need.ts';

/** With more matches than this a walk by update is the shorter way. */
const FEW = 4000;

export async function matchOf(
  question: {
    ctx: ReadContext;
    hints: WordHints;
    reach: Reach;
    terms: readonly Term[];
    base: Omit<Match, 'words' | 'reach'>;
  },
  need: (queries: readonly TermQuery[]) => Need,
  tier: Tier,
): Promise<Match> {
  const { ctx, reach, terms } = question;
  const { query, exact } = need(terms.map((term) => termQuery(term, reach, tier === 'near')));
  const known = await question.hints.read(ctx);
  const labels = [...reach.free, ...reach.classes.flatMap((of) => of.labels)];
  const shares = terms.map(({ lexemes, near, raw, last }) =>
    shareOf(known, [...lexemes, ...near], labels, last || tier === 'near' ? raw : null),
  );
  const share =
    tier === 'all'
      ? Math.min(1, ...shares)
      : Math.min(
          1,
          shares.reduce((sum, one) => sum + one, 0),
        );
  return { ...question.base, reach, words: { query, exact, share, common: share * known.rows > FEW } };
}
