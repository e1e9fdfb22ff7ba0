/** Memberships of groups and units, and the access that they grant (docs/spec/identity.md). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { BundleError } from '../src/configuration/engine.ts';
import { setPassword } from '../src/domain/access/index.ts';
import { startTestApp } from './support/app.ts';
import { assertRejected } from './support/record-fixture.ts';
import { type IdentityFixture, startIdentityFixture } from './support/identity-fixture.ts';

let fixture: IdentityFixture;

describe('memberships', () => {
  before(async () => {
    fixture = await startIdentityFixture();
  });
  after(() => fixture.close());

  it('of a group exist once per member', async () => {
    const [group, inner, person] = [await fixture.group(), await fixture.group(), await fixture.user()];
    const made = await fixture.call('admin', 'POST', '/identity/group-memberships', {
      groupId: group,
      memberId: person,
    });
    assert.equal(made.status, 201);
    const { id } = made.body.data;
    assert.deepEqual(made.body.data, { id, groupId: group, memberId: person, memberType: 'user' });
    const again = await fixture.call('admin', 'POST', '/identity/group-memberships', {
      groupId: group,
      memberId: person,
      memberType: 'user',
    });
    assert.equal(again.status, 201);
    assert.deepEqual(again.body.data, made.body.data);
    const nested = await fixture.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: group,
      memberId: inner,
      memberType: 'group',
    });
    assert.equal(nested.memberType, 'group');
    assert.deepEqual(await fixture.ok('admin', 'GET', `!/identity/group-memberships?groupId=${group}`), [
      made.body.data,
      nested,
    ]);
    assert.deepEqual(await fixture.ok('admin', 'GET', `!/identity/group-memberships?memberId=${inner}`), [nested]);
    assertRejected(await fixture.call('admin', 'GET', '/identity/group-memberships'), 405, 'METHOD_NOT_ALLOWED');
    assert.deepEqual(await fixture.ok('admin', 'DELETE', `!/identity/group-memberships/${id}`), made.body.data);
    assertRejected(await fixture.call('admin', 'DELETE', `!/identity/group-memberships/${id}`), 404, 'NOT_FOUND');
    assert.notEqual(
      (await fixture.ok('admin', 'POST', '/identity/group-memberships', { groupId: group, memberId: person })).id,
      id,
    );
  });

  it('of a group require an active group and member', async () => {
    const [group, person] = [await fixture.group(), await fixture.user()];
    const add = (groupId: string, memberId: string, memberType?: string) =>
      fixture.call('admin', 'POST', '/identity/group-memberships', {
        groupId,
        memberId,
        ...(memberType === undefined ? {} : { memberType }),
      });
    for (const answer of [
      await add(randomUUID(), person),
      await add(group, randomUUID()),
      await add(group, person, 'group'),
      await add(group, await fixture.group()),
      await add(person, person),
      await add(group, person, 'robot'),
    ]) {
      assertRejected(answer, 400, 'INVALID_REQUEST');
    }
    await fixture.ok('admin', 'POST', `!/identity/users/${person}/archive`);
    assertRejected(await add(group, person), 409, 'ARCHIVED');
    const other = await fixture.user();
    await fixture.ok('admin', 'POST', `!/identity/groups/${group}/archive`);
    assertRejected(await add(group, other), 409, 'ARCHIVED');
    assertRejected(await add(await fixture.group(), group, 'group'), 409, 'ARCHIVED');
  });

  it('of nested groups never form a cycle, including archived groups', async () => {
    const [a, b, c] = [await fixture.group(), await fixture.group(), await fixture.group()];
    const add = (groupId: string, memberId: string) =>
      fixture.call('admin', 'POST', '/identity/group-memberships', { groupId, memberId, memberType: 'group' });
    assertRejected(await add(a, a), 409, 'GROUP_CYCLE', 'itself');
    assert.equal((await add(a, b)).status, 201);
    assert.equal((await add(b, c)).status, 201);
    assert.equal((await add(a, c)).status, 201, 'two ways are no ring');
    assertRejected(await add(c, a), 409, 'GROUP_CYCLE');
    assertRejected(await add(b, a), 409, 'GROUP_CYCLE');
    await fixture.ok('admin', 'POST', `!/identity/groups/${b}/archive`);
    const [direct] = (await fixture.ok<any[]>(
      'admin',
      'GET',
      `!/identity/group-memberships?groupId=${a}&memberId=${c}`,
    )) as [any];
    await fixture.ok('admin', 'DELETE', `!/identity/group-memberships/${direct.id}`);
    assertRejected(await add(c, a), 409, 'GROUP_CYCLE', 'through an archived group');
    const code = async (id: string) =>
      (await fixture.rows<{ code: string }>('SELECT code FROM groups WHERE id = $1', [id]))[0]?.code;
    const text = `groups: [ { code: ${await code(c)}, groups: [${await code(a)}] } ]`;
    await assert.rejects(fixture.app.apply([{ name: 'a.yaml', text }]), (error: BundleError) =>
      error.problems.some(({ code }) => code === 'GROUP_CYCLE'),
    );
  });

  it('of units exist once per user, who is moved from the expected unit', async () => {
    const [one, two, person] = [await fixture.unit(), await fixture.unit(), await fixture.user()];
    const put = (organizationUnitId: string, expected?: string | null) =>
      fixture.call('admin', 'POST', '/identity/org-memberships', {
        organizationUnitId,
        userId: person,
        ...(expected === undefined ? {} : { expectedOrganizationUnitId: expected }),
      });
    assertRejected(await put(one, two), 409, 'ORG_UNIT_CONFLICT', 'in none yet');
    const first = await put(one);
    assert.equal(first.status, 201);
    const { id } = first.body.data;
    assert.deepEqual(first.body.data, { id, organizationUnitId: one, userId: person });
    for (const answer of [await put(one), await put(one, one), await put(one, two)]) {
      assert.deepEqual([answer.status, answer.body.data], [201, first.body.data], 'there already');
    }
    assertRejected(await put(two), 409, 'ORG_UNIT_CONFLICT');
    assertRejected(await put(two, null), 409, 'ORG_UNIT_CONFLICT');
    const moved = await put(two, one);
    assert.deepEqual([moved.status, moved.body.data], [201, { id, organizationUnitId: two, userId: person }]);
    assertRejected(await put(one, one), 409, 'ORG_UNIT_CONFLICT', 'stale');
    assert.deepEqual(await fixture.ok('admin', 'GET', `!/identity/org-memberships?organizationUnitId=${two}`), [
      moved.body.data,
    ]);
    const away = `!/identity/org-memberships/${id}`;
    assertRejected(
      await fixture.call('admin', 'DELETE', away, { expectedOrganizationUnitId: one }),
      409,
      'ORG_UNIT_CONFLICT',
    );
    await fixture.ok('admin', 'DELETE', away, { expectedOrganizationUnitId: two });
    assertRejected(await fixture.call('admin', 'DELETE', away), 404, 'NOT_FOUND');
    assert.equal((await put(one)).status, 201, 'in none again');
    assertRejected(await put(randomUUID(), one), 400, 'INVALID_REQUEST');
    await fixture.ok('admin', 'POST', `!/identity/org-units/${two}/archive`);
    assertRejected(await put(two, one), 409, 'ARCHIVED');
    await fixture.ok('admin', 'POST', `!/identity/users/${person}/archive`);
    assertRejected(await put(await fixture.unit(), one), 409, 'ARCHIVED');
  });
});

describe('roles through membership', () => {
  before(async () => {
    fixture = await startIdentityFixture();
  });
  after(() => fixture.close());

  const add = (who: 'clerk' | 'helper' | 'admin', groupId: string, memberId: string, memberType = 'user') =>
    fixture.call(who, 'POST', '/identity/group-memberships', { groupId, memberId, memberType });

  it('cannot be gained by changing the address of another user', async () => {
    const [bosses, person] = [await fixture.id('bosses'), await fixture.user()];
    await fixture.ok('admin', 'POST', '/identity/group-memberships', { groupId: bosses, memberId: person });
    const change = (who: 'clerk' | 'admin', expectedRevision: number, changes: Record<string, unknown>) =>
      fixture.call(who, 'PATCH', `!/identity/users/${person}`, { expectedRevision, ...changes });
    assertRejected(await change('clerk', 1, { email: 'mine@example.org' }), 403, 'ROLE_ESCALATION');
    assertRejected(await change('clerk', 1, { externalId: 'mine' }), 403, 'ROLE_ESCALATION');
    assert.equal((await change('clerk', 1, { displayName: 'Renamed' })).status, 200);
    assert.equal((await change('admin', 2, { email: 'theirs@example.org' })).status, 200);
    const plain = await fixture.user();
    const own = { expectedRevision: 1, email: `${plain}@example.org` };
    assert.equal((await fixture.call('clerk', 'PATCH', `!/identity/users/${plain}`, own)).status, 200);
  });

  it('can be passed on only by users who hold them or may assign them', async () => {
    const [bosses, agents, shift, person] = [
      await fixture.id('bosses'),
      await fixture.id('agents'),
      await fixture.id('shift'),
      await fixture.user(),
    ];
    assertRejected(await add('clerk', agents, person), 403, 'ROLE_ESCALATION', 'a role of the group');
    assertRejected(await add('clerk', shift, person), 403, 'ROLE_ESCALATION', 'a role of the group that contains it');
    assertRejected(await add('helper', bosses, person), 403, 'ROLE_ESCALATION', 'one role is not another');
    assert.equal((await add('helper', shift, person)).status, 201, 'a member of a nested group has the role');
    assert.equal((await add('helper', agents, person)).status, 201);
    assert.equal((await add('admin', bosses, person)).status, 201, 'a caller with role.assign');
    assert.equal((await add('clerk', bosses, person)).status, 201, 'an existing membership is no change');
    assertRejected(await add('clerk', bosses, randomUUID()), 400, 'INVALID_REQUEST');
  });

  it('cannot be passed on by nesting groups', async () => {
    const [bosses, shift] = [await fixture.id('bosses'), await fixture.id('shift')];
    const [mine, around, me] = [await fixture.group(), await fixture.group(), await fixture.user()];
    assert.equal((await add('clerk', mine, me)).status, 201, 'a group without roles');
    assertRejected(await add('clerk', bosses, mine, 'group'), 403, 'ROLE_ESCALATION', 'downwards');
    assertRejected(await add('clerk', shift, mine, 'group'), 403, 'ROLE_ESCALATION');
    const plain = await fixture.group();
    await fixture.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: plain,
      memberId: await fixture.user(),
    });
    assert.equal((await add('clerk', mine, plain, 'group')).status, 201, 'a group whose members get nothing by it');
    assertRejected(
      await add('clerk', mine, bosses, 'group'),
      403,
      'ROLE_ESCALATION',
      'its member holds a role with $myGroups',
    );
    await fixture.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: bosses,
      memberId: around,
      memberType: 'group',
    });
    assertRejected(await add('clerk', around, me), 403, 'ROLE_ESCALATION', 'upwards');
    assertRejected(await add('clerk', around, await fixture.group(), 'group'), 403, 'ROLE_ESCALATION');
    const before = await fixture.rows('SELECT 1 FROM group_members WHERE group_id = $1', [around]);
    assert.equal(before.length, 0);
  });

  it('cannot be gained by restoring an archived group', async () => {
    const [outer, inner, me] = [await fixture.group(), await fixture.group(), await fixture.user()];
    await fixture.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: await fixture.id('bosses'),
      memberId: outer,
      memberType: 'group',
    });
    await fixture.ok('admin', 'POST', '/identity/group-memberships', {
      groupId: outer,
      memberId: inner,
      memberType: 'group',
    });
    await fixture.ok('admin', 'POST', `!/identity/groups/${outer}/archive`);
    assert.equal((await add('clerk', inner, me)).status, 201, 'it hands nothing on now');
    assertRejected(await fixture.call('clerk', 'POST', `!/identity/groups/${outer}/restore`), 403, 'ROLE_ESCALATION');
    assert.equal((await fixture.call('admin', 'POST', `!/identity/groups/${outer}/restore`)).status, 200);
  });

  it('take effect within a second of joining and leaving, on another server too', async () => {
    const other = await startTestApp({ on: fixture.app });
    try {
      const person = await fixture.ok('admin', 'POST', '/identity/users', fixture.person());
      const { key } = await fixture.app.createKey({ login: person.login });
      const [agents, sub] = [await fixture.id('agents'), await fixture.group()];
      await fixture.ok('admin', 'POST', '/identity/group-memberships', {
        groupId: agents,
        memberId: sub,
        memberType: 'group',
      });
      const values = { title: 'Theirs', team: agents };
      const { id } = await fixture.ok('admin', 'POST', '/objects', { typeDefinitionId: 'case', values });
      const seen = async (): Promise<number[]> => [
        (await other.request('GET', `/api/v1/objects/${id}`, { key })).status,
        (await fixture.app.request('GET', `/api/v1/objects/${id}`, { key })).status,
      ];
      assert.deepEqual(await seen(), [404, 404]);
      const joined = await fixture.ok('admin', 'POST', '/identity/group-memberships', {
        groupId: sub,
        memberId: person.id,
      });
      await within(async () => assert.deepEqual(await seen(), [200, 200]));
      await fixture.ok('admin', 'POST', `!/identity/groups/${sub}/archive`);
      await within(async () => assert.deepEqual(await seen(), [404, 404]));
      await fixture.ok('admin', 'POST', `!/identity/groups/${sub}/restore`);
      await within(async () => assert.deepEqual(await seen(), [200, 200]));
      await fixture.ok('admin', 'DELETE', `!/identity/group-memberships/${joined.id}`);
      await within(async () => assert.deepEqual(await seen(), [404, 404]));
    } finally {
      await other.close();
    }
  });

  it('end with the user: keys and sessions stop on another server, the name remains', async () => {
    const other = await startTestApp({ on: fixture.app });
    try {
      const person = await fixture.ok('admin', 'POST', '/identity/users', fixture.person());
      await add('admin', await fixture.id('bosses'), person.id);
      const { key } = await fixture.app.createKey({ login: person.login });
      await fixture.app.app.work.write(fixture.app.app.system(), (ctx) =>
        setPassword(ctx, person.login, 'a long enough one'),
      );
      const made = await fixture.app.request('POST', '/api/v1/objects', {
        key,
        body: { typeDefinitionId: 'case', values: { title: 'Mine' } },
      });
      assert.equal(made.status, 201);
      const signIn = () =>
        fixture.app.request('POST', '/api/admin/v1/session', {
          body: { login: person.login, password: 'a long enough one' },
        });
      const cookie = (await signIn()).headers.get('set-cookie')?.split(';')[0] ?? assert.fail('no cookie');
      const statuses = async (): Promise<number[]> =>
        await Promise.all(
          [fixture.app, other].flatMap((app) => [
            app.request('GET', '/api/v1/identity/users', { key }).then(({ status }) => status),
            app.request('GET', '/api/admin/v1/session', { headers: { cookie } }).then(({ status }) => status),
          ]),
        );
      assert.deepEqual(await statuses(), [200, 200, 200, 200]);
      await fixture.ok('admin', 'POST', `!/identity/users/${person.id}/archive`);
      await within(async () => assert.deepEqual(await statuses(), [401, 401, 401, 401]));
      assertRejected(await signIn(), 401, 'UNAUTHENTICATED');
      const shown = await fixture.ok('admin', 'GET', `/objects/${made.body.data.id}`);
      assert.deepEqual(shown.createdBy, { id: person.id, displayName: person.displayName });
      await fixture.ok(
        'admin',
        'PATCH',
        `!/identity/users/${(await fixture.ok('admin', 'POST', `!/identity/users/${person.id}/restore`)).id}`,
        { expectedRevision: 3, displayName: 'Renamed' },
      );
      await within(async () => assert.deepEqual(await statuses(), [200, 401, 200, 401]));
      const [event] = await fixture.ok<any[]>('admin', 'GET', `/objects/${made.body.data.id}/history`);
      assert.equal(event.actor.displayName, 'Renamed');
    } finally {
      await other.close();
    }
  });

  it('cannot be gained by setting the password of a user with more rights', async () => {
    const person = await fixture.ok('admin', 'POST', '/identity/users', fixture.person());
    const boss = await fixture.ok('admin', 'POST', '/identity/users', fixture.person());
    await add('admin', await fixture.id('bosses'), boss.id);
    const set = (who: 'admin' | 'clerk' | 'nobody', id: string, password = 'a long enough one') =>
      fixture.call(who, 'POST', `!/identity/users/${id}/password`, { password });
    const signIn = async (login: string, password: string): Promise<number> =>
      (await fixture.app.request('POST', '/api/admin/v1/session', { body: { login, password } })).status;
    assertRejected(await set('nobody', person.id), 403, 'RIGHT_MISSING');
    assertRejected(await set('clerk', person.id, 'too short'), 400, 'INVALID_REQUEST');
    assert.equal((await set('clerk', person.id)).status, 200);
    assert.equal(await signIn(person.login, 'a long enough one'), 201);
    assertRejected(await set('clerk', boss.id), 403, 'ROLE_ESCALATION');
    assert.equal(await signIn(boss.login, 'a long enough one'), 401);
    assert.equal((await set('admin', boss.id)).status, 200);
    assert.equal(await signIn(boss.login, 'a long enough one'), 201);
    await fixture.ok('admin', 'POST', `!/identity/users/${person.id}/archive`);
    assertRejected(await set('admin', person.id), 409, 'ARCHIVED');
    assertRejected(await set('admin', '00000000-0000-7000-8000-000000000000'), 404, 'NOT_FOUND');
    const audit = JSON.stringify(await fixture.ok('admin', 'GET', '!/audit?type=PasswordSet'));
    assert.ok(audit.includes(`user:${boss.id}`) && !audit.includes('a long enough one'));
  });
});

/** Holds within a second, and stays so. */
async function within(holds: () => Promise<void>): Promise<void> {
  const end = performance.now() + 1000;
  for (;;) {
    // From the caller's view: a request that starts a second later must see the change, however long it runs.
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
