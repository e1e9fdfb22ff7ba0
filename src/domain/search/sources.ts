/** The hits of every kind in one shape, so that a search can combine them; and the records of lists and suggestions. */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Kind } from './contract.ts';
import { matchEntries, serviceEntries, type SearchParts } from './parts.ts';
import { profileView } from './indexing/profile.ts';
import { ENOUGH, findHits, type Hits, RANKED, findIds, namedIds, type Question } from './hits.ts';
import { rankPlan, type Tier } from './ranking.ts';
import { areIndexed, filterableTypes, type TypedFilter, typeFilter } from './filter.ts';
import { MemoryQuestion, scopeOf } from './memory/scope.ts';
import { listMatches } from './store-match.ts';
import { type AccessFilter, accessFilterOf, filterPredicate } from './store-access-filter.ts';
import { articleSource, commentSource, matchTexts, type TextSource } from './store-texts.ts';
import { besideNumbers, numbersOf, type Term, termQuery, termsOf } from './terms.ts';
import { isActive } from '../../contract/state.ts';
import type { WordMatch } from '../objects/index.ts';
import { synonymView } from './synonyms.ts';

/** A hit of any kind. */
export interface Found {
  kind: Kind;
  id: string;
  score: number;
}

/** The hits of one kind. */
export interface Source {
  kind: Kind;
  ranked: readonly Found[];
  count: number;
  complete: boolean;
  rest(offset: number, limit: number): Promise<string[]>;
  restScore: number;
}

const NONE: Hits = { ranked: [], count: 0, complete: true, rest: async () => [], restScore: 0 };

function sourceOf(kind: Kind, hits: Hits): Source {
  return { ...hits, kind, ranked: hits.ranked.map(({ id, score }) => ({ kind, id, score })) };
}

export interface Asked {
  q: string | null;
  terms: readonly Term[];
  /** The filter of the request as given; null if there is none. */
  filter: { given: unknown } | null;
  /** Whether matching comments that the caller may read raise the score of a record. */
  comments: boolean;
  /** Maximum number of hits that are counted exactly. */
  counted: number;
  /** Offset of the page; 0 if several kinds are combined. */
  from: number;
}

/** The index in memory for active records; null if only statements can answer. */
function memoryOf(
  ctx: ReadContext,
  { memory }: SearchParts,
  accessFilter: AccessFilter,
  filters: readonly TypedFilter[] | null,
): MemoryQuestion | null {
  const scope = scopeOf(ctx, accessFilter, { state: 'ACTIVE', workflowStateIds: null, filters });
  return memory === undefined || scope === null ? null : new MemoryQuestion(memory, scope);
}

/**
 * Records that match the words, or all records that the filter permits, last updated first.
 *
 * @throws Fault INVALID_FILTER
 */
export async function recordSource(ctx: ReadContext, parts: SearchParts, asked: Asked): Promise<Source> {
  const accessFilter = await accessFilterOf(ctx, parts.upToDate);
  const filters = asked.filter === null ? null : typeFilter(asked.filter.given, filterableTypes(ctx), 'query.filter');
  const filter = filters === null ? null : filterPredicate(ctx, filters);
  // The caller may read no record, or none can match the filter.
  if (accessFilter === null || (filters !== null && filter === null)) return sourceOf('object', NONE);
  const among = { state: 'ACTIVE', workflowStateIds: null } as const;
  const indexed = areIndexed(ctx, accessFilter.typeIds, filters);
  const base = { ...among, filter, order: 'updated_at' as const, indexed, statistics: parts.statistics, memory: null };
  if (asked.q !== null) {
    const { analysis } = parts;
    const numbers = numbersOf(analysis, asked.q, ctx.config.get(profileView).numberings);
    const terms = besideNumbers(asked.terms, numbers);
    const { q, comments, counted, from } = asked;
    const memory = memoryOf(ctx, parts, accessFilter, filters);
    const question = { ctx, analysis, accessFilter, q, terms, numbers, comments, counted, from };
    return sourceOf('object', await findHits({ ...question, base: { ...base, memory } }));
  }
  const match = { ...base, accessFilter, words: null };
  const ids = await listMatches(ctx, match, asked.counted + 1);
  return sourceOf('object', {
    ranked: [],
    count: ids.length,
    complete: ids.length <= asked.counted,
    // The count is already known.
    rest: async (offset, limit) =>
      offset + limit <= ids.length || ids.length <= asked.counted
        ? ids.slice(offset, offset + limit)
        : await listMatches(ctx, match, limit, offset),
    restScore: 0,
  });
}

