/** The cases of services and the catalogue (`operation-calls.ts`), and their configuration. */
import { randomUUID } from 'node:crypto';
import type { TestApp } from './app.ts';
import type { Call, OperationCase } from './operation-calls-case.ts';
import { idOf, nestedIdOf } from './small-configuration.ts';

/** Sections of the bundle. `hushed` is a hidden field, `canary` a text that only `full` may see. */
export function catalogConfiguration(hushed: string, listener: string): string {
  return `
services:
  - { code: open, name: Open, audience: { everyone: true } }
  - { code: closed, name: Closed ${listener}, audience: { users: [full] } }
catalogs:
  - code: shop
    categories: [{ code: all }, { code: private }]
    items:
      - { code: open-item, category: all, service: closed, type: thing, form: [{ code: title }, { code: ${hushed} }], audience: { everyone: true } }
      - { code: closed-item, name: ${listener}, category: private, type: thing, form: [{ code: title }], audience: { users: [full] } }
`;
}

const ALLOWED: OperationCase['lacks'] = { login: 'nobody', status: 200 };

export function catalogCases(app: TestApp): Readonly<Record<string, OperationCase>> {
  const request = async (item?: string, values: object = { title: 'A thing' }): Promise<Call> => ({
    params: { itemId: item === undefined ? randomUUID() : await nestedIdOf(app, item) },
    body: { requesterId: await idOf(app, 'users', 'partial'), values },
  });
  const service = async (code: string): Promise<Call> => ({
    params: { serviceId: await idOf(app, 'config_items', code) },
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
    },
  };
}
