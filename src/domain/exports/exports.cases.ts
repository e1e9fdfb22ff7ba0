/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  of: () => ({
    'exports.create': {
      call: () => ({ body: { typeDefinitionId: 'thing', format: 'JSON' } }),
      lacks: missing('export.execute'),
      names: async (code) => ({
        body: {
          typeDefinitionId: 'thing',
          format: 'JSON',
          query: { filter: { field: code, operator: 'equals', value: 'x' } },
        },
      }),
      refusal: 'INVALID_FILTER',
      large: () => [
        {
          name: 'long records as CSV',
          body: { typeDefinitionId: 'thing', format: 'CSV', query: { q: 'banana' } },
          status: 200,
        },
        { name: 'long records as JSON', body: { typeDefinitionId: 'thing', format: 'JSON' }, status: 200 },
      ],
    },
  }),
};
