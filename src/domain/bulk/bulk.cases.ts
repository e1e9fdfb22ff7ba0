/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { records, textOf } from '../../../test/support/largest-texts.ts';
import type { Call, Large, Seeded } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

/** Enough for several units of work; the maximum is 100, and each takes as long. */
const ITEMS = 12;

async function bulk(seen: Seeded, length: number, kind: string): Promise<Large> {
  const ids = await records(seen, ITEMS);
  const items = ids.map((objectId) => ({
    objectId,
    expectedRevision: 1,
    changes: { long0: textOf(kind, length) },
  }));
  return { name: `${ITEMS} items of ${length} characters, ${kind}`, body: { operation: 'update', items }, status: 200 };
}

export const cases: ModuleCases = {
  of: (make) => {
    const update = (objectId: string, changes: unknown = { title: 'Other' }): Call => ({
      body: { operation: 'update', items: [{ objectId, expectedRevision: 1, changes }] },
    });
    return {
      'bulk.run': {
        call: async () => update(await make.record(true)),
        lacks: { login: 'reader', status: 200 },
        hidden: {
          seen: async () => update(await make.record(false)),
          absent: () => update(randomUUID()),
          status: 200,
        },
        large: async (seen) => [await bulk(seen, 90_000, 'different words'), await bulk(seen, 30_000, 'Chinese signs')],
      },
    };
  },
};
