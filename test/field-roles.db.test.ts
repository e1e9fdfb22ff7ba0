/** Roles of fields: what the bundle accepts, and that features find a field by its role (docs/spec/configuration.md#roles-of-fields). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Fault } from '../src/lib/fault.ts';
import { startTestApp, type TestApp } from './support/app.ts';
import { notifyAll, testAuthenticator } from './support/notify-all.ts';
import { ACTIONS, bundle, idOf, stored } from './support/small-configuration.ts';

type Field = Record<string, unknown> & { code: string };

const FIELDS: readonly Field[] = [
  { code: 'title', dataType: 'string', required: true },
  { code: 'executor', dataType: 'user', role: 'assignee' },
  { code: 'author', dataType: 'user', role: 'requester' },
  { code: 'watching', dataType: 'user', multiple: true, role: 'participants' },
  { code: 'needed', dataType: 'date', role: 'due' },
  { code: 'team', dataType: 'group' },
];
const WORLD = {
  settings: { defaultLocale: 'en-US', notificationFields: { group: ['team'], requester: ['executor'] } },
  users: ['alice', 'bob', 'carol'].map((login) => ({ login, displayName: login })),
  groups: [{ code: 'desk', name: 'Desk', users: ['carol'] }],
  roles: [
    {
      code: 'keeper',
      rights: ['config.manage', 'role.assign', 'user.administer'],
      records: [{ type: '*', actions: ACTIONS.split(', '), fields: { read: '*', write: '*' } }],
      assignedTo: { users: ['alice', 'bob', 'carol'] },
    },
  ],
};

describe('roles of fields', () => {
  let app: TestApp;
  let key: string;
  const apply = async (fields: readonly Field[], code = 'task') =>
    await app.apply(bundle(JSON.stringify({ types: [{ code, title: 'title', fields }] })));
  const get = async (path: string) => {
    const answer = await app.request('GET', path, { key });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.data;
  };
  const rolesOf = async (path: string): Promise<Record<string, string>> => {
    const { fields } = (await get(path)) as { fields: (Field & { role?: string })[] };
    return Object.fromEntries(fields.flatMap(({ code, role }) => (role === undefined ? [] : [[code, role]])));
  };
  const versions = async (): Promise<number> => {
    const query = "SELECT v.version FROM type_versions v JOIN config_items c ON c.id = v.type_id WHERE c.code = 'task'";
    return (await stored(app, query)).length;
  };
  const create = async (values: Record<string, unknown>): Promise<string> => {
    const body = { typeDefinitionId: 'task', values: { title: 'A task', ...values } };
    const answer = await app.request('POST', '/api/v1/objects', { key, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.data.id;
  };
  /** Who is notified of the creation of the record. */
  const notified = async (objectId: string): Promise<Record<string, string>> => {
    await notifyAll(app, testAuthenticator(app));
    const query = 'SELECT u.login, n.kind FROM notifications n JOIN users u ON u.id = n.user_id WHERE n.object_id = $1';
    const rows = await stored<{ login: string; kind: string }>(app, query, [objectId]);
    return Object.fromEntries(rows.map(({ login, kind }) => [login, kind]));
  };

  before(async () => {
    app = await startTestApp({
      bundle: bundle(JSON.stringify({ ...WORLD, types: [{ code: 'task', title: 'title', fields: FIELDS }] })),
    });
    key = (
      await app.createKey({
        login: 'alice',
        scopes: ['admin:manage', 'metadata:read', 'objects:write', 'objects:read'],
      })
    ).key;
  });
  after(() => app.close());

  it('are published to the console and exported, and planning the export reports no change', async () => {
    const published = { executor: 'assignee', author: 'requester', watching: 'participants', needed: 'due' };
    assert.deepEqual(await rolesOf('/api/admin/v1/metadata/types/task/fields'), published);
    assert.deepEqual(await rolesOf('/api/v1/metadata/types/task/fields'), {});
    const { files } = await get('/api/admin/v1/config/export');
    assert.match(JSON.stringify(files), /role: participants/);
    const plan = await app.request('POST', '/api/admin/v1/config/plan', { key, body: { files } });
    assert.deepEqual(
      plan.body.data.filter(({ action }: { action: string }) => action !== 'leave'),
      [],
    );
  });

  it('decide who is notified, whatever the field is called and in records of older versions too', async () => {
    const ids = { executor: await idOf(app, 'users', 'bob'), team: await idOf(app, 'groups', 'desk') };
    assert.deepEqual(await notified(await create(ids)), { bob: 'assigned' });
    assert.deepEqual(await notified(await create({ team: ids.team })), { carol: 'assigned' });
  });

  it('change without a new version, and a renamed field keeps its role', async () => {
    const before = await versions();
    await apply(FIELDS.map((field) => (field.code === 'needed' ? { ...field, role: 'end' } : field)));
    assert.equal((await rolesOf('/api/admin/v1/metadata/types/task/fields'))['needed'], 'end');
    await apply(
      FIELDS.map((field) => (field.code === 'executor' ? { ...field, code: 'worker', was: 'executor' } : field)),
    );
    const now = await rolesOf('/api/admin/v1/metadata/types/task/fields');
    assert.equal(now['worker'], 'assignee');
    assert.equal(await versions(), before);
    assert.deepEqual(await notified(await create({ worker: await idOf(app, 'users', 'bob') })), { bob: 'assigned' });
  });

  it('stand at most once in a type, on fields of the right data type', async () => {
    const refused = async (...fields: Field[]): Promise<string[]> => {
      const title = { code: 'title', dataType: 'string' };
      const fault = await apply([title, ...fields], 'other').then(
        () => null,
        (error: Fault) => error,
      );
      const details = (fault?.details ?? []) as unknown as { at: string }[];
      return details.map(({ at }) => at);
    };
    const user = (code: string, more = {}): Field => ({ code, dataType: 'user', ...more });
    assert.deepEqual(await refused(user('a', { role: 'assignee' }), user('b', { role: 'assignee' })), [
      'types[0].fields[2].role',
    ]);
    assert.deepEqual(await refused(user('a', { role: 'assignee', multiple: true })), ['types[0].fields[1].role']);
    assert.deepEqual(await refused(user('a', { role: 'participants' })), ['types[0].fields[1].role']);
    assert.deepEqual(await refused({ code: 'a', dataType: 'string', role: 'group' }), ['types[0].fields[1].role']);
    assert.deepEqual(await refused(user('a', { role: 'boss' })), ['types[0].fields[1].role']);
    assert.deepEqual(await refused(user('a', { role: 'commander' }), user('b', { role: 'communications' })), []);
  });
});
