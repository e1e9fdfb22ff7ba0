/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { KINDS, longValues, records, repeat, richTexts } from '../../../test/support/largest-texts.ts';
import { ALLOWED, missing, NOT_THERE } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

const unknownKeys = (): object => Object.fromEntries(Array.from({ length: 66_000 }, (_, index) => [`k${index}`, 0]));

const BODY = 10 * 1024 * 1024 - 1000;

export const cases: ModuleCases = {
  of: (make) => {
    const archived = async (shown: boolean): Promise<string> => {
      const id = await make.record(shown);
      await make.send('DELETE', `/objects/${id}`, { expectedRevision: 1 });
      return id;
    };
    /** A record with an image in a text of it. */
    const image = async (shown: boolean): Promise<Record<string, string>> => {
      const src = 'data:image/gif;base64,R0lGODlhAQABAAAAADs=';
      const picture = { type: 'doc', content: [{ type: 'image', attrs: { src } }] };
      const body = { typeDefinitionId: 'thing', values: { title: 'A thing', picture, shown } };
      const { id, values } = await make.send('POST', '/objects', body);
      return { objectId: id, sha256: values.picture.content[0].attrs.src.slice('blob:'.length) };
    };
    return {
      'objects.list': {
        call: () => ({ query: '?pageSize=100' }),
        lacks: ALLOWED,
        large: () => [{ name: 'a page of long records', query: '?pageSize=100', status: 200 }],
      },
      'objects.create': {
        call: () => ({ body: { typeDefinitionId: 'thing', values: { title: 'New' } } }),
        lacks: missing('create', 'reader'),
        names: async (code) => ({ body: { typeDefinitionId: 'thing', values: { title: 'New', [code]: 'x' } } }),
        large: () => [
          ...KINDS.map((kind) => ({
            name: `2 texts of ${kind}`,
            body: { typeDefinitionId: 'thing', values: { title: 'x', ...longValues(kind, 2) } },
            status: 201,
          })),
          ...Object.entries(richTexts()).map(([kind, picture]) => ({
            name: kind,
            body: { typeDefinitionId: 'thing', values: { title: 'x', picture } },
            status: 201,
          })),
          {
            name: 'unknown fields',
            body: { typeDefinitionId: 'thing', values: unknownKeys() },
            status: 400,
            code: 'INVALID_REQUEST',
          },
          {
            name: 'escapes',
            body: `{"typeDefinitionId":"${repeat('\\u0436', BODY - (BODY % 6))}","values":{}}`,
            status: 400,
            code: 'INVALID_REQUEST',
          },
          { name: 'nested lists', body: '['.repeat(BODY), status: 400, code: 'INVALID_JSON' },
          { name: 'an unclosed text', body: `{"a":"${'x'.repeat(BODY)}`, status: 400, code: 'INVALID_JSON' },
          {
            name: 'a duplicate key',
            body: `{"values":{${Array.from({ length: 66_000 }, (_, index) => `"k${index}":0`).join()},"k1":0}}`,
            status: 400,
            code: 'INVALID_JSON',
          },
          {
            name: 'as many exponents as are read',
            body: `[${repeat('1.5e30,', 1_393_000)}1]`,
            status: 400,
            code: 'INVALID_REQUEST',
          },
          {
            name: 'deep JSON',
            body: {
              typeDefinitionId: 'thing',
              values: { title: 'x', data: Array.from({ length: 20_000 }, () => ({})) },
            },
            status: 201,
          },
        ],
      },
      'objects.diff': {
        call: async () => ({ params: { objectId: await make.record(true) }, query: '?from=1&to=1' }),
        lacks: missing('history', 'reader'),
        hidden: {
          seen: async () => ({ params: { objectId: await make.record(false) }, query: '?from=1&to=1' }),
          absent: () => ({ params: { objectId: randomUUID() }, query: '?from=1&to=1' }),
        },
        large: ({ record }) => [{ name: 'large', params: { objectId: record }, query: '?from=1&to=1', status: 200 }],
      },
      'objects.update': {
        ...make.onRecord(() => ({ expectedRevision: 1, changes: { title: 'Other' } })),
        lacks: missing('update', 'reader'),
        names: async (code) => ({
          params: { objectId: await make.record(true) },
          body: { expectedRevision: 1, changes: { [code]: 'x' } },
        }),
        large: async (seen) => {
          const [id = ''] = await records(seen, 1);
          const changes = longValues('Chinese signs', 2);
          return [
            { name: 'all texts', params: { objectId: id }, body: { expectedRevision: 1, changes }, status: 200 },
            { name: 'the same again', params: { objectId: id }, body: { expectedRevision: 2, changes }, status: 200 },
          ];
        },
      },
      'objects.archive': {
        ...make.onRecord(make.expected),
        lacks: missing('archive', 'reader'),
        large: async (seen) => {
          const id = (await seen.send('POST', '/objects', {
            typeDefinitionId: 'thing',
            values: { title: 'x', ...longValues('different words') },
          })) as { id: string };
          return [{ name: 'a long record', params: { objectId: id.id }, body: { expectedRevision: 1 }, status: 200 }];
        },
      },
      'objects.image': {
        call: async () => ({ params: await image(true) }),
        lacks: NOT_THERE,
        hidden: {
          seen: async () => ({ params: await image(false) }),
          absent: async () => ({ params: { ...(await image(true)), objectId: randomUUID() } }),
        },
      },
      'objects.restore': { ...make.on('objectId', (shown) => archived(shown)), lacks: missing('archive', 'reader') },
    };
  },
};
