/**
 * The hits of a question among records, in their order: those in which all words match, then, where they are few, those with
 * some of the words, then those with words nearly alike (decisions, "Lists and search"). Each step is bounded.
 */
import type { ReadContext } from '../../mechanisms/context.ts';
import { allOf, anyOf, matchOf } from './matches.ts';
import { rankPlan, type Tier } from './ranking.ts';
import type { WordHints } from './store-hints.ts';
import { countVisible, listMatches, type Match, sampleTerms, type Scored, score } from './store-match.ts';
import type { Reach } from './store-reach.ts';
import { likeWords } from './store-words.ts';
import { type Term, termQuery } from './terms.ts';
import { isOneSlip, mayHoldTypo } from './typos.ts';

/** Matches that are ranked: the last updated ones. */
export const RANKED = 1000;
/** With fewer hits than this, looser ones follow. */
export const ENOUGH = 25;
/** Records among which is counted how common words are. */
const SAMPLE = 500;
/** Records with some of the words that are looked at closely. */
const CANDIDATES = 2000;
/** Above so many records an estimate takes the place of a count. */
const MANY = 20_000;

/** Scores of the tiers begin here; none reaches the next. */
const TIER_BASE: Readonly<Record<Tier, number>> = { all: 3, any: 2, near: 1 };

export interface Hits {
  /** The first hits, best first. */
  ranked: readonly Scored[];
  /** Hits known; all of them if `complete`. */
  count: number;
  complete: boolean;
  /** The hits behind the ranked ones, by last update; they score `restScore`. */
  rest(offset: number, limit: number): Promise<string[]>;
  restScore: number;
}

export interface Question {
  ctx: ReadContext;
  hints: WordHints;
  reach: Reach;
  terms: readonly Term[];
  /** A `tsquery` for the record whose number the whole question is; empty where it is none. */
  number: string;
  /** Match without words: state, filter, order. */
  base: Omit<Match, 'words' | 'reach'>;
  /** Hits that are counted exactly. */
  counted: number;
}

function squashed(tier: Tier, scored: readonly Scored[]): Scored[] {
  const base = TIER_BASE[tier];
  return scored.map(({ id, score: raw }) => ({ id, score: Math.round((base + raw / (raw + 10)) * 1e6) / 1e6 }));
}

const NOTHING: Hits = { ranked: [], count: 0, complete: true, rest: async () => [], restScore: 0 };

export async function findHits(question: Question): Promise<Hits> {
  const { terms } = question;
  if (terms.length === 0 && question.number === '') return NOTHING;
  const limit = Math.max(RANKED, question.counted) + 1;
  const all = await allHits(question, limit);
  if (all.count >= ENOUGH) return all;
  const any = terms.length > 1 ? await anyHits(question, limit, all) : all;
  if (any.count >= ENOUGH) return any;
  return await nearHits(question, limit, any);
}

async function allHits(question: Question, limit: number): Promise<Hits> {
  const { ctx, reach, terms } = question;
  const match = await matchOf(question, (queries) => allOf(queries, reach, question.number), 'all');
  const ids = await listMatches(ctx, match, limit);
  const queries = terms.map((term) => termQuery(term, reach));
  const plan = rankPlan(
    terms.map(({ last }) => ({ share: 0.01, last })),
    'all',
  );
  const scored = await score(ctx, ids.slice(0, RANKED), queries, plan, reach, RANKED);
  return {
    ranked: squashed('all', scored),
    count: ids.length,
    complete: ids.length < limit,
    rest: (offset, most) => listMatches(ctx, match, most, RANKED + offset),
    restScore: TIER_BASE.all,
  };
}

/** Puts looser hits behind the few that there are. */
function behind(
  before: Hits,
  tier: Tier,
  scored: readonly Scored[],
  count: number,
  complete: boolean,
): Omit<Hits, 'rest'> {
  return {
    ranked: [...before.ranked, ...squashed(tier, scored)],
    count: before.count + count,
    complete,
    restScore: TIER_BASE[tier],
  };
}

