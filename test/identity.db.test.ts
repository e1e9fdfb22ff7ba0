/** Users, groups and units over HTTP (docs/spec/identity.md, docs/spec/configuration.md#administration-api). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { assertRejected } from './support/record-fixture.ts';
import { type IdentityFixture, startIdentityFixture } from './support/identity-fixture.ts';

let fixture: IdentityFixture;

describe('users', () => {
  before(async () => {
    fixture = await startIdentityFixture();
  });
  after(() => fixture.close());

  it('are created with exactly the given values', async () => {
    const userId = randomUUID();
    const full = {
      login: 'Anna.Petrova',
      displayName: 'Анна Петрова',
      email: 'Anna@Example.org',
      userId,
      locale: 'ru-RU',
      timezone: 'Europe/Moscow',
      employeeId: '17',
      externalId: 'hr-17',
    };
    const made = await fixture.ok('admin', 'POST', '/identity/users', full);
    const { createdAt, updatedAt, ...rest } = made;
    assert.deepEqual(rest, { ...full, id: userId, organizationUnitId: null, state: 'ACTIVE', revision: 1 });
    assert.equal(createdAt, updatedAt);
    const bare = await fixture.ok('admin', 'POST', '/identity/users', fixture.person('bare'));
    assert.deepEqual([bare.locale, bare.timezone, bare.employeeId, bare.externalId], [null, null, null, null]);
    assert.equal(bare.userId, bare.id);
    for (const extra of [{ role: 'administrator' }, { groups: [] }, { password: 'x' }, { state: 'ARCHIVED' }]) {
      const answer = await fixture.call('admin', 'POST', '/identity/users', { ...fixture.person(), ...extra });
      assertRejected(answer, 400, 'INVALID_REQUEST', JSON.stringify(extra));
    }
    const rows = await fixture.rows<{ n: number }>(
      'SELECT count(*)::int AS n FROM role_assignments a JOIN users u ON u.id = a.member_id WHERE u.id = $1 OR u.password_hash IS NOT NULL',
      [userId],
    );
    assert.equal(rows[0]?.n, 0);
  });

  it('have unique logins, addresses and ids, regardless of case', async () => {
    const first = await fixture.ok('admin', 'POST', '/identity/users', {
      login: 'Straße',
      displayName: 'One',
      email: 'Boris@Example.org',
    });
    const clash = async (change: object, field: string): Promise<void> => {
      const answer = await fixture.call('admin', 'POST', '/identity/users', { ...fixture.person(), ...change });
      assertRejected(answer, 409, 'ALREADY_EXISTS', JSON.stringify(change));
      assert.deepEqual(answer.body.error.details, { field });
    };
    for (const login of ['STRASSE', 'strasse', 'ſtraße', 'ｓｔｒａｓｓｅ']) await clash({ login }, 'login');
    for (const email of ['boris@example.org', 'BORIS@EXAMPLE.ORG', 'ｂoris@example.org'])
      await clash({ email }, 'email');
    await clash({ userId: first.id }, 'userId');
    await fixture.ok('admin', 'POST', `!/identity/users/${first.id}/archive`, {});
    await clash({ login: 'strasse' }, 'login');
    await clash({ userId: first.id }, 'userId');
  });

  it('are rejected with each invalid value', async () => {
    const wrong = {
      login: 'pet\u200brova',
      displayName: ' \t',
      email: 'nobody@nowhere',
      timezone: 'Mars/Olympus',
      employeeId: 'a\u0007',
      externalId: '\u2028',
    };
    const answer = await fixture.call('admin', 'POST', '/identity/users', wrong);
    assertRejected(answer, 400, 'INVALID_VALUES');
    assert.deepEqual(answer.body.error.details.map(({ path }: { path: string }) => path).sort(), [
      '/displayName',
      '/email',
      '/employeeId',
      '/externalId',
      '/login',
      '/timezone',
    ]);
    for (const [field, value] of [
      ['login', ' x'],
      ['login', '\u202eadmin'],
      ['login', 'a\u00adb'],
      ['login', `a${'\u0301'.repeat(200)}`],
      ['email', 'a@b'],
      ['email', 'a b@example.org'],
      ['email', 'x\u200b@example.org'],
      ['displayName', '\ud800'],
    ] as const) {
      const one = await fixture.call('admin', 'POST', '/identity/users', { ...fixture.person(), [field]: value });
      assert.equal(one.status, 400, `${field} ${JSON.stringify(value)}: ${JSON.stringify(one.body)}`);
    }
    for (const [field, value] of [
      ['login', ''],
      ['login', null],
      ['login', 5],
      ['email', undefined],
      ['displayName', undefined],
      ['locale', 'russian'],
      ['userId', 'x'],
      ['userId', '00000000-0000-0000-0000-00000000000G'],
    ] as const) {
      const one = await fixture.call('admin', 'POST', '/identity/users', { ...fixture.person(), [field]: value });
      assertRejected(one, 400, 'INVALID_REQUEST', `${field} ${value}`);
    }
  });

  it('are listed by name and then id with every field, without archived ones', async () => {
    const fresh = await startIdentityFixture();
    try {
      const names = ['Яна', 'ёлка', 'Ель', 'zoe', 'Åke', 'adam', 'Adam'];
      for (const displayName of names) {
        await fresh.ok('admin', 'POST', '/identity/users', { ...fresh.person(), displayName });
      }
      const twins = [randomUUID(), randomUUID()].sort();
      for (const userId of [...twins].reverse()) {
        await fresh.ok('admin', 'POST', '/identity/users', { ...fresh.person(), userId, displayName: 'Twin' });
      }
      const gone = await fresh.ok('admin', 'POST', '/identity/users', { ...fresh.person(), displayName: 'Gone' });
      await fresh.ok('admin', 'POST', `!/identity/users/${gone.id}/archive`);
      const listed = await fresh.ok<any[]>('admin', 'GET', '/identity/users');
      const order = new Intl.Collator('und');
      for (const [index, user] of listed.entries()) {
        const before = listed[index - 1];
        if (before === undefined) continue;
        const compared = order.compare(before.displayName, user.displayName);
        assert.ok(compared < 0 || (compared === 0 && before.id < user.id), `${before.displayName} ${user.displayName}`);
      }
      assert.deepEqual(
        listed.filter(({ displayName }) => displayName === 'Twin').map(({ id }) => id),
        twins,
      );
      assert.ok(listed.every(({ state, id }) => state === 'ACTIVE' && id !== gone.id));
      const fields = [
        'id',
        'login',
        'displayName',
        'email',
        'userId',
        'locale',
        'timezone',
        'employeeId',
        'externalId',
        'state',
      ];
      for (const user of listed) assert.ok(fields.every((field) => Object.hasOwn(user, field)));
      assertRejected(await fresh.call('admin', 'GET', '/identity/users?page=1'), 400, 'INVALID_REQUEST');
      const archived = await fresh.ok('admin', 'GET', '!/identity/archived');
      assert.deepEqual(
        [archived.users.map(({ id }: any) => id), archived.groups, archived.orgUnits],
        [[gone.id], [], []],
      );
    } finally {
      await fresh.close();
    }
  });

  it('change at the expected revision', async () => {
    const made = await fixture.ok('admin', 'POST', '/identity/users', {
      ...fixture.person(),
      timezone: 'Europe/Moscow',
    });
    const path = `!/identity/users/${made.id}`;
    const changed = await fixture.ok('admin', 'PATCH', path, {
      expectedRevision: 1,
      displayName: 'New',
      timezone: null,
    });
    assert.deepEqual([changed.displayName, changed.timezone, changed.revision], ['New', null, 2]);
    assert.equal(changed.email, made.email);
    assertRejected(
      await fixture.call('admin', 'PATCH', path, { expectedRevision: 1, locale: 'en-US' }),
      409,
      'REVISION_CONFLICT',
    );
    const same = await fixture.ok('admin', 'PATCH', path, { expectedRevision: 2, displayName: 'New', timezone: null });
    assert.equal(same.revision, 2, 'nothing changed');
    const other = await fixture.ok('admin', 'POST', '/identity/users', fixture.person());
    const clash = await fixture.call('admin', 'PATCH', path, { expectedRevision: 2, email: other.email.toUpperCase() });
    assertRejected(clash, 409, 'ALREADY_EXISTS');
    const own = await fixture.ok('admin', 'PATCH', path, { expectedRevision: 2, email: made.email.toUpperCase() });
    assert.equal(own.email, made.email.toUpperCase());
    assertRejected(
      await fixture.call('admin', 'PATCH', path, { expectedRevision: 3, email: 'x' }),
      400,
      'INVALID_VALUES',
    );
    for (const body of [
      { expectedRevision: 3, login: 'x' },
      { displayName: 'x' },
      { expectedRevision: '3' },
      { expectedRevision: 3, email: null },
    ]) {
      assertRejected(await fixture.call('admin', 'PATCH', path, body), 400, 'INVALID_REQUEST', JSON.stringify(body));
    }
    const events = await fixture.rows<{ type: string; data: any }>(
      'SELECT type, data FROM journal WHERE subject = $1 ORDER BY seq',
      [`user:${made.id}`],
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      ['UserCreated', 'UserChanged', 'UserChanged'],
    );
    assert.deepEqual(events[1]?.data.changes, {
      displayName: [made.displayName, 'New'],
      timezone: ['Europe/Moscow', null],
    });
  });

  it('are archived and restored once', async () => {
    const made = await fixture.ok('admin', 'POST', '/identity/users', fixture.person());
    const path = `!/identity/users/${made.id}`;
    assertRejected(await fixture.call('admin', 'POST', `${path}/restore`), 409, 'STATE_CONFLICT');
    assertRejected(
      await fixture.call('admin', 'POST', `${path}/archive`, { expectedRevision: 9 }),
      409,
      'REVISION_CONFLICT',
    );
    const archived = await fixture.ok('admin', 'POST', `${path}/archive`, { expectedRevision: 1 });
    assert.deepEqual([archived.state, archived.revision], ['ARCHIVED', 2]);
    assertRejected(await fixture.call('admin', 'POST', `${path}/archive`), 409, 'ARCHIVED');
    assertRejected(
      await fixture.call('admin', 'PATCH', path, { expectedRevision: 2, displayName: 'x' }),
      409,
      'ARCHIVED',
    );
    const restored = await fixture.ok('admin', 'POST', `${path}/restore`);
    assert.deepEqual([restored.state, restored.revision], ['ACTIVE', 3]);
    for (const verb of ['archive', 'restore']) {
      assertRejected(await fixture.call('admin', 'POST', `!/identity/users/${randomUUID()}/${verb}`), 404, 'NOT_FOUND');
    }
  });
});

describe('groups and units', () => {
  before(async () => {
    fixture = await startIdentityFixture();
  });
  after(() => fixture.close());

  it('have codes that are valid in a bundle and unique regardless of case', async () => {
    for (const [path, name, field] of [
      ['groups', 'group', 'groupId'],
      ['org-units', 'unit', 'organizationUnitId'],
    ] as const) {
      const id = randomUUID();
      const made = await fixture.ok('admin', 'POST', `/identity/${path}`, {
        code: `North-${name}`,
        name: ' Север ',
        [field]: id,
      });
      assert.deepEqual([made.id, made[field], made.code, made.state], [id, id, `north-${name}`, 'ACTIVE']);
      const clash = await fixture.call('admin', 'POST', `/identity/${path}`, { code: `NORTH-${name}`, name: 'x' });
      assertRejected(clash, 409, 'ALREADY_EXISTS');
      assert.deepEqual(clash.body.error.details, { field: 'code' });
      const taken = await fixture.call('admin', 'POST', `/identity/${path}`, {
        code: `other-${name}`,
        name: 'x',
        [field]: id,
      });
      assert.deepEqual(taken.body.error.details, { field });
      for (const code of ['1st', 'a_b', 'a b', 'абв', 'ı', '-a', 'K\u212a', 'a\u200b']) {
        assertRejected(
          await fixture.call('admin', 'POST', `/identity/${path}`, { code, name: 'x' }),
          400,
          'INVALID_VALUES',
          code,
        );
      }
      assertRejected(
        await fixture.call('admin', 'POST', `/identity/${path}`, { code: 'x'.repeat(64), name: 'x' }),
        400,
        'INVALID_REQUEST',
      );
      assertRejected(
        await fixture.call('admin', 'POST', `/identity/${path}`, { code: 'ok', name: 'a\nb' }),
        400,
        'INVALID_VALUES',
      );
    }
    assertRejected(await fixture.call('admin', 'POST', '/identity/groups', { name: 'x' }), 400, 'INVALID_REQUEST');
  });

  it('get a generated code if a unit has none', async () => {
    const one = await fixture.ok('admin', 'POST', '/identity/org-units', { name: 'Head Office, 2nd floor' });
    const two = await fixture.ok('admin', 'POST', '/identity/org-units', { name: 'Head Office, 2nd floor' });
    const three = await fixture.ok('admin', 'POST', '/identity/org-units', { name: 'Отдел продаж' });
    assert.match(one.code, /^head-office-2nd-floor-[0-9a-f]{12}$/);
    assert.match(three.code, /^unit-[0-9a-f]{12}$/);
    assert.notEqual(one.code, two.code);
  });

  it('refer only to existing items', async () => {
    const manager = await fixture.ok('admin', 'POST', '/identity/users', fixture.person());
    const top = await fixture.ok('admin', 'POST', '/identity/org-units', {
      name: 'Top',
      managerUserId: manager.id,
      location: 'Омск',
    });
    assert.deepEqual([top.managerUserId, top.location, top.parentId], [manager.id, 'Омск', null]);
    const below = await fixture.ok('admin', 'POST', '/identity/org-units', { name: 'Below', parentId: top.id });
    assert.equal(below.parentId, top.id);
    const own = randomUUID();
    const wrong = await fixture.call('admin', 'POST', '/identity/org-units', {
      name: 'x',
      parentId: own,
      organizationUnitId: own,
      managerUserId: randomUUID(),
    });
    assertRejected(wrong, 400, 'INVALID_VALUES');
    assert.deepEqual(
      wrong.body.error.details.map(({ path }: { path: string }) => path),
      ['/parentId', '/managerUserId'],
    );
    await fixture.ok('admin', 'POST', `!/identity/org-units/${top.id}/archive`);
    assertRejected(
      await fixture.call('admin', 'POST', '/identity/org-units', { name: 'x', parentId: top.id }),
      400,
      'INVALID_VALUES',
    );
    await fixture.ok('admin', 'POST', `!/identity/org-units/${top.id}/restore`);
    const path = `!/identity/org-units/${top.id}`;
    const cycle = await fixture.call('admin', 'PATCH', path, { expectedRevision: 3, parentId: below.id });
    assertRejected(cycle, 400, 'INVALID_VALUES');
    assert.equal(cycle.body.error.details[0].code, 'CYCLE');
    assertRejected(
      await fixture.call('admin', 'PATCH', path, { expectedRevision: 3, parentId: top.id }),
      400,
      'INVALID_VALUES',
      'itself',
    );
    const changed = await fixture.ok('admin', 'PATCH', path, {
      expectedRevision: 3,
      location: null,
      name: { 'ru-RU': 'Верх', 'en-US': 'Top' },
    });
    assert.deepEqual([changed.name, changed.location, changed.revision], ['Верх', null, 4]);
    assertRejected(
      await fixture.call('admin', 'PATCH', path, { expectedRevision: 3, location: 'x' }),
      409,
      'REVISION_CONFLICT',
    );
    const loose = await fixture.ok('admin', 'PATCH', `!/identity/org-units/${below.id}`, {
      expectedRevision: 1,
      parentId: null,
    });
    assert.equal(loose.parentId, null);
  });

  it('are listed by name in the default locale', async () => {
    for (const name of ['Б', 'а', 'В']) {
      await fixture.ok('admin', 'POST', '/identity/groups', { code: `g-${randomUUID()}`, name });
    }
    for (const path of ['groups', 'org-units']) {
      const listed = await fixture.ok<any[]>('admin', 'GET', `/identity/${path}`);
      assert.ok(listed.length > 2 && listed.some(({ name }) => name === (path === 'groups' ? 'Второй отдел' : 'Верх')));
      const names = listed.map(({ name }) => name);
      assert.deepEqual(names, [...names].sort(new Intl.Collator('und').compare));
    }
  });

  it('are archived and restored', async () => {
    for (const path of ['groups', 'org-units']) {
      const made = await fixture.ok('admin', 'POST', `/identity/${path}`, { code: `x-${path}`, name: 'X' });
      const at = `!/identity/${path}/${made.id}`;
      assertRejected(await fixture.call('admin', 'POST', `${at}/restore`), 409, 'STATE_CONFLICT');
      assert.equal((await fixture.ok('admin', 'POST', `${at}/archive`)).state, 'ARCHIVED');
      assertRejected(await fixture.call('admin', 'POST', `${at}/archive`), 409, 'ARCHIVED');
      assertRejected(await fixture.call('admin', 'PATCH', at, { expectedRevision: 2, name: 'Y' }), 409, 'ARCHIVED');
      assert.ok((await fixture.ok<any[]>('admin', 'GET', `/identity/${path}`)).every(({ id }) => id !== made.id));
      assert.equal((await fixture.ok('admin', 'POST', `${at}/restore`)).revision, 3);
      const renamed = await fixture.ok('admin', 'PATCH', at, { expectedRevision: 3, name: 'Y' });
      assert.deepEqual([renamed.name, renamed.revision], ['Y', 4]);
    }
  });

  it('are exported unchanged, and the export plans without changes', async () => {
    const user = await fixture.ok('admin', 'POST', '/identity/users', {
      ...fixture.person(),
      login: '\'": {Ольга}',
      displayName: '- #1: "x"',
    });
    const group = await fixture.ok('admin', 'POST', '/identity/groups', { code: 'Exported', name: 'yes' });
    await fixture.ok('admin', 'POST', '/identity/group-memberships', { groupId: group.id, memberId: user.id });
    const { files } = await fixture.ok('admin', 'GET', '!/config/export?identity=true');
    const plan = await fixture.ok<any[]>('admin', 'POST', '!/config/plan', { files, prune: true, pruneIdentity: true });
    assert.deepEqual(
      plan.filter(({ action }) => action !== 'leave'),
      [],
    );
    assert.ok(plan.some(({ section, code }) => section === 'groups' && code === 'exported'));
  });
});
