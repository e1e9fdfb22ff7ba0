/** Single configuration items: read, planned with their effects, exact memberships, archived; and effective rights. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';
import { bundle, idOf } from './support/small-configuration.ts';

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
  - { code: clerk, rights: [user.administer], assignedTo: { users: [clerk] } }
  - { code: mechanic, rights: [config.manage], assignedTo: { users: [mechanic] } }
groups: [ { code: outer, groups: [inner] }, { code: inner, users: [anna, boris] } ]
users:
  - { login: anna, displayName: Anna, email: anna@example.org }
  - { login: boris, displayName: Boris, email: boris@example.org }
  - { login: keeper, displayName: Keeper, email: keeper@example.org }
  - { login: clerk, displayName: Clerk }
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

  it('are missing in an empty bundle, and the answer says where', async () => {
    for (const step of ['plan', 'apply']) {
      for (const [files, at, said] of [
        [[], '/files', /no files\. Send at least one in `files`/],
        [bundle(''), '/files/0/text', /No file has a section\. Add one, such as "types:"/],
        [bundle('# types:'), '/files/0/text', /No file has a section/],
      ] as const) {
        const { status, body } = await ask(admin, 'POST', `/config/${step}`, { files });
        assert.equal(status, 400);
        assert.deepEqual([body.error.code, body.error.details[0]?.path], ['INVALID_REQUEST', at]);
        assert.match(body.error.message, said);
      }
    }
  });

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
    const clerk = (await app.createKey({ login: 'clerk', scopes: ['admin:manage'] })).key;
    // The keeper may not administer users: no groups are named.
    await ok('POST', '/config/apply', {
      files: bundle(
        'services: [ { code: s, audience: { groups: [outer] } } ]\nroles: [ { code: w, records: [ { type: ticket, where: { field: owner, operator: equals, value: anna }, actions: [read] } ] } ]',
      ),
    });
    assert.deepEqual(Object.keys((await ok('GET', '/config/types'))[0]), ['id', 'code', 'name', 'state']);
    const user = (await list('users')).get('anna');
    assert.equal(user.changedBy.displayName, 'Администратор');
    assert.ok(Date.parse(user.updatedAt) > 0);
    const inner = (await list('groups')).get('inner');
    await ok('PATCH', `/identity/groups/${inner.id}`, { expectedRevision: 1, name: 'Inner' }, clerk);
    const renamed = (await list('groups')).get('inner');
    assert.equal(renamed.changedBy.displayName, 'Clerk');
    assert.ok(renamed.updatedAt >= inner.updatedAt);
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

  const versionOf = async (): Promise<number> => (await ask(admin, 'GET', '/config/export')).body.meta.configVersion;
  const service = (name: string, code = 'mail') => bundle(`services: [ { code: ${code}, name: ${name} } ]`);

  it('are applied only on the expected version, by one of several callers', async () => {
    const plan = await ask(admin, 'POST', '/config/plan', { files: service('Mail') });
    const expected: number = plan.body.meta.configVersion;
    assert.equal((await ask(admin, 'GET', '/config/types')).body.meta.configVersion, expected);
    assert.equal((await ask(admin, 'GET', '/config/types/ticket')).body.meta.configVersion, expected);
    const answers = await Promise.all(
      ['One', 'Two', 'Three'].map((name) => ask(admin, 'POST', '/config/apply', { files: service(name), expected })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    assert.equal(refused.body.error.code, 'CONFIGURATION_CHANGED');
    assert.deepEqual(refused.body.error.details, { expected, version: expected + 1, sections: ['services'] });
    assert.equal(answers.find(({ status }) => status === 200).body.meta.configVersion, expected + 1);
    // Without changes the version stays; without `expected` the last one wins.
    const same = await ask(admin, 'POST', '/config/apply', {
      files: [],
      archive: [{ section: 'services', code: 's' }],
    });
    assert.equal(same.body.meta.configVersion, expected + 2);
    const again = await ask(admin, 'POST', '/config/apply', { files: service('Last') });
    assert.equal(again.body.meta.configVersion, expected + 3);
    const none = await ask(admin, 'POST', '/config/apply', { files: service('Last'), expected: expected + 3 });
    assert.deepEqual([none.status, none.body.meta.configVersion], [200, expected + 3]);
  });

  it('leave the version as it is when users and groups change, and raise it when a call changes a connection', async () => {
    const before = await versionOf();
    await ok('POST', '/config/apply', { files: bundle('users: [ { login: anna, displayName: Anna B } ]') });
    assert.equal(await versionOf(), before);
    await ok('POST', '/signing-secrets', { code: 'by-call' });
    assert.equal(await versionOf(), before + 1);
    const [newest] = (await ok('GET', '/config/versions')).rows;
    assert.deepEqual(newest.items, [{ section: 'signingSecrets', code: 'by-call', action: 'create' }]);
  });

  it('have versions that can be listed, compared and applied again', async () => {
    await ok('POST', '/config/apply', { files: service('Before', 'desk') });
    const old = await versionOf();
    await ok('POST', '/config/apply', { files: service('After', 'desk') }, keeper);
    await ok('POST', '/config/apply', { files: service('New', 'later') });
    const { rows, hasMore } = await ok('GET', '/config/versions?pageSize=2');
    assert.equal(hasMore, true);
    assert.deepEqual(
      rows.map(({ version, by, sections, summary }: any) => [version, by.displayName, sections, summary]),
      [
        [old + 2, 'Администратор', ['services'], { create: 1, change: 0, archive: 0, restore: 0 }],
        [old + 1, 'Keeper', ['services'], { create: 0, change: 1, archive: 0, restore: 0 }],
      ],
    );
    const short = (items: any[]): string[] =>
      items.map(({ action, section, code, differences }) => `${action} ${section}/${code} ${differences.length}`);
    const diff = await ok('GET', `/config/diff?from=${old}&to=${old + 2}`);
    assert.deepEqual(diff[0].differences, [{ path: 'name', before: 'Before', after: 'After' }]);
    assert.match(short(diff).join(), /^change services\/desk 1,create services\/later \d$/);
    assert.match(short(await ok('GET', `/config/diff?from=${old + 2}&to=${old}`)).join(), /archive services\/later 0$/);
    const whole = await ok('GET', `/config/versions/${old + 2}`);
    const part = { files: whole.files.filter(({ name }: any) => name !== 'services.yaml'), prune: true };
    for (const path of ['/config/plan', '/config/apply']) {
      const { status, body } = await ask(admin, 'POST', path, part);
      assert.deepEqual([status, body.meta.cause.reason], [400, 'PRUNE_OF_PART'], path);
    }
    const first = await ok('GET', '/config/versions/1');
    const texts = new Map(first.files.map(({ name, text }: any) => [name, text]));
    assert.deepEqual([texts.get('macros.yaml'), texts.has('users.yaml')], ['macros: []\n', false], 'empty again');
    const { files, leftOut } = await ok('GET', `/config/versions/${old}`);
    assert.deepEqual(leftOut, []);
    const planned = await ok('POST', '/config/plan', { files, prune: true });
    const changes = planned.filter(({ action }: any) => action !== 'leave');
    assert.deepEqual(short(changes), ['change services/desk 1', 'archive services/later 0']);
    await ok('POST', '/config/apply', { files, prune: true, expected: old + 2 });
    assert.deepEqual(await ok('GET', `/config/diff?from=${old}&to=${old + 3}`), []);
    assert.ok((await ok('GET', '/config/roles/own')).definition.assignedTo.groups.includes('inner'), 'holders stay');
    for (const path of ['/config/versions/999999', '/config/diff?from=1&to=999999']) {
      assert.equal((await ask(admin, 'GET', path)).status, 404, path);
    }
    const mechanic = (await app.createKey({ login: 'mechanic', scopes: ['admin:manage'] })).key;
    const hidden = await ok('GET', '/config/versions?pageSize=100', undefined, mechanic);
    assert.ok(!JSON.stringify(hidden).includes('signingSecrets'), 'sections that need another right');
  });

  it('are exported by section', async () => {
    const names = async (query: string) =>
      (await ok('GET', `/config/export?${query}`)).files.map(({ name }: { name: string }) => name);
    assert.deepEqual(await names('section=types,roles'), ['types.yaml', 'roles.yaml']);
    assert.deepEqual(await names('section=groups'), ['groups.yaml'], 'identity, where it is named');
    assert.equal((await ask(keeper, 'GET', '/config/export?section=groups')).status, 403);
    assert.equal((await ask(admin, 'GET', '/config/export?section=nothing')).status, 404);
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
    // A field that is readable on some records: the verdict of a condition on it would tell its value on others.
    await ok('POST', '/config/apply', {
      files: bundle(`roles:
  - code: keeper
    rights: [role.assign, config.manage]
    records:
      - { type: ticket, actions: [read], fields: { read: [title] } }
      - { type: ticket, where: { field: owner, operator: equals, value: $me }, actions: [read], fields: { read: [owner] } }
    assignedTo: { users: [keeper] }`),
    });
    const whereHidden = async (owner: string): Promise<boolean> => {
      const values = { title: 'Owned', owner: await idOf(app, 'users', owner) };
      const made = await ok('POST', '/objects', { typeDefinitionId: 'ticket', values });
      const { body } = await ask(keeper, 'GET', `/access/explanation?userId=${anna}&objectId=${made.id}`);
      const own = body.data.grants.find(({ role, type }: any) => role === 'own' && type === 'ticket');
      assert.equal(own.where === null, own.whereHidden);
      return own.whereHidden;
    };
    assert.deepEqual([await whereHidden('keeper'), await whereHidden('anna')], [false, true]);
  });
});
