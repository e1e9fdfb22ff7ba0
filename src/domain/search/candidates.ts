/** Selects candidates for ranking if more records contain some of the words than can be ranked. */
import { sharesOf, type MatchSearch, matchOf, sum, together } from './matches.ts';
import { candidateSteps, type TermFacts } from './ranking.ts';
import { listMatches } from './store-match.ts';
import { combinationOf } from './store-text-predicate.ts';
import type { Term, TermQuery } from './terms.ts';

/** Maximum number of candidates. */
const CANDIDATES = 1000;

/**
 * Selects in steps: first the records with most of the weight of the question's rare words, then those with the rarest word,
 * and so on until there are enough. Within a step, the last updated records come first. Word frequencies are measured on the
 * caller's own records only.
 */
export async function candidatesOf(
  search: MatchSearch,
  weighed: { terms: readonly Term[]; queries: readonly TermQuery[]; facts: readonly TermFacts[] },
  except: readonly string[],
): Promise<string[]> {
  const { ctx, accessFilter } = search;
  const statistics = await sharesOf(search, weighed.terms, 'any');
  const found: string[] = [];
  for (const combinations of candidateSteps(weighed.facts)) {
    const missing = CANDIDATES - found.length;
    if (missing <= 0) break;
    const shares = combinations.map((indices) => together(indices.map((index) => statistics[index] ?? 0)));
    const predicate = combinationOf(combinations, weighed.queries, accessFilter);
    const match = await matchOf(search, predicate, sum(shares), combinations.length > 1);
    found.push(...(await listMatches(ctx, match, missing, 0, [...except, ...found])));
  }
  return found;
}
