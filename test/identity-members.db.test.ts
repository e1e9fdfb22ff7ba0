/** Who is in which group and unit, and what that hands on (docs/spec/identity.md). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { BundleError } from '../src/configuration/engine.ts';
import { setPassword } from '../src/domain/access/index.ts';
import { startTestApp } from './harness/app.ts';
import { refused } from './harness/around.ts';
import { type IdentityWorld, startIdentity } from './harness/identity.ts';

let world: IdentityWorld;

describe('memberships', () => {
  before(async () => {
    world = await startIdentity();
  });
  after(() => world.close());

  it('of a group exist once per member', async () => {
    const [group, inner, person] = [await world.group(), await world.group(), await world.user()];
    const made = await world.call('admin', 'POST', '/identity/group-memberships', { groupId: group, memberId: person });
    assert.equal(made.status, 201);
    const { id } = made.body.data;
    assert.deepEqual(made.body.data, { id, groupId: group, memberId: person, memberType: 'user' });
    const again = await world.call('admin', 'POST', '/identity/group-memberships', {
      groupId: group,
      memberId: person,
      memberType: 'user',
    });
    assert.equal(again.status, 201);
    assert.deepEqual(again.body.data, made.body.data);
    const nested = await world.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: group,
      memberId: inner,
      memberType: 'group',
    });
    assert.equal(nested.memberType, 'group');
    assert.deepEqual(await world.ok('admin', 'GET', `!/identity/group-memberships?groupId=${group}`), [
      made.body.data,
      nested,
    ]);
    assert.deepEqual(await world.ok('admin', 'GET', `!/identity/group-memberships?memberId=${inner}`), [nested]);
    refused(await world.call('admin', 'GET', '/identity/group-memberships'), 405, 'METHOD_NOT_ALLOWED');
    assert.deepEqual(await world.ok('admin', 'DELETE', `!/identity/group-memberships/${id}`), made.body.data);
    refused(await world.call('admin', 'DELETE', `!/identity/group-memberships/${id}`), 404, 'NOT_FOUND');
    assert.notEqual(
      (await world.ok('admin', 'POST', '/identity/group-memberships', { groupId: group, memberId: person })).id,
      id,
    );
  });

  it('of a group require an active group and member', async () => {
    const [group, person] = [await world.group(), await world.user()];
    const add = (groupId: string, memberId: string, memberType?: string) =>
      world.call('admin', 'POST', '/identity/group-memberships', {
        groupId,
        memberId,
        ...(memberType === undefined ? {} : { memberType }),
      });
    for (const answer of [
      await add(randomUUID(), person),
      await add(group, randomUUID()),
      await add(group, person, 'group'),
      await add(group, await world.group()),
      await add(person, person),
      await add(group, person, 'robot'),
    ]) {
      refused(answer, 400, 'INVALID_REQUEST');
    }
    await world.ok('admin', 'POST', `!/identity/users/${person}/archive`);
    refused(await add(group, person), 409, 'ARCHIVED');
    const other = await world.user();
    await world.ok('admin', 'POST', `!/identity/groups/${group}/archive`);
    refused(await add(group, other), 409, 'ARCHIVED');
    refused(await add(await world.group(), group, 'group'), 409, 'ARCHIVED');
  });

  it('of nested groups never form a cycle, including archived groups', async () => {
    const [a, b, c] = [await world.group(), await world.group(), await world.group()];
    const add = (groupId: string, memberId: string) =>
      world.call('admin', 'POST', '/identity/group-memberships', { groupId, memberId, memberType: 'group' });
    refused(await add(a, a), 409, 'GROUP_CYCLE', 'itself');
    assert.equal((await add(a, b)).status, 201);
    assert.equal((await add(b, c)).status, 201);
    assert.equal((await add(a, c)).status, 201, 'two ways are no ring');
    refused(await add(c, a), 409, 'GROUP_CYCLE');
    refused(await add(b, a), 409, 'GROUP_CYCLE');
    await world.ok('admin', 'POST', `!/identity/groups/${b}/archive`);
    const [direct] = (await world.ok<any[]>(
      'admin',
      'GET',
      `!/identity/group-memberships?groupId=${a}&memberId=${c}`,
    )) as [any];
    await world.ok('admin', 'DELETE', `!/identity/group-memberships/${direct.id}`);
    refused(await add(c, a), 409, 'GROUP_CYCLE', 'through an archived group');
    const code = async (id: string) =>
      (await world.rows<{ code: string }>('SELECT code FROM groups WHERE id = $1', [id]))[0]?.code;
    const text = `groups: [ { code: ${await code(c)}, groups: [${await code(a)}] } ]`;
    await assert.rejects(world.app.apply([{ name: 'a.yaml', text }]), (error: BundleError) =>
      error.problems.some(({ code }) => code === 'GROUP_CYCLE'),
    );
  });

  it('of units exist once per user, who is moved from the expected unit', async () => {
    const [one, two, person] = [await world.unit(), await world.unit(), await world.user()];
    const put = (organizationUnitId: string, expected?: string | null) =>
      world.call('admin', 'POST', '/identity/org-memberships', {
        organizationUnitId,
        userId: person,
        ...(expected === undefined ? {} : { expectedOrganizationUnitId: expected }),
      });
    refused(await put(one, two), 409, 'ORG_UNIT_CONFLICT', 'in none yet');
    const first = await put(one);
    assert.equal(first.status, 201);
    const { id } = first.body.data;
    assert.deepEqual(first.body.data, { id, organizationUnitId: one, userId: person });
    for (const answer of [await put(one), await put(one, one), await put(one, two)]) {
      assert.deepEqual([answer.status, answer.body.data], [201, first.body.data], 'there already');
    }
    refused(await put(two), 409, 'ORG_UNIT_CONFLICT');
    refused(await put(two, null), 409, 'ORG_UNIT_CONFLICT');
    const moved = await put(two, one);
    assert.deepEqual([moved.status, moved.body.data], [201, { id, organizationUnitId: two, userId: person }]);
    refused(await put(one, one), 409, 'ORG_UNIT_CONFLICT', 'stale');
    assert.deepEqual(await world.ok('admin', 'GET', `!/identity/org-memberships?organizationUnitId=${two}`), [
      moved.body.data,
    ]);
    const away = `!/identity/org-memberships/${id}`;
    refused(await world.call('admin', 'DELETE', away, { expectedOrganizationUnitId: one }), 409, 'ORG_UNIT_CONFLICT');
    await world.ok('admin', 'DELETE', away, { expectedOrganizationUnitId: two });
    refused(await world.call('admin', 'DELETE', away), 404, 'NOT_FOUND');
    assert.equal((await put(one)).status, 201, 'in none again');
    refused(await put(randomUUID(), one), 400, 'INVALID_REQUEST');
    await world.ok('admin', 'POST', `!/identity/org-units/${two}/archive`);
    refused(await put(two, one), 409, 'ARCHIVED');
    await world.ok('admin', 'POST', `!/identity/users/${person}/archive`);
    refused(await put(await world.unit(), one), 409, 'ARCHIVED');
  });
});

describe('roles through membership', () => {
  before(async () => {
    world = await startIdentity();
  });
  after(() => world.close());

  const add = (who: 'clerk' | 'helper' | 'admin', groupId: string, memberId: string, memberType = 'user') =>
    world.call(who, 'POST', '/identity/group-memberships', { groupId, memberId, memberType });

  it('cannot be gained by changing the address of another user', async () => {
    const [bosses, person] = [await world.id('bosses'), await world.user()];
    await world.ok('admin', 'POST', '/identity/group-memberships', { groupId: bosses, memberId: person });
    const change = (who: 'clerk' | 'admin', expectedRevision: number, changes: Record<string, unknown>) =>
      world.call(who, 'PATCH', `!/identity/users/${person}`, { expectedRevision, ...changes });
    refused(await change('clerk', 1, { email: 'mine@example.org' }), 403, 'ROLE_ESCALATION');
    refused(await change('clerk', 1, { externalId: 'mine' }), 403, 'ROLE_ESCALATION');
    assert.equal((await change('clerk', 1, { displayName: 'Renamed' })).status, 200);
    assert.equal((await change('admin', 2, { email: 'theirs@example.org' })).status, 200);
    const plain = await world.user();
    const own = { expectedRevision: 1, email: `${plain}@example.org` };
    assert.equal((await world.call('clerk', 'PATCH', `!/identity/users/${plain}`, own)).status, 200);
  });

  it('can be passed on only by users who hold them or may assign them', async () => {
    const [bosses, agents, shift, person] = [
      await world.id('bosses'),
      await world.id('agents'),
      await world.id('shift'),
      await world.user(),
    ];
    refused(await add('clerk', agents, person), 403, 'ROLE_ESCALATION', 'a role of the group');
    refused(await add('clerk', shift, person), 403, 'ROLE_ESCALATION', 'a role of the group around it');
    refused(await add('helper', bosses, person), 403, 'ROLE_ESCALATION', 'one role is not another');
    assert.equal((await add('helper', shift, person)).status, 201, 'whoever holds it by a group in a group');
    assert.equal((await add('helper', agents, person)).status, 201);
    assert.equal((await add('admin', bosses, person)).status, 201, 'whoever may assign roles');
    assert.equal((await add('clerk', bosses, person)).status, 201, 'what stands is no change');
    refused(await add('clerk', bosses, randomUUID()), 400, 'INVALID_REQUEST');
  });

  it('cannot be passed on by nesting groups', async () => {
    const [bosses, shift] = [await world.id('bosses'), await world.id('shift')];
    const [mine, around, me] = [await world.group(), await world.group(), await world.user()];
    assert.equal((await add('clerk', mine, me)).status, 201, 'a group without roles');
    refused(await add('clerk', bosses, mine, 'group'), 403, 'ROLE_ESCALATION', 'downwards');
    refused(await add('clerk', shift, mine, 'group'), 403, 'ROLE_ESCALATION');
    const plain = await world.group();
    await world.ok('admin', 'POST', '/identity/group-memberships', { groupId: plain, memberId: await world.user() });
    assert.equal((await add('clerk', mine, plain, 'group')).status, 201, 'a group whose members get nothing by it');
    refused(
      await add('clerk', mine, bosses, 'group'),
      403,
      'ROLE_ESCALATION',
      'its member holds a role with $myGroups',
    );
    await world.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: bosses,
      memberId: around,
      memberType: 'group',
    });
    refused(await add('clerk', around, me), 403, 'ROLE_ESCALATION', 'upwards');
    refused(await add('clerk', around, await world.group(), 'group'), 403, 'ROLE_ESCALATION');
    const before = await world.rows('SELECT 1 FROM group_members WHERE group_id = $1', [around]);
    assert.equal(before.length, 0);
  });

  it('cannot be gained by restoring an archived group', async () => {
    const [outer, inner, me] = [await world.group(), await world.group(), await world.user()];
    await world.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: await world.id('bosses'),
      memberId: outer,
      memberType: 'group',
    });
    await world.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: outer,
      memberId: inner,
      memberType: 'group',
    });
    await world.ok('admin', 'POST', `!/identity/groups/${outer}/archive`);
    assert.equal((await add('clerk', inner, me)).status, 201, 'it hands nothing on now');
    refused(await world.call('clerk', 'POST', `!/identity/groups/${outer}/restore`), 403, 'ROLE_ESCALATION');
    assert.equal((await world.call('admin', 'POST', `!/identity/groups/${outer}/restore`)).status, 200);
  });

  it('take effect within a second of joining and leaving, on another server too', async () => {
    const other = await startTestApp({ on: world.app });
    try {
      const person = await world.ok('admin', 'POST', '/identity/users', world.person());
      const { key } = await world.app.createKey({ login: person.login });
      const [agents, sub] = [await world.id('agents'), await world.group()];
      await world.ok('admin', 'POST', '/identity/group-memberships', {
        groupId: agents,
        memberId: sub,
        memberType: 'group',
      });
      const values = { title: 'Theirs', team: agents };
      const { id } = await world.ok('admin', 'POST', '/objects', { typeDefinitionId: 'case', values });
      const seen = async (): Promise<number[]> => [
        (await other.request('GET', `/api/v1/objects/${id}`, { key })).status,
        (await world.app.request('GET', `/api/v1/objects/${id}`, { key })).status,
      ];
      assert.deepEqual(await seen(), [404, 404]);
      const joined = await world.ok('admin', 'POST', '/identity/group-memberships', {
        groupId: sub,
        memberId: person.id,
      });
      await within(async () => assert.deepEqual(await seen(), [200, 200]));
      await world.ok('admin', 'POST', `!/identity/groups/${sub}/archive`);
      await within(async () => assert.deepEqual(await seen(), [404, 404]));
      await world.ok('admin', 'POST', `!/identity/groups/${sub}/restore`);
      await within(async () => assert.deepEqual(await seen(), [200, 200]));
      await world.ok('admin', 'DELETE', `!/identity/group-memberships/${joined.id}`);
      await within(async () => assert.deepEqual(await seen(), [404, 404]));
    } finally {
      await other.close();
    }
  });

  it('end with the user: keys and sessions stop on another server, the name remains', async () => {
    const other = await startTestApp({ on: world.app });
    try {
      const person = await world.ok('admin', 'POST', '/identity/users', world.person());
      await add('admin', await world.id('bosses'), person.id);
      const { key } = await world.app.createKey({ login: person.login });
      await world.app.app.work.write(world.app.app.system(), (ctx) =>
        setPassword(ctx, person.login, 'a long enough one'),
      );
      const made = await world.app.request('POST', '/api/v1/objects', {
        key,
        body: { typeDefinitionId: 'case', values: { title: 'Mine' } },
      });
      assert.equal(made.status, 201);
      const signIn = () =>
        world.app.request('POST', '/api/admin/v1/session', {
          body: { login: person.login, password: 'a long enough one' },
        });
      const cookie = (await signIn()).headers.get('set-cookie')?.split(';')[0] ?? assert.fail('no cookie');
      const statuses = async (): Promise<number[]> =>
        await Promise.all(
          [world.app, other].flatMap((app) => [
            app.request('GET', '/api/v1/identity/users', { key }).then(({ status }) => status),
            app.request('GET', '/api/admin/v1/session', { headers: { cookie } }).then(({ status }) => status),
          ]),
        );
      assert.deepEqual(await statuses(), [200, 200, 200, 200]);
      await world.ok('admin', 'POST', `!/identity/users/${person.id}/archive`);
      await within(async () => assert.deepEqual(await statuses(), [401, 401, 401, 401]));
      refused(await signIn(), 401, 'UNAUTHENTICATED');
      const shown = await world.ok('admin', 'GET', `/objects/${made.body.data.id}`);
      assert.deepEqual(shown.createdBy, { id: person.id, displayName: person.displayName });
      await world.ok(
        'admin',
        'PATCH',
        `!/identity/users/${(await world.ok('admin', 'POST', `!/identity/users/${person.id}/restore`)).id}`,
        { expectedRevision: 3, displayName: 'Renamed' },
      );
      await within(async () => assert.deepEqual(await statuses(), [200, 401, 200, 401]));
      const [event] = await world.ok<any[]>('admin', 'GET', `/objects/${made.body.data.id}/history`);
      assert.equal(event.actor.displayName, 'Renamed');
    } finally {
      await other.close();
    }
  });

  it('cannot be gained by setting the password of a user with more rights', async () => {
    const person = await world.ok('admin', 'POST', '/identity/users', world.person());
    const boss = await world.ok('admin', 'POST', '/identity/users', world.person());
    await add('admin', await world.id('bosses'), boss.id);
    const set = (who: 'admin' | 'clerk' | 'nobody', id: string, password = 'a long enough one') =>
      world.call(who, 'POST', `!/identity/users/${id}/password`, { password });
    const signIn = async (login: string, password: string): Promise<number> =>
      (await world.app.request('POST', '/api/admin/v1/session', { body: { login, password } })).status;
    refused(await set('nobody', person.id), 403, 'RIGHT_MISSING');
    refused(await set('clerk', person.id, 'too short'), 400, 'INVALID_REQUEST');
    assert.equal((await set('clerk', person.id)).status, 200);
    assert.equal(await signIn(person.login, 'a long enough one'), 201);
    refused(await set('clerk', boss.id), 403, 'ROLE_ESCALATION');
    assert.equal(await signIn(boss.login, 'a long enough one'), 401);
    assert.equal((await set('admin', boss.id)).status, 200);
    assert.equal(await signIn(boss.login, 'a long enough one'), 201);
    await world.ok('admin', 'POST', `!/identity/users/${person.id}/archive`);
    refused(await set('admin', person.id), 409, 'ARCHIVED');
    refused(await set('admin', '00000000-0000-7000-8000-000000000000'), 404, 'NOT_FOUND');
    const audit = JSON.stringify(await world.ok('admin', 'GET', '!/audit?type=PasswordSet'));
    assert.ok(audit.includes(`user:${boss.id}`) && !audit.includes('a long enough one'));
  });
});

/** Holds within a second, and then. */
async function within(holds: () => Promise<void>): Promise<void> {
  const end = performance.now() + 1000;
  for (;;) {
    // As a caller counts: what begins a second later must know, however long it takes.
    const began = performance.now();
    try {
      await holds();
      return;
    } catch (error) {
      if (began > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