async function textHits(ctx: ReadContext, source: TextSource | null, terms: readonly Term[]): Promise<Hits> {
  if (source === null) return NONE;
  const free = { free: [''], classes: [] };
  const ranked: { id: string; score: number }[] = [];
  const tiers: [Tier, 'AND' | 'OR', number][] = [
    ['all', 'AND', 3],
    ['any', 'OR', 2],
    ['near', 'OR', 1],
  ];
  for (const [tier, together, base] of tiers) {
    if (ranked.length >= ENOUGH) break;
    const wanted = tier === 'all' ? terms.filter(({ required }) => required) : terms;
    const plan = rankPlan(
      wanted.map(({ last, count, required }) => ({ share: 0.01, last, count, required })),
      tier,
    );
    const queries = wanted.map((term) => termQuery(term, free, tier).free);
    const except = ranked.map(({ id }) => id);
    const found = await matchTexts(ctx, source, queries, together, plan, except, RANKED + 1 - ranked.length);
    ranked.push(
      ...found.map(({ id, score }) => ({ id, score: Math.round((base + score / (score + 20)) * 1e6) / 1e6 })),
    );
  }
  return { ...NONE, ranked: ranked.slice(0, RANKED), count: ranked.length, complete: ranked.length <= RANKED };
}

/** All requested kinds except records. */
export async function otherSource(
  ctx: ReadContext,
  parts: SearchParts,
  kind: Exclude<Kind, 'object'>,
  terms: readonly Term[],
): Promise<Source> {
  switch (kind) {
    case 'comment':
      return sourceOf(kind, await textHits(ctx, commentSource(ctx), terms));
    case 'article':
      return sourceOf(kind, await textHits(ctx, articleSource(ctx, parts.articles), terms));
    default: {
      const entries =
        kind === 'service'
          ? serviceEntries(parts.analysis, await parts.services.services(ctx))
          : (await parts.directory.people(ctx, parts.analysis)).filter((entry) => entry.kind === kind);
      const found = matchEntries(entries, terms);
      const ranked = found.slice(0, RANKED).map(({ entry, score }) => ({ id: entry.id, score }));
      return sourceOf(kind, { ...NONE, ranked, count: found.length, complete: found.length <= RANKED });
    }
  }
}

function questionOf(
  ctx: ReadContext,
  { analysis }: SearchParts,
  accessFilter: AccessFilter,
  q: string,
  base: Question['base'],
): Question {
  const numbers = numbersOf(analysis, q, ctx.config.get(profileView).numberings);
  const terms = besideNumbers(ctx.config.get(synonymView).of(termsOf(analysis, q)), numbers);
  return { ctx, analysis, accessFilter, base, q, terms, numbers, comments: false, counted: 0, from: 0 };
}

/** Ids of records that match all words, or if there are none, some of them; newest first. */
export function wordMatch(parts: SearchParts): WordMatch {
  return async (ctx, { q, typeIds, state, workflowStateIds, limit, offset }) => {
    const accessFilter = await accessFilterOf(ctx, parts.upToDate, typeIds);
    if (accessFilter === null) return [];
    const base = {
      state,
      workflowStateIds: workflowStateIds ?? null,
      filter: null,
      order: 'created_at' as const,
      indexed: isActive({ state }) && areIndexed(ctx, accessFilter.typeIds, null),
      statistics: parts.statistics,
      memory: null,
    };
    return await findIds(questionOf(ctx, parts, accessFilter, q, base), limit, offset);
  };
}

/** Ids of records: first those whose number or title is the text, then those that match it, last updated first. */
export type Suggest = (ctx: ReadContext, text: string, limit: number) => Promise<string[]>;

export function suggestions(parts: SearchParts): Suggest {
  return async (ctx, text, limit) => {
    const accessFilter = await accessFilterOf(ctx, parts.upToDate);
    if (accessFilter === null) return [];
    const indexed = areIndexed(ctx, accessFilter.typeIds, null);
    const base = {
      state: 'ACTIVE' as const,
      workflowStateIds: null,
      filter: null,
      order: 'updated_at' as const,
      indexed,
      statistics: parts.statistics,
      memory: memoryOf(ctx, parts, accessFilter, null),
    };
    const question = questionOf(ctx, parts, accessFilter, text, base);
    const named = await namedIds(question, limit);
    const others = named.length < limit ? await findIds(question, limit, 0) : [];
    return [...new Set([...named, ...others])].slice(0, limit);
  };
}
