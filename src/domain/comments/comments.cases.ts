/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { KINDS, textOf } from '../../../test/support/largest-texts.ts';
import { MINIMAL, missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  of: (make) => {
    const comment = async (shown: boolean): Promise<string> => {
      const body = { body: 'A', visibility: 'public' };
      return (await make.send('POST', `/objects/${await make.record(shown)}/comments`, body)).id;
    };
    return {
      'comments.add': {
        ...make.onRecord(() => ({ body: 'A', visibility: 'public' })),
        lacks: missing('comment.create', 'reader'),
        large: (seen) =>
          KINDS.map((kind) => ({
            name: kind,
            params: { objectId: seen.record },
            body: { body: textOf(kind, 20_000), visibility: 'public' },
            status: 201,
          })),
      },
      'comments.edit': {
        ...make.on(
          'commentId',
          (shown) => comment(shown),
          () => ({ expectedRevision: 1, body: 'B' }),
        ),
        lacks: missing('comment.edit', 'reader'),
        large: MINIMAL,
      },
      'comments.archive': {
        ...make.on('commentId', (shown) => comment(shown), make.expected),
        lacks: missing('comment.edit', 'reader'),
      },
    };
  },
};
