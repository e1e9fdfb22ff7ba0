/**
 * Edge cases of values in every channel that writes records: blank required texts, the nesting of bodies, the schema of a field
 * without a default; and the states that filter a list of one type.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { ACTIONS, bundle, stored } from './support/small-configuration.ts';

const WORLD = `
settings: { defaultLocale: en-US, timezone: Europe/Moscow }
types:
  - code: note
    name: Note
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: text, dataType: text, required: true, default: as usual }
      - { code: remark, dataType: string }
      - { code: tags, dataType: string, multiple: true }
      - { code: any, dataType: json }
  - { code: plain, name: Plain, title: title, fields: [{ code: title, dataType: string }] }
  - code: other
    name: Other
    title: title
    workflow: others
    fields: [{ code: title, dataType: string }]
workflows:
  - code: flow
    name: Flow
    initial: new
    states: [{ code: new, name: New, category: open }, { code: done, name: Done, category: done }]
    transitions:
      - { code: finish, name: Finish, from: '*', to: done, fields: [{ code: remark, required: true }, { code: title }] }
  - code: others
    name: Others
    initial: begun
    states: [{ code: begun, name: Begun, category: open }]
catalogs:
  - code: shop
    categories: [{ code: all }]
    items:
      - { code: wish, category: all, type: note, form: [{ code: title }, { code: remark, required: true }], audience: { everyone: true } }
integrations:
  - { code: door, type: inbound-webhook, executionPrincipal: boss, enabled: true, config: { command: object.create, typeDefinitionId: note, mapping: [{ source: title, target: title }, { source: any, target: any }] } }
roles:
  - code: boss
    rights: [config.manage, import.manage, import.execute, catalog.impersonate, integration.manage]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [boss] }
users: [{ login: boss, displayName: Boss, email: boss@example.org }]
`;

let app: TestApp;
let key: string;
let admin: string;

const call = (method: string, path: string, body?: unknown): Promise<TestAnswer> =>
  app.request(method, `/api/v1${path}`, { key, ...(body === undefined ? {} : { body }) });

async function ok(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await call(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

const make = (values: object): Promise<TestAnswer> => call('POST', '/objects', { typeDefinitionId: 'note', values });

async function idOf(table: string, code: string): Promise<string> {
  const rows = await stored<{ id: string }>(app, `SELECT id FROM ${table} WHERE code = $1`, [code]);
  return rows[0]?.id ?? assert.fail(`no ${code} in ${table}`);
}

const detailsOf = (error: { details: { path: string; code: string }[] }): string[] =>
  error.details.map(({ path, code }) => `${path} ${code}`);

/** Arrays in arrays. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

describe('edge cases of values in every channel', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    key = (await app.createKey({ login: 'boss', scopes: 'all' })).key;
    admin = (await app.createKey({ login: 'boss', scopes: ['admin:manage'] })).key;
  });
  after(() => app.close());

  it('treat blank text as empty for a required string or text', async () => {
    const { id } = (await make({ title: 'x' })).body.data;
    const blanks = ['', ' ', '\u00a0\u2003', '\t'];
    for (const blank of blanks) {
      assert.deepEqual(detailsOf((await make({ title: blank })).body.error), ['/values/title REQUIRED'], 'create');
      assert.deepEqual(detailsOf((await make({ title: 'x', text: `${blank}\n ` })).body.error), [
        '/values/text REQUIRED',
      ]);
      const change = { expectedRevision: 1, changes: { title: blank } };
      assert.deepEqual(detailsOf((await call('PATCH', `/objects/${id}`, change)).body.error), [
        '/changes/title REQUIRED',
      ]);
      const [item] = await ok('POST', '/bulk', { operation: 'update', items: [{ objectId: id, ...change }] });
      assert.deepEqual(detailsOf(item.error), ['/changes/title REQUIRED'], 'bulk');
      const inbound = await call('POST', `/inbound/${await idOf('config_items', 'door')}`, { title: blank });
      assert.deepEqual(detailsOf(inbound.body.error), ['/values/title REQUIRED'], 'inbound');
      const { state, transitions } = await ok('GET', `/objects/${id}/workflow`);
      const transition = await call('POST', `/objects/${id}/transitions`, {
        transitionId: transitions[0].id,
        expectedRevision: 1,
        expectedStateId: state.id,
        values: { remark: blank, title: blank },
      });
      assert.deepEqual(
        detailsOf(transition.body.error).sort(),
        ['/values/remark REQUIRED', '/values/title REQUIRED'],
        'what a transition requires, too',
      );
      const boss = await stored<{ id: string }>(app, `SELECT id FROM users WHERE login = 'boss'`);
      const request = await call('POST', `/catalog/items/${await idOf('config_ids', 'wish')}/requests`, {
        requesterId: boss[0]?.id,
        values: { title: blank, remark: blank },
      });
      assert.deepEqual(
        detailsOf(request.body.error).sort(),
        ['/values/remark REQUIRED', '/values/title REQUIRED'],
        'what the form of the catalogue requires, too',
      );
    }
    const definition = await ok('POST', '/import-definitions', {
      code: 'blanks',
      targetKind: 'object',
      targetTypeId: 'note',
      format: 'JSON',
      mode: 'UPSERT',
      sourceCode: 'blanks',
      resolver: { externalIdField: 'ext' },
      mapping: [{ source: 'title', target: 'title' }],
    });
    const content = JSON.stringify(blanks.map((title, ext) => ({ ext: String(ext), title })));
    const run = await ok('POST', '/imports/run', { definitionId: definition.id, content, dryRun: false });
    assert.equal(run.failed, blanks.length);
    // If a value is not required, blanks are kept as written.
    assert.equal((await make({ title: 'x', remark: '  ' })).body.data.values.remark, '  ');
    const planned = await app.request('POST', '/api/admin/v1/config/plan', {
      key: admin,
      body: {
        files: [
          {
            name: 'x.yaml',
            text: `types: [{ code: blank, name: Blank, fields: [{ code: f, dataType: string, required: true, default: '  ' }] }]`,
          },
        ],
      },
    });
    assert.match(JSON.stringify(planned.body), /The default is empty. Remove it/);
  });

  it('allow 64 levels of nesting in a body, of which a json value gets the remainder', async () => {
    const created = await make({ title: 'deep', any: nested(62) });
    assert.equal(created.status, 201, JSON.stringify(created.body).slice(0, 300));
    const { id } = created.body.data;
    assert.deepEqual((await ok('GET', `/objects/${id}`)).values.any, nested(62));
    assert.equal((await make({ title: 'deep', any: nested(63) })).body.error.code, 'INVALID_JSON');
    const bulk = (levels: number): Promise<TestAnswer> =>
      call('POST', '/bulk', {
        operation: 'update',
        items: [{ objectId: id, expectedRevision: 1, changes: { any: nested(levels) } }],
      });
    assert.equal((await bulk(61)).body.error.code, 'INVALID_JSON');
    assert.equal((await bulk(60)).body.data[0].status, 'SUCCEEDED');
    const inbound = `/inbound/${await idOf('config_items', 'door')}`;
    assert.equal((await call('POST', inbound, { title: 'in', any: nested(63) })).status, 201);
    assert.equal((await call('POST', inbound, { title: 'in', any: nested(64) })).body.error.code, 'INVALID_JSON');
  });

  it('show a default in the field schema only if there is one', async () => {
    const { id } = (await make({ title: 'x' })).body.data;
    const schemas = [await ok('GET', '/metadata/types/note/fields'), await ok('GET', `/objects/${id}/schema`)];
    for (const { fields } of schemas) {
      for (const field of fields) {
        assert.equal(Object.hasOwn(field, 'default'), field.code === 'text', field.code);
      }
    }
    const { items } = await ok('GET', '/catalog?locale=en-US');
    assert.ok(items[0].fields.every((field: object) => !Object.hasOwn(field, 'default')));
    const { transitions } = await ok('GET', `/objects/${id}/workflow`);
    assert.ok(transitions[0].fields.every((field: object) => !Object.hasOwn(field, 'default')));
  });

  it('filter a list of one type by ACTIVE, ARCHIVED and the states of its workflow', async () => {
    await make({ title: 'x' });
    for (const state of ['ACTIVE', 'ARCHIVED', 'new', 'done']) {
      await ok('GET', `/objects?typeId=note&state=${state}`);
    }
    const type = await idOf('config_items', 'note');
    for (const [typeId, state] of [
      ['note', 'begun'],
      [type, 'begun'],
      ['other', 'new'],
      ['plain', 'new'],
      ['note', 'active'],
      ['note', 'x'],
    ]) {
      for (const q of ['', '&q=word']) {
        const answer = await call('GET', `/objects?typeId=${typeId}&state=${state}${q}`);
        assert.equal(answer.status, 400, `${typeId} ${state}`);
        assert.deepEqual(answer.body.error.details[0].path, 'query.state');
      }
    }
  });
});
