/**
 * The ranked hits of a question among records: first those that match all words, then, if these are few, those with some of the
 * words, then those with similar words (docs/spec/search.md#search). Every step is bounded.
 */
import type { Analysis } from '../../lib/words.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Kind } from './contract.ts';
import { titleKey } from './indexing/lexemes.ts';
import { withTypos } from './indexing/store-dictionary.ts';
import type { Matched } from './memory/scope.ts';
import { candidateSteps, rerank, type Tier, rankPlan, type TermFacts } from './ranking.ts';
import type { AccessFilter } from './store-access-filter.ts';
import { findMatches, listMatches, type Match, type Words } from './store-match.ts';
import {
  allOf,
  anyOf,
  combinationOf,
  exactlyNumbered,
  loadForRerank,
  needCombinations,
  numbered,
  oneOf,
  rankOf,
  type Scored,
  sampleTerms,
  score,
  type TextPredicate,
} from './store-words.ts';
import {
  exactNumbers,
  type Numbers,
  respelledTerms,
  type Term,
  type TermQuery,
  termQuery,
  titleQuery,
} from './terms.ts';

/** Maximum number of ranked matches; the last updated ones are ranked. */
export const RANKED = 1000;
/** If there are fewer hits than this, less strict matches are added. */
export const ENOUGH = 25;
/** Number of records in the sample for word frequencies. */
const SAMPLE = 500;
/** Number of best hits that are reranked. */
const CLOSELY = 200;
/** Maximum number of weighted words; the rarest are used. */
const WEIGHED = 32;
/** With more words, ranks are computed only for the matches that are needed. */
const RANKED_AT_ONCE = 4;
/** Maximum number of candidates with some of the words. */
const CANDIDATES = 1000;
/** The largest page plus one. */
const FAR = 101;
/** The score of records whose title equals the question: higher than that of any words or number. */
const BY_TITLE = 1e7;
/** Higher than any weight of words: matches of a record number come before them. */
const BY_NUMBER = 1e6;

/** Base score of each tier. Scores of different tiers do not overlap. */
const TIER_BASE: Readonly<Record<Tier, number>> = { all: 3, any: 2, near: 1 };

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
  /** Offset of the requested page. */
  from: number;
}

/** The hits of one kind. */
export interface Hits {
  kind: Kind;
  /** The first hits, best first. */
  ranked: readonly Scored[];
  /** Number of known hits; all hits if `complete`. */
  count: number;
  complete: boolean;
  /** The hits after the ranked ones, last updated first; their score is `restScore`. */
  rest(offset: number, limit: number): Promise<string[]>;
  restScore: number;
}

const unranked = (ids: readonly string[]): Matched[] => ids.map((id) => ({ id }));

/** Maps the scores into the range of the tier and keeps the order. */
function squashed(tier: Tier, scored: readonly Scored[]): Scored[] {
  const base = TIER_BASE[tier];
  return scored.map(({ id, score: given }) => {
    return { id, score: Math.round((base + given / (given + 20)) * 1e6) / 1e6 };
  });
}

/** No records. */
export const NOTHING: Hits = {
  kind: 'object',
  ranked: [],
  count: 0,
  complete: true,
  rest: async () => [],
  restScore: 0,
};

const asked = (terms: readonly Term[]): Term[] => terms.filter(({ required }) => required);

function matchOf({ base, accessFilter }: Question, predicate: TextPredicate): Match & { words: Words } {
  return { ...base, accessFilter, words: { ...predicate, rank: null } };
}

/** Records with any of the words. */
function matchAny(question: Question, terms: readonly Term[], tier: Tier): Match {
  const { accessFilter } = question;
  const queries = terms.map((term) => termQuery(term, accessFilter, tier));
  return matchOf(question, anyOf(queries, accessFilter));
}

const hasSynonyms = ({ terms }: Question): boolean => terms.some(({ synonyms }) => synonyms.length > 0);

