/** Parses a search request and reports all errors. Pure. */
import { Fault, type FaultDetail } from '../../lib/fault.ts';
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

function refused(path: string, code: string, message: string): FaultDetail {
  return { path: `query.${path}`, code, message };
}

/** @throws Fault INVALID_REQUEST, QUERY_TOO_SHORT, INVALID_FILTER */
export function readRequest(query: SearchQuery): Request {
  const { q, filter } = query;
  const problems: FaultDetail[] = [];
  const kinds: Kind[] = [];
  for (const name of query.kinds === undefined ? ['object'] : query.kinds.split(',')) {
    const kind = KINDS.find((known) => known === name);
    if (kind === undefined) {
      problems.push(refused('kinds', 'UNKNOWN_KIND', `Kinds are ${KINDS.join(', ')}, separated by commas.`));
      break;
    }
    if (!kinds.includes(kind)) kinds.push(kind);
  }
  if (filter !== undefined && kinds.some((kind) => kind !== 'object')) {
    problems.push(refused('filter', 'NOT_ALLOWED', 'A filter concerns records alone; leave other kinds out.'));
  }
  if (q === undefined && filter === undefined) {
    problems.push(refused('q', 'REQUIRED', 'Give q, or filter, or both.'));
  }
  if (problems.length > 0) throw new Fault('INVALID_REQUEST', 'The search is not as documented.', problems);
  if (q !== undefined && lettersAndDigits(q) < SHORTEST) {
    const message = 'The search text needs at least two letters or digits.';
    throw new Fault('QUERY_TOO_SHORT', message, [refused('q', 'TOO_SHORT', message)]);
  }
  return { q: q ?? null, kinds, filter: filter ?? null };
}

function lettersAndDigits(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}
