/** Requests of `low` through every read operation, and writes that must be rejected, since error messages could leak too. */
import type { RandomSource } from '../fuzz/random-source.ts';
import { CONCEALED, SHOWN } from './fixture.ts';

export interface LeakRequest {
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

export function randomRequest(random: RandomSource, records: number): LeakRequest {
  const get = (path: string, admin = false): LeakRequest => {
    return { method: 'GET', path, admin };
  };
  const post = (path: string, body: unknown): LeakRequest => {
    return { method: 'POST', path, body };
  };
  const at = random.below(records + 3);
  const record = `{{record ${at}}}`;
  const word = (): string => {
    const whole = random.pick([...SHOWN, ...CONCEALED]);
    return random.once(3) ? whole.slice(0, 3) : whole;
  };
  const words = (): string => Array.from({ length: 1 + random.below(3) }, word).join(' ');
  const leaf = (): object => {
    const operator = random.pick([
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
    const value = (): unknown => random.pick<unknown>([word(), words(), random.below(10), 'open', 'north', record]);
    const given =
      operator === 'in' || operator === 'range'
        ? [value(), value()]
        : operator === 'is-empty'
          ? random.once(2)
          : value();
    return { field: random.pick(FIELDS), operator, value: given };
  };
  const filter = (): object =>
    random.once(3)
      ? { logic: random.pick(['AND', 'OR']), conditions: Array.from({ length: 1 + random.below(3) }, leaf) }
      : leaf();
  const paging = (): string => `page=${1 + random.below(4)}&pageSize=${random.pick([1, 3, 10, 100])}`;
  const encoded = (value: unknown): string =>
    encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value));
  const stale = { expectedRevision: 999 };
  const values = (): Record<string, unknown> => {
    return {
      title: words(),
      ...(random.once(2) ? { near: `{{record ${random.below(records + 3)}}}` } : {}),
      ...(random.once(4) ? { [random.pick(['secret', 'hush', 'none'])]: word() } : {}),
      ...(random.once(4) ? { score: 'no number' } : {}),
    };
  };
  return random.pick<() => LeakRequest>([
    () => get(`/search?q=${encoded(words())}&${paging()}`),
    () => get(`/search?q=${encoded(words())}&kinds=object,comment&${paging()}`),
    () =>
      get(
        `/search?q=${encoded(words())}&kinds=${random.pick(['article', 'service', 'user', 'group', 'comment,service'])}`,
      ),
    () => get(`/search?filter=${encoded(filter())}&${paging()}`),
    () => get(`/search?q=${encoded(words())}&filter=${encoded(filter())}&${paging()}`),
    () => get(`/objects?q=${encoded(words())}&${paging()}`),
    () => get(`/objects?${paging()}&state=${random.pick(['ACTIVE', 'ARCHIVED', 'new', 'done', 'none'])}`),
    () => get(`/objects?typeId=${random.pick(['ticket', 'vault', 'none'])}&${paging()}`),
    () => get(`/objects/${record}`),
    () =>
      get(
        `/objects/${record}/${random.pick(['schema', 'history', 'comments', 'attachments', 'relations', 'sla', 'workflow'])}`,
      ),
    () => get(`/objects/${record}/relations?direction=${random.pick(['incoming', 'outgoing', 'both'])}`),
    () => get(`/objects/${record}/permissions`, true),
    () => get(`/notifications?${paging()}${random.once(2) ? '&unread=true' : ''}`, true),
    () => get(random.pick(['/notifications/count', `/objects/${record}/watch`]), true),
    () => get(`/desk/labels?ids=${record},{{record ${random.below(records)}}},{{user chief}}`, true),
    () =>
      get(
        random.pick([
          '/desk/types',
          '/desk/queues',
          '/desk/lookup?kind=user&q=p',
          `/desk/lookup?kind=object&q=${encoded(word())}`,
          `/desk/suggestions?q=${encoded(word())}`,
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
    () => post(`/sla/{{sla ${at}}}/${random.pick(['pause', 'stop', 'none'])}`, stale),
    () => get(`/attachments/{{file ${at}}}/content`),
    () =>
      get(
        random.pick([
          '/metadata/types',
          '/metadata/types/ticket/fields',
          '/metadata/types/vault/fields',
          '/metadata/types/none/fields',
          '/metadata/types/{{types vault}}/fields',
        ]),
      ),
    () => get(random.pick(['/relation-definitions', `/relation-definitions?sourceObjectId=${record}`])),
    () =>
      get(
        random.pick([
          '/services',
          '/services/{{services open}}',
          '/services/{{services closed}}',
          '/catalog',
          '/services?locale=en-US',
        ]),
      ),
    () =>
      get(
        random.pick([
          '/kb/articles',
          '/kb/articles/{{article shown}}',
          '/kb/articles/{{article concealed}}',
          '/kb/articles?locale=ru-RU',
        ]),
      ),
    () =>
      get(
        random.pick([
          '/identity/users',
          '/identity/groups',
          '/webhooks',
          '/webhook-deliveries',
          '/import-runs/{{record 1}}',
        ]),
      ),
    () =>
      post(`/catalog/items/{{inner ${random.pick(['open-item', 'closed-item', 'none'])}}}/requests`, {
        requesterId: '{{user low}}',
        values: { secret: word() },
      }),
    () =>
      post('/exports', {
        typeDefinitionId: random.pick(['ticket', 'ticket', 'vault', 'none']),
        format: random.pick(['JSON', 'CSV']),
        limit: 1 + random.below(20),
        ...(random.once(2) ? { query: { filter: filter() } } : { query: { q: words() } }),
      }),
    () => {
      const items = Array.from({ length: 1 + random.below(4) }, () => ({
        objectId: `{{record ${random.below(records + 3)}}}`,
        ...stale,
      }));
      return post(
        '/bulk',
        random.once(2)
          ? { operation: 'archive', items }
          : { operation: 'update', items: items.map((item) => ({ ...item, changes: values() })) },
      );
    },
    () =>
      post('/objects', {
        typeDefinitionId: random.pick(['ticket', 'vault', 'none']),
        values: { ...values(), score: 'no number' },
      }),
    () => {
      return { method: 'PATCH', path: `/objects/${record}`, body: { ...stale, changes: values() } };
    },
    () => {
      return {
        method: 'DELETE',
        path: random.pick([
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
        path: `/comments/{{${random.pick(['internal', 'public'])} comment ${at}}}`,
        body: { ...stale, body: 'x' },
      };
    },
    () =>
      post(`/objects/${record}/relations`, {
        definitionId: '{{inner none}}',
        targetObjectId: `{{record ${random.below(records)}}}`,
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
