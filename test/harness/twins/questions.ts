/** What `low` may ask, over every way of reading: and writes that must be refused, since refusals tell something too. */
import type { Cards } from '../fuzz/cards.ts';
import { CONCEALED, SHOWN } from './world.ts';

export interface Question {
  method: string;
  /** With `{{names}}` for ids. */
  path: string;
  body?: unknown;
  admin?: boolean;
}

const FIELDS = [
  'title',
  'kind',
  'region',
  'score',
  'tags',
  'near',
  'secret',
  'hush',
  'number',
  'typeCode',
  'workflowState',
  'updatedAt',
  'none',
];

export function question(cards: Cards, records: number): Question {
  const get = (path: string, admin = false): Question => {
    return { method: 'GET', path, admin };
  };
  const post = (path: string, body: unknown): Question => {
    return { method: 'POST', path, body };
  };
  const at = cards.below(records + 3);
  const record = `{{record ${at}}}`;
  const word = (): string => {
    const whole = cards.pick([...SHOWN, ...CONCEALED]);
    return cards.once(3) ? whole.slice(0, 3) : whole;
  };
  const words = (): string => Array.from({ length: 1 + cards.below(3) }, word).join(' ');
  const leaf = (): object => {
    const operator = cards.pick([
      'equals',
      'not-equals',
      'contains',
      'starts-with',
      'in',
      'is-empty',
      'before',
      'after',
      'range',
    ]);
    const value = (): unknown => cards.pick<unknown>([word(), words(), cards.below(10), 'open', 'north', record]);
    const given =
      operator === 'in' || operator === 'range'
        ? [value(), value()]
        : operator === 'is-empty'
          ? cards.once(2)
          : value();
    return { field: cards.pick(FIELDS), operator, value: given };
  };
  const filter = (): object =>
    cards.once(3)
      ? { logic: cards.pick(['AND', 'OR']), conditions: Array.from({ length: 1 + cards.below(3) }, leaf) }
      : leaf();
  const paging = (): string => `page=${1 + cards.below(4)}&pageSize=${cards.pick([1, 3, 10, 100])}`;
  const encoded = (value: unknown): string =>
    encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value));
  const stale = { expectedRevision: 999 };
  const values = (): Record<string, unknown> => {
    return {
      title: words(),
      ...(cards.once(2) ? { near: `{{record ${cards.below(records + 3)}}}` } : {}),
      ...(cards.once(4) ? { [cards.pick(['secret', 'hush', 'none'])]: word() } : {}),
      ...(cards.once(4) ? { score: 'no number' } : {}),
    };
  };
  return cards.pick<() => Question>([
    () => get(`/search?q=${encoded(words())}&${paging()}`),
    () => get(`/search?q=${encoded(words())}&kinds=object,comment&${paging()}`),
    () =>
      get(
        `/search?q=${encoded(words())}&kinds=${cards.pick(['article', 'service', 'user', 'group', 'comment,service'])}`,
      ),
    () => get(`/search?filter=${encoded(filter())}&${paging()}`),
    () => get(`/search?q=${encoded(words())}&filter=${encoded(filter())}&${paging()}`),
    () => get(`/objects?q=${encoded(words())}&${paging()}`),
    () => get(`/objects?${paging()}&state=${cards.pick(['ACTIVE', 'ARCHIVED', 'new', 'done', 'none'])}`),
    () => get(`/objects?typeId=${cards.pick(['ticket', 'vault', 'none'])}&${paging()}`),
    () => get(`/objects/${record}`),
    () =>
      get(
        `/objects/${record}/${cards.pick(['schema', 'history', 'comments', 'attachments', 'relations', 'sla', 'workflow'])}`,
      ),
    () => get(`/objects/${record}/relations?direction=${cards.pick(['incoming', 'outgoing', 'both'])}`),
    () => get(`/objects/${record}/permissions`, true),
    () => get(`/desk/labels?ids=${record},{{record ${cards.below(records)}}},{{user chief}}`, true),
    () =>
      get(
        cards.pick([
          '/desk/types',
          '/desk/queues',
          '/desk/lookup?kind=user&q=p',
          `/desk/lookup?kind=object&q=${encoded(word())}`,
          '/audit',
          '/keys',
          '/config/types',
          '/session',
          '/kb/bases',
          '/identity/users',
        ]),
        true,
      ),
    () => get(`/sla/{{sla ${at}}}/history`),
    () => post(`/sla/{{sla ${at}}}/${cards.pick(['pause', 'stop', 'none'])}`, stale),
    () => get(`/attachments/{{file ${at}}}/content`),
    () =>
      get(
        cards.pick([
          '/metadata/types',
          '/metadata/types/ticket/fields',
          '/metadata/types/vault/fields',
          '/metadata/types/none/fields',
          '/metadata/types/{{types vault}}/fields',
        ]),
      ),
    () => get(cards.pick(['/relation-definitions', `/relation-definitions?sourceObjectId=${record}`])),
    () =>
      get(
        cards.pick([
          '/services',
          '/services/{{services open}}',
          '/services/{{services closed}}',
          '/catalog',
          '/services?locale=en-US',
        ]),
      ),
    () =>
      get(
        cards.pick([
          '/kb/articles',
          '/kb/articles/{{article shown}}',
          '/kb/articles/{{article concealed}}',
          '/kb/articles?locale=ru-RU',
        ]),
      ),
    () =>
      get(
        cards.pick([
          '/identity/users',
          '/identity/groups',
          '/webhooks',
          '/webhook-deliveries',
          '/import-runs/{{record 1}}',
        ]),
      ),
    () =>
      post(`/catalog/items/{{inner ${cards.pick(['open-item', 'closed-item', 'none'])}}}/requests`, {
        requesterId: '{{user low}}',
        values: { secret: word() },
      }),
    () =>
      post('/exports', {
        typeDefinitionId: cards.pick(['ticket', 'ticket', 'vault', 'none']),
        format: cards.pick(['JSON', 'CSV']),
        limit: 1 + cards.below(20),
        ...(cards.once(2) ? { query: { filter: filter() } } : { query: { q: words() } }),
      }),
    () => {
      const items = Array.from({ length: 1 + cards.below(4) }, () => ({
        objectId: `{{record ${cards.below(records + 3)}}}`,
        ...stale,
      }));
      return post(
        '/bulk',
        cards.once(2)
          ? { operation: 'archive', items }
          : { operation: 'update', items: items.map((item) => ({ ...item, changes: values() })) },
      );
    },
    () =>
      post('/objects', {
        typeDefinitionId: cards.pick(['ticket', 'vault', 'none']),
        values: { ...values(), score: 'no number' },
      }),
    () => {
      return { method: 'PATCH', path: `/objects/${record}`, body: { ...stale, changes: values() } };
    },
    () => {
      return {
        method: 'DELETE',
        path: cards.pick([
          `/objects/${record}`,
          `/comments/{{internal comment ${at}}}`,
          `/comments/{{public comment ${at}}}`,
          `/attachments/{{file ${at}}}`,
          `/relations/{{relation ${at}}}`,
        ]),
        body: stale,
      };
    },
    () => {
      return {
        method: 'PATCH',
        path: `/comments/{{${cards.pick(['internal', 'public'])} comment ${at}}}`,
        body: { ...stale, body: 'x' },
      };
    },
    () =>
      post(`/objects/${record}/relations`, {
        definitionId: '{{inner none}}',
        targetObjectId: `{{record ${cards.below(records)}}}`,
      }),
    () => post(`/objects/${record}/comments`, { body: 'x', visibility: 'internal' }),
    () =>
      post(`/objects/${record}/transitions`, {
        transitionId: '{{inner end}}',
        expectedStateId: '{{inner done}}',
        ...stale,
      }),
    () =>
      post('/imports/run', {
        definitionId: '{{definition}}',
        dryRun: true,
        content: `ext,title,near,hush\n1,${word()},${record},x\n2,${word()},${word()},\n`,
      }),
    () =>
      post('/imports/preview', { definitionId: '{{definition}}', content: `ext,title,near\n1,${word()},${record}\n` }),
  ])();
}
