/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { ALLOWED, NOT_THERE } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  of: () => ({
    'metadata.types': { call: () => ({}), lacks: ALLOWED },
    'metadata.fields': { call: () => ({ params: { typeId: 'thing' } }), lacks: NOT_THERE },
  }),
};
