/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { ALLOWED, type Call, HIDDEN_FIELD, HIDDEN_VALUE, MINIMAL } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';
import { idOf, nestedIdOf } from '../../../test/support/small-configuration.ts';

export const cases: ModuleCases = {
  world: `
services:
  - { code: open, name: Open, audience: { everyone: true } }
  - { code: closed, name: Closed ${HIDDEN_VALUE}, audience: { users: [full] } }
catalogs:
  - code: shop
    categories: [{ code: all }, { code: private }]
    items:
      - { code: open-item, category: all, service: closed, type: thing, form: [{ code: title }, { code: ${HIDDEN_FIELD} }], audience: { everyone: true } }
      - { code: closed-item, name: ${HIDDEN_VALUE}, category: private, type: thing, form: [{ code: title }], audience: { users: [full] } }
`,
  of: (make) => {
    const request = async (item?: string, values: object = { title: 'A thing' }): Promise<Call> => ({
      params: { itemId: item === undefined ? randomUUID() : await nestedIdOf(make.app, item) },
      body: { requesterId: await idOf(make.app, 'users', 'partial'), values },
    });
    const service = async (code: string): Promise<Call> => ({
      params: { serviceId: await idOf(make.app, 'config_items', code) },
    });
    return {
      'services.list': { call: () => ({}), lacks: ALLOWED },
      'services.get': {
        call: () => service('open'),
        lacks: ALLOWED,
        hidden: { seen: () => service('closed'), absent: () => ({ params: { serviceId: randomUUID() } }) },
      },
      'catalog.get': { call: () => ({}), lacks: ALLOWED },
      'catalog.request': {
        call: () => request('open-item'),
        lacks: { login: 'reader', status: 403, code: 'RIGHT_MISSING', details: { right: 'catalog.impersonate' } },
        hidden: { seen: () => request('closed-item'), absent: () => request() },
        names: (code) => request('open-item', { title: 'A thing', [code]: 'x' }),
        large: MINIMAL,
      },
    };
  },
};
