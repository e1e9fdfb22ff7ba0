/** Who can be the assignee of a record, in every channel, on the starter (docs/spec/records.md#assignees). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ADMIN_SCOPE, SCOPES } from '../../contract/scopes.ts';
import { startTestApp, type TestAnswer, type TestApp } from '../../../test/support/app.ts';
import { mail } from '../../../test/support/mail-messages.ts';
import { bundle, idOf, nestedIdOf } from '../../../test/support/small-configuration.ts';

const PEOPLE = `
users: [{ login: agent, displayName: Anna Agent }, { login: nobody, displayName: Nick Nobody }, { login: asker, displayName: Alan Asker, email: asker@example.org }]
groups: [{ code: service-desk, name: Service desk, users: [agent] }, { code: askers, name: Askers, users: [asker] }]
rules:
  - code: to-nobody
    on: [ObjectUpdated]
    types: [incident]
    runAs: admin
    when: { field: title, operator: equals, value: For the rule }
    do: [{ set: { assignee: nobody } }]
macros:
  - { code: to-nobody-please, name: To nobody, types: [incident], set: { assignee: nobody } }`;

/** Where an assignee is configured: the default of a field, a mailbox, an item of the catalogue. */
const CONFIGURED = `
types:
  - code: errand
    title: title
    fields: [{ code: title, dataType: string, required: true }, { code: by, dataType: user, role: assignee, default: nobody }]
  - code: wish
    title: title
    fields: [{ code: title, dataType: string, required: true }, { code: who, dataType: user }, { code: by, dataType: user, role: assignee }]
roles:
  - code: wishes
    interface: portal
    records: [{ type: wish, actions: [read, create, comment.create], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [asker, nobody] }
  - code: wish-work
    records: [{ type: wish, actions: [read, update], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [agent] }
mailboxes:
  - { code: bad, address: bad@example.org, type: wish, defaults: { by: nobody }, authServer: mx.example.org, enabled: true }
  - { code: good, address: good@example.org, type: wish, defaults: { by: agent }, authServer: mx.example.org, enabled: true }
catalogs:
  - code: wishes
    active: true
    categories: [{ code: all }]
    items:
      - { code: given, category: all, type: wish, requesterField: who, form: [{ code: title }, { code: by }], audience: { everyone: true } }
      - { code: fixed, category: all, type: wish, requesterField: who, form: [{ code: title }], set: { by: nobody }, audience: { everyone: true } }`;

