/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { ALLOWED } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  of: () => ({
    'feed.read': {
      call: () => ({ query: '?limit=1000&include=object' }),
      lacks: ALLOWED,
      large: () => [{ name: 'a page with long records', query: '?limit=100&include=object', status: 200 }],
    },
  }),
};
