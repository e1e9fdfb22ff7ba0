/** Search requests: parsed, answered by the hits of each kind in order, and limited to what the caller may read. */
import { Fault, faultAt, type FaultDetail, isFault } from '../../lib/fault.ts';
import { problem, problemAt } from '../../lib/problem.ts';
import { KINDS, type Kind, RIGHT_OF } from './contract.ts';
import { windowOf } from '../../contract/paging.ts';
import type { Runner } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry } from '../metadata/index.ts';
import { findVisible, preload, type VisibleObject } from '../objects/index.ts';
import { filterableTypes, typeFilter, readFilter } from './filter.ts';
import type { SearchParts } from './parts.ts';
import { type Facets, facetsOf, recordResult, type SearchResult, Snippets, otherResults } from './results.ts';
import { type Found, otherSource, recordSource, type Source } from './sources.ts';
import { filterPredicate } from './store-access-filter.ts';
import { synonymView } from './synonyms.ts';
import { respelledTerms, type Term, termsOf } from './terms.ts';
import { limitTime } from '../../platform/database/pool.ts';

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
  const filter = request.filter === null ? null : { given: readFilter(request.filter) };
  const terms = request.q === null ? [] : ctx.config.get(synonymView).of(termsOf(parts.analysis, request.q));
  const counted = registry(ctx).settings.searchExactTotal;
  const from = request.kinds.length === 1 ? window.offset : 0;
  const find = async (): Promise<SearchAnswer> => {
    const sources: Source[] = [];
    for (const kind of request.kinds) {
      sources.push(
        kind === 'object'
          ? await recordSource(ctx, parts, { q: request.q, terms, filter, comments, counted, from })
          : await otherSource(ctx, parts, kind, terms),
      );
    }
    const marked = request.q === null ? [] : [...terms, ...respelledTerms(parts.analysis, request.q)];
    return await present(ctx, parts, sources, marked, counted, window);
  };
  return filter === null ? await find() : await withinBudget(ctx, 'query.filter', find);
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

/** The page of the combined hits of all sources: ranked ones by score, then the rest of each source. */
async function pageOfHits(sources: readonly Source[], offset: number, limit: number): Promise<Found[]> {
  const ranked =
    sources.length === 1
      ? (sources[0]?.ranked ?? [])
      : sources.flatMap((source) => source.ranked).sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1));
  const page = ranked.slice(offset, offset + limit);
  let passed = ranked.length;
  for (const source of sources) {
    if (page.length >= limit) break;
    // All its hits are ranked.
    if (source.complete && source.count <= source.ranked.length) continue;
    const from = Math.max(0, offset + page.length - passed);
    const ids = await source.rest(from, limit - page.length);
    page.push(...ids.map((id) => ({ kind: source.kind, id, score: source.restScore })));
    // Only the hits of a completely known source can precede those of another source.
    passed += Math.max(0, source.count - source.ranked.length);
  }
  return page;
}

async function present(
  ctx: ReadContext,
  parts: SearchParts,
  sources: readonly Source[],
  terms: readonly Term[],
  counted: number,
  window: ReturnType<typeof windowOf>,
): Promise<SearchAnswer> {
  const found = await pageOfHits(sources, window.offset, window.limit);
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
  const count = sources.reduce((sum, source) => sum + source.count, 0);
  const total = Math.min(count, counted);
  return {
    results,
    page: window.page,
    pageSize: window.pageSize,
    hasMore: found.length > window.pageSize,
    total,
    totalExact: count <= counted && sources.every((source) => source.complete),
    totalPages: Math.ceil(total / window.pageSize),
    facets: facetsOf(results, objects),
  };
}
