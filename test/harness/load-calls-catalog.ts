/** The rows of services and the catalogue in the table of calls (`load-calls.ts`), and their world. */
import { randomUUID } from 'node:crypto';
import type { TestApp } from './app.ts';
import type { Call, Row } from './load-calls-row.ts';
import { idOf, nestedIdOf } from './load-world.ts';

/** Sections of the bundle; `hushed` is a field that may not be read, `canary` a text that nobody but `full` may see. */
export function catalogWorld(hushed: string, canary: string): string {
  return `
services:
  - { code: open, name: Open, audience: { everyone: true } }
  - { code: closed, name: Closed ${canary}, audience: { users: [full] } }
catalogs:
  - code: shop
    categories: [{ code: all }, { code: private }]
    items:
      - { code: open-item, category: all, service: closed, type: thing, form: [{ code: title }, { code: ${hushed} }], audience: { everyone: true } }
      - { code: closed-item, name: ${canary}, category: private, type: thing, form: [{ code: title }], audience: { users: [full] } }
`;
}

const ALLOWED: Row['lacks'] = { login: 'nobody', status: 200 };

export function catalogRows(app: TestApp): Readonly<Record<string, Row>> {
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