export async function findHits(put: Question): Promise<Hits> {
  const question: Sampling = { ...put, sample: new Sampled() };
  if (question.terms.length === 0 && question.numbers === null) return NOTHING;
  const limit = Math.max(RANKED, question.counted) + 1;
  const all = await allHits(question, limit);
  if (all.count >= ENOUGH) return all;
  const several = asked(question.terms).length > 1;
  const any = several || hasSynonyms(question) ? await anyHits(question, limit, all) : all;
  // The only word was found as written: it has no typo, and its prefix was searched too.
  if (any.count >= ENOUGH || (!several && all.count > 0)) return any;
  return await nearHits(question, limit, any);
}

function matchAll(question: Question): Match & { words: Words } {
  const { accessFilter, numbers } = question;
  const terms = asked(question.terms);
  // A question without words can still be a whole title, for example of one sign.
  const queries =
    terms.length === 0 ? [titleQuery(question.q, accessFilter)] : terms.map((term) => termQuery(term, accessFilter));
  const words = allOf(queries, accessFilter);
  const predicate = numbers === null ? words : oneOf([words, numbered(numbers, accessFilter)], accessFilter);
  return matchOf(question, predicate);
}

/** The last updated records whose number or title is the question. */
export async function namedIds(question: Question, limit: number): Promise<string[]> {
  const { ctx, accessFilter, numbers, q } = question;
  const titled = allOf([titleQuery(q, accessFilter)], accessFilter);
  const named =
    numbers === null ? titled : oneOf([titled, numbered(exactNumbers(numbers), accessFilter)], accessFilter);
  return await listMatches(ctx, matchOf(question, named), limit);
}

/**
 * The last updated matches whose title equals the question, in a field that the caller may read. A title in another form, such as
 * `1⁄2` for `½`, may have other words than the question.
 */
async function titledIds(question: Question): Promise<string[]> {
  const { ctx, q, accessFilter } = question;
  const words = asked(question.terms).map((term) => termQuery(term, accessFilter));
  const titled = allOf([titleQuery(q, accessFilter), ...words], accessFilter);
  return await listMatches(ctx, matchOf(question, titled), RANKED);
}

/** The order: records with this title, the last updated other matches by rank, 1,000 of both; the others by last update. */
async function allHits(question: Sampling, limit: number): Promise<Hits> {
  const { ctx, accessFilter, terms, from } = question;
  const match = matchAll(question);
  if (from >= limit) {
    const titled = await titledIds(question);
    const behind = await listMatches(ctx, match, FAR, from - titled.length, titled);
    if (behind.length > 0) return farHits(question, match, limit, titled, behind);
  }
  const plain = await weigh(question, 'all', terms, false);
  // Many matches of a few words are ranked while they are found; words then have no frequency weights.
  const isRanked = terms.length > 0 && terms.length <= RANKED_AT_ONCE;
  const ranking = isRanked ? rankOf(plain.queries, rankPlan(plain.facts, 'all'), accessFilter) : null;
  const found = await findMatches(ctx, { ...match, words: { ...match.words, rank: ranking } }, limit);
  // Fewer matches are reranked, which reads their titles.
  const titled = found.length > CLOSELY ? await titledIds(question) : [];
  const others = found.filter(({ id }) => !titled.includes(id)).slice(0, RANKED - titled.length);
  // Word frequencies matter only with several words and several hits.
  const sampled = terms.length > 1 && found.length > 1 && found.length <= CLOSELY;
  const weighed = sampled ? await weigh(question, 'all', terms, true) : plain;
  const first = sampled ? others.map(({ id }) => ({ id })) : others;
  const ranked = await rank(question, 'all', first, weighed, found.length <= CLOSELY);
  const scored = [...titled.map((id) => ({ id, score: BY_TITLE })).sort(bestFirst), ...ranked];
  return {
    kind: 'object',
    ranked: squashed('all', scored),
    count: found.length,
    complete: found.length < limit,
    rest: (offset, most) => listMatches(ctx, match, most, RANKED - titled.length + offset, titled),
    restScore: TIER_BASE.all,
  };
}

