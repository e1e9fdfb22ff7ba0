/**
 * The ranked hits of a question among records: first those that match all words, then, if these are few, those with some of the
 * words, then those with similar words (docs/spec/search.md#search). Every step is bounded. `ranking.ts` has the formulas; word
 * frequencies are measured on the caller's own newest records.
 */
import type { Analysis } from '../../lib/words.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Kind } from './contract.ts';
import { titleKey } from './indexing/lexemes.ts';
import { withTypos } from './indexing/store-dictionary.ts';
import {
  allOf,
  anyOf,
  bestFirst,
  type Matched,
  type OccurrencesById,
  type Ranking,
  type Sample,
  type Scope,
  type Scored,
  type SearchBackend,
  type Word,
  type Words,
} from './query.ts';
import { candidateSteps, rankPlan, rerank, scoredBest, type TermFacts, type Tier } from './ranking.ts';
import { exactNumbers, numbered, type Numbers, respelledTerms, type Term, titleOf, wordOf } from './terms.ts';

/** Maximum number of ranked matches; the last updated ones are ranked. */
export const RANKED = 1000;
/** If there are fewer hits than this, less strict matches are added. */
export const ENOUGH = 25;
/** Maximum number of candidates with some of the words. */
const CANDIDATES = 1000;
/** The largest page plus one. */
const MAX_PAGE_PLUS_ONE = 101;
/** Number of records in the sample for word frequencies. */
const SAMPLE = 500;
/** Number of best hits that are reranked. */
const MAX_RERANKED = 200;
/** Maximum number of weighted words; the rarest are used. */
const WEIGHED = 32;
/** The score of records whose title equals the question: higher than that of any words or number. */
const BY_TITLE = 1e7;
/** Higher than any weight of words: matches of a record number come before them. */
const BY_NUMBER = 1e6;
/** Base score of each tier. Scores of different tiers do not overlap. */
const TIER_BASE: Readonly<Record<Tier, number>> = { all: 3, any: 2, near: 1 };

/** A question to the records. */
export interface Question {
  ctx: ReadContext;
  analysis: Analysis;
  scope: Scope;
  backend: SearchBackend;
  q: string;
  terms: readonly Term[];
  numbers: Numbers | null;
  /** Whether matching comments that the caller may read raise the score of a record. */
  comments: boolean;
  /** Maximum number of hits that are counted exactly. */
  counted: number;
  /** The requested page if it has only records; null if all ranked hits are needed. */
  page: { offset: number; limit: number } | null;
  /** The samples of word frequencies that were taken. */
  samples: Map<string, Promise<Sample>>;
}

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
  rest(offset: number, limit: number): Promise<readonly string[]>;
  restScore: number;
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

/** Maps the score into the range of the tier and keeps the order. */
export function squashed(tier: Tier, { id, score }: Scored): Scored {
  return { id, score: Math.round((TIER_BASE[tier] + score / (score + 20)) * 1e6) / 1e6 };
}

const hasSynonyms = ({ terms }: Question): boolean => terms.some(({ synonyms }) => synonyms.length > 0);

/** The words that a match must have. */
export const required = (terms: readonly Term[]): Term[] => terms.filter((term) => term.required);

export async function findHits(question: Question): Promise<Hits> {
  if (question.terms.length === 0 && question.numbers === null) return NOTHING;
  const limit = Math.max(RANKED, question.counted) + 1;
  const all = await allHits(question, limit);
  if (all.count >= ENOUGH) return all;
  const several = required(question.terms).length > 1;
  const any = several || hasSynonyms(question) ? await anyHits(question, limit, all) : all;
  // The only word was found as written: it has no typo, and its prefix was searched too.
  if (any.count >= ENOUGH || (!several && all.count > 0)) return any;
  return await nearHits(question, limit, any);
}

