import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import * as contract from './contract.ts';
import { searchState } from './parts.ts';
import { search } from './queries.ts';

export const searchRoutes: readonly UnboundOperation[] = [
  bindWith(
    contract.search,
    (service) =>
      (runner, { query }, { scopes }) =>
        search(runner, service.get(searchState), query, scopes === null || scopes.has('comments:read')),
  ),
];
