/**
 * At least one user who can sign in keeps the right to assign roles, through every channel and under concurrent changes.
 * External ids, which identify users at sign-in, are unique.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createKey, revokeKey, setPassword } from '../src/domain/access/index.ts';
import { assertRejected, countOutcomes } from './support/record-fixture.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { bundle, idOf, stored } from './support/small-configuration.ts';

/** Two administrators, one through a nested group; `clerk` makes the changes. No user has a password or a key of their own. */
const WORLD = `
settings: { defaultLocale: en-US }
roles:
  - { code: boss, rights: [role.assign, key.manage, user.administer, config.manage], assignedTo: { users: [one], groups: [outer] } }
  - { code: clerk, rights: [user.administer, config.manage, import.manage, import.execute], assignedTo: { users: [clerk] } }
groups:
  - { code: outer, groups: [inner] }
  - { code: inner, users: [two] }
users:
  - { login: one, displayName: One, email: one@example.org }
  - { login: two, displayName: Two, email: two@example.org }
  - { login: clerk, displayName: Clerk }
`;

let app: TestApp;
let clerk: { scoped: string; admin: string };
/** The key with which an administrator can authenticate. */
let keyOf: Record<'one' | 'two', { id: string; key: string } | undefined>;

const rows = <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> => stored<Row>(app, text, values);

async function start(options: { oidc?: boolean } = {}): Promise<void> {
  const oidc = { issuer: 'https://provider.example.org', clientId: 'docket', clientSecret: undefined };
  app = await startTestApp({ bundle: bundle(WORLD), ...(options.oidc === true ? { oidc } : {}) });
  clerk = {
    scoped: (await app.createKey({ login: 'clerk' })).key,
    admin: (await app.createKey({ login: 'clerk', scopes: ['admin:manage'] })).key,
  };
  keyOf = { one: undefined, two: undefined };
}

