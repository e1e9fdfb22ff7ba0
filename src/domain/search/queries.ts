/**
 * Search requests: parsed, answered by the hits of each kind in order, and limited to what the caller may read. Also the records of
 * lists and suggestions.
 */
import { isActive } from '../../contract/state.ts';
import { windowOf } from '../../contract/paging.ts';
import { Fault, faultAt, type FaultDetail, isFault } from '../../lib/fault.ts';
import { problem, problemAt } from '../../lib/problem.ts';
import { limitTime } from '../../platform/database/pool.ts';
import { ServicePart } from '../../platform/module.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry } from '../metadata/index.ts';
import { findVisible, preload, type VisibleObject, type WordMatch } from '../objects/index.ts';
import { KINDS, type Kind, RIGHT_OF } from './contract.ts';
import { accessOf } from './access.ts';
import { backendOf } from './backend.ts';
import { areIndexed, filterableTypes, readFilter, ruleOfFilters, typeFilter } from './filter.ts';
import { profileView } from './indexing/profile.ts';
import { otherHits } from './other-hits.ts';
import type { Access, Scope, Scored } from './query.ts';
import { findHits, findIds, type Hits, namedIds, NOTHING, type Question } from './record-hits.ts';
import {
  type Facets,
  facetsOf,
  type Found,
  otherResults,
  recordResult,
  type SearchResult,
  Snippets,
} from './results.ts';
import { filterPredicate } from './sql/rules.ts';
import { type SearchParts, searchState } from './state.ts';
import { synonymView } from './synonyms.ts';
import { besideNumbers, numbersOf, respelledTerms, type Term, termsOf } from './terms.ts';

const SHORTEST = 2;

export interface SearchQuery {
  q?: string;
  kinds?: string;
  filter?: string;
}

export interface Request {
  /** Null if it is not given. */
  q: string | null;
  kinds: Kind[];
  filter: string | null;
}

/** @throws Fault INVALID_REQUEST, QUERY_TOO_SHORT, INVALID_FILTER */
export function readRequest(query: SearchQuery): Request {
  const { q, filter } = query;
  const problems: FaultDetail[] = [];
  const kinds: Kind[] = [];
  for (const name of query.kinds === undefined ? ['object'] : query.kinds.split(',')) {
    const kind = KINDS.find((known) => known === name);
    if (kind === undefined) {
      problems.push(problemAt('query.kinds', 'UNKNOWN_KIND', { known: KINDS }));
      break;
    }
    if (!kinds.includes(kind)) kinds.push(kind);
  }
  if (filter !== undefined && kinds.some((kind) => kind !== 'object')) {
    problems.push(problemAt('query.filter', 'FILTER_WITH_KINDS'));
  }
  if (q === undefined && filter === undefined) {
    problems.push(problemAt('query.q', 'SEARCH_EMPTY'));
  }
  if (problems.length > 0) throw new Fault('INVALID_REQUEST', problem('PROBLEMS_IN_DETAILS'), problems);
  if (q !== undefined && lettersAndDigits(q) < SHORTEST) {
    throw faultAt('QUERY_TOO_SHORT', 'query.q', 'QUERY_TOO_SHORT');
  }
  return { q: q ?? null, kinds, filter: filter ?? null };
}