/** After all counted and ranked hits, only the page itself is read. */
function farHits(
  { ctx, from }: Sampling,
  match: Match,
  limit: number,
  titled: readonly string[],
  behind: readonly string[],
): Hits {
  const rest = async (offset: number, most: number): Promise<string[]> =>
    offset === from && most <= FAR
      ? behind.slice(0, most)
      : await listMatches(ctx, match, most, offset - titled.length, titled);
  return { kind: 'object', ranked: [], count: limit, complete: false, rest, restScore: TIER_BASE.all };
}

/** The weighted words with their statistics. */
interface Weighed {
  terms: readonly Term[];
  queries: readonly TermQuery[];
  facts: readonly TermFacts[];
  /** Mean size of the sampled records. */
  average: number;
}

interface Sampling extends Question {
  sample: Sampled;
}

type Sample = Awaited<ReturnType<typeof sampleTerms>>;

/** The sample of word frequencies, taken once for all tiers in which the words have the same queries. */
class Sampled {
  readonly #known = new Map<Tier, Promise<Sample>>();

  of(question: Question, tier: Tier, queries: readonly TermQuery[]): Promise<Sample> {
    const key = tier === 'any' && !hasSynonyms(question) ? 'all' : tier;
    const { ctx, accessFilter, base } = question;
    const known = this.#known.get(key) ?? sampleTerms(ctx, accessFilter, queries, SAMPLE, base.memory);
    this.#known.set(key, known);
    return known;
  }
}