async function anyHits(question: Question, limit: number, before: Hits): Promise<Hits> {
  const { ctx, reach, terms } = question;
  const queries = terms.map((term) => termQuery(term, reach));
  const except = before.ranked.map(({ id }) => id);
  const match = await matchOf(question, (all) => anyOf(all, reach), 'any');
  const ids = await listMatches(ctx, match, limit, 0, except);
  if (ids.length === 0) return before;
  const sample = await sampleTerms(ctx, reach, queries, SAMPLE);
  const shares = sample.holding.map((holding) => (holding + 0.5) / (sample.records + 1));
  const complete = ids.length < limit;
  const candidates = complete ? ids : await rareCandidates(question, shares, sample.records, except);
  const plan = rankPlan(
    terms.map(({ last }, index) => ({ share: shares[index] ?? 1, last })),
    'any',
  );
  const scored = await score(ctx, candidates, queries, plan, reach, RANKED);
  const listed = [...except, ...scored.map(({ id }) => id)];
  return {
    ...behind(before, 'any', scored, ids.length, complete),
    rest: (offset, most) => listMatches(ctx, match, most, offset, complete ? [...except, ...ids] : listed),
  };
}

/**
 * Where very many records hold some of the words: those with the rarer ones, the last updated of them. How rare a word is, is
 * seen among the caller's own records alone.
 */
async function rareCandidates(
  question: Question,
  shares: readonly number[],
  sampled: number,
  except: readonly string[],
): Promise<string[]> {
  const { ctx, reach, terms } = question;
  const records = sampled < SAMPLE ? sampled : await countVisible(ctx, reach, MANY);
  const byRarity = terms.map((term, index) => ({ term, share: shares[index] ?? 1 })).sort((a, b) => a.share - b.share);
  const chosen: Term[] = [];
  let expected = 0;
  for (const { term, share } of byRarity) {
    expected += share * records;
    if (chosen.length > 0 && expected > CANDIDATES) break;
    chosen.push(term);
  }
  const match = await matchOf({ ...question, terms: chosen }, (queries) => anyOf(queries, reach), 'any');
  return await listMatches(ctx, match, CANDIDATES, 0, except);
}

/** The words, each with those that one slip turns it into. */
async function withTypos({ ctx, reach, terms }: Pick<Question, 'ctx' | 'reach' | 'terms'>): Promise<Term[]> {
  const labels = [...reach.free, ...reach.classes.flatMap((of) => of.labels)];
  const typed: Term[] = [];
  for (const term of terms) {
    if (!mayHoldTypo(term.raw)) {
      typed.push(term);
      continue;
    }
    const near = new Set<string>();
    for (const word of new Set([term.raw, ...term.lexemes].filter(mayHoldTypo))) {
      for (const found of await likeWords(ctx, word, labels)) if (isOneSlip(found, word)) near.add(found);
    }
    typed.push({ ...term, near: [...near].filter((word) => !term.lexemes.includes(word)).sort() });
  }
  return typed;
}

async function nearHits(question: Question, limit: number, before: Hits): Promise<Hits> {
  const { ctx, reach } = question;
  const terms = await withTypos(question);
  const loose = { ...question, terms };
  const match = await matchOf(loose, (queries) => anyOf(queries, reach), 'near');
  const except = before.ranked.map(({ id }) => id);
  const ids = await listMatches(ctx, match, limit, 0, except);
  if (ids.length === 0) return before;
  const queries = terms.map((term) => termQuery(term, reach, true));
  const sample = await sampleTerms(ctx, reach, queries, SAMPLE);
  const plan = rankPlan(
    terms.map(({ last }, index) => ({ share: ((sample.holding[index] ?? 0) + 0.5) / (sample.records + 1), last })),
    'near',
  );
  const scored = await score(ctx, ids.slice(0, RANKED), queries, plan, reach, RANKED);
  const listed = [...except, ...scored.map(({ id }) => id)];
  return {
    ...behind(before, 'near', scored, ids.length, ids.length < limit),
    rest: (offset, most) => listMatches(ctx, match, most, offset, listed),
  };
}

/** Ids of matches in the order of `base`, for lists: of the strictest kind of match that finds anything. */
export async function findIds(question: Omit<Question, 'counted'>, limit: number, offset: number): Promise<string[]> {
  const { ctx, reach, terms } = question;
  if (terms.length === 0 && question.number === '') return [];
  const steps: (() => Promise<Match>)[] = [
    () => matchOf(question, (queries) => allOf(queries, reach, question.number), 'all'),
    () => matchOf(question, (queries) => anyOf(queries, reach), 'any'),
    async () => matchOf({ ...question, terms: await withTypos(question) }, (queries) => anyOf(queries, reach), 'near'),
  ];
  for (const step of steps) {
    const match = await step();
    const ids = await listMatches(ctx, match, limit, offset);
    if (ids.length > 0) return ids;
    // Past the end of what this kind of match finds.
    if (offset > 0 && (await listMatches(ctx, match, 1)).length > 0) return [];
  }
  return [];
}
