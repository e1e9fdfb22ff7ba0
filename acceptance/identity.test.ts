/** Users, groups, units and inbound integrations, from outside. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe } from 'node:test';
import { type Answer, before, it, problemsOf, Fixture } from './service.ts';

const BUNDLE = `
roles:
  - { code: clerk, rights: [user.administer], assignedTo: { users: [helper] } }
  - { code: integrator, rights: [integration.manage], assignedTo: { users: [chief] } }
groups: [{ code: bosses, name: Bosses }]
`;
const RIGHTS = `roles: [{ code: boss, rights: [audit.read], assignedTo: { groups: [bosses] } }]\n`;

let fixture: Fixture;
let admin: string;
let clerk: string;

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [status, code], answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
}

const get = (place: string): Promise<Answer> => fixture.api('GET', place);
const post = (place: string, body: unknown, key?: string): Promise<Answer> =>
  fixture.api('POST', place, { body, ...(key === undefined ? {} : { key }) });
const administer = (method: string, place: string, body?: unknown): Promise<Answer> =>
  fixture.send(method, `/api/admin/v1${place}`, { key: admin, ...(body === undefined ? {} : { body }) });

const person = (name: string = randomUUID()): { login: string; displayName: string; email: string } => ({
  login: name,
  displayName: name,
  email: `${name}@example.org`,
});
const made = async (place: string, body: unknown): Promise<any> =>
  accepted(await post(`/identity/${place}`, body), 201);

describe('users, groups and organisational units', () => {
  before(async () => {
    fixture = await Fixture.start();
    await fixture.apply(BUNDLE);
    await fixture.apply(RIGHTS);
    admin = await fixture.keyOf('chief', 'admin:manage');
    clerk = await fixture.keyOf('helper');
  });
  after(() => fixture?.stop());

  it('requires the right for every operation, including reads (ID-right)', async () => {
    const key = await fixture.keyOf('outsider');
    for (const place of ['users', 'groups', 'org-units']) {
      refused(await fixture.api('GET', `/identity/${place}`, { key }), 403, 'RIGHT_MISSING');
    }
    refused(await post('/identity/users', person(), key), 403, 'RIGHT_MISSING');
    refused(
      await fixture.api('GET', '/identity/users', { key: await fixture.keyOf('chief', 'objects:read') }),
      403,
      'SCOPE_MISSING',
    );
    accepted(await fixture.api('GET', '/identity/users', { key: clerk }));
  });

  it('creates users and lists them by name (ID-1, ID-2)', async () => {
    const userId = randomUUID();
    const body = {
      ...person('Ольга'),
      userId,
      locale: 'ru-RU',
      timezone: 'Europe/Moscow',
      employeeId: '7',
      externalId: 'x-7',
      email: 'olga@example.org',
    };
    const user = await made('users', body);
    assert.deepEqual([user.id, user.login, user.state], [userId, 'Ольга', 'ACTIVE']);
    const listed = accepted(await get('/identity/users')) as any[];
    assert.deepEqual(
      listed.find(({ id }) => id === userId),
      { ...listed.find(({ id }) => id === userId), ...body },
    );
    for (const clash of [{ login: 'ОЛЬГА' }, { email: 'OLGA@example.org' }, { userId }]) {
      refused(await post('/identity/users', { ...person(), ...clash }), 409, 'ALREADY_EXISTS');
    }
    refused(await post('/identity/users', { ...person(), email: 'nobody' }), 400, 'INVALID_VALUES');
    refused(await post('/identity/users', { ...person(), login: 'a\u200bb' }), 400, 'INVALID_VALUES');
    refused(await post('/identity/users', { ...person(), password: 'x' }), 400, 'INVALID_REQUEST');
    refused(await post('/identity/users', { login: 'x' }), 400, 'INVALID_REQUEST');
  });

  it('manages groups and units (ID-3 to ID-6)', async () => {
    const group = await made('groups', { code: 'desk', name: 'Desk' });
    assert.deepEqual([group.code, group.name, group.state], ['desk', 'Desk', 'ACTIVE']);
    refused(await post('/identity/groups', { code: 'DESK', name: 'x' }), 409, 'ALREADY_EXISTS');
    const unit = await made('org-units', { name: 'Head office', location: 'Moscow' });
    assert.deepEqual([unit.name, unit.state], ['Head office', 'ACTIVE']);
    assert.match(unit.code, /^[a-z][a-z0-9-]{0,62}$/);
    const below = await made('org-units', { name: 'Below', parentId: unit.id, code: 'below' });
    assert.equal(below.parentId, unit.id);
    assert.ok((accepted(await get('/identity/groups')) as any[]).some(({ groupId }) => groupId === group.id));
    const units = accepted(await get('/identity/org-units')) as any[];
    assert.deepEqual(
      units.map(({ name }) => name),
      ['Below', 'Head office'],
    );
  });

  it('manages group members without cycles and without granting roles (ID-7)', async () => {
    const [a, b] = [await made('groups', { code: 'a', name: 'A' }), await made('groups', { code: 'b', name: 'B' })];
    const user = await made('users', person());
    const body = { groupId: a.id, memberId: user.id };
    const membership = await made('group-memberships', body);
    assert.deepEqual(membership, { ...body, id: membership.id, memberType: 'user' });
    assert.deepEqual(await made('group-memberships', body), membership);
    await made('group-memberships', { groupId: a.id, memberId: b.id, memberType: 'group' });
    refused(
      await post('/identity/group-memberships', { groupId: b.id, memberId: a.id, memberType: 'group' }),
      409,
      'GROUP_CYCLE',
    );
    const bosses = (accepted(await get('/identity/groups')) as any[]).find(({ code }) => code === 'bosses');
    for (const member of [{ memberId: user.id }, { memberId: a.id, memberType: 'group' }]) {
      refused(
        await post('/identity/group-memberships', { groupId: bosses.id, ...member }, clerk),
        403,
        'ROLE_ESCALATION',
      );
    }
    await made('group-memberships', { groupId: bosses.id, memberId: b.id, memberType: 'group' });
  });

  it('keeps a user in one unit and moves them from the expected unit (ID-8)', async () => {
    const [one, two] = [await made('org-units', { name: 'One' }), await made('org-units', { name: 'Two' })];
    const user = await made('users', person());
    const put = (organizationUnitId: string, more: object = {}) =>
      post('/identity/org-memberships', { organizationUnitId, userId: user.id, ...more });
    const first = accepted(await put(one.id), 201);
    assert.deepEqual(accepted(await put(one.id), 201), first);
    refused(await put(two.id), 409, 'ORG_UNIT_CONFLICT');
    refused(await put(two.id, { expectedOrganizationUnitId: two.id }), 409, 'ORG_UNIT_CONFLICT');
    const moved = accepted(await put(two.id, { expectedOrganizationUnitId: one.id }), 201);
    assert.equal(moved.organizationUnitId, two.id);
  });

  it('archives and restores users in the administration, including their keys (AD-people)', async () => {
    const user = await made('users', person());
    const key = await fixture.keyOf(user.login);
    accepted(await fixture.api('GET', '/metadata/types', { key }));
    accepted(await administer('POST', `/identity/users/${user.id}/archive`));
    refused(await fixture.api('GET', '/metadata/types', { key }), 401, 'UNAUTHENTICATED');
    assert.ok((accepted(await get('/identity/users')) as any[]).every(({ id }) => id !== user.id));
    accepted(await administer('POST', `/identity/users/${user.id}/restore`));
    accepted(await fixture.api('GET', '/metadata/types', { key }));
    for (const [place, body] of [
      ['groups', { code: 'short-lived', name: 'x' }],
      ['org-units', { name: 'x' }],
    ] as const) {
      const { id } = await made(place, body);
      assert.equal(accepted(await administer('POST', `/identity/${place}/${id}/archive`)).state, 'ARCHIVED');
      assert.equal(accepted(await administer('POST', `/identity/${place}/${id}/restore`)).state, 'ACTIVE');
    }
  });

  it('lets other systems call integrations (IN-1 to IN-5, AD-integrations)', async () => {
    const chief = (accepted(await get('/identity/users')) as any[]).find(({ login }) => login === 'chief').id;
    const setUp = async (code: string, config: object): Promise<string> => {
      const body = { code, type: 'inbound-webhook', executionPrincipalId: chief, config };
      const integration = accepted(await post('/integrations', body), 201);
      assert.deepEqual([integration.type, integration.enabled], ['inbound-webhook', false]);
      refused(await post(`/inbound/${integration.id}`, {}), 409, 'INTEGRATION_DISABLED');
      accepted(await administer('POST', `/integrations/${integration.id}/enable`));
      return integration.id;
    };
    const from = (pairs: Record<string, string>) =>
      Object.entries(pairs).map(([target, source]) => ({ source, target }));
    const alerts = await setUp('alerts', {
      command: 'object.create',
      typeDefinitionId: 'ticket',
      mapping: from({ subject: 'alerts.0.title', secret: 'secret' }),
    });
    const change = await setUp('changes', {
      command: 'object.update',
      mapping: from({ objectId: 'id', expectedRevision: 'revision', subject: 'title' }),
    });
    const ticket = accepted(await post(`/inbound/${alerts}`, { alerts: [{ title: 'Disk full' }], other: 1 }), 201);
    assert.deepEqual([ticket.values.subject, ticket.revision], ['Disk full', 1]);
    const changed = accepted(
      await post(`/inbound/${change}`, { id: ticket.id, revision: 1, title: 'Disk is full' }),
      201,
    );
    assert.equal(changed.revision, 2);
    refused(await post(`/inbound/${change}`, { id: ticket.id, revision: 1, title: 'x' }), 409, 'REVISION_CONFLICT');
    refused(await post(`/inbound/${change}`, { id: ticket.id, revision: '2', title: 'x' }), 400, 'INVALID_REQUEST');
    refused(await post(`/inbound/${change}`, { id: ticket.id, revision: 2 }), 400, 'INVALID_REQUEST');
    refused(await post(`/inbound/${alerts}`, { alerts: [{ title: 'x' }], secret: 'x' }, clerk), 400, 'INVALID_VALUES');
    refused(await post(`/inbound/${randomUUID()}`, {}), 404, 'NOT_FOUND');
    const twice = { key: fixture.key, headers: { 'idempotency-key': 'one' }, body: { alerts: [{ title: 'Once' }] } };
    const first = accepted(await fixture.api('POST', `/inbound/${alerts}`, twice), 201);
    assert.deepEqual(accepted(await fixture.api('POST', `/inbound/${alerts}`, twice), 201), first);
    const runs = accepted(await administer('GET', `/integrations/${change}/runs`)) as any[];
    assert.deepEqual(
      runs.map(({ status, error }) => error?.code ?? status),
      ['INVALID_REQUEST', 'INVALID_REQUEST', 'REVISION_CONFLICT', 'SUCCEEDED', 'INTEGRATION_DISABLED'],
    );
  });
});
