/** Users may grant only access that they have or may assign: by memberships, and by changing sign-in data. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { assertRejected, countOutcomes } from './support/record-fixture.ts';
import type { TestAnswer } from './support/app.ts';
import { SECTIONS } from './support/bundle-fixture.ts';
import { type FixtureUser, type EscalationFixture, startEscalationFixture } from './support/escalation-fixture.ts';

let fixture: EscalationFixture;

const join = async (who: FixtureUser, group: string, member: string, memberType = 'user'): Promise<TestAnswer> =>
  await fixture.call(who, 'POST', '/identity/group-memberships', { groupId: group, memberId: member, memberType });
const put = async (who: FixtureUser, unit: string, user: string, expected?: string): Promise<TestAnswer> =>
  await fixture.call(who, 'POST', '/identity/org-memberships', {
    organizationUnitId: unit,
    userId: user,
    ...(expected === undefined ? {} : { expectedOrganizationUnitId: expected }),
  });
const escalates = (answer: TestAnswer, what = ''): void => assertRejected(answer, 403, 'ROLE_ESCALATION', what);
const passes = (answer: TestAnswer, what = ''): void =>
  assert.ok(answer.status < 300, `${what} ${answer.status} ${JSON.stringify(answer.body)}`);
const group = async (): Promise<string> =>
  (await fixture.ok('admin', 'POST', '/identity/groups', { code: `g-${randomUUID()}`, name: 'G' })).id;
const unit = async (parentId?: string): Promise<string> =>
  (
    await fixture.ok('admin', 'POST', '/identity/org-units', {
      name: 'U',
      ...(parentId === undefined ? {} : { parentId }),
    })
  ).id;
const out = async (user: string): Promise<void> => {
  await fixture.rows('DELETE FROM org_members WHERE user_id = $1', [user]);
};
const apply = async (who: FixtureUser, text: string, options: object = {}): Promise<TestAnswer> =>
  await fixture.call(who, 'POST', '!/config/apply', { files: [{ name: 'x.yaml', text }], ...options });

/**
 * All properties of a bundle that refer to groups or units. Each either grants access that is checked, or is a membership
 * itself.
 */
const NAMED = [
  'catalogs.items.audience.groups',
  'catalogs.items.audience.orgUnits',
  'dashboards.sharedWith.groups',
  'groups.groups',
  'roles.assignedTo.groups',
  'roles.memberships.groups',
  'roles.memberships.orgUnits',
  'services.audience.groups',
  'services.audience.orgUnits',
];

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
  anyOf?: Shape[];
}

function* namedIn(shape: Shape, path: string): Generator<string> {
  for (const part of shape.anyOf ?? []) yield* namedIn(part, path);
  if (shape.items !== undefined) yield* namedIn(shape.items, path);
  for (const [property, part] of Object.entries(shape.properties ?? {})) {
    const at = `${path}.${property}`;
    if (property === 'groups' || property === 'orgUnits') yield at;
    else yield* namedIn(part, at);
  }
}

describe('properties that refer to groups and units', () => {
  it('are all known to the membership rules', () => {
    const found = SECTIONS.flatMap(({ key, schema }) => [...namedIn(schema as Shape, key)]);
    assert.deepEqual([...new Set(found)].sort(), NAMED);
  });
});

