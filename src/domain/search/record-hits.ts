/**
 * The ranked hits of a question among records: first those that match all words, then, if these are few, those with some of the
 * words, then those with similar words (docs/spec/search.md#search). Every step is bounded.
 */
import type { Kind } from './contract.ts';
import { withTypos } from './indexing/store-dictionary.ts';
import type { BestPage, FewMatches, Matched } from './memory/backend.ts';
import {
  BY_TITLE,
  bestFirst,
  MAX_RERANKED,
  hasSynonyms,
  type Question,
  rank,
  Sampled,
  type Sampling,
  weigh,
  type Weighed,
} from './rank-hits.ts';
import { candidateSteps, type Tier, rankPlan } from './ranking.ts';
import { findMatches, listMatches, type Match, type Words } from './sql/match.ts';
import {
  allOf,
  anyOf,
  combinationOf,
  needCombinations,
  numbered,
  oneOf,
  type Rank,
  rankOf,
  type Scored,
  type TextPredicate,
} from './sql/words.ts';
import { exactNumbers, respelledTerms, type Term, termQuery, titleQuery } from './terms.ts';

/** Maximum number of ranked matches; the last updated ones are ranked. */
export const RANKED = 1000;
/** If there are fewer hits than this, less strict matches are added. */
export const ENOUGH = 25;
/** With more words, ranks are computed only for the matches that are needed. */
const RANKED_AT_ONCE = 4;
/** Maximum number of candidates with some of the words. */
const CANDIDATES = 1000;
/** The largest page plus one. */
const MAX_PAGE_PLUS_ONE = 101;

/** Base score of each tier. Scores of different tiers do not overlap. */
const TIER_BASE: Readonly<Record<Tier, number>> = { all: 3, any: 2, near: 1 };

/** A list of hits; an array is one. */
export interface RankedHits {
  length: number;
  slice(from?: number, to?: number): readonly Scored[];
}

/** A list of which only the requested page is known. */
class RankedPage implements RankedHits {
  readonly length: number;
  readonly #offset: number;
  readonly #page: readonly Scored[];

  constructor(length: number, offset: number, page: readonly Scored[]) {
    this.length = length;
    this.#offset = offset;
    this.#page = page;
  }

  slice(from = 0, to = this.length): readonly Scored[] {
    const end = Math.min(to, this.length);
    const isKnown = from >= this.#offset && end <= this.#offset + this.#page.length;
    if (from < end && !isKnown) throw new Error('hits outside of the requested page are not known');
    return this.#page.slice(Math.max(0, from - this.#offset), Math.max(0, end - this.#offset));
  }
}

