/** A fixture for search: users who see all records, some records, some fields, some fields of some records, and nothing. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Estimates } from '../../src/domain/search/sql/estimates.ts';
import { startTestApp, type TestAnswer, type TestApp, type TestOptions } from './app.ts';
import { ACTIONS, bundle, RIGHTS, user } from './small-configuration.ts';

/**
 * - chief: all rights. agent: all tickets, `secret` only on those of kind `open`, no `hush`. north: only tickets of the
 * north, without `secret` and `hush`, no internal comments. stranger: no rights.
 */
export const SEARCHERS = ['chief', 'agent', 'north', 'stranger'] as const;
export type Searcher = (typeof SEARCHERS)[number];

export const SEARCH_TYPES = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: ticket
    name: Ticket
    numbering: { prefix: TCK, digits: 6 }
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 1000 }, search: { text: true, filter: true } }
      - { code: body, dataType: text }
      - { code: rich, dataType: rich-text }
      - { code: kind, dataType: enum, default: open, constraints: { options: [{ code: open }, { code: shut }] }, search: { filter: true, facet: true } }
      - { code: region, dataType: enum, constraints: { options: [{ code: north }, { code: south }] }, search: { filter: true, facet: true } }
      - { code: score, dataType: integer, search: { filter: true } }
      - { code: price, dataType: decimal, search: { filter: true } }
      - { code: day, dataType: date, search: { filter: true } }
      - { code: tags, dataType: string, multiple: true, search: { text: true, filter: true, facet: true } }
      - { code: secret, dataType: string, search: { text: true, filter: true, facet: true } }
      - { code: hush, dataType: string, search: { text: true, filter: true, facet: true } }
      - { code: plain, dataType: string, search: { text: false } }
  - code: asset
    name: Asset
    title: name
    fields:
      - { code: name, dataType: string, required: true }
      - { code: score, dataType: string, search: { text: false, filter: true } }
workflows:
  - code: flow
    initial: new
    states: [{ code: new, category: open }, { code: done, category: done }]
    transitions: [{ code: end, from: [new], to: done }]
relationDefinitions: [{ code: duplicate-of, sourceTypes: [ticket], targetTypes: [ticket], duplicate: true }]
`;

export const SEARCH_ROLES = `
roles:
  - code: chief
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: agent
    records:
      - type: ticket
        actions: [read, update, comment.create]
        fields: { read: [title, body, rich, kind, region, score, price, day, tags, plain], write: [title] }
      - type: ticket
        where: { field: kind, operator: equals, value: open }
        actions: [read]
        fields: { read: [title, body, rich, kind, region, score, price, day, tags, plain, secret], write: [] }
      - { type: asset, actions: [read], fields: { read: '*' } }
    assignedTo: { users: [agent] }
  - code: north
    records:
      - type: ticket
        where: { field: region, operator: equals, value: north }
        actions: [read]
        fields: { read: [title, body, kind, region, tags], write: [] }
    assignedTo: { users: [north] }
users:
${SEARCHERS.map(user).join('')}`;

export interface SearchFixture {
  app: TestApp;
  keys: Record<Searcher, string>;
  /** The answer of a call below `/api/v1` as the person. */
  call(who: Searcher, method: string, path: string, body?: unknown): Promise<TestAnswer>;
  /** The data of a call that must succeed. */
  ok<T = any>(who: Searcher, method: string, path: string, body?: unknown): Promise<T>;
  /** A new record of the chief's; its id. */
  make(values: Record<string, unknown>, type?: 'ticket' | 'asset'): Promise<string>;
  search(who: Searcher, query: Record<string, unknown>): Promise<TestAnswer>;
  /** Titles of the hits. */
  titles(who: Searcher, query: Record<string, unknown>): Promise<(string | null)[]>;
  close(): Promise<void>;
}

export function queryOf(query: Record<string, unknown>): string {
  const parts = Object.entries(query).map(
    ([name, value]) =>
      `${name}=${encodeURIComponent(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
  );
  return parts.join('&');
}

/** @param own login of another user, who reads only tickets that they created */
export async function startSearchFixture(
  options: Omit<TestOptions, 'bundle'> & { own?: string } = {},
): Promise<SearchFixture> {
  const { own, ...others } = options;
  const mine = `roles:
  - code: own
    records:
      - type: ticket
        where: { field: createdBy, operator: equals, value: $me }
        actions: [read]
        fields: { read: [title, body], write: [] }
    assignedTo: { users: [${own}] }`;
  const roles = own === undefined ? SEARCH_ROLES : SEARCH_ROLES.replace('roles:', mine) + user(own);
  const app = await startTestApp({ ...others, bundle: bundle(SEARCH_TYPES + roles) });
  // Whoever turns the index in memory on wants its answers.
  while (app.app.searchMemory !== undefined && app.app.searchMemory.state.state !== 'ready') await sleep(20);
  const keys = {} as Record<Searcher, string>;
  for (const login of SEARCHERS) keys[login] = (await app.createKey({ login })).key;
  const self: SearchFixture = {
    app,
    keys,
    call: (who, method, path, body) =>
      app.request(method, `/api/v1${path}`, { key: keys[who], ...(body === undefined ? {} : { body }) }),
    ok: async (who, method, path, body) => {
      const answer = await self.call(who, method, path, body);
      assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    },
    make: async (values, type = 'ticket') =>
      (await self.ok('chief', 'POST', '/objects', { typeDefinitionId: type, values })).id,
    search: (who, query) => self.call(who, 'GET', `/search?${queryOf(query)}`),
    titles: async (who, query) => {
      const answer = await self.search(who, query);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.data.results.map((result: { title: string | null }) => result.title);
    },
    close: () => app.close(),
  };
  return self;
}

/** A share of one half for every word. */
class Everywhere extends Map<string, number> {
  override get(): number {
    return 0.5;
  }
}
const shares = new Everywhere([['p', 0.5]]);
const of = (rows: number, admitted: number, moment?: string): Estimates => ({
  frequencies: async () => ({ rows, shares, moments: { updated_at: [], created_at: [] } }),
  admitted: async () => admitted,
  momentOf: async () => moment,
});
/** Half of a million records have the words, and hardly any of them is admitted. */
export const HARDLY_ANY = of(1e6, 1e-6);
/**
 * Statistics that make a search use each of its statements: words in half of a million records, of which all or hardly any are
 * admitted, and rare words.
 */
export const STATISTICS = [
  of(1e6, 1, '2000-01-01T00:00:00Z'),
  of(1e6, 1, '2100-01-01T00:00:00Z'),
  HARDLY_ANY,
  of(1, 1),
];
