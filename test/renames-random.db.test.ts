/** Random renames through a running service: values, history, rights and saved queues are as before, under the new codes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { startTestApp, type TestApp } from './support/app.ts';
import { ACTIONS, bundle, idOf } from './support/small-configuration.ts';

/** What can be renamed: the first code of each thing, which stands for it in `WORLD` as `<code>`. */
const THINGS = [
  'impact',
  'impact/high',
  'impact/low',
  'note',
  'tags',
  'tags/red',
  'tags/blue',
  'flow:open',
  'flow:closed',
  'flow:close',
  'case',
  'flow',
  'link',
] as const;
type Thing = (typeof THINGS)[number];

type Names = ReadonlyMap<Thing, { code: string; was: string | undefined }>;

function world(names: Names): string {
  const code = (thing: Thing): string => names.get(thing)?.code ?? '';
  const own = (thing: Thing): string => {
    const was = names.get(thing)?.was;
    return `code: ${code(thing)}${was === undefined ? '' : `, was: ${was}`}`;
  };
  const high = `{ field: ${code('impact')}, operator: equals, value: ${code('impact/high')} }`;
  return `
types:
  - ${own('case').replace(', ', '\n    ')}
    workflow: ${code('flow')}
    fields:
      - { ${own('impact')}, dataType: enum, constraints: { options: [ { ${own('impact/high')} }, { ${own('impact/low')} } ] }, search: { filter: true } }
      - { ${own('note')}, dataType: string }
      - { ${own('tags')}, dataType: enum, multiple: true, constraints: { options: [ { ${own('tags/red')} }, { ${own('tags/blue')} } ] } }
workflows:
  - ${own('flow').replace(', ', '\n    ')}
    initial: ${code('flow:open')}
    states: [ { ${own('flow:open')}, category: open }, { ${own('flow:closed')}, category: done } ]
    transitions: [ { ${own('flow:close')}, from: [${code('flow:open')}], to: ${code('flow:closed')}, condition: ${high} } ]
relationDefinitions: [ { ${own('link')}, sourceTypes: [${code('case')}], targetTypes: [${code('case')}] } ]
roles:
  - code: all
    records: [ { type: ${code('case')}, actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' } ]
    assignedTo: { users: [anna] }
  - code: some
    records: [ { type: ${code('case')}, where: ${high}, actions: [read, history], fields: { read: [${code('tags')}, ${code('impact')}] } } ]
    assignedTo: { users: [boris] }
users: [ { login: anna, displayName: Anna, email: anna@example.org }, { login: boris, displayName: Boris, email: boris@example.org } ]
`;
}

