/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { missing, NOT_THERE } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  of: (make) => {
    const file = async (shown: boolean): Promise<string> => {
      const body = { filename: 'a.txt', contentBase64: 'eA==' };
      return (await make.send('POST', `/objects/${await make.record(shown)}/attachments`, body)).id;
    };
    return {
      'attachments.add': {
        ...make.onRecord(() => ({ filename: 'a.txt', contentBase64: 'eA==' })),
        lacks: missing('attachment.add', 'reader'),
        large: (seen) => [
          {
            name: 'a file as large as a body',
            params: { objectId: seen.record },
            body: { filename: 'a.bin', contentBase64: 'AAAA'.repeat(2_446_000) },
            status: 201,
          },
        ],
      },
      'attachments.content': { ...make.on('attachmentId', (shown) => file(shown)), lacks: NOT_THERE },
      'attachments.archive': {
        ...make.on('attachmentId', (shown) => file(shown), make.expected),
        lacks: missing('attachment.delete', 'reader'),
      },
    };
  },
};
