/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { ALLOWED, NOT_THERE } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  of: (make) => ({
    'notifications.watch.set': { ...make.onRecord(), lacks: NOT_THERE },
    'notifications.watch.end': { ...make.onRecord(), lacks: NOT_THERE },
    'notifications.list': { call: () => ({ query: '?unread=true&pageSize=100' }), lacks: ALLOWED },
    'notifications.count': { call: () => ({}), lacks: ALLOWED },
    'notifications.stream': { call: () => ({}), lacks: ALLOWED },
    'notifications.read': {
      call: () => ({ body: { all: true } }),
      lacks: ALLOWED,
      large: () => {
        const ids = Array.from({ length: 1000 }, () => randomUUID());
        return [{ name: 'many ids', body: { ids }, status: 200 }];
      },
    },
    'notifications.explain': {
      call: async () => ({ body: { objectId: await make.record(true) } }),
      lacks: NOT_THERE,
      hidden: {
        seen: async () => ({ body: { objectId: await make.record(false) } }),
        absent: () => ({ body: { objectId: randomUUID() } }),
      },
    },
    'notifications.choices.get': { call: () => ({}), lacks: ALLOWED },
    'notifications.choices.set': {
      call: () => ({ body: { watch: { console: true, mail: 'digest' } } }),
      lacks: ALLOWED,
    },
    'notifications.quietHours.get': { call: () => ({}), lacks: ALLOWED },
    'notifications.quietHours.set': { call: () => ({ body: { from: '22:00', to: '07:00' } }), lacks: ALLOWED },
  }),
};