function lettersAndDigits(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

/** Time limit for a statement of a search with a filter. */
const BUDGET_MS = 2000;
/** SQLSTATE of a cancelled statement. */
const CANCELLED = '57014';

export interface SearchAnswer {
  results: SearchResult[];
  page: number;
  pageSize: number;
  hasMore: boolean;
  total: number;
  totalExact: boolean;
  totalPages: number;
  facets: Facets;
}

/**
 * `GET /search` (docs/spec/search.md#search).
 *
 * @throws Fault INVALID_REQUEST, QUERY_TOO_SHORT, INVALID_FILTER, FILTER_TOO_EXPENSIVE, RIGHT_MISSING
 */
export async function search(
  { work, caller }: Pick<Runner, 'work' | 'caller'>,
  parts: SearchParts,
  query: SearchQuery & { page: number; pageSize: number },
  /** Whether the key has the scope for comments. */
  comments: boolean,
): Promise<SearchAnswer> {
  const window = windowOf(query);
  const request = readRequest(query);
  // A filter may have no index, so it runs under a time limit, which needs a transaction.
  return await work.read(caller, (ctx) => answer(ctx, parts, request, window, comments), {
    snapshot: request.filter !== null,
  });
}

async function answer(
  ctx: ReadContext,
  parts: SearchParts,
  request: Request,
  window: ReturnType<typeof windowOf>,
  comments: boolean,
): Promise<SearchAnswer> {
  for (const kind of request.kinds) {
    if (kind === 'article') parts.articles.requireReader(ctx);
    const right = RIGHT_OF.get(kind);
    if (right !== undefined) ctx.actor.require(right);
  }
  const terms = request.q === null ? [] : termsWithSynonyms(ctx, parts, request.q);
  const counted = registry(ctx).settings.searchExactTotal;
  const page = request.kinds.length === 1 ? { offset: window.offset, limit: window.limit } : null;
  const find = async (): Promise<SearchAnswer> => {
    const hits: Hits[] = [];
    for (const kind of request.kinds) {
      hits.push(
        kind === 'object'
          ? await recordHits(ctx, parts, request, terms, { comments, counted, page })
          : await otherHits(ctx, parts, kind, terms),
      );
    }
    const marked = request.q === null ? [] : [...terms, ...respelledTerms(parts.analysis, request.q)];
    return await present(ctx, parts, hits, marked, counted, window);
  };
  return request.filter === null ? await find() : await withinBudget(ctx, 'query.filter', find);
}

function termsWithSynonyms(ctx: ReadContext, { analysis }: SearchParts, q: string): Term[] {
  return ctx.config.get(synonymView).of(termsOf(analysis, q));
}

type Among = Pick<Scope, 'state' | 'workflowStateIds' | 'filter' | 'order'>;
type Counting = Pick<Question, 'comments' | 'counted' | 'page'>;

/** Active records, last updated first. */
const ACTIVE: Among = { state: 'ACTIVE', workflowStateIds: null, filter: null, order: 'updated_at' };

function scopeOf(ctx: ReadContext, access: Access, among: Among): Scope {
  return { ...access, ...among, indexed: isActive(among) && areIndexed(ctx, access.rights, among.filter) };
}

function questionOf(
  ctx: ReadContext,
  parts: SearchParts,
  { q, terms }: Pick<Question, 'q' | 'terms'>,
  scope: Scope,
  counting: Counting = { comments: false, counted: 0, page: null },
): Question {
  const { analysis } = parts;
  const numbers = numbersOf(analysis, q, ctx.config.get(profileView).numberings);
  const backend = backendOf(ctx, parts, scope);
  const asked = { q, terms: besideNumbers(terms, numbers), numbers, ...counting };
  return { ctx, analysis, scope, backend, ...asked, samples: new Map() };
}

/**
 * Records that match the words, or all records that the filter permits, last updated first.
 *
 * @throws Fault INVALID_FILTER
 */
async function recordHits(
  ctx: ReadContext,
  parts: SearchParts,
  { q, filter: text }: Request,
  terms: readonly Term[],
  counting: Counting,
): Promise<Hits> {
  const access = await accessOf(ctx, parts.upToDate);
  const filters = text === null ? null : typeFilter(readFilter(text), filterableTypes(ctx), 'query.filter');
  const filter = filters === null ? null : ruleOfFilters(ctx, filters);
  // The caller may read no record, or no record can match the filter.
  if (access === null || filter?.size === 0) return NOTHING;
  const scope = scopeOf(ctx, access, { ...ACTIVE, filter });
  if (q !== null) return await findHits(questionOf(ctx, parts, { q, terms }, scope, counting));
  const backend = backendOf(ctx, parts, scope);
  const ids = await backend.find(null, { limit: counting.counted + 1, offset: 0, except: [] });
  const complete = ids.length <= counting.counted;
  return {
    ...NOTHING,
    count: ids.length,
    complete,
    // The count is already known.
    rest: async (offset, limit) =>
      offset + limit <= ids.length || complete
        ? ids.slice(offset, offset + limit)
        : await backend.find(null, { limit, offset, except: [] }),
  };
}

/** Ids of records that match all words, or if there are none, some of them; newest first. */
export function wordMatchOf(parts: SearchParts): WordMatch {
  return async (ctx, { q, typeIds, state, workflowStateIds = null, limit, offset }) => {
    const access = await accessOf(ctx, parts.upToDate, typeIds);
    if (access === null) return [];
    const scope = scopeOf(ctx, access, { state, workflowStateIds, filter: null, order: 'created_at' });
    const terms = termsWithSynonyms(ctx, parts, q);
    return await findIds(questionOf(ctx, parts, { q, terms }, scope), limit, offset);
  };
}

/** Ids of records: first those whose number or title is the text, then those that match it, last updated first. */
export type Suggest = (ctx: ReadContext, text: string, limit: number) => Promise<string[]>;

function suggestionsOf(parts: SearchParts): Suggest {
  return async (ctx, q, limit) => {
    const access = await accessOf(ctx, parts.upToDate);
    if (access === null) return [];
    const terms = termsWithSynonyms(ctx, parts, q);
    const question = questionOf(ctx, parts, { q, terms }, scopeOf(ctx, access, ACTIVE));
    const named = await namedIds(question, limit);
    const others = named.length < limit ? await findIds(question, limit, 0) : [];
    return [...new Set([...named, ...others])].slice(0, limit);
  };
}

/**
 * The predicate of a filter on the records `o` of the types; null if no record can match.
 *
 * @throws Fault INVALID_FILTER
 */
export function filterOnRecords(
  ctx: ReadContext,
  text: string,
  typeIds: readonly string[],
): ReturnType<typeof filterPredicate> {
  return filterPredicate(ctx, typeFilter(readFilter(text), filterableTypes(ctx, typeIds), 'query.filter'));
}

/**
 * Limits the time of each statement in `run`, and reports a cancelled one as a filter that is too expensive. The unit of work
 * must be a transaction (`snapshot`).
 *
 * @param path the parameter that is reported
 * @throws Fault FILTER_TOO_EXPENSIVE
 */
export async function withinBudget<T>(ctx: ReadContext, path: string, run: () => Promise<T>): Promise<T> {
  await limitTime(ctx, BUDGET_MS);
  try {
    return await run();
  } catch (error) {
    if (isFault(error) || (error as { code?: unknown }).code !== CANCELLED) throw error;
    throw faultAt('FILTER_TOO_EXPENSIVE', path, 'FILTER_TOO_EXPENSIVE');
  }
}

/** The page of the combined hits of all kinds: ranked ones by score, then the rest of each kind. */
async function pageOfHits(hits: readonly Hits[], offset: number, limit: number): Promise<Found[]> {
  const foundOf = (kind: Kind, of: readonly Scored[]): Found[] => of.map(({ id, score }) => ({ kind, id, score }));
  const [only] = hits.length === 1 ? hits : [];
  const page =
    only !== undefined
      ? foundOf(only.kind, only.ranked.slice(offset, offset + limit))
      : hits
          .flatMap(({ kind, ranked }) => foundOf(kind, ranked.slice()))
          .sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1))
          .slice(offset, offset + limit);
  let passed = hits.reduce((sum, { ranked }) => sum + ranked.length, 0);
  for (const { kind, ranked: of, count, complete, rest, restScore } of hits) {
    if (page.length >= limit) break;
    // All its hits are ranked.
    if (complete && count <= of.length) continue;
    const from = Math.max(0, offset + page.length - passed);
    const ids = await rest(from, limit - page.length);
    page.push(...ids.map((id) => ({ kind, id, score: restScore })));
    // Only the hits of a completely known kind can precede those of another kind.
    passed += Math.max(0, count - of.length);
  }
  return page;
}

