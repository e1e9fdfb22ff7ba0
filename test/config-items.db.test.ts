/** Single configuration items: read, planned with their effects, exact memberships, archived; and effective rights. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from './harness/app.ts';
import { watchAnswers } from './harness/response-check.ts';
import { bundle, idOf } from './harness/small-configuration.ts';

const WORLD = `
types:
  - code: ticket
    fields:
      - { code: title, dataType: string, required: true }
      - { code: owner, dataType: user }
      - { code: secret, dataType: string }
  - code: lonely
    fields: [ { code: title, dataType: string } ]
roles:
  - code: own
    name: Own tickets
    rights: [kb.read]
    records:
      - { type: ticket, where: { field: owner, operator: equals, value: $me }, actions: [read, update], fields: { read: [title, owner], write: [title] } }
      - { type: '*', actions: [history], fields: { read: [title] } }
    assignedTo: { groups: [inner] }
  - code: keeper
    rights: [role.assign, config.manage]
    records: [ { type: ticket, actions: [read, create], fields: { read: [title, owner], write: [title, owner] } } ]
    assignedTo: { users: [keeper] }
  - { code: mechanic, rights: [config.manage], assignedTo: { users: [mechanic] } }
groups: [ { code: outer, groups: [inner] }, { code: inner, users: [anna, boris] } ]
users:
  - { login: anna, displayName: Anna, email: anna@example.org }
  - { login: boris, displayName: Boris, email: boris@example.org }
  - { login: keeper, displayName: Keeper, email: keeper@example.org }
  - { login: mechanic, displayName: Mechanic }
`;

describe('configuration items', () => {
  let app: TestApp;
  let admin: string;
  let keeper: string;
  const ask = async (key: string, method: string, path: string, body?: unknown): Promise<any> =>
    await app.request(method, `/api/admin/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
  const ok = async (method: string, path: string, body?: unknown, key = admin): Promise<any> => {
    const answer = await ask(key, method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body.data;
  };

  before(async () => {
    app = await startTestApp();
    watchAnswers(app);
    admin = (await app.createKey({ login: 'admin', scopes: ['admin:manage'] })).key;
    await ok('POST', '/config/apply', { files: bundle(WORLD) });
    keeper = (await app.createKey({ login: 'keeper', scopes: ['admin:manage'] })).key;
  });
  after(() => app.close());

  it('are returned as a bundle writes them, and applying that text changes nothing', async () => {
    const item = await ok('GET', '/config/roles/own');
    assert.equal(item.state, 'ACTIVE');
    assert.match(item.text, /^code: own\nname: Own tickets\n/);
    assert.match(item.text, /assignedTo:\n {2}groups:\n {4}- inner\n/);
    assert.deepEqual(item.definition.assignedTo, { users: [], groups: ['inner'] });
    const text = `roles:\n  -\n${item.text.replaceAll(/^(?=.)/gm, '    ')}`;
    const [planned] = await ok('POST', '/config/plan', { files: bundle(text), exact: true });
    assert.equal(planned.action, 'leave');
    assert.deepEqual(planned.differences, []);
    assert.equal((await ask(admin, 'GET', '/config/roles/none')).status, 404);
    assert.equal((await ask(admin, 'GET', '/config/nothing/own')).status, 404);
  });

  it('are listed with what uses them and who changed them, within the rights of the caller', async () => {
    const list = async (section: string, key = admin): Promise<Map<string, any>> => {
      const items = await ok('GET', `/config/${section}?include=updatedAt,changedBy,usedBy`, undefined, key);
      return new Map(items.map((item: any) => [item.code as string, item] as const));
    };
    const types = await list('types');
    assert.deepEqual(
      types.get('ticket').usedBy.items.map(({ section, code }: any) => `${section}/${code}`),
      ['roles/keeper', 'roles/own'],
    );
    assert.deepEqual(types.get('lonely').usedBy, { count: 0, items: [] });
    assert.equal(types.get('ticket').changedBy.displayName, 'Администратор');
    const text = 'types: [ { code: lonely, name: Lonely, fields: [ { code: title, dataType: string } ] } ]';
    await ok('POST', '/config/apply', { files: bundle(text) }, keeper);
    const changed = (await list('types')).get('lonely');
    assert.equal(changed.changedBy.displayName, 'Keeper');
    assert.ok(Date.parse(changed.updatedAt) > 0);
    // The keeper may not administer users: no groups are named.
    await ok('POST', '/config/apply', {
      files: bundle(
        'services: [ { code: s, audience: { groups: [outer] } } ]\nroles: [ { code: w, records: [ { type: ticket, where: { field: owner, operator: equals, value: anna }, actions: [read] } ] } ]',
      ),
    });
    assert.deepEqual(Object.keys((await ok('GET', '/config/types'))[0]), ['id', 'code', 'name', 'state']);
    const user = (await list('users')).get('anna');
    assert.ok(user.usedBy.items.some(({ section, code }: any) => section === 'groups' && code === 'inner'));
    assert.ok(
      user.usedBy.items.some(({ section, code }: any) => section === 'roles' && code === 'w'),
      'in a condition',
    );
    assert.equal((await ask(keeper, 'GET', '/config/users?include=usedBy')).status, 403);
    const mechanic = (await app.createKey({ login: 'mechanic', scopes: ['admin:manage'] })).key;
    for (const section of ['roles', 'services', 'workflows']) await list(section, mechanic);
    const items = (await list('types', mechanic)).get('ticket').usedBy.items;
    assert.ok(
      items.some(({ section, code }: any) => section === 'roles' && code === 'own'),
      'without holders of roles',
    );
    assert.equal((await ask(admin, 'GET', '/config/types?include=everything')).status, 400);
  });

  it('are planned with the differing paths and the effect on stored records', async () => {
    const text =
      'types: [ { code: ticket, fields: [ { code: title, dataType: text, required: true }, { code: owner, dataType: user } ] } ]';
    const [planned] = await ok('POST', '/config/plan', { files: bundle(text) });
    assert.equal(planned.action, 'change');
    const paths = planned.differences.map((one: { path: string }) => one.path);
    assert.ok(paths.includes('fields[title].dataType'), paths.join());
    assert.ok(paths.includes('fields[secret]'), paths.join());
    assert.deepEqual(
      planned.differences.find((one: { path: string }) => one.path === 'fields[title].dataType'),
      { path: 'fields[title].dataType', before: 'string', after: 'text' },
    );
    assert.equal(planned.version.compatible, false);
    assert.ok(planned.version.reasons.includes('secret: the field is gone'), planned.version.reasons.join());
  });

  it('keep memberships that a bundle omits, unless it is exact', async () => {
    const files = bundle('groups: [ { code: outer, groups: [] } ]');
    const [kept] = await ok('POST', '/config/plan', { files });
    assert.equal(kept.action, 'leave');
    const [exact] = await ok('POST', '/config/plan', { files, exact: true });
    assert.deepEqual(exact.differences, [{ path: 'groups', before: ['inner'], after: [] }]);
  });

  it('are archived one by one, unless something still refers to them', async () => {
    const archive = (section: string, code: string) =>
      ask(admin, 'POST', '/config/apply', { files: [], archive: [{ section, code }] });
    const needed = await archive('types', 'ticket');
    assert.equal(needed.status, 400);
    assert.match(needed.body.error.details[0].at, /^roles\/(?:own|keeper)/);
    assert.equal((await archive('types', 'none')).status, 404);
    assert.equal((await archive('users', 'anna')).status, 400, 'people are archived by operations of their own');
    const done = await archive('types', 'lonely');
    assert.deepEqual(
      done.body.data.map(({ section, code, action }: any) => `${action} ${section}/${code}`),
      ['archive types/lonely'],
    );
    assert.equal((await ok('GET', '/config/types/lonely')).state, 'ARCHIVED');
    for (const body of [{ files: [] }, { files: [], prune: true }, { files: [], prune: true, archive: [] }]) {
      assert.equal((await ask(admin, 'POST', '/config/apply', body)).status, 400, JSON.stringify(body));
    }
  });

  it('explain effective rights by role and grant', async () => {
    const [anna, boris] = [await idOf(app, 'users', 'anna'), await idOf(app, 'users', 'boris')];
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'ticket', values: { title: 'Mine', owner: anna } });
    const of = (userId: string, objectId = id) =>
      ok('GET', `/access/explanation?userId=${userId}&objectId=${objectId}`, undefined, keeper);
    const hers = await of(anna);
    assert.deepEqual(
      hers.roles.map(({ code, rights, held }: any) => ({ code, rights, held: held[0].code })),
      [{ code: 'own', rights: ['kb.read'], held: 'inner' }],
    );
    assert.deepEqual(
      hers.grants.map(({ type, holds }: any) => [type, holds]),
      [
        ['ticket', true],
        ['*', true],
      ],
    );
    assert.deepEqual(hers.result, {
      actions: ['read', 'update', 'history'],
      read: ['title', 'owner'],
      write: ['title'],
    });
    const his = await of(boris);
    assert.deepEqual(
      his.grants.map(({ holds }: any) => holds),
      [false, true],
    );
    assert.deepEqual(his.result, { actions: ['history'], read: ['title'], write: [] });
    const atLarge = await ok('GET', `/access/explanation?userId=${anna}`, undefined, keeper);
    assert.equal(atLarge.result, null);
    assert.deepEqual(
      atLarge.grants.map(({ holds }: any) => holds),
      [null, null],
    );
  });

  it('explain only records and fields that the caller sees', async () => {
    const anna = await idOf(app, 'users', 'anna');
    await ok('POST', '/config/apply', {
      files: bundle(
        'roles: [ { code: spy, records: [ { type: ticket, where: { field: secret, operator: is-empty }, actions: [read], fields: { read: [secret, title] } } ], assignedTo: { users: [anna] } } ]',
      ),
    });
    const explained = await ask(keeper, 'GET', `/access/explanation?userId=${anna}`);
    const spy = explained.body.data.grants.find((grant: any) => grant.role === 'spy');
    assert.deepEqual([spy.where, spy.whereHidden, spy.read], [null, true, ['title']]);
    assert.ok(!JSON.stringify(explained.body).includes('secret'));
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'asset', values: { title: 'Unseen' } });
    const hidden = await ask(keeper, 'GET', `/access/explanation?userId=${anna}&objectId=${id}`);
    assert.equal(hidden.status, 404);
    assert.equal((await ask(keeper, 'GET', `/access/explanation?userId=${id}`)).status, 404);
  });
});