describe('assignees', () => {
  let app: TestApp;
  const keys: Record<string, string> = {};
  const ids: Record<string, string> = {};

  const call = (who: string, method: string, path: string, body?: object): Promise<TestAnswer> =>
    app.request(method, path.startsWith('/api') ? path : `/api/v1${path}`, {
      key: keys[who] ?? '',
      ...(body === undefined ? {} : { body }),
    });
  const ok = async (who: string, method: string, path: string, body?: object): Promise<any> => {
    const answer = await call(who, method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const incident = (more: object = {}) => ({
    typeDefinitionId: 'incident',
    values: { title: 'Printer', requester: ids['asker'], ...more },
  });
  const make = (more: object = {}): Promise<any> => ok('agent', 'POST', '/objects', incident(more));
  const assertRefused = (error: any, path: string): void => {
    assert.equal(error?.code, 'INVALID_VALUES', JSON.stringify(error));
    assert.deepEqual(
      error.details.map((one: any) => [one.path, one.code]),
      [[path, 'NOT_ASSIGNABLE']],
    );
  };

  before(async () => {
    app = await startTestApp();
    await app.apply(bundle(PEOPLE));
    for (const login of ['admin', 'agent', 'asker'])
      keys[login] = (await app.createKey({ login, scopes: [...SCOPES, ADMIN_SCOPE] })).key;
    for (const login of ['admin', 'agent', 'nobody', 'asker']) ids[login] = await idOf(app, 'users', login);
  });
  after(() => app.close());

  it('are refused without rights in creates, changes, transitions and bulk changes', async () => {
    const nobody = { assignee: ids['nobody'] };
    assertRefused((await call('agent', 'POST', '/objects', incident(nobody))).body.error, '/values/assignee');
    const { id } = await make();
    const patch = { expectedRevision: 1, changes: nobody };
    assertRefused((await call('agent', 'PATCH', `/objects/${id}`, patch)).body.error, '/changes/assignee');
    const [result] = await ok('agent', 'POST', '/bulk', { operation: 'update', items: [{ objectId: id, ...patch }] });
    assertRefused(result.error, '/changes/assignee');
    const workflow = await ok('agent', 'GET', `/objects/${id}/workflow`);
    const taken = await call('agent', 'POST', `/objects/${id}/transitions`, {
      transitionId: workflow.transitions.find((one: any) => one.code === 'take').id,
      expectedRevision: 1,
      expectedStateId: workflow.state.id,
      values: nobody,
    });
    assertRefused(taken.body.error, '/values/assignee');
    assert.equal((await ok('agent', 'GET', `/objects/${id}`)).revision, 1);
  });

  it('are refused without rights in rules, macros, imports and integrations', async () => {
    const { id } = await make();
    const changes = { title: 'For the rule' };
    await call('agent', 'PATCH', `/objects/${id}`, { expectedRevision: 1, changes });
    assert.equal((await ok('agent', 'GET', `/objects/${id}`)).values.assignee, undefined, 'set by a rule');
    const { id: other, revision } = await make();
    const macro = await call('agent', 'POST', `/api/admin/v1/objects/${other}/macros`, {
      macroId: await idOf(app, 'config_items', 'to-nobody-please'),
      expectedRevision: revision,
    });
    assert.equal(macro.status, 400, JSON.stringify(macro.body));
    const definition = await ok('admin', 'POST', '/import-definitions', {
      code: 'incidents',
      targetKind: 'object',
      targetTypeId: 'incident',
      format: 'CSV',
      mode: 'UPSERT',
      sourceCode: 'old',
      resolver: { externalIdField: 'ext' },
      mapping: ['title', 'requester', 'assignee'].map((field) => ({ source: field, target: field })),
    });
    const content = `ext,title,requester,assignee\n1,One,${ids['asker']},${ids['nobody']}\n2,Two,${ids['asker']},${ids['agent']}\n`;
    const run = await ok('admin', 'POST', '/imports/run', { definitionId: definition.id, content, dryRun: false });
    const rows = run.rows ?? (await ok('admin', 'GET', `/import-runs/${run.id}`)).rows;
    assert.deepEqual(
      rows.map((row: any) => row.errors?.map((one: any) => [one.path, one.code])?.[0] ?? null),
      [['/values/assignee', 'NOT_ASSIGNABLE'], null],
    );
    const integration = await ok('admin', 'POST', '/api/admin/v1/integrations', {
      code: 'monitoring',
      type: 'inbound-webhook',
      executionPrincipalId: ids['admin'],
      enabled: true,
      config: {
        command: 'object.create',
        typeDefinitionId: 'incident',
        mapping: ['title', 'requester', 'assignee'].map((field) => ({ source: field, target: field })),
      },
    });
    const sent = await call(
      'admin',
      'POST',
      `/inbound/${integration.id}`,
      incident({ assignee: ids['nobody'] }).values,
    );
    assertRefused(sent.body.error, '/values/assignee');
  });

  it('with the rights of an agent are accepted, open the record and change it', async () => {
    const { id } = await ok('admin', 'POST', '/objects', incident({ assignee: ids['agent'] }));
    const changed = await ok('agent', 'PATCH', `/objects/${id}`, { expectedRevision: 1, changes: { title: 'Mine' } });
    assert.equal(changed.values.title, 'Mine');
    await ok('agent', 'PATCH', `/objects/${id}`, { expectedRevision: 2, changes: { assignee: null } });
  });

  it('can be anyone where the type says so', async () => {
    const fields = [
      { code: 'title', dataType: 'string' },
      { code: 'by', dataType: 'user', role: 'assignee' },
    ];
    const apply = (more: object) => app.apply(bundle(JSON.stringify({ types: [{ code: 'chore', fields, ...more }] })));
    await apply({});
    const body = { typeDefinitionId: 'chore', values: { title: 'Sweep', by: ids['nobody'] } };
    assertRefused((await call('admin', 'POST', '/objects', body)).body.error, '/values/by');
    await apply({ assignable: 'anyone' });
    const { id } = await ok('admin', 'POST', '/objects', body);
    await apply({});
    const kept = await ok('admin', 'PATCH', `/objects/${id}`, {
      expectedRevision: 1,
      changes: { title: 'Swept', by: ids['nobody'] },
    });
    assert.equal(kept.values.by, ids['nobody'], 'a value that is stored stays');
  });

  it('are refused without rights as defaults of fields and mailboxes, and in the catalogue', async () => {
    await app.apply(bundle(CONFIGURED));
    const errand = { typeDefinitionId: 'errand', values: { title: 'Sweep' } };
    assertRefused((await call('admin', 'POST', '/objects', errand)).body.error, '/values/by');
    const made = await ok('admin', 'POST', '/objects', { ...errand, values: { title: 'Sweep', by: ids['admin'] } });
    assert.equal(made.values.by, ids['admin'], 'another one than the default');

    const ask = (item: string, values: object) =>
      call('asker', 'POST', `/catalog/items/${item}/requests`, { requesterId: ids['asker'], values });
    const [given, fixed] = [await nestedIdOf(app, 'given'), await nestedIdOf(app, 'fixed')];
    assertRefused((await ask(given, { title: 'Tea', by: ids['nobody'] })).body.error, '/values/by');
    assertRefused((await ask(fixed, { title: 'Tea' })).body.error, '/values/by');
    assert.equal((await ask(given, { title: 'Tea', by: ids['agent'] })).status, 201);

    const receive = async (box: string): Promise<any> => {
      const raw = mail({
        from: 'asker@example.org',
        to: `${box}@example.org`,
        subject: `Cake for ${box}`,
        headers: ['Authentication-Results: mx.example.org; dmarc=pass header.from=example.org'],
      });
      const body = { raw: Buffer.from(raw).toString('base64') };
      return await ok('admin', 'POST', `/mailboxes/${box}/messages`, body);
    };
    const refused = await receive('bad');
    assert.deepEqual([refused.state, refused.objectId], ['LISTED', null], JSON.stringify(refused));
    const { objectId } = await receive('good');
    assert.equal((await ok('admin', 'GET', `/objects/${objectId}`)).values.by, ids['agent']);
  });
});
