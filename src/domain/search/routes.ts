import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import * as contract from './contract.ts';
import type { SearchParts } from './parts.ts';
import { search } from './queries.ts';

export function searchRoutes(parts: SearchParts): BoundOperation[] {
  return [
    bind(contract.search, (runner, { query }, { scopes }) =>
      search(runner, parts, query, scopes === null || scopes.has('comments:read')),
    ),
  ];
}
