/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { MINIMAL, missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  of: (make) => {
    const transition = async (): Promise<unknown> => {
      const { state, transitions } = await make.send('GET', `/objects/${await make.record(true)}/workflow`);
      return { transitionId: transitions[0].id, expectedRevision: 1, expectedStateId: state.id };
    };
    return {
      'workflow.transition': {
        ...make.onRecord(() => transition()),
        lacks: missing('transition', 'reader'),
        large: MINIMAL,
      },
    };
  },
};
