/** Words in lists of records, and search for other rooms. */
import type { ReadContext } from '../../mechanisms/context.ts';
import type { WordMatch } from '../objects/door.ts';
import { typeFilter } from './filter.ts';
import { filterableTypes } from './filterable.ts';
import { findIds } from './hits.ts';
import type { SearchParts } from './parts.ts';
import { orTooExpensive } from './queries.ts';
import { reachFor } from './sources.ts';
import { filterPredicate } from './store-filter.ts';
import { listMatches, type Match } from './store-match.ts';
import { numbersOf, termsOf } from './terms.ts';

/** `q` of `GET /objects`. */
export function wordMatch(parts: SearchParts): WordMatch {
  return async (ctx, { q, typeIds, state, workflowStateIds, limit, offset }) => {
    const base = { state, workflowStateIds: workflowStateIds ?? null, filter: null, order: 'created_at' as const };
    return await matching(ctx, parts, { q, typeIds, base, limit, offset });
  };
}

interface Listing {
  q: string | undefined;
  typeIds: readonly string[] | undefined;
  base: Omit<Match, 'words' | 'reach'>;
  limit: number;
  offset: number;
}

async function matching(ctx: ReadContext, parts: SearchParts, asked: Listing): Promise<string[]> {
  const { q, typeIds, base, limit, offset } = asked;
  const reach = await reachFor(ctx, parts, typeIds);
  if (reach === null) return [];
  if (q === undefined) return await listMatches(ctx, { ...base, reach, words: null }, limit, offset);
  const { hints, analysis } = parts;
  const [terms, numbers] = [termsOf(analysis, q), numbersOf(analysis, q)];
  const question = { ctx, hints, analysis, reach, base, q, terms, numbers, comments: false, counted: 0 };
  return await findIds(question, limit, offset);
}

export interface RecordQuery {
  /** Words; an empty text is none. */
  q?: string | undefined;
  /** A condition as parsed JSON. */
  filter?: unknown;
  /** Records of this type alone. */
  typeId: string;
  limit: number;
  offset?: number;
  /** JSON Pointer of the filter, the prefix of every path in a refusal. */
  base: string;
}

/**
 * Ids of the active records of a type that the caller may read and that words and filter match, newest first: all words, or,
 * where no record has all, some of them. For exports and the like; what the caller may read of each record is not decided here.
 *
 * @throws Fault INVALID_FILTER, FILTER_TOO_EXPENSIVE
 */
export async function findRecords(ctx: ReadContext, parts: SearchParts, query: RecordQuery): Promise<string[]> {
  const { q, filter, typeId, limit, offset = 0 } = query;
  let predicate: Match['filter'] = null;
  if (filter !== undefined) {
    predicate = filterPredicate(ctx, typeFilter(filter, filterableTypes(ctx, [typeId]), query.base));
    if (predicate === null) return [];
  }
  const base = { state: 'ACTIVE' as const, workflowStateIds: null, filter: predicate, order: 'created_at' as const };
  return await orTooExpensive(query.base, () =>
    matching(ctx, parts, { q: q === '' ? undefined : q, typeIds: [typeId], base, limit, offset }),
  );
}
