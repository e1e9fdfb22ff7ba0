/**
 * A question to the records, and the ranking of its hits. Word frequencies are measured in the caller's own newest records. The
 * best hits are ranked again by their titles, comments and duplicates (`ranking.ts` has the formulas).
 */
import type { Analysis } from '../../lib/words.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { titleKey } from './indexing/lexemes.ts';
import type { Matched, OccurrencesById } from './memory/backend.ts';
import { rerank, type Tier, rankPlan, type TermFacts } from './ranking.ts';
import type { AccessFilter } from './sql/access.ts';
import { listMatches, type Match } from './sql/match.ts';
import { exactlyNumbered, loadForRerank, type Scored, sampleTerms, score } from './sql/words.ts';
import { type Numbers, type Term, type TermQuery, termQuery } from './terms.ts';

/** Number of records in the sample for word frequencies. */
const SAMPLE = 500;
/** Number of best hits that are reranked. */
export const MAX_RERANKED = 200;
/** Maximum number of weighted words; the rarest are used. */
const WEIGHED = 32;
/** The score of records whose title equals the question: higher than that of any words or number. */
export const BY_TITLE = 1e7;
/** Higher than any weight of words: matches of a record number come before them. */
const BY_NUMBER = 1e6;

export interface Question {
  ctx: ReadContext;
  analysis: Analysis;
  accessFilter: AccessFilter;
  /** The match without words: state, filter, order. */
  base: Omit<Match, 'words' | 'accessFilter'>;
  q: string;
  terms: readonly Term[];
  numbers: Numbers | null;
  /** Whether matching comments that the caller may read raise the score of a record. */
  comments: boolean;
  /** Maximum number of hits that are counted exactly. */
  counted: number;
  /** The requested page if it has only records; null if all ranked hits are needed. */
  page: { offset: number; limit: number } | null;
}

export const hasSynonyms = ({ terms }: Question): boolean => terms.some(({ synonyms }) => synonyms.length > 0);

/** The weighted words with their statistics. */
export interface Weighed {
  terms: readonly Term[];
  queries: readonly TermQuery[];
  facts: readonly TermFacts[];
  /** Mean size of the sampled records. */
  average: number;
}

export interface Sampling extends Question {
  sample: Sampled;
}

type Sample = Awaited<ReturnType<typeof sampleTerms>>;

/** The sample of word frequencies, taken once for all tiers in which the words have the same queries. */
export class Sampled {
  readonly #known = new Map<Tier, Promise<Sample>>();

  of(question: Question, tier: Tier, queries: readonly TermQuery[]): Promise<Sample> {
    const key = tier === 'any' && !hasSynonyms(question) ? 'all' : tier;
    const { ctx, accessFilter, base } = question;
    const known = this.#known.get(key) ?? sampleTerms(ctx, accessFilter, queries, SAMPLE, base.memory);
    this.#known.set(key, known);
    return known;
  }
}

export async function weigh(
  question: Sampling,
  tier: Tier,
  terms: readonly Term[],
  sampled: boolean,
): Promise<Weighed> {
  const { accessFilter, sample } = question;
  const queries = terms.map((term) => termQuery(term, accessFilter, tier));
  const seen = sampled ? await sample.of(question, tier, queries) : { records: 0, holding: [], average: 0 };
  const facts = terms.map(({ count, last, required }, index): TermFacts => {
    const share = sampled ? ((seen.holding[index] ?? 0) + 0.5) / (seen.records + 1) : 0.01;
    return { share, count, last, required };
  });
  const rarest = [...facts.keys()].sort((a, b) => (facts[a]?.share ?? 0) - (facts[b]?.share ?? 0) || a - b);
  const kept = new Set(rarest.slice(0, WEIGHED));
  const of = <T>(list: readonly T[]): T[] => list.filter((_, index) => kept.has(index));
  return { terms: of(terms), queries: of(queries), facts: of(facts), average: seen.average };
}

/** The best hits, ranked by their titles, the comments that the caller may read, and titles of duplicates. */
async function rerankHits(
  question: Question,
  ids: readonly string[],
  weighed: Weighed,
  known?: OccurrencesById,
): Promise<Scored[]> {
  const { ctx, accessFilter, analysis, base, q, comments } = question;
  const loaded = await loadForRerank(ctx, accessFilter, ids, weighed.queries, comments, base.memory, known);
  const seen = new Map(loaded.map((hit) => [hit.id, hit]));
  const hits = ids.flatMap((id) => seen.get(id) ?? []);
  const terms = weighed.facts.map((facts, index) => ({ ...facts, lexemes: weighed.terms[index]?.lexemes ?? [] }));
  const scores = rerank(hits, terms, q, analysis);
  const wanted = titleKey(q);
  const isTitle = (title: string | null): boolean => title !== null && titleKey(title) === wanted;
  return hits
    .map(({ id, title }, index) => ({ id, score: isTitle(title) ? BY_TITLE : (scores[index] ?? 0) }))
    .sort(bestFirst);
}

/**
 * Best first: by the weighted sum of words, and with `closely` the best hits are reranked.
 *
 * @param known how often the hits contain the words, if that is known
 */
export async function rank(
  question: Sampling,
  tier: Tier,
  found: readonly Matched[],
  weighed: Weighed,
  closely: boolean,
  known?: OccurrencesById,
): Promise<Scored[]> {
  const all = await rankedByWords(question, tier, found, weighed, closely, known);
  const { ctx, accessFilter, numbers } = question;
  if (numbers === null || found.length === 0 || tier !== 'all') return all;
  const memory = question.base.memory?.unfiltered() ?? null;
  // Without the filter no index but that of words finds few records.
  const base = { ...question.base, accessFilter, filter: null, indexed: false, memory };
  const exact = new Set(await listMatches(ctx, { ...base, words: { ...exactlyNumbered(numbers), rank: null } }, 10));
  return all.map((one) => (exact.has(one.id) ? { ...one, score: one.score + BY_NUMBER } : one)).sort(bestFirst);
}

async function rankedByWords(
  question: Sampling,
  tier: Tier,
  found: readonly Matched[],
  weighed: Weighed,
  closely: boolean,
  known?: OccurrencesById,
): Promise<Scored[]> {
  const { ctx, accessFilter, base } = question;
  const reranks = closely && found.length > 1 && weighed.queries.length > 0;
  // All are ranked by more than the sum.
  if (reranks && found.length <= MAX_RERANKED) {
    const ids = found.map(({ id }) => id);
    return await rerankHits(question, ids, weighed, known);
  }
  const plan = { ...rankPlan(weighed.facts, tier), average: weighed.average };
  const scored = await score(ctx, found, weighed.queries, plan, accessFilter, base.memory);
  if (!reranks) return scored;
  const best = scored.slice(0, MAX_RERANKED).map(({ id }) => id);
  const first = await rerankHits(question, best, weighed);
  // Hits that are not reranked keep their order below the reranked ones.
  const floor = first.at(-1)?.score ?? 0;
  const behind = scored.slice(MAX_RERANKED).map((one) => ({ ...one, score: (floor * one.score) / (one.score + 20) }));
  return [...first, ...behind];
}

export function bestFirst(a: Scored, b: Scored): number {
  return b.score - a.score || (a.id < b.id ? 1 : -1);
}