/** The hits of one kind. */
export interface Hits {
  kind: Kind;
  /** The first hits, best first; perhaps only those of the requested page. */
  ranked: RankedHits;
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
 * Matches whose title equals the question, in a field that the caller may read. A title in another form, such as `1⁄2` for `½`, may
 * have other words than the question.
 */
function matchTitle(question: Question): Match & { words: Words } {
  const { q, accessFilter } = question;
  const words = asked(question.terms).map((term) => termQuery(term, accessFilter));
  return matchOf(question, allOf([titleQuery(q, accessFilter), ...words], accessFilter));
}

/** The last updated of them. */
async function titledIds(question: Question): Promise<string[]> {
  return await listMatches(question.ctx, matchTitle(question), RANKED);
}

/** The order: records with this title, the last updated other matches by rank, 1,000 of both; the others by last update. */
async function allHits(question: Sampling, limit: number): Promise<Hits> {
  const { ctx, accessFilter, terms, page } = question;
  const match = matchAll(question);
  if (page !== null && page.offset >= limit) {
    const titled = await titledIds(question);
    const behind = await listMatches(ctx, match, MAX_PAGE_PLUS_ONE, page.offset - titled.length, titled);
    if (behind.length > 0) return farHits(question, match, limit, titled, behind);
  }
  const plain = await weigh(question, 'all', terms, false);
  // Many matches of a few words are ranked while they are found; words then have no frequency weights.
  const isRanked = terms.length > 0 && terms.length <= RANKED_AT_ONCE;
  const ranking = isRanked ? rankOf(plain.queries, rankPlan(plain.facts, 'all'), accessFilter) : null;
  const best = ranking === null ? undefined : await bestInMemory(question, match, limit, ranking);
  if (best !== undefined && 'page' in best) return pageHits(question, match, limit, best);
  const found = best?.few ?? (await findMatches(ctx, { ...match, words: { ...match.words, rank: ranking } }, limit));
  // Fewer matches are reranked, which reads their titles.
  const titled = new Set(found.length > MAX_RERANKED ? await titledIds(question) : []);
  const others = found.filter(({ id }) => !titled.has(id)).slice(0, RANKED - titled.size);
  // Word frequencies matter only with several words and several hits.
  const sampled = terms.length > 1 && found.length > 1 && found.length <= MAX_RERANKED;
  const weighed = sampled ? await weigh(question, 'all', terms, true) : plain;
  const first = sampled ? others.map(({ id }) => ({ id })) : others;
  const ranked = await rank(question, 'all', first, weighed, found.length <= MAX_RERANKED, best?.occurrences);
  const scored = [...[...titled].map((id) => ({ id, score: BY_TITLE })).sort(bestFirst), ...ranked];
  return {
    kind: 'object',
    ranked: squashed('all', scored),
    count: found.length,
    complete: found.length < limit,
    rest: restOf(question, match, [...titled]),
    restScore: TIER_BASE.all,
  };
}

/** The matches after the ranked ones, last updated first. */
function restOf({ ctx }: Question, match: Match, titled: readonly string[]): Hits['rest'] {
  return (offset, most) => listMatches(ctx, match, most, RANKED - titled.length + offset, titled);
}

/** The matches that the index in memory ranks; undefined if it cannot, or if more than a page of ranked matches is needed. */
async function bestInMemory(
  question: Question,
  { words: { need } }: { words: Words },
  counted: number,
  { ranking }: Rank,
): Promise<BestPage | FewMatches | undefined> {
  const { base, numbers, page } = question;
  // Exact record numbers come before other matches.
  if (page === null || numbers !== null) return undefined;
  const titled = matchTitle(question).words.need;
  const b = rankPlan([], 'all').b;
  return await base.memory?.best({ need, titled, counted, ranked: RANKED, few: MAX_RERANKED, ranking, b, page });
}

/** The hits of which the index in memory has ranked a page. */
function pageHits(question: Question, match: Match, limit: number, { count, titled, page: others }: BestPage): Hits {
  const offset = question.page?.offset ?? 0;
  const first = titled.map((id) => ({ id, score: BY_TITLE })).sort(bestFirst);
  const page = [...first.slice(offset, offset + (question.page?.limit ?? 0)), ...others];
  return {
    kind: 'object',
    ranked: new RankedPage(Math.min(count, RANKED), offset, squashed('all', page)),
    count,
    complete: count < limit,
    rest: restOf(question, match, titled),
    restScore: TIER_BASE.all,
  };
}

/** After all counted and ranked hits, only the page itself is read. */
function farHits(
  { ctx, page }: Sampling,
  match: Match,
  limit: number,
  titled: readonly string[],
  behind: readonly string[],
): Hits {
  const rest = async (offset: number, most: number): Promise<string[]> =>
    offset === page?.offset && most <= MAX_PAGE_PLUS_ONE
      ? behind.slice(0, most)
      : await listMatches(ctx, match, most, offset - titled.length, titled);
  return { kind: 'object', ranked: [], count: limit, complete: false, rest, restScore: TIER_BASE.all };
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
    ranked: [...before.ranked.slice(), ...squashed(tier, scored)],
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
  const except = before.ranked.slice().map(({ id }) => id);
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
  const except = before.ranked.slice().map(({ id }) => id);
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