/** All words, or the numbers and the other words. A question without words can still be a whole title, for example of one sign. */
function allWords({ q, scope, terms, numbers }: Question): Words {
  const words = required(terms).map((term) => wordOf(term, scope));
  const whole = allOf(words.length === 0 ? [titleOf(q, scope)] : words);
  return numbers === null ? whole : anyOf([whole, numbered(numbers, scope)]);
}

function anyWord({ scope }: Question, terms: readonly Term[], tier: Tier): Words {
  return anyOf(terms.map((term) => wordOf(term, scope, tier)));
}

/** The order: records with this title, the last updated other matches by rank, 1,000 of both; the others by last update. */
async function allHits(question: Question, limit: number): Promise<Hits> {
  const { backend, scope, q, terms, numbers, page } = question;
  const words = allWords(question);
  // A title in another form, such as `1⁄2` for `½`, may have other words than the question.
  const titled = allOf([titleOf(q, scope), ...required(terms).map((term) => wordOf(term, scope))]);
  const all = { kind: 'object', restScore: TIER_BASE.all } as const;
  if (page !== null && page.offset >= limit) {
    // After all counted and ranked hits, only the page itself is read.
    const except = await backend.find(titled, { limit: RANKED, offset: 0, except: [] });
    const far = { limit: MAX_PAGE_PLUS_ONE, offset: page.offset - except.length, except };
    const behind = await backend.find(words, far);
    const rest: Hits['rest'] = async (offset, most) =>
      offset === page.offset && most <= MAX_PAGE_PLUS_ONE
        ? behind.slice(0, most)
        : await backend.find(words, { limit: most, offset: offset - except.length, except });
    if (behind.length > 0) return { ...all, ranked: [], count: limit, complete: false, rest };
  }
  const plain = await weigh(question, 'all', terms, false);
  // Exact record numbers come before other matches, so all of them are ranked.
  const part = page === null || numbers !== null ? { offset: 0, limit: RANKED } : page;
  const ranking = rankingOf(plain);
  const most = { counted: limit, ranked: RANKED, few: MAX_RERANKED };
  const best = await backend.best({ words, titled, ...most, ranking, page: part });
  if (best.kind === 'few') {
    const { ids } = best;
    // Word frequencies matter only with several words and several hits.
    const weighed = terms.length > 1 && ids.length > 1 ? await weigh(question, 'all', terms, true) : plain;
    const known = terms.length <= WEIGHED ? best.occurrences : undefined;
    const scored = await firstByNumber(question, await reranked(question, ids, weighed, known));
    const ranked = scored.map((one) => squashed('all', one));
    return { ...all, ranked, count: ids.length, complete: true, rest: restOf(backend, words, []) };
  }
  const first = best.titled.map((id) => ({ id, score: BY_TITLE })).sort(bestFirst);
  const others = await firstByNumber(question, best.others);
  const shown = [...first.slice(part.offset, part.offset + part.limit), ...others];
  return {
    ...all,
    ranked: new RankedPage(
      Math.min(best.count, RANKED),
      part.offset,
      shown.map((one) => squashed('all', one)),
    ),
    count: best.count,
    complete: best.count < limit,
    rest: restOf(backend, words, best.titled),
  };
}

/** The matches after the ranked ones, last updated first. */
function restOf(backend: SearchBackend, words: Words, titled: readonly string[]): Hits['rest'] {
  return (offset, limit) => backend.find(words, { limit, offset: RANKED - titled.length + offset, except: titled });
}

/** Records that have exactly the numbers of the question come first, whatever their other words. */
async function firstByNumber(
  { backend, numbers, scope }: Question,
  scored: readonly Scored[],
): Promise<readonly Scored[]> {
  if (numbers === null || scored.length === 0) return scored;
  const words = numbered({ ...exactNumbers(numbers), rest: [] }, scope);
  const exact = new Set(await backend.find(words, { limit: 10, offset: 0, except: [] }));
  return scored.map((one) => (exact.has(one.id) ? { ...one, score: one.score + BY_NUMBER } : one)).sort(bestFirst);
}

