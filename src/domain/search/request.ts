/** Parses a search request and reports all errors. Pure. */
import { Fault, faultAt, type FaultDetail } from '../../lib/fault.ts';
import { problem, problemAt } from '../../lib/problem.ts';
import { KINDS, type Kind } from './contract.ts';

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
