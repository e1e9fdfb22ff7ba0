/**
 * Calls that take a condition, a sort key, a measure or a mapping: for a caller who cannot read a field, its code answers like one
 * that no field has, whatever records hold. Tested over HTTP.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from './support/app.ts';
import { HIDDEN_WORLD } from './support/field-places.ts';
import { user } from './support/small-configuration.ts';

// Without config.manage, whose holders may read the whole configuration with the codes of all fields.
const RIGHTS = 'rights: [webhook.manage, integration.manage, import.manage, import.execute, export.execute]';
const ROLES = `
roles:
  - { code: spies, ${RIGHTS}, records: [ { type: case, actions: [read, create, update, transition, history], fields: { read: [title, kind], write: [title, kind] }, transitions: '*' } ], assignedTo: { users: [spy] } }
  - { code: chiefs, ${RIGHTS.replace(']', ', role.assign]')}, records: [ { type: case, actions: [read, create], fields: { read: '*', write: '*' } } ], assignedTo: { users: [chief] } }
`;

interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
}

const condition = (field: string) => ({ field, operator: 'equals', value: 7 });
const get = (path: string, query: Record<string, string>): Call => ({
  method: 'GET',
  path: `${path}?${new URLSearchParams(query)}`,
});
const post = (path: string, body: unknown): Call => ({ method: 'POST', path, body });
const query = (more: object) => ({ types: ['case'], measures: ['count'], ...more });
const tile = (more: object) => ({ kind: 'table', title: 'Cases', width: 1, query: query(more) });
/** Each call with the code of a field in every place where it may stand. */
const CALLS: Record<string, (field: string, spy: string) => Call> = {
  'search: filter': (field) => get('/search', { kinds: 'object', filter: JSON.stringify(condition(field)) }),
  'list: filter': (field) => get('/desk/objects', { typeId: 'case', filter: JSON.stringify(condition(field)) }),
  'list: sort': (field) => get('/desk/objects', { typeId: 'case', sort: `-${field}` }),
  'queue: filter': (field) =>
    post('/desk/queues', { name: 'Q', shared: false, definition: { type: 'case', filter: condition(field) } }),
  'queue: sort': (field) =>
    post('/desk/queues', { name: 'Q', shared: false, definition: { type: 'case', sort: field } }),
  'report: filter': (field) => post('/reports/query', query({ filter: condition(field) })),
  'report: group': (field) => post('/reports/query', query({ groupBy: [field] })),
  'dashboard: filter': (field) => post('/dashboards', { name: 'D', tiles: [tile({ filter: condition(field) })] }),
  'dashboard: group': (field) => post('/dashboards', { name: 'D', tiles: [tile({ groupBy: [field] })] }),
  'export: filter': (field) =>
    post('/exports', { typeDefinitionId: 'case', format: 'CSV', query: { filter: condition(field) } }),
  'webhook: condition': (field, spy) =>
    post('/webhooks', {
      code: `h-${field}`,
      endpoint: 'https://hooks.example.org/x',
      secretRef: 'main',
      eventTypes: ['ObjectUpdated'],
      executionPrincipalId: spy,
      enabled: false,
      filters: { types: ['case'], condition: condition(field) },
    }),
  'integration: mapping': (field, spy) =>
    post('/integrations', {
      code: `i-${field}`,
      type: 'inbound-webhook',
      executionPrincipalId: spy,
      config: { command: 'object.create', typeDefinitionId: 'case', mapping: [{ source: 'x', target: field }] },
    }),
  'import: mapping': (field) =>
    post('/import-definitions', {
      code: `d-${field}`,
      targetKind: 'object',
      targetTypeId: 'case',
      format: 'CSV',
      mode: 'UPSERT',
      sourceCode: 's',
      resolver: { externalIdField: 'id' },
      mapping: [{ source: 'x', target: field }],
    }),
  'import: look-up': (field) =>
    post('/import-definitions', {
      code: `l-${field}`,
      targetKind: 'object',
      targetTypeId: 'case',
      format: 'CSV',
      mode: 'UPSERT',
      sourceCode: 's',
      resolver: { externalIdField: 'id' },
      mapping: [{ source: 'x', target: 'title', transform: `lookup:case.${field}` }],
    }),
  'create: values': (field) => post('/objects', { typeDefinitionId: 'case', values: { title: 't', [field]: 7 } }),
};

describe('codes of hidden fields in calls', () => {
  let app: TestApp;
  const keys = new Map<string, string>();
  let spy = '';

  const ask = async (login: string, { method, path, body }: Call) =>
    await app.request(method, `/api/admin/v1${path}`, { key: keys.get(login) ?? '', ...(body ? { body } : {}) });

  before(async () => {
    const users = `users:\n${['spy', 'chief'].map((one) => user(one)).join('\n')}`;
    app = await startTestApp({ bundle: [HIDDEN_WORLD, ROLES, users].map((text, n) => ({ name: `${n}.yaml`, text })) });
    for (const login of ['spy', 'chief'])
      keys.set(login, (await app.createKey({ login, scopes: ['admin:manage'] })).key);
    spy = (await ask('spy', get('/session', {}))).body.data.user.id;
    for (const cost of [7, 7, 8]) {
      const body = { typeDefinitionId: 'case', values: { title: 'one', kind: 'a', cost } };
      assert.equal((await ask('chief', post('/objects', body))).status, 201);
    }
  });
  after(() => app.close());

  for (const [name, call] of Object.entries(CALLS)) {
    it(`answer like codes of no field in ${name}`, async () => {
      const seen = async (field: string) => {
        const { status, body } = await ask('spy', call(field, spy));
        const answer = JSON.stringify(body).replaceAll(field, 'FIELD');
        // Ids and moments differ between two equal calls.
        return `${status} ${answer.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'AT')}`;
      };
      const hidden = await seen('cost');
      assert.equal(hidden, await seen('nope'));
      assert.doesNotMatch(hidden, /^500/);
      // A caller who may read the field is not refused, so the call is sound.
      const read = await ask('chief', call('cost', spy));
      assert.ok(read.status < 300, JSON.stringify(read.body));
    });
  }
});
