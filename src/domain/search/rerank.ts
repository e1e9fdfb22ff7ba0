/** Reranks the best hits by their titles and the comments that the caller may read. */
import { titleKey } from './lexemes.ts';
import { BY_TITLE, type Question } from './matches.ts';
import { rerank, type TermFacts } from './ranking.ts';
import { loadForRerank } from './store-rerank.ts';
import type { Scored } from './store-score.ts';
import type { Term, TermQuery } from './terms.ts';

export async function rerankHits(
  question: Question,
  scored: readonly Scored[],
  weighed: { terms: readonly Term[]; queries: readonly TermQuery[]; facts: readonly TermFacts[] },
): Promise<Scored[]> {
  const { ctx, accessFilter, analysis, q, comments } = question;
  const ids = scored.map(({ id }) => id);
  const seen = new Map(
    (await loadForRerank(ctx, accessFilter, ids, weighed.queries, comments)).map((hit) => [hit.id, hit]),
  );
  const hits = ids.flatMap((id) => seen.get(id) ?? []);
  const terms = weighed.facts.map((facts, index) => ({ ...facts, lexemes: weighed.terms[index]?.lexemes ?? [] }));
  const scores = rerank(hits, terms, q, analysis);
  const asked = titleKey(q);
  return hits
    .map(({ id, title }, index) => ({
      id,
      score: title !== null && titleKey(title) === asked ? BY_TITLE : (scores[index] ?? 0),
    }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1));
}
