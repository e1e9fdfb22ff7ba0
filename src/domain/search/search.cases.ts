/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { ALLOWED } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

/** Conditions nested as deep and as wide as a filter may be. */
function wideFilter(): object {
  const leaf = { field: 'title', operator: 'contains', value: 'a'.repeat(50) };
  return { logic: 'AND', conditions: Array.from({ length: 100 }, () => leaf) };
}

export const cases: ModuleCases = {
  of: () => ({
    'search.search': {
      call: () => ({ query: '?q=thing&pageSize=100' }),
      lacks: ALLOWED,
      large: () => [
        { name: 'long records', query: '?q=banana+harvest&pageSize=100', status: 200 },
        { name: 'a typing error in long records', query: '?q=bananna+harvset&pageSize=100', status: 200 },
        {
          name: 'as many words as are read',
          query: `?q=${encodeURIComponent(Array.from({ length: 800 }, (_, index) => `w${index}`).join(' '))}`,
          status: 200,
        },
        {
          name: 'a wide filter',
          query: `?filter=${encodeURIComponent(JSON.stringify(wideFilter()))}`,
          status: 400,
          code: 'INVALID_FILTER',
        },
      ],
    },
  }),
};