/** Records with some of the words, after those with all of them. */
async function anyHits(question: Question, limit: number, before: Hits): Promise<Hits> {
  const { backend } = question;
  const except = before.ranked.slice().map(({ id }) => id);
  const words = anyWord(question, required(question.terms), 'any');
  const ids = await backend.find(words, { limit, offset: 0, except });
  if (ids.length === 0) return before;
  const weighed = await weigh(question, 'any', question.terms, true);
  const complete = ids.length < limit;
  const candidates = complete ? ids.map((id) => ({ id })) : await candidatesOf(backend, weighed, except);
  const scored = await ranked(question, candidates, weighed);
  return behind(question, before, 'any', words, scored, ids.length, complete);
}

/**
 * The candidates for ranking, if more records contain some of the words than can be ranked: first the records with most of the
 * weight of the rare words of the question, then those with the rarest word, and so on until there are enough. Within a step, the
 * last updated records come first. Word frequencies are measured on the records of the caller.
 */
async function candidatesOf(backend: SearchBackend, weighed: Weighed, except: readonly string[]): Promise<Matched[]> {
  const of = (indices: readonly number[]): Words => allOf(indices.flatMap((index) => weighed.words[index] ?? []));
  const steps = candidateSteps(weighed.facts).map((combinations) => anyOf(combinations.map(of)));
  return await backend.findInSteps(steps, CANDIDATES, except, rankingOf(weighed));
}

/** Records with similar words, after those with the words of the question. */
async function nearHits(question: Question, limit: number, before: Hits): Promise<Hits> {
  const terms = await nearTerms(question);
  const words = anyWord(question, terms, 'near');
  const except = before.ranked.slice().map(({ id }) => id);
  const ids = await question.backend.find(words, { limit, offset: 0, except });
  if (ids.length === 0) return before;
  const weighed = await weigh(question, 'near', terms, terms.length > 1);
  const candidates = ids.slice(0, RANKED).map((id) => ({ id }));
  const scored = await ranked(question, candidates, weighed);
  return behind(question, before, 'near', words, scored, ids.length, ids.length < limit);
}

async function nearTerms({ ctx, scope, analysis, q, terms }: Question): Promise<Term[]> {
  return [...(await withTypos(ctx, scope, required(terms))), ...respelledTerms(analysis, q)];
}

/** Appends less strict hits. */
function behind(
  { backend }: Question,
  before: Hits,
  tier: Tier,
  words: Words,
  scored: readonly Scored[],
  count: number,
  complete: boolean,
): Hits {
  const listed = [...before.ranked.slice(), ...scored.map((one) => squashed(tier, one))];
  const except = listed.map(({ id }) => id);
  return {
    kind: before.kind,
    ranked: listed,
    count: before.count + count,
    complete,
    rest: (offset, limit) => backend.find(words, { limit, offset, except }),
    restScore: TIER_BASE[tier],
  };
}

/** The last updated records whose number or title is the question. */
export async function namedIds({ backend, scope, numbers, q }: Question, limit: number): Promise<string[]> {
  const titled = titleOf(q, scope);
  const named = numbers === null ? titled : anyOf([titled, numbered(exactNumbers(numbers), scope)]);
  return await backend.find(named, { limit, offset: 0, except: [] });
}

/** Ids of matches in the order of the scope, for lists. Uses the strictest kind of match that finds anything. */
export async function findIds(question: Question, limit: number, offset: number): Promise<string[]> {
  const { backend, terms } = question;
  const steps = [
    () => allWords(question),
    () => anyWord(question, required(terms), 'any'),
    async () => anyWord(question, await nearTerms(question), 'near'),
  ];
  for (const step of steps) {
    const words = await step();
    const ids = await backend.find(words, { limit, offset, except: [] });
    if (ids.length > 0) return ids;
    // The offset is past the end of the matches of this kind.
    if (offset > 0 && (await backend.find(words, { limit: 1, offset: 0, except: [] })).length > 0) return [];
  }
  return [];
}

