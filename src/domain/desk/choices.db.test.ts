/** Who is offered as the assignee: only users whom the record would accept (docs/spec/records.md#assignees). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ADMIN_SCOPE, SCOPES } from '../../contract/scopes.ts';
import { startTestApp, type TestAnswer, type TestApp } from '../../../test/support/app.ts';
import { bundle, idOf } from '../../../test/support/small-configuration.ts';

/** More than the rights that are read in one step. */
const OUTSIDERS = Array.from({ length: 70 }, (_, index) => `Aaron Outsider ${String(index).padStart(2, '0')}`);

const PEOPLE = JSON.stringify({
  users: [
    { login: 'agent', displayName: 'Anna Agent' },
    { login: 'nobody', displayName: 'Nick Nobody' },
    { login: 'asker', displayName: 'Alan Asker' },
    { login: 'worker', displayName: 'Zoe Worker' },
    ...OUTSIDERS.map((displayName, index) => ({ login: `outsider-${index}`, displayName })),
  ],
  groups: [
    { code: 'service-desk', name: 'Service desk', users: ['agent'] },
    { code: 'askers', name: 'Askers', users: ['asker'] },
    { code: 'plumbers', name: 'Plumbers', users: ['worker'] },
    { code: 'painters', name: 'Painters', users: OUTSIDERS.map((_, index) => `outsider-${index}`) },
    { code: 'craft', name: 'Craft', groups: ['plumbers', 'painters'] },
  ],
  roles: [
    {
      code: 'asks',
      name: 'Asks',
      interface: 'portal',
      records: [
        {
          type: 'incident',
          where: { field: 'requester', operator: 'equals', value: '$me' },
          actions: ['read', 'create', 'transition', 'comment.create'],
          fields: { read: ['title', 'requester'], write: ['title', 'requester'] },
          transitions: ['reopen', 'close', 'cancel'],
        },
      ],
      assignedTo: { groups: ['askers'] },
    },
    {
      code: 'craft',
      name: 'Craft',
      interface: 'desk',
      records: [
        {
          type: 'incident',
          where: { field: 'assignmentGroup', operator: 'in', value: '$myGroups' },
          actions: ['read', 'update'],
          fields: { read: '*', write: '*' },
        },
      ],
      assignedTo: { groups: ['craft'] },
    },
  ],
});