async function issue(login: 'one' | 'two', expiresAt?: string): Promise<void> {
  keyOf[login] = await app.createKey({
    login,
    scopes: ['admin:manage'],
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
}

const call = (method: string, path: string, body: unknown = {}, key = clerk.admin): Promise<TestAnswer> =>
  app.request(method, `/api/admin/v1${path}`, { key, body });
const archive = async (login: string, key = clerk.admin): Promise<TestAnswer> =>
  await call('POST', `/identity/users/${await idOf(app, 'users', login)}/archive`, {}, key);
const restore = async (login: string): Promise<void> => {
  await rows(`UPDATE users SET state = 'ACTIVE' WHERE login = $1`, [login]);
};
const membership = async (): Promise<string> =>
  (
    await rows<{ id: string }>(
      `SELECT m.id FROM group_members m JOIN groups g ON g.id = m.group_id WHERE g.code = 'inner'`,
    )
  )[0]?.id ?? '';
const kept = (answer: TestAnswer, what = ''): void => assertRejected(answer, 409, 'LAST_ADMINISTRATOR', what);
const passes = (answer: TestAnswer, what = ''): void =>
  assert.ok(answer.status < 300, `${what} ${JSON.stringify(answer.body)}`);
const system = async (fn: Parameters<TestApp['app']['work']['write']>[1]): Promise<unknown> => {
  await app.app.versions.refresh();
  return await app.app.work.write(app.app.system(), fn);
};
const isLast = (error: { code?: string }): boolean => error.code === 'LAST_ADMINISTRATOR';

describe('the last administrator', () => {
  before(() => start());
  after(() => app.close());

  it('is not enforced while no administrator can sign in', async () => {
    passes(await archive('one'));
    await restore('one');
  });

  it('cannot be archived or removed from the group, directly or through a nested group', async () => {
    await issue('two');
    passes(await archive('one'), 'who cannot get in');
    kept(await archive('two'));
    kept(await call('DELETE', `/identity/group-memberships/${await membership()}`));
    for (const code of ['inner', 'outer']) {
      kept(await call('POST', `/identity/groups/${await idOf(app, 'groups', code)}/archive`), code);
    }
    assert.equal((await rows(`SELECT 1 FROM users WHERE login = 'two' AND state = 'ACTIVE'`)).length, 1);
    await restore('one');
  });

  it('keeps the last key, unless a password or another key exists', async () => {
    const own = keyOf.two?.key ?? '';
    kept(await call('POST', `/keys/${keyOf.two?.id}/revoke`, {}, own));
    await assert.rejects(
      system((ctx) => revokeKey(ctx, keyOf.two?.id ?? '')),
      isLast,
    );
    const second = await call('POST', '/keys', { owner: 'two', name: 'more', scopes: ['admin:manage'] }, own);
    passes(await call('POST', `/keys/${second.body.data.id}/revoke`, {}, own), 'another key is there');
    await system((ctx) => setPassword(ctx, 'two', 'a long enough one'));
    passes(await call('POST', `/keys/${keyOf.two?.id}/revoke`, {}, own), 'a password is there');
    kept(await archive('two'), 'by a password alone');
  });

  it('keeps the right and the role, also against an exact or pruning bundle of any user', async () => {
    const apply = (text: string, options = {}) =>
      system(async (ctx) => {
        const { applyBundle } = await import('../src/configuration/engine.ts');
        return await applyBundle(ctx, app.sections, bundle(text), options);
      });
    const rights = 'key.manage, user.administer, config.manage';
    await assert.rejects(apply(`roles: [ { code: boss, rights: [${rights}] } ]`), isLast, 'the right');
    const other = `roles: [ { code: boss, rights: [role.assign], assignedTo: { users: [one] } } ]`;
    await assert.rejects(apply(other, { exact: true }), isLast, 'the assignment');
    await assert.rejects(apply('services: [ { code: mail } ]\nroles: []', { prune: true }), isLast, 'the role');
    const people = `users: [ { login: one } ]\ngroups: []\nroles: [ { code: boss, rights: [role.assign], assignedTo: { users: [one] } } ]`;
    await assert.rejects(apply(people, { prune: true, pruneIdentity: true }), isLast, 'the user');
    const empty = await call('POST', '/config/apply', { files: bundle('groups: [ { code: inner } ]'), exact: true });
    kept(empty, 'the membership');
    await issue('one');
    await apply(other, { exact: true });
    await apply(`roles: [ { code: boss, rights: [role.assign, ${rights}], assignedTo: { groups: [outer] } } ]`);
  });

  it('does not count with an expired key, and expiry itself is not a change', async () => {
    await system((ctx) => revokeKey(ctx, keyOf.one?.id ?? ''));
    await issue('one', '2999-01-01T00:00:00Z');
    passes(await archive('two'));
    await restore('two');
    await rows(`UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1`, [keyOf.one?.id]);
    kept(await archive('two'), 'the other one cannot get in');
    await rows(`UPDATE users SET password_hash = NULL WHERE login = 'two'`);
    passes(await archive('one'), 'no user can sign in, so no access is lost');
    await restore('one');
  });

  it('cannot be removed by undoing an import', async () => {
    const definition = await call('POST', '/import-definitions', {
      code: 'people',
      name: 'People',
      targetKind: 'user',
      format: 'CSV',
      mode: 'UPSERT',
      sourceCode: 'hr',
      resolver: { externalIdField: 'x' },
      mapping: ['login', 'displayName', 'email'].map((target) => ({ source: target, target })),
    });
    const content = 'x,login,displayName,email\n1,three,Three,three@example.org\n';
    const run = await call('POST', '/imports/run', { definitionId: definition.body.data.id, content, dryRun: false });
    assert.equal(run.body.data.rows[0].status, 'CREATED', JSON.stringify(run.body));
    await rows(
      `UPDATE role_assignments SET member_id = (SELECT id FROM users WHERE login = 'three') WHERE member_id = $1`,
      [await idOf(app, 'users', 'one')],
    );
    await app.createKey({ login: 'three' });
    const undone = await call('POST', `/import-runs/${run.body.data.id}/undo`);
    assert.deepEqual(
      [undone.body.data.failed, undone.body.data.rows[0].errors[0].code],
      [1, 'LAST_ADMINISTRATOR'],
      JSON.stringify(undone.body),
    );
  });
});

describe('the last administrators, who remove each other concurrently', () => {
  before(async () => {
    await start();
  });
  after(() => app.close());

  it('keep one administrator under concurrent changes', async () => {
    const [one, two] = [await idOf(app, 'users', 'one'), await idOf(app, 'users', 'two')];
    const remove: ((who: 'one' | 'two') => Promise<TestAnswer>)[] = [
      (who) => call('POST', `/identity/users/${who === 'one' ? one : two}/archive`),
      async (who) => await call('POST', `/keys/${keyOf[who]?.id}/revoke`, {}, keyOf[who]?.key),
      async (who) =>
        who === 'one'
          ? await call('POST', `/identity/users/${one}/archive`)
          : await call('DELETE', `/identity/group-memberships/${await membership()}`),
    ];
    for (let turn = 0; turn < 12; turn++) {
      for (const login of ['one', 'two'] as const) {
        await restore(login);
        await rows('DELETE FROM api_keys WHERE owner_id = $1', [login === 'one' ? one : two]);
        await issue(login);
      }
      await rows(
        `INSERT INTO group_members (id, group_id, member_type, member_id, created_at)
          SELECT $1, id, 'user', $2, now() FROM groups WHERE code = 'inner' ON CONFLICT DO NOTHING`,
        [randomUUID(), two],
      );
      await app.app.versions.refresh();
      const by = remove[turn % remove.length] ?? assert.fail();
      assert.deepEqual(
        countOutcomes(await Promise.all([by('one'), by('two')])),
        { 200: 1, '409 LAST_ADMINISTRATOR': 1 },
        `turn ${turn}`,
      );
    }
  });
});

describe('an administrator who signs in only through a provider', () => {
  before(() => start({ oidc: true }));
  after(() => app.close());

  it('counts while a provider is configured that can identify them', async () => {
    passes(await archive('one'));
    kept(await archive('two'));
    await restore('one');
    await rows(`UPDATE users SET email = NULL, email_key = NULL WHERE login = 'one'`);
    kept(await archive('two'), 'the other one has neither address nor external id');
    await rows(`UPDATE users SET external_id = 'subject' WHERE login = 'one'`);
    passes(await archive('two'));
    const gone = await app.app.work
      .write(app.app.system(), async (ctx) => {
        const { updateUser } = await import('../src/domain/identity/index.ts');
        return await updateUser(ctx, {
          userId: await idOf(app, 'users', 'one'),
          expectedRevision: 2,
          externalId: null,
        });
      })
      .catch((error: unknown) => error);
    assert.ok(isLast(gone as never), String(gone));
  });
});

describe('external ids', () => {
  before(() => start());
  after(() => app.close());

  it('are unique in every channel, including archived users and concurrent calls', async () => {
    const create = (login: string, externalId: string) =>
      app.request('POST', '/api/v1/identity/users', {
        key: clerk.scoped,
        body: { login, displayName: login, email: `${login}@example.org`, externalId },
      });
    const taken = (answer: TestAnswer): void => {
      assertRejected(answer, 409, 'ALREADY_EXISTS');
      assert.deepEqual(answer.body.error.details, { field: 'externalId' });
    };
    const first = await create('first', 'hr-1');
    passes(first);
    taken(await create('second', 'hr-1'));
    passes(await create('second', 'hr-2'));
    const second = await idOf(app, 'users', 'second');
    taken(await call('PATCH', `/identity/users/${second}`, { expectedRevision: 1, externalId: 'hr-1' }));
    passes(await archive('first'));
    taken(await call('PATCH', `/identity/users/${second}`, { expectedRevision: 1, externalId: 'hr-1' }));
    const text = 'users:\n  - login: second\n    externalId: hr-1\n';
    const applied = await call('POST', '/config/apply', { files: bundle(text) });
    assertRejected(applied, 400, 'INVALID_REQUEST');
    const [problem] = applied.body.error.details;
    assert.deepEqual([problem.code, problem.line, problem.at], ['ALREADY_EXISTS', 3, 'users[0].externalId']);
    const twice = 'users: [ { login: a, externalId: x }, { login: b, externalId: x } ]';
    assertRejected(await call('POST', '/config/plan', { files: bundle(twice) }), 400, 'INVALID_REQUEST');
    const many = await Promise.all(Array.from({ length: 8 }, (_, turn) => create(`many-${turn}`, 'hr-many')));
    assert.deepEqual(countOutcomes(many), { 201: 1, '409 ALREADY_EXISTS': 7 });
    for (const answer of many) if (answer.status !== 201) taken(answer);
  });

  it('are validated like other texts in a bundle too', async () => {
    const text = `users: [ { login: x, displayName: "a\\u0007", externalId: "\\u2028" } ]\ngroups: [ { code: y, name: "  " } ]`;
    const answer = await call('POST', '/config/plan', { files: bundle(text) });
    assertRejected(answer, 400, 'INVALID_REQUEST');
    assert.deepEqual(
      answer.body.error.details.map(({ at, code }: { at: string; code: string }) => `${at} ${code}`),
      ['users[0].displayName INVALID_TEXT', 'users[0].externalId INVALID_TEXT', 'groups[0].name INVALID_TEXT'],
    );
  });

  it('of keys: a key for another owner requires role.assign', async () => {
    const key = (await app.createKey({ login: 'one', scopes: ['admin:manage'] })).key;
    passes(await call('POST', '/keys', { owner: 'clerk', name: 'k', scopes: ['kb:read'] }, key));
    await assert.rejects(
      system((ctx) => createKey(ctx, { owner: 'nobody-there', name: 'k', scopes: ['kb:read'] })),
      /Correct each problem in details/,
    );
  });
});