describe('random renames', () => {
  let app: TestApp;
  const first: Names = new Map(THINGS.map((thing) => [thing, { code: firstCode(thing), was: undefined }]));
  let expected: unknown;
  const keys = new Map<string, string>();
  const ids: string[] = [];
  const ok = async (login: string, method: string, place: string, body?: unknown): Promise<any> => {
    const key = keys.get(login) ?? '';
    const answer = await app.request(method, place, { key, ...(body === undefined ? {} : { body }) });
    assert.ok(answer.status < 300, `${method} ${place}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };

  let typeId = '';
  /** Creates a record once; later calls get the same answer again. */
  const create = async (): Promise<unknown> => {
    const values = { impact: 'impact-high', note: 'kept', tags: ['tags-red'] };
    const { body } = await app.request('POST', '/api/v1/objects', {
      key: keys.get('anna') ?? '',
      idempotencyKey: 'create-once',
      body: { typeDefinitionId: typeId, values },
    });
    return body.data.values;
  };

  before(async () => {
    app = await startTestApp();
    keys.set('admin', (await app.createKey({ login: 'admin', scopes: ['admin:manage'] })).key);
    await ok('admin', 'POST', '/api/admin/v1/config/apply', { files: bundle(world(first)) });
    for (const login of ['anna', 'boris']) keys.set(login, (await app.createKey({ login })).key);
    for (const [impact, tags] of [
      ['high', ['red']],
      ['low', ['red', 'blue']],
      ['high', ['blue']],
    ] as const) {
      const values = { impact: `impact-${impact}`, tags: tags.map((tag) => `tags-${tag}`), note: 'first' };
      ids.push((await ok('anna', 'POST', '/api/v1/objects', { typeDefinitionId: 'case', values })).id);
    }
    typeId = await idOf(app, 'config_items', 'case');
    await create();
    const [link] = await ok('anna', 'GET', '/api/v1/relation-definitions');
    const relation = { definitionId: link.id, targetObjectId: ids[1] };
    await ok('anna', 'POST', `/api/v1/objects/${ids[2]}/relations`, relation);
    const change = { expectedRevision: 1, changes: { impact: 'impact-high', tags: [] } };
    await ok('anna', 'PATCH', `/api/v1/objects/${ids[1]}`, change);
    const { state, transitions } = await ok('anna', 'GET', `/api/v1/objects/${ids[0]}/workflow`);
    await ok('anna', 'POST', `/api/v1/objects/${ids[0]}/transitions`, {
      expectedRevision: 1,
      expectedStateId: state.id,
      transitionId: transitions[0].id,
    });
    const filter = { field: 'impact', operator: 'equals', value: 'impact-high' };
    const definition = { type: 'case', filter, columns: ['note'], sort: '-note', state: 'flow-open' };
    keys.set('console', (await app.createKey({ login: 'anna', scopes: ['admin:manage'] })).key);
    await ok('console', 'POST', '/api/admin/v1/desk/queues', { name: 'Mine', shared: false, definition });
  });
  after(() => app.close());

  /** Everything that the two users read, under the first codes. */
  const seen = async (names: Names): Promise<unknown> => {
    const original = new Map([...names].map(([thing, { code }]) => [code, firstCode(thing)]));
    const read = [];
    for (const login of ['anna', 'boris']) {
      for (const id of ids) {
        read.push(await ok(login, 'GET', `/api/v1/objects/${id}`));
        read.push(await ok(login, 'GET', `/api/v1/objects/${id}/history`));
        read.push(await ok(login, 'GET', `/api/v1/objects/${id}?revision=1`));
      }
      const code = (thing: Thing): string => names.get(thing)?.code ?? '';
      const filter = { field: code('impact'), operator: 'equals', value: code('impact/high') };
      const query = new URLSearchParams({ kinds: 'object', filter: JSON.stringify(filter) });
      read.push(await ok(login, 'GET', `/api/v1/search?${query}`));
    }
    read.push(await ok('anna', 'GET', `/api/v1/objects/${ids[1]}/workflow`));
    read.push(await ok('console', 'GET', '/api/admin/v1/desk/queues'));
    read.push(await create());
    return translated(read, original);
  };

  it('lose nothing', async () => {
    let names = first;
    expected = await seen(first);
    let next = 0;
    await fc.assert(
      fc.asyncProperty(fc.subarray([...THINGS], { minLength: 1 }), fc.boolean(), async (renamed, back) => {
        const changed = new Map(names);
        for (const thing of renamed) {
          const code = back ? firstCode(thing) : `n${next++}`;
          const was = names.get(thing)?.code;
          if (code !== was) changed.set(thing, { code, was });
        }
        const body = { files: bundle(world(changed)) };
        const planned = await app.request('POST', '/api/admin/v1/config/plan', {
          key: keys.get('admin') ?? '',
          body: { ...body, impact: true },
        });
        const { data: plan, meta } = planned.body;
        assert.deepEqual(new Set(Object.values(meta.impact.totals)), new Set([0]), JSON.stringify(meta.impact));
        assert.ok(plan.every(({ lost, action }: any) => lost === undefined && action !== 'create'));
        await ok('admin', 'POST', '/api/admin/v1/config/apply', body);
        names = changed;
        assert.deepEqual(await seen(names), expected);
      }),
      { numRuns: 8 },
    );
  });

  it('are undone by restoring an older version', async () => {
    const { rows } = await ok('admin', 'GET', '/api/admin/v1/config/versions?pageSize=100');
    const { version } = rows.find(({ summary }: any) => summary.create > 0);
    const newest = rows[0].version;
    for (const wanted of [version, newest, version]) {
      const { files } = await ok('admin', 'GET', `/api/admin/v1/config/versions/${wanted}`);
      const plan = await ok('admin', 'POST', '/api/admin/v1/config/plan', { files, prune: true });
      assert.ok(
        plan.every(({ lost }: any) => lost === undefined),
        JSON.stringify(plan),
      );
      await ok('admin', 'POST', '/api/admin/v1/config/apply', { files, prune: true });
    }
    assert.deepEqual(await seen(first), expected);
  });
});

function firstCode(thing: Thing): string {
  return thing.replaceAll(/[/:]/g, '-');
}

/** The value with other strings, also as names of properties. Changes of an event are in the order of the other codes. */
function translated(value: unknown, names: ReadonlyMap<string, string>): unknown {
  // A sort may have a minus before the code.
  if (typeof value === 'string')
    return value.replace(/^(-?)(.+)$/, (_text, sign, code) => sign + (names.get(code) ?? code));
  if (Array.isArray(value)) {
    const items: any[] = value.map((one) => translated(one, names));
    const areChanges = items.length > 0 && items.every((item) => item?.field !== undefined && 'from' in item);
    return areChanges ? items.toSorted((one, other) => (one.field < other.field ? -1 : 1)) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, one]) => [names.get(name) ?? name, translated(one, names)]);
  return Object.fromEntries(entries);
}