async function present(
  ctx: ReadContext,
  parts: SearchParts,
  hits: readonly Hits[],
  terms: readonly Term[],
  counted: number,
  window: ReturnType<typeof windowOf>,
): Promise<SearchAnswer> {
  const found = await pageOfHits(hits, window.offset, window.limit);
  const shown = found.slice(0, window.pageSize);
  const ids = shown.flatMap(({ kind, id }) => (kind === 'object' ? [id] : []));
  await preload(ctx, ids);
  const objects = new Map<string, VisibleObject>();
  for (const id of ids) {
    const object = await findVisible(ctx, id);
    if (object !== undefined) objects.set(id, object);
  }
  const snippets = new Snippets(parts.analysis, terms);
  const others = await otherResults(ctx, parts, shown, snippets);
  const results: SearchResult[] = [];
  for (const { kind, id, score } of shown) {
    const object = kind === 'object' ? objects.get(id) : undefined;
    const other = others.get(`${kind} ${id}`);
    if (object !== undefined) results.push(await recordResult(ctx, object, snippets, score));
    else if (other !== undefined) results.push(other);
  }
  const count = hits.reduce((sum, one) => sum + one.count, 0);
  const total = Math.min(count, counted);
  return {
    results,
    page: window.page,
    pageSize: window.pageSize,
    hasMore: found.length > window.pageSize,
    total,
    totalExact: count <= counted && hits.every((one) => one.complete),
    totalPages: Math.ceil(total / window.pageSize),
    facets: facetsOf(results, objects),
  };
}

export const suggestions = new ServicePart('suggestions of records', ({ get }) => suggestionsOf(get(searchState)));