describe('choices of an assignee', () => {
  let app: TestApp;
  const keys: Record<string, string> = {};
  const ids: Record<string, string> = {};

  const call = (who: string, method: string, path: string, body?: object): Promise<TestAnswer> =>
    app.request(method, path, { key: keys[who] ?? '', ...(body === undefined ? {} : { body }) });
  const ok = async (who: string, method: string, path: string, body?: object): Promise<any> => {
    const answer = await call(who, method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const lookup = (query: Record<string, string | undefined>): string =>
    `/api/admin/v1/desk/lookup?${new URLSearchParams(
      Object.entries({ kind: 'user', ...query }).filter((one): one is [string, string] => one[1] !== undefined),
    )}`;
  const offered = async (query: Record<string, string | undefined>): Promise<string[]> =>
    (await ok('agent', 'GET', lookup({ field: 'assignee', ...query }))).map(({ name }: { name: string }) => name);
  const make = (more: object = {}): Promise<any> =>
    ok('admin', 'POST', '/api/v1/objects', {
      typeDefinitionId: 'incident',
      values: { title: 'Printer', requester: ids['asker'], ...more },
    });

  before(async () => {
    app = await startTestApp();
    await app.apply(bundle(PEOPLE));
    for (const login of ['admin', 'agent', 'asker', 'nobody', 'worker']) ids[login] = await idOf(app, 'users', login);
    for (const login of ['admin', 'agent', 'asker'])
      keys[login] = (await app.createKey({ login, scopes: [...SCOPES, ADMIN_SCOPE] })).key;
    ids['plumbers'] = await idOf(app, 'groups', 'plumbers');
  });
  after(() => app.close());

  it('are people who may work on the record, also behind many who hold a role and may not', async () => {
    const { id } = await make({ assignmentGroup: ids['plumbers'] });
    const able = ['Anna Agent', 'Zoe Worker', 'Автоматика', 'Администратор'];
    assert.deepEqual(await offered({ objectId: id }), able);
    assert.deepEqual(
      await offered({ objectId: id, q: 'Worker' }),
      ['Zoe Worker'],
      'by a role of a group inside a group',
    );
    assert.deepEqual(await offered({ objectId: id, q: 'Outsider' }), []);
    const only = [ids['nobody'], ids['worker'], ids['asker']].join();
    assert.deepEqual(await offered({ objectId: id, ids: only }), ['Zoe Worker']);
    const other = await make();
    assert.deepEqual(
      await offered({ objectId: other.id }),
      able.filter((name) => name !== 'Zoe Worker'),
    );
  });

  it('are not the requester of the record, whose right is to close and reopen it; the record refuses them as well', async () => {
    const { id, revision } = await make();
    assert.deepEqual(await offered({ objectId: id, ids: ids['asker'] }), []);
    const changes = { assignee: ids['asker'] };
    const { body } = await call('admin', 'PATCH', `/api/v1/objects/${id}`, { expectedRevision: revision, changes });
    assert.deepEqual(body.error.details[0].code, 'NOT_ASSIGNABLE');
  });

  it('are for a new record those who work on records of the type', async () => {
    assert.deepEqual(await offered({ typeId: 'incident', q: 'Zoe' }), ['Zoe Worker']);
    assert.deepEqual(await offered({ typeId: 'incident', ids: [ids['asker'], ids['nobody'], ids['agent']].join() }), [
      'Anna Agent',
    ]);
    assert.deepEqual(await offered({ typeId: 'request', q: 'Zoe' }), [], 'has no role for requests');
  });

  it('are each accepted by the record, and nobody else is', async () => {
    const { id } = await make({ assignmentGroup: ids['plumbers'] });
    const choices: { id: string }[] = await ok('admin', 'GET', lookup({ objectId: id, field: 'assignee' }));
    const accepted = new Set(choices.map((one) => one.id));
    for (const login of ['admin', 'agent', 'asker', 'nobody', 'worker']) {
      const { revision } = await ok('admin', 'GET', `/api/v1/objects/${id}`);
      const body = { expectedRevision: revision, changes: { assignee: ids[login] } };
      const { status } = await call('admin', 'PATCH', `/api/v1/objects/${id}`, body);
      assert.equal(status === 200, accepted.has(ids[login] ?? ''), login);
    }
  });

  it('of all other fields are all active users, also where a type lets anyone be assigned', async () => {
    const { id } = await make();
    assert.deepEqual(await offered({ objectId: id, field: 'requester', q: 'Nick' }), ['Nick Nobody']);
    assert.deepEqual(await offered({ objectId: id, field: 'no-such-field', q: 'Nick' }), ['Nick Nobody']);
    const fields = [
      { code: 'title', dataType: 'string' },
      { code: 'by', dataType: 'user', role: 'assignee' },
    ];
    const types = [
      { code: 'chore', fields },
      { code: 'errand', fields, assignable: 'anyone' },
    ];
    const records = types.map(({ code }) => ({ type: code, actions: ['read', 'update'], fields: { read: '*' } }));
    const roles = [{ code: 'chores', name: 'Chores', records, assignedTo: { users: ['agent'] } }];
    await app.apply(bundle(JSON.stringify({ types, roles })));
    assert.deepEqual(await offered({ typeId: 'errand', field: 'by', q: 'Nick' }), ['Nick Nobody']);
    assert.deepEqual(await offered({ typeId: 'chore', field: 'by', q: 'Nick' }), []);
  });

  it('are not told of records and types that the caller may not read', async () => {
    const { id } = await ok('admin', 'POST', '/api/v1/objects', { typeDefinitionId: 'vendor', values: { title: 'V' } });
    const hidden = await call('asker', 'GET', lookup({ objectId: id, field: 'assignee' }));
    assert.equal(hidden.status, 404, JSON.stringify(hidden.body));
    const { status, body } = await call('agent', 'GET', lookup({ typeId: 'no-such-type', field: 'assignee' }));
    assert.deepEqual([status, body.error.details[0].path], [400, 'query.typeId']);
  });
});
