/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { MINIMAL, missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  world: `
rules: [{ code: auto, on: [AttachmentArchived], types: [thing], runAs: full, do: [{ set: { title: Automatic } }] }]
`,
  of: (make) => ({
    'rules.runs': { call: () => ({ params: { code: 'auto' } }), lacks: missing('config.manage') },
    'rules.try': {
      call: async () => ({ params: { code: 'auto' }, body: { objectId: await make.record(true) } }),
      lacks: missing('config.manage'),
      hidden: {
        seen: async () => ({ params: { code: 'auto' }, body: { objectId: await make.record(false) } }),
        absent: () => ({ params: { code: 'auto' }, body: { objectId: randomUUID() } }),
      },
    },
    'rules.preview': {
      call: () => ({
        body: {
          rule: {
            code: 'tried',
            on: ['ObjectCreated'],
            types: ['thing'],
            runAs: 'full',
            do: [{ set: { title: 'Tried' } }],
          },
        },
      }),
      lacks: missing('config.manage'),
      assigns: true,
      large: MINIMAL,
    },
    'rules.graph': { call: () => ({}), lacks: missing('config.manage') },
  }),
};
