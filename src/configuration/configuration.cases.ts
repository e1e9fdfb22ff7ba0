/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import type { TestApp } from '../../test/support/app.ts';
import { repeat } from '../../test/support/largest-texts.ts';
import { ALLOWED, type Large, missing } from '../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../test/support/operation-calls-fixture.ts';
import { stored } from '../../test/support/small-configuration.ts';
import { ADMIN_SCOPE } from '../contract/scopes.ts';

const FILES = { files: [{ name: 'a.yaml', text: 'settings: { defaultLocale: ru-RU }\n' }] };

const users = (count: number): string =>
  `users:\n${Array.from({ length: count }, (_, index) => `  - { login: u${index}, displayName: User ${index} }\n`).join('')}`;

/** Rules on the type `thing`, each with a condition on this field and all kinds of placeholders. */
const rules = (field: string): string =>
  JSON.stringify({
    rules: Array.from({ length: 1000 }, (_, index) => ({
      code: `rule-${index}`,
      types: ['thing'],
      on: ['ObjectUpdated'],
      when: { logic: 'AND', conditions: [{ field, operator: 'equals', value: `value ${index}` }] },
      runAs: 'full',
      do: [{ comment: { visibility: 'public', body: `{{ title }} ${index}` } }, { set: { title: `title ${index}` } }],
    })),
  });

/** A record type with many fields, each with options. Applied again, it stays as it is. */
async function wideType({ app }: { app: TestApp }): Promise<void> {
  const options = Array.from({ length: 5 }, (_, index) => ({ code: `o${index}`, name: `Option ${index}` }));
  const field = { dataType: 'enum', name: { 'ru-RU': 'Поле', 'en-US': 'Field' }, constraints: { options } };
  const fields = Array.from({ length: 300 }, (_, index) => ({ code: `f${index}`, ...field }));
  const { key } = await app.createKey({ login: 'full', scopes: [ADMIN_SCOPE] });
  const text = JSON.stringify({ types: [{ code: 'wide', fields }] });
  const body = { files: [{ name: 'types.yaml', text }] };
  const { status, body: answer } = await app.request('POST', '/api/admin/v1/config/apply', { key, body });
  if (status !== 200) throw new Error(JSON.stringify(answer));
}

const crowd = (fields: string): string =>
  `roles: [ { code: crowd, records: [ { type: '*', where: { field: createdBy, operator: equals, value: $me }, actions: [read], fields: { read: ${fields} } } ] } ]`;

/** Many users whose rights all differ, because their role compares records with the user. */
async function manyHolders({ app }: { app: TestApp }): Promise<Large> {
  const { key } = await app.createKey({ login: 'full', scopes: [ADMIN_SCOPE] });
  const files = (text: string) => ({ files: [{ name: 'a.yaml', text }] });
  const { status } = await app.request('POST', '/api/admin/v1/config/apply', { key, body: files(crowd("'*'")) });
  if (status !== 200) throw new Error(`${status}`);
  await stored(
    app,
    `WITH made AS (INSERT INTO users SELECT (jsonb_populate_record(u, jsonb_build_object('id', gen_random_uuid(),
          'login', 'crowd' || n, 'login_key', 'crowd' || n, 'email', null, 'email_key', null))).*
        FROM users u, generate_series(1, 3000) n WHERE u.login = 'full' ON CONFLICT DO NOTHING RETURNING id)
      INSERT INTO role_assignments SELECT r.id, 'user', made.id FROM made, config_items r
      WHERE r.section = 'roles' AND r.code = 'crowd'`,
  );
  return { name: 'the impact on many users', body: { ...files(crowd('[title]')), impact: true }, status: 200 };
}

export const cases: ModuleCases = {
  of: () => ({
    'config.list': { call: () => ({ params: { section: 'types' } }), lacks: missing('config.manage') },
    'config.item': {
      call: () => ({ params: { section: 'types', code: 'thing' } }),
      lacks: missing('config.manage'),
      large: async (seen) => {
        await wideType(seen);
        return [{ name: 'a type with many fields', params: { section: 'types', code: 'wide' }, status: 200 }];
      },
    },
    'config.plan': {
      call: () => ({ body: FILES }),
      lacks: missing('config.manage'),
      large: async (seen) => [
        await manyHolders(seen),
        ...Object.entries({
          'many users': [users(8000), 200],
          'open brackets': ['['.repeat(7_900_000), 400],
          'nested lists': [`x: ${repeat(`${'['.repeat(60)}${']'.repeat(60)},`, 100_000)}`, 400],
          'a wide list': [`x: [${repeat('a, ', 150_000)}]`, 400],
          anchors: [
            `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((code, at) => `${code}: &${code} [${Array(9).fill(`*${'abcdefghi'[at]}`).join()}]`).join('\n')}\n`,
            400,
          ],
          'broken lines': [repeat('a: b: c\n', 200_000), 400],
          'a thousand rules': [rules('title'), 200],
          'a thousand wrong rules': [rules('wrong'), 400],
        } as const).map(([name, [text, status]]) => ({
          name,
          body: { files: [{ name: 'a.yaml', text }] },
          status,
          ...(status === 400 ? { code: 'INVALID_REQUEST' } : {}),
        })),
      ],
    },
    'config.apply': {
      call: () => ({ body: FILES }),
      lacks: missing('config.manage'),
      large: () => [{ name: 'many users', body: { files: [{ name: 'a.yaml', text: users(2000) }] }, status: 200 }],
    },
    'config.export': {
      call: () => ({}),
      lacks: missing('config.manage'),
      large: async (seen) => {
        await wideType(seen);
        return [{ name: 'a type with many fields', query: '?section=types', status: 200 }];
      },
    },
    'config.versions': { call: () => ({}), lacks: missing('config.manage') },
    'config.version': {
      call: () => ({ params: { version: '1' } }),
      lacks: missing('config.manage'),
      large: async (seen) => {
        await wideType(seen);
        const [row] = await stored<{ version: string }>(
          seen.app,
          'SELECT max(version)::text AS version FROM config_versions',
        );
        return [{ name: 'a type with many fields', params: { version: row?.version ?? '' }, status: 200 }];
      },
    },
    'config.diff': { call: () => ({ query: '?from=1&to=2' }), lacks: missing('config.manage') },
    'config.schema': { call: () => ({}), lacks: ALLOWED, open: true },
  }),
};
