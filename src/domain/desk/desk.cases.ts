/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { KINDS, records, textOf } from '../../../test/support/largest-texts.ts';
import { ALLOWED, HIDDEN_FIELD, MINIMAL, missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';
import { idOf } from '../../../test/support/small-configuration.ts';

async function mergeInto(target: Promise<string>): Promise<unknown> {
  return { expectedRevision: 1, targetObjectId: await target, close: false };
}

/** All records of the type `thing` as a file. */
function fileOf(codes: readonly string[], format = 'CSV'): object {
  const columns = codes.map((code) => ({ code, name: code }));
  const words = { yes: 'yes', no: 'no' };
  return { format, title: 'List', typeId: 'thing', columns, timeZone: 'UTC', words };
}

const LONG_COLUMNS = ['title', 'type', 'long0', 'long1', 'number'];

export const cases: ModuleCases = {
  world: `
macros: [{ code: prepared, types: [thing], comment: { visibility: public, body: 'On {{ title }}' }, set: { title: Done } }]
`,
  of: (make) => {
    const unshared = missing('config.manage', 'reader');
    /** A shared queue; one that `partial` may not see names a field that is hidden from them. */
    const queue = async (shown: boolean): Promise<string> => {
      const filter = { field: shown ? 'shown' : HIDDEN_FIELD, operator: 'is-empty', value: false };
      const body = { name: 'A queue', shared: true, definition: { type: 'thing', filter } };
      return (await make.admin('POST', '/desk/queues', body)).id;
    };
    const useOf = async (): Promise<unknown> => ({
      macroId: await idOf(make.app, 'config_items', 'prepared'),
      expectedRevision: 1,
    });
    return {
      'desk.objects': {
        call: () => ({ query: '?sort=-updatedAt&pageSize=100' }),
        lacks: ALLOWED,
        names: async (code) => ({ query: `?typeId=thing&sort=${code}` }),
        refusal: 'INVALID_REQUEST',
        large: () => [{ name: 'a page of long records', query: '?pageSize=100&typeId=thing&sort=-title', status: 200 }],
      },
      'desk.export': {
        call: () => ({ body: fileOf(['number']) }),
        lacks: missing('export.execute'),
        names: async (code) => ({ body: fileOf([code]) }),
        refusal: 'INVALID_REQUEST',
        large: () => [{ name: 'all columns of long records', body: fileOf(LONG_COLUMNS, 'XLSX'), status: 200 }],
      },
      'desk.fields': {
        call: () => ({}),
        lacks: ALLOWED,
        names: async (code) => ({
          query: `?filter=${encodeURIComponent(JSON.stringify({ field: code, operator: 'is-empty', value: true }))}`,
        }),
        refusal: 'INVALID_FILTER',
        large: () => [
          {
            name: 'a condition',
            query: `?filter=${encodeURIComponent('{"field":"createdAt","operator":"is-empty","value":false}')}`,
            status: 200,
          },
        ],
      },
      'desk.types': { call: () => ({}), lacks: ALLOWED },
      'desk.applyMacro': {
        call: async () => ({ params: { objectId: await make.record(true) }, body: await useOf() }),
        lacks: missing('update', 'reader'),
        hidden: {
          seen: async () => ({ params: { objectId: await make.record(false) }, body: await useOf() }),
          absent: async () => ({ params: { objectId: randomUUID() }, body: await useOf() }),
        },
        large: async (seen) => {
          const macroId = await idOf(seen.app, 'config_items', 'prepared');
          const ids = await records(seen, KINDS.length);
          return KINDS.map((kind, index) => ({
            name: kind,
            params: { objectId: ids[index] ?? '' },
            body: { macroId, expectedRevision: 1, comment: { body: textOf(kind, 20_000), visibility: 'public' } },
            status: 200,
          }));
        },
      },
      'desk.merge': {
        call: async () => ({ params: { objectId: await make.record(true) }, body: await mergeInto(make.record(true)) }),
        lacks: missing('relation.create', 'reader'),
        hidden: {
          seen: async () => ({
            params: { objectId: await make.record(false) },
            body: await mergeInto(make.record(true)),
          }),
          absent: async () => ({ params: { objectId: randomUUID() }, body: await mergeInto(make.record(true)) }),
        },
        large: MINIMAL,
      },
      'desk.lookup': { call: () => ({ query: '?kind=user&q=p' }), lacks: missing('user.administer') },
      'desk.suggestions': {
        call: () => ({ query: '?q=p' }),
        lacks: ALLOWED,
        large: () => [{ name: 'words of long records', query: '?q=banana+harvest', status: 200 }],
      },
      'desk.labels': {
        call: async () => ({ query: `?ids=${await make.record(true)}` }),
        lacks: ALLOWED,
        hidden: {
          seen: async () => ({ query: `?ids=${await make.record(false)}` }),
          absent: () => ({ query: `?ids=${randomUUID()}` }),
          status: 200,
        },
      },
      'health.backlog': { call: () => ({}), lacks: missing('config.manage', 'reader') },
      'desk.queues.list': { call: () => ({}), lacks: ALLOWED },
      'desk.queues.built-in': { call: () => ({}), lacks: ALLOWED },
      'desk.queues.stream': { call: () => ({}), lacks: ALLOWED },
      'desk.queues.create': {
        call: () => ({ body: { name: 'Mine', shared: true, definition: { type: 'thing' } } }),
        lacks: unshared,
        large: MINIMAL,
      },
      'desk.queues.change': {
        ...make.on('queueId', queue, () => ({ expectedRevision: 1, name: 'Other' })),
        lacks: unshared,
        large: MINIMAL,
      },
      'desk.queues.delete': { ...make.on('queueId', queue, make.expected), lacks: unshared },
    };
  },
};