/** The weighted words with their statistics. */
interface Weighed {
  terms: readonly Term[];
  words: readonly Word[];
  facts: readonly TermFacts[];
  /** Mean size of the sampled records; 0 without a sample. */
  average: number;
}

async function weigh(question: Question, tier: Tier, terms: readonly Term[], sampled: boolean): Promise<Weighed> {
  const words = terms.map((term) => wordOf(term, question.scope, tier));
  const sample = sampled ? await sampleOf(question, tier, words) : { records: 0, holding: [], average: 0 };
  const facts = terms.map(({ count, last, required: isRequired }, index): TermFacts => {
    const share = sampled ? ((sample.holding[index] ?? 0) + 0.5) / (sample.records + 1) : 0.01;
    return { share, count, last, required: isRequired };
  });
  const rarest = [...facts.keys()].sort((a, b) => (facts[a]?.share ?? 0) - (facts[b]?.share ?? 0) || a - b);
  const kept = new Set(rarest.slice(0, WEIGHED));
  const of = <T>(list: readonly T[]): T[] => list.filter((_, index) => kept.has(index));
  return { terms: of(terms), words: of(words), facts: of(facts), average: sample.average };
}

/** The sample of word frequencies, taken once for all tiers in which the words have the same lexemes. */
function sampleOf(question: Question, tier: Tier, words: readonly Word[]): Promise<Sample> {
  const key = tier === 'any' && !hasSynonyms(question) ? 'all' : tier;
  const sample = question.samples.get(key) ?? question.backend.sample(words, SAMPLE);
  question.samples.set(key, sample);
  return sample;
}

function rankingOf({ words, facts }: Weighed): Ranking {
  return { words, ...rankPlan(facts) };
}

/** The candidates by the weighted sum of their words; the best of them are reranked. */
async function ranked(
  question: Question,
  candidates: readonly Matched[],
  weighed: Weighed,
): Promise<readonly Scored[]> {
  const ids = candidates.map(({ id }) => id);
  // All are ranked by more than the sum.
  if (ids.length <= MAX_RERANKED) return await reranked(question, ids, weighed);
  const ranking = rankingOf(weighed);
  const isRanked = candidates.every(({ rank }) => rank !== undefined);
  const rows = isRanked ? candidates : await question.backend.ranks(ids, ranking);
  const scored = scoredBest(rows, ranking.b, weighed.average);
  const best = scored.slice(0, MAX_RERANKED).map(({ id }) => id);
  const first = await reranked(question, best, weighed);
  // Hits that are not reranked keep their order below the reranked ones.
  const floor = first.at(-1)?.score ?? 0;
  const others = scored.slice(MAX_RERANKED).map((one) => ({ ...one, score: (floor * one.score) / (one.score + 20) }));
  return [...first, ...others];
}

/** The best hits by their titles, the comments that the caller may read, and titles of duplicates. */
async function reranked(
  { backend, analysis, q, comments }: Question,
  ids: readonly string[],
  { terms, words, facts }: Weighed,
  known?: OccurrencesById,
): Promise<Scored[]> {
  // A single record needs no order, and without words there is none but that of ids.
  if (ids.length <= 1) return ids.map((id) => ({ id, score: 1 }));
  if (words.length === 0) return ids.map((id) => ({ id, score: 0 })).sort(bestFirst);
  const loaded = await backend.rerankHits(ids, words, comments, known);
  const byId = new Map(loaded.map((hit) => [hit.id, hit]));
  const hits = ids.flatMap((id) => byId.get(id) ?? []);
  const scores = rerank(
    hits,
    facts.map((one, index) => ({ ...one, lexemes: terms[index]?.lexemes ?? [] })),
    q,
    analysis,
  );
  const wanted = titleKey(q);
  const isTitle = (title: string | null): boolean => title !== null && titleKey(title) === wanted;
  return hits
    .map(({ id, title }, index) => ({ id, score: isTitle(title) ? BY_TITLE : (scores[index] ?? 0) }))
    .sort(bestFirst);
}