describe('record access through membership', () => {
  before(async () => {
    fixture = await startEscalationFixture();
  });
  after(() => fixture.close());

  it('cannot be changed for oneself: memberships, e-mail address, external id, by call or bundle', async () => {
    const [clerk, member, secret, plain] = await Promise.all(['clerk', 'member', 'secret', 'plain'].map(fixture.id));
    assert.ok(clerk && member && secret && plain);
    const { revision } = (await fixture.ok<any[]>('admin', 'GET', '/identity/users')).find(({ id }) => id === clerk);
    const change = (changes: object) =>
      fixture.call('clerk', 'PATCH', `!/identity/users/${clerk}`, { expectedRevision: revision, ...changes });
    escalates(await change({ email: 'other@example.org' }), 'e-mail');
    escalates(await change({ externalId: 'subject-of-the-provider' }), 'external id');
    escalates(await join('clerk', plain, clerk), 'a group that gives nothing');
    escalates(await put('clerk', await fixture.id('alone'), clerk), 'a unit that gives nothing');
    const [own] = await fixture.ok<any[]>('admin', 'GET', `!/identity/group-memberships?memberId=${member}`);
    escalates(await fixture.call('member', 'DELETE', `!/identity/group-memberships/${own.id}`), 'leaving');
    const places = await fixture.ok<any[]>('admin', 'GET', '!/identity/org-memberships');
    const placed = places.find(({ userId }) => userId === member);
    escalates(await fixture.call('member', 'DELETE', `!/identity/org-memberships/${placed.id}`), 'leaving a unit');
    for (const text of [
      'users: [ { login: clerk, externalId: subject-of-the-provider } ]',
      'users: [ { login: clerk, email: other@example.org } ]',
      'users: [ { login: CLERK } ]',
      'users: [ { login: clerk, orgUnit: alone } ]',
      'groups: [ { code: plain, users: [clerk] } ]',
    ]) {
      escalates(await apply('clerk', text), text);
    }
    passes(await change({ displayName: 'Clerk' }), 'the rest may change');
    passes(await apply('clerk', 'users: [ { login: clerk, employeeId: "7" } ]'));
    const indirect = await group();
    passes(await join('admin', indirect, clerk));
    escalates(await join('clerk', plain, indirect, 'group'), 'by a group that one is in');
    await fixture.ok('admin', 'POST', `!/identity/groups/${indirect}/archive`);
    escalates(await fixture.call('clerk', 'POST', `!/identity/groups/${indirect}/restore`), 'by taking a group back');
  });

  it('of a group grants no records that the caller lacks', async () => {
    const [reader, secret, nobody] = [
      await fixture.id('by-group'),
      await fixture.id('secret'),
      await fixture.id('nobody'),
    ];
    const values = { title: 'Theirs', team: secret };
    const { id } = await fixture.ok('admin', 'POST', '/objects', { typeDefinitionId: 'case', values });
    assert.equal(await fixture.sees('by-group', id), 404);
    escalates(await join('clerk', secret, reader), 'a role of the user has $myGroups');
    escalates(await apply('clerk', 'groups: [ { code: secret, users: [by-group] } ]'), 'bundle');
    passes(await join('clerk', secret, nobody), 'a member to whom it gives nothing');
    const inner = await group();
    passes(await join('clerk', secret, inner, 'group'), 'the group has no members');
    escalates(await join('clerk', inner, reader), 'the group around it');
    const full = await group();
    passes(await join('admin', full, reader));
    escalates(await join('clerk', secret, full, 'group'), 'a member of the group');
    assert.equal(await fixture.sees('by-group', id), 404);
    passes(await join('member', secret, reader), 'a member may');
    assert.equal(await fixture.sees('by-group', id), 200);
  });

  it('is checked for a bundle as a whole, including the combined effect of two changes', async () => {
    const [a, b] = [`a-${randomUUID()}`, `b-${randomUUID()}`];
    passes(await apply('clerk', `groups: [ { code: ${a} }, { code: ${b} } ]`));
    const both = `groups: [ { code: ${a}, users: [by-group] }, { code: ${b}, groups: [${a}] } ]`;
    escalates(await apply('clerk', both));
    escalates(
      await apply('clerk', `groups: [ { code: inner, groups: [${a}] }, { code: ${a}, users: [nobody] } ]`),
      'a role',
    );
    passes(await apply('clerk', `groups: [ { code: ${a}, users: [nobody] }, { code: ${b}, groups: [${a}] } ]`));
    escalates(
      await apply('clerk', `users: [ { login: new-${a} } ]\ngroups: [ { code: auditors, users: [new-${a}] } ]`),
      'new',
    );
  });

  it('is checked for concurrent calls as if they ran one after the other', async () => {
    const [reader, secret, listed] = [
      await fixture.id('by-group'),
      await fixture.id('secret'),
      await fixture.id('listed'),
    ];
    const clear = () =>
      fixture.rows('DELETE FROM group_members WHERE member_id = $1 OR group_id = $2', [reader, listed]);
    for (let turn = 0; turn < 10; turn++) {
      await clear();
      await fixture.rows('DELETE FROM group_members WHERE member_id = $1', [listed]);
      // Each alone is allowed: an empty group into another, and a member into a group that the caller may grant.
      const calls = [() => join('delegate', secret, listed, 'group'), () => join('delegate', listed, reader)];
      if (turn % 2 === 1) calls.reverse();
      const answers = await Promise.all(calls.map((send) => send()));
      assert.deepEqual(countOutcomes(answers), { 201: 1, '403 ROLE_ESCALATION': 1 }, `turn ${turn}`);
    }
    await clear();
    await fixture.rows('DELETE FROM group_members WHERE member_id = $1', [listed]);
  });

  it('of a unit grants no records that the caller lacks', async () => {
    const [one, many, nobody] = [await fixture.id('by-unit'), await fixture.id('by-units'), await fixture.id('nobody')];
    const [root, branch, leaf] = [await fixture.id('root'), await fixture.id('branch'), await fixture.id('leaf')];
    escalates(await put('clerk', leaf, one), '$myOrgUnit');
    escalates(await put('clerk', leaf, many), '$myOrgUnits');
    passes(await put('clerk', leaf, nobody));
    escalates(await apply('clerk', 'users: [ { login: by-unit, orgUnit: leaf } ]'), 'bundle');
    passes(await put('member', leaf, many), 'a unit below the own one');
    escalates(await put('member', leaf, one), '$myOrgUnit is that unit alone');
    escalates(await put('member', root, many, leaf), 'a unit above the own one');
    passes(await put('member', branch, many, leaf));
    passes(await put('member', branch, one));
    for (const user of [one, many, nobody]) await out(user);
  });

  it('is not gained by moving or restoring a unit', async () => {
    const many = await fixture.id('by-units');
    const [upper, lower] = [await unit(), await unit()];
    passes(await put('admin', upper, many));
    const move = (who: FixtureUser, id: string, parentId: string | null, expectedRevision: number) =>
      fixture.call(who, 'PATCH', `!/identity/org-units/${id}`, { expectedRevision, parentId });
    escalates(await move('clerk', lower, upper, 1), 'units above get the records of those below');
    passes(await move('admin', lower, upper, 1));
    await fixture.ok('admin', 'POST', `!/identity/org-units/${lower}/archive`);
    escalates(await fixture.call('clerk', 'POST', `!/identity/org-units/${lower}/restore`));
    await fixture.ok('admin', 'POST', `!/identity/org-units/${lower}/restore`);
    await out(many);
    const below = await unit();
    passes(await put('admin', below, await fixture.user()));
    escalates(await move('clerk', below, await fixture.id('apart'), 1), 'units below get the audiences of those above');
    passes(await move('clerk', below, await fixture.id('alone'), 1), 'where nothing is given');
    const codes = await fixture.rows<{ code: string }>('SELECT code FROM org_units WHERE id = $1', [below]);
    escalates(await apply('clerk', `orgUnits: [ { code: ${codes[0]?.code}, parent: apart } ]`), 'bundle');
  });

  it('through audiences grants nothing hidden from the caller: services, catalogue, articles', async () => {
    const person = await fixture.user();
    escalates(await join('clerk', await fixture.id('admitted'), person), 'service');
    escalates(await put('clerk', await fixture.id('apart'), person), 'catalogue item');
    escalates(await apply('clerk', 'users: [ { login: newcomer, orgUnit: apart } ]'), 'a new user');
    const readers = await group();
    passes(await join('clerk', readers, await fixture.user()), 'no audience yet');
    await fixture.app.apply([
      {
        name: 'kb.yaml',
        text: 'knowledgeBases: [ { code: it, visibility: internal, locales: [en-US], sections: [ { code: all } ] } ]',
      },
    ]);
    await fixture.app.app.versions.refresh();
    const article = {
      code: 'a',
      baseId: 'it',
      sectionId: 'all',
      visibility: 'internal',
      locale: 'en-US',
      title: 'A',
      body: 'Text',
    };
    const { versionId } = await fixture.ok('admin', 'POST', '/kb/articles', article);
    const audiences = [{ kind: 'group', id: readers }];
    await fixture.ok('admin', 'PUT', `!/kb/article-versions/${versionId}/audiences`, { audiences });
    passes(await join('clerk', readers, await fixture.user()), 'a draft admits no user');
    await fixture.ok('admin', 'POST', '/kb/articles/publish', { versionId });
    escalates(await join('clerk', readers, person), 'article');
    passes(await join('admin', readers, await fixture.id('clerk')));
    passes(await join('clerk', readers, person), 'a member may');
  });

  it('through shared dashboards grants nothing hidden from the caller', async () => {
    const viewers = await group();
    const [row] = await fixture.rows<{ code: string }>('SELECT code FROM groups WHERE id = $1', [viewers]);
    passes(await join('clerk', viewers, await fixture.user()), 'no dashboard yet');
    const tile = `{ kind: number, title: All, query: { types: [case], measures: [count], period: { lastDays: 30 } } }`;
    const text = `dashboards: [ { code: board, name: Board, tiles: [${tile}], sharedWith: { groups: [${row?.code}] } } ]`;
    passes(await apply('admin', text), 'a dashboard');
    await fixture.app.app.versions.refresh();
    escalates(await join('clerk', viewers, await fixture.user()), 'dashboard');
    passes(await join('admin', viewers, await fixture.id('clerk')));
    passes(await join('clerk', viewers, await fixture.user()), 'a member may');
  });

  it('may be granted to others by users whose role lists the group or unit', async () => {
    const [listed, plain, delegate] = [
      await fixture.id('listed'),
      await fixture.id('plain'),
      await fixture.id('delegate'),
    ];
    const [reader, branch] = [await fixture.id('by-group'), await fixture.id('branch')];
    escalates(await join('clerk', listed, reader));
    passes(await join('delegate', listed, reader));
    escalates(await join('delegate', plain, reader), 'not named');
    escalates(await join('delegate', listed, delegate), 'to oneself');
    const own = await group();
    passes(await join('admin', own, delegate));
    escalates(await join('delegate', listed, own, 'group'), 'to oneself by a group');
    passes(await put('delegate', branch, await fixture.id('by-unit')));
    escalates(await put('delegate', await fixture.id('leaf'), await fixture.id('by-units')), 'not named');
    escalates(await put('delegate', branch, delegate), 'to oneself');
    passes(await join('admin', await fixture.id('auditors'), listed, 'group'));
    escalates(await join('delegate', listed, await fixture.user()), 'the groups around the listed one are not listed');
    const all = `roles: [ { code: delegate, memberships: { groups: '*', orgUnits: '*' } } ]`;
    await fixture.app.apply([{ name: 'all.yaml', text: all }]);
    await fixture.app.app.versions.refresh();
    passes(await join('delegate', listed, await fixture.user()), 'every group');
    escalates(await join('delegate', plain, delegate), 'never to oneself');
    const exported = await fixture.ok('admin', 'GET', '!/config/roles/delegate');
    assert.match(exported.text, /memberships:\n {2}groups: "\*"\n {2}orgUnits: "\*"/);
    await out(await fixture.id('by-unit'));
  });

  it('cannot be gained as another user: password, e-mail address, external id, archive', async () => {
    const stronger = async (give: (id: string) => Promise<unknown>): Promise<string> => {
      const id = await fixture.user();
      await give(id);
      return id;
    };
    const users = {
      'a role': await stronger(async (id) => join('admin', await fixture.id('auditors'), id)),
      'an audience': await stronger(async (id) => join('admin', await fixture.id('admitted'), id)),
      'an audience by unit': await stronger(async (id) => put('admin', await fixture.id('apart'), id)),
      records: await fixture.id('by-group'),
    };
    let tries = 0;
    for (const [what, id] of Object.entries(users)) {
      const [row] = await fixture.rows<{ revision: number; login: string }>(
        'SELECT revision, login FROM users WHERE id = $1',
        [id],
      );
      assert.ok(row);
      const change = (changes: object) =>
        fixture.call('clerk', 'PATCH', `!/identity/users/${id}`, { expectedRevision: row.revision, ...changes });
      escalates(
        await fixture.call('clerk', 'POST', `!/identity/users/${id}/password`, { password: 'a long enough one' }),
        what,
      );
      escalates(await change({ email: `mine-${tries}@example.org` }), what);
      escalates(await change({ externalId: `mine-${tries}` }), what);
      for (const property of ['email: mine@example.org', 'externalId: mine']) {
        escalates(await apply('clerk', `users: [ { login: ${row.login}, ${property} } ]`), `${what} ${property}`);
      }
      const rows = `x;login;name;ext\n${tries};${row.login};Imported;mine-${tries++}\n`;
      const failed = await importUsers(rows, id);
      assert.equal(failed, 'ROLE_ESCALATION', what);
      await fixture.ok('admin', 'POST', `!/identity/users/${id}/archive`);
      escalates(await fixture.call('clerk', 'POST', `!/identity/users/${id}/restore`), what);
      await fixture.ok('admin', 'POST', `!/identity/users/${id}/restore`);
    }
    const plain = await fixture.user();
    passes(
      await fixture.call('clerk', 'POST', `!/identity/users/${plain}/password`, { password: 'a long enough one' }),
    );
    passes(
      await fixture.call('clerk', 'PATCH', `!/identity/users/${plain}`, { expectedRevision: 1, externalId: 'theirs' }),
    );
    const clerk = await fixture.id('clerk');
    passes(
      await fixture.call('clerk', 'POST', `!/identity/users/${clerk}/password`, { password: 'a long enough one' }),
      'own',
    );
  });
});

let imports = 0;

/** Imports a row that updates the user with the external id. @returns the error code of the row */
async function importUsers(content: string, userId: string): Promise<string | undefined> {
  const code = `people-${imports++}`;
  const { id } = await fixture.ok('admin', 'POST', '/import-definitions', {
    code,
    name: code,
    targetKind: 'user',
    format: 'CSV',
    mode: 'UPSERT',
    sourceCode: code,
    resolver: { externalIdField: 'x' },
    mapping: ['login', 'displayName', 'externalId'].map((target) => ({
      source: { login: 'login', displayName: 'name', externalId: 'ext' }[target],
      target,
    })),
  });
  const x = content.split('\n')[1]?.split(';')[0];
  await fixture.rows(
    `INSERT INTO external_ids (source_code, target_kind, external_id, target_id, created_at) VALUES ($1, 'user', $2, $3, now())`,
    [code, x, userId],
  );
  const run = await fixture.ok('clerk', 'POST', '/imports/run', { definitionId: id, content, dryRun: false });
  return run.rows[0].errors[0]?.code;
}