async function weigh(question: Sampling, tier: Tier, terms: readonly Term[], sampled: boolean): Promise<Weighed> {
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
async function rerankHits(question: Question, scored: readonly Scored[], weighed: Weighed): Promise<Scored[]> {
  const { ctx, accessFilter, analysis, base, q, comments } = question;
  const ids = scored.map(({ id }) => id);
  const loaded = await loadForRerank(ctx, accessFilter, ids, weighed.queries, comments, base.memory);
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

/** Best first: by the weighted sum of words, and with `closely` the best hits are reranked. */
async function rank(
  question: Sampling,
  tier: Tier,
  found: readonly Matched[],
  weighed: Weighed,
  closely: boolean,
): Promise<Scored[]> {
  const { ctx, accessFilter, numbers } = question;
  const plan = { ...rankPlan(weighed.facts, tier), average: weighed.average };
  const scored = await score(ctx, found, weighed.queries, plan, accessFilter, question.base.memory);
  const first = closely && scored.length > 1 ? await rerankHits(question, scored.slice(0, CLOSELY), weighed) : scored;
  // Hits that are not reranked keep their order below the reranked ones.
  const floor = first.at(-1)?.score ?? 0;
  const behind = closely
    ? scored.slice(first.length).map((one) => ({ ...one, score: (floor * one.score) / (one.score + 20) }))
    : [];
  const all = [...first, ...behind];
  if (numbers === null || found.length === 0 || tier !== 'all') return all;
  const memory = question.base.memory?.unfiltered() ?? null;
  // Without the filter no index but that of words finds few records.
  const base = { ...question.base, accessFilter, filter: null, indexed: false, memory };
  const exact = new Set(await listMatches(ctx, { ...base, words: { ...exactlyNumbered(numbers), rank: null } }, 10));
  return all.map((one) => (exact.has(one.id) ? { ...one, score: one.score + BY_NUMBER } : one)).sort(bestFirst);
}

function bestFirst(a: Scored, b: Scored): number {
  return b.score - a.score || (a.id < b.id ? 1 : -1);
}

/** Appends less strict hits. */
function behind(
  before: Hits,
  tier: Tier,
  scored: readonly Scored[],
  count: number,
  complete: boolean,
): Omit<Hits, 'rest'> {
  return {
    kind: before.kind,
    ranked: [...before.ranked, ...squashed(tier, scored)],
    count: before.count + count,
    complete,
    restScore: TIER_BASE[tier],
  };
}

/**
 * The candidates for ranking, if more records contain some of the words than can be ranked: first the records with most of the
 * weight of the rare words of the question, then those with the rarest word, and so on until there are enough. Within a step, the
 * last updated records come first. Word frequencies are measured on the records of the caller.
 */
async function candidatesOf(question: Question, weighed: Weighed, except: readonly string[]): Promise<Matched[]> {
  const { ctx, accessFilter, base } = question;
  const { queries, facts } = weighed;
  const steps = candidateSteps(facts);
  const { ranking } = rankOf(queries, rankPlan(facts, 'any'), accessFilter);
  const known = await base.memory?.findInSteps(needCombinations(steps, queries), CANDIDATES, except, ranking);
  if (known !== undefined) return known;
  const found: string[] = [];
  for (const combinations of steps) {
    if (found.length >= CANDIDATES) break;
    const match = matchOf(question, combinationOf(combinations, queries, accessFilter));
    found.push(...(await listMatches(ctx, match, CANDIDATES - found.length, 0, [...except, ...found])));
  }
  return unranked(found);
}

async function anyHits(question: Sampling, limit: number, before: Hits): Promise<Hits> {
  const { ctx } = question;
  const except = before.ranked.map(({ id }) => id);
  const match = matchAny(question, asked(question.terms), 'any');
  const ids = await listMatches(ctx, match, limit, 0, except);
  if (ids.length === 0) return before;
  const weighed = await weigh(question, 'any', question.terms, true);
  const complete = ids.length < limit;
  const candidates = complete ? unranked(ids) : await candidatesOf(question, weighed, except);
  const scored = await rank(question, 'any', candidates, weighed, true);
  const listed = [...except, ...scored.map(({ id }) => id)];
  return {
    ...behind(before, 'any', scored, ids.length, complete),
    rest: (offset, most) => listMatches(ctx, match, most, offset, listed),
  };
}

async function nearMatch(question: Question): Promise<{ terms: Term[]; match: Match }> {
  const { ctx, accessFilter, analysis, q } = question;
  const terms = [...(await withTypos(ctx, accessFilter, asked(question.terms))), ...respelledTerms(analysis, q)];
  return { terms, match: matchAny(question, terms, 'near') };
}

async function nearHits(question: Sampling, limit: number, before: Hits): Promise<Hits> {
  const { ctx } = question;
  const { terms, match } = await nearMatch(question);
  const except = before.ranked.map(({ id }) => id);
  const ids = await listMatches(ctx, match, limit, 0, except);
  if (ids.length === 0) return before;
  const weighed = await weigh(question, 'near', terms, terms.length > 1);
  const scored = await rank(question, 'near', unranked(ids.slice(0, RANKED)), weighed, true);
  const listed = [...except, ...scored.map(({ id }) => id)];
  return {
    ...behind(before, 'near', scored, ids.length, ids.length < limit),
    rest: (offset, most) => listMatches(ctx, match, most, offset, listed),
  };
}

/** Ids of matches in the order of `base`, for lists. Uses the strictest kind of match that finds anything. */
export async function findIds(question: Question, limit: number, offset: number): Promise<string[]> {
  const { ctx, terms } = question;
  const steps = [
    () => matchAll(question),
    () => matchAny(question, asked(terms), 'any'),
    async () => (await nearMatch(question)).match,
  ];
  for (const step of steps) {
    const match = await step();
    const ids = await listMatches(ctx, match, limit, offset);
    if (ids.length > 0) return ids;
    // The offset is past the end of the matches of this kind.
    if (offset > 0 && (await listMatches(ctx, match, 1)).length > 0) return [];
  }
  return [];
}
