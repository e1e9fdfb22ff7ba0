/** Concurrent changes of users, groups and units, decided by the database. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { BundleError } from '../src/configuration/engine.ts';
import type { TestAnswer } from './support/app.ts';
import { assertRejected, countOutcomes, concurrently } from './support/record-fixture.ts';
import { type IdentityFixture, startIdentityFixture } from './support/identity-fixture.ts';

let fixture: IdentityFixture;
const CALLERS = 32;

function winner(answers: readonly TestAnswer[]): any {
  return (answers.find(({ status }) => status === 201) ?? assert.fail('nobody won')).body.data;
}

describe('concurrent identity changes', () => {
  before(async () => {
    fixture = await startIdentityFixture();
  });
  after(() => fixture.close());

  const nest = (groupId: string, memberId: string) =>
    fixture.call('admin', 'POST', '/identity/group-memberships', { groupId, memberId, memberType: 'group' });
  /** True if the bundle was applied; it may be rejected only for a cycle. */
  const applied = async (text: string): Promise<boolean> => {
    try {
      await fixture.app.apply([{ name: 'a.yaml', text }]);
      return true;
    } catch (error) {
      const codes = new Set((error as BundleError).problems.map(({ code }) => code));
      assert.deepEqual(
        [...codes].filter((code) => code !== 'GROUP_CYCLE' && code !== 'CYCLE'),
        [],
      );
      return false;
    }
  };
  const some = (count: number, make: () => Promise<string>): Promise<string[]> => concurrently(count, () => make());

  async function rings(): Promise<number> {
    const [row] = await fixture.rows<{ n: number }>(`
      WITH RECURSIVE way AS (
        SELECT group_id AS start, member_id AS at FROM group_members WHERE member_type = 'group'
        UNION
        SELECT w.start, m.member_id FROM way w JOIN group_members m ON m.member_type = 'group' AND m.group_id = w.at
      ), up AS (
        SELECT id AS start, parent_id AS at FROM org_units WHERE parent_id IS NOT NULL
        UNION
        SELECT u.start, o.parent_id FROM up u JOIN org_units o ON o.id = u.at WHERE o.parent_id IS NOT NULL
      ) SELECT ((SELECT count(*) FROM way WHERE start = at) + (SELECT count(*) FROM up WHERE start = at))::int AS n`);
    return row?.n ?? -1;
  }

  it('create no cycle of groups from opposite sides', async () => {
    for (let round = 0; round < 4; round++) {
      const all = await some(CALLERS, () => fixture.group());
      const pairs = all.flatMap((a, index) => {
        const b = all[index ^ 1] as string;
        return [[a, b] as const];
      });
      const answers = await Promise.all(pairs.map(([a, b]) => nest(a, b)));
      assert.deepEqual(countOutcomes(answers), { 201: CALLERS / 2, '409 GROUP_CYCLE': CALLERS / 2 });
      const cycle = await some(6, () => fixture.group());
      const closing = await concurrently(6, (i) => nest(cycle[i] as string, cycle[(i + 1) % 6] as string));
      assert.deepEqual(countOutcomes(closing), { 201: 5, '409 GROUP_CYCLE': 1 });
    }
    assert.equal(await rings(), 0);
  });

  it('create no cycle of units from opposite sides', async () => {
    const all = await some(CALLERS, () => fixture.unit());
    const answers = await concurrently(CALLERS, (i) =>
      fixture.call('admin', 'PATCH', `!/identity/org-units/${all[i]}`, { expectedRevision: 1, parentId: all[i ^ 1] }),
    );
    assert.deepEqual(countOutcomes(answers), { 200: CALLERS / 2, '400 INVALID_VALUES': CALLERS / 2 });
    assert.equal(await rings(), 0);
  });

  it('create no cycle together with a bundle', async () => {
    for (let round = 0; round < 6; round++) {
      const [a, b] = [`a-${randomUUID()}`, `b-${randomUUID()}`];
      const made = [];
      for (const code of [a, b])
        made.push((await fixture.ok('admin', 'POST', '/identity/groups', { code, name: code })).id);
      const text = `groups: [ { code: ${a}, groups: [${b}] } ]`;
      const [bundled, called] = await Promise.all([applied(text), nest(made[1], made[0])]);
      assert.deepEqual([bundled, called.status === 201].sort(), [false, true]);
      const units = [];
      for (const code of [a, b])
        units.push((await fixture.ok('admin', 'POST', '/identity/org-units', { code, name: code })).id);
      const tree = `orgUnits: [ { code: ${a}, parent: ${b} } ]`;
      const [second, moved] = await Promise.all([
        applied(tree),
        fixture.call('admin', 'PATCH', `!/identity/org-units/${units[1]}`, { expectedRevision: 1, parentId: units[0] }),
      ]);
      assert.deepEqual([second, moved.status === 200].sort(), [false, true]);
    }
    assert.equal(await rings(), 0);
  });

  it('use a name once', async () => {
    const name = randomUUID();
    const logins = await concurrently(CALLERS, (i) => {
      const login = i % 2 === 0 ? `Login-${name}` : `LOGIN-${name.toUpperCase()}`;
      return fixture.call('admin', 'POST', '/identity/users', { ...fixture.person(), login });
    });
    assert.deepEqual(countOutcomes(logins), { 201: 1, [`409 ALREADY_EXISTS`]: CALLERS - 1 });
    assert.ok(logins.every(({ status, body }) => status === 201 || body.error.details.field === 'login'));
    const emails = await concurrently(CALLERS, () =>
      fixture.call('admin', 'POST', '/identity/users', { ...fixture.person(), email: `${name}@example.org` }),
    );
    assert.deepEqual(countOutcomes(emails), { 201: 1, [`409 ALREADY_EXISTS`]: CALLERS - 1 });
    const ids = await concurrently(CALLERS, () =>
      fixture.call('admin', 'POST', '/identity/users', { ...fixture.person(), userId: name }),
    );
    assert.deepEqual(countOutcomes(ids), { 201: 1, [`409 ALREADY_EXISTS`]: CALLERS - 1 });
    for (const path of ['groups', 'org-units']) {
      const codes = await concurrently(CALLERS, () =>
        fixture.call('admin', 'POST', `/identity/${path}`, { code: `c-${name}`, name: 'x' }),
      );
      assert.deepEqual(countOutcomes(codes), { 201: 1, [`409 ALREADY_EXISTS`]: CALLERS - 1 });
    }
    const units = await concurrently(CALLERS, () =>
      fixture.call('admin', 'POST', '/identity/org-units', { name: 'Same' }),
    );
    assert.equal(new Set(units.map(({ body }) => body.data.code)).size, CALLERS);
  });

  it('use a name once and put a user into one unit, for a bundle and a call together', async () => {
    for (let round = 0; round < 6; round++) {
      const login = `both-${randomUUID()}`;
      const body = { login: login.toUpperCase(), displayName: 'By call', email: `${login}@example.org` };
      const [done, called] = await Promise.all([
        applied(`users: [ { login: ${login}, displayName: By bundle } ]`),
        fixture.call('admin', 'POST', '/identity/users', body),
      ]);
      assert.ok(done);
      if (called.status !== 201) assertRejected(called, 409, 'ALREADY_EXISTS');
      const found = await fixture.rows<{ id: string; name: string; login: string }>(
        'SELECT id, display_name AS name, login FROM users WHERE login_key = $1',
        [login],
      );
      assert.equal(found.length, 1);
      // In either order, the user has the bundle's values, and no address is lost.
      if (called.status === 201) assert.equal(found[0]?.id, called.body.data.id);
      assert.equal(found[0]?.name, 'By bundle');
      const units = [];
      for (const end of ['x', 'y', 'z']) {
        const unit = { code: `${end}-${randomUUID()}`, name: end };
        units.push(await fixture.ok('admin', 'POST', '/identity/org-units', unit));
      }
      const place = { userId: found[0]?.id, organizationUnitId: units[0].id };
      await fixture.ok('admin', 'POST', '/identity/org-memberships', place);
      const [, moved] = await Promise.all([
        applied(`users: [ { login: ${login}, orgUnit: ${units[1].code} } ]`),
        fixture.call('admin', 'POST', '/identity/org-memberships', {
          ...place,
          organizationUnitId: units[2].id,
          expectedOrganizationUnitId: units[0].id,
        }),
      ]);
      if (moved.status !== 201) assertRejected(moved, 409, 'ORG_UNIT_CONFLICT');
      const rows = await fixture.rows('SELECT organization_unit_id AS unit FROM org_members WHERE user_id = $1', [
        found[0]?.id,
      ]);
      assert.deepEqual(rows, [{ unit: units[1].id }], 'a bundle is the last word on what it names');
    }
  });

  it('create one group membership with one event', async () => {
    const [group, person] = [await fixture.group(), await fixture.user()];
    const answers = await concurrently(CALLERS, () =>
      fixture.call('admin', 'POST', '/identity/group-memberships', { groupId: group, memberId: person }),
    );
    assert.deepEqual(countOutcomes(answers), { 201: CALLERS });
    assert.equal(new Set(answers.map(({ body }) => body.data.id)).size, 1);
    const events = await fixture.rows(`SELECT 1 FROM journal WHERE subject = $1 AND type = 'GroupMemberAdded'`, [
      `group:${group}`,
    ]);
    assert.equal(events.length, 1);
  });

  it('put a user into one unit and move them once', async () => {
    const units = await some(CALLERS, () => fixture.unit());
    const person = await fixture.user();
    const put = (organizationUnitId: string, expected?: string) =>
      fixture.call('admin', 'POST', '/identity/org-memberships', {
        organizationUnitId,
        userId: person,
        ...(expected === undefined ? {} : { expectedOrganizationUnitId: expected }),
      });
    const once = { 201: 1, '409 ORG_UNIT_CONFLICT': CALLERS - 1 };
    const first = await concurrently(CALLERS, (i) => put(units[i] as string));
    assert.deepEqual(countOutcomes(first), once);
    const { id, organizationUnitId: from } = winner(first);
    const others = await some(CALLERS, () => fixture.unit());
    const moves = await concurrently(CALLERS, (i) => put(others[i] as string, from));
    assert.deepEqual(countOutcomes(moves), once);
    const { id: same, organizationUnitId: to } = winner(moves);
    assert.equal(same, id);
    const rows = await fixture.rows('SELECT organization_unit_id AS unit FROM org_members WHERE user_id = $1', [
      person,
    ]);
    assert.deepEqual(rows, [{ unit: to }]);
    const repeated = await concurrently(CALLERS, () => put(to));
    assert.deepEqual(countOutcomes(repeated), { 201: CALLERS });
  });

  it('change a user once per revision and lose no change to a bundle', async () => {
    const person = await fixture.ok('admin', 'POST', '/identity/users', fixture.person());
    const path = `!/identity/users/${person.id}`;
    const answers = await concurrently(CALLERS, (i) =>
      fixture.call('admin', 'PATCH', path, { expectedRevision: 1, employeeId: `e${i}` }),
    );
    assert.deepEqual(countOutcomes(answers), { 200: 1, '409 REVISION_CONFLICT': CALLERS - 1 });
    for (let round = 0; round < 6; round++) {
      const { revision } = await fixture.ok('admin', 'PATCH', path, {
        expectedRevision: 2 + round * 3,
        employeeId: `x${round}`,
      });
      const text = `users: [ { login: ${person.login}, displayName: Name ${round} } ]`;
      const [done, called] = await Promise.all([
        applied(text),
        fixture.call('admin', 'PATCH', path, { expectedRevision: revision, employeeId: `y${round}` }),
      ]);
      assert.ok(done);
      if (called.status !== 200) {
        assertRejected(called, 409, 'REVISION_CONFLICT');
        await fixture.ok('admin', 'PATCH', path, { expectedRevision: revision + 1, employeeId: `y${round}` });
      }
      const [row] = await fixture.rows(
        'SELECT display_name AS name, employee_id AS employee, revision FROM users WHERE id = $1',
        [person.id],
      );
      assert.deepEqual(row, { name: `Name ${round}`, employee: `y${round}`, revision: revision + 2 });
    }
  });
});
