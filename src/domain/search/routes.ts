import { bind, type Binding } from '../../platform/module.ts';
import * as contract from './contract.ts';
import { searchState } from './state.ts';
import { search } from './queries.ts';

export const searchRoutes: readonly Binding[] = [
  bind(contract.search, (runner, { query }, { scopes }, service) =>
    search(runner, service.get(searchState), query, scopes === null || scopes.has('comments:read')),
  ),
];
