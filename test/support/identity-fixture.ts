/** A fixture for users, groups and units. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startTestApp, type TestAnswer, type TestApp } from './app.ts';
import { watchAnswers } from './response-check.ts';
import { ACTIONS, bundle, RIGHTS, stored, user } from './small-configuration.ts';

/**
 * - admin: all rights. clerk: only administers users. helper: a clerk who is an agent through a nested group.
 * - nobody: no rights.
 */
export const USERS = ['admin', 'clerk', 'helper', 'nobody'] as const;
export type FixtureUser = (typeof USERS)[number];

const WORLD = `
settings: { defaultLocale: ru-RU, timezone: Europe/Moscow }
types:
  - { code: case, name: Case, title: title, fields: [{ code: title, dataType: string, required: true }, { code: team, dataType: group }] }
roles:
  - code: administrator
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [admin], groups: [bosses] }
  - code: clerk
    rights: [user.administer]
    assignedTo: { users: [clerk, helper] }
  - code: agent
    records:
      - { type: case, where: { field: team, operator: in, value: $myGroups }, actions: [read], fields: { read: '*' } }
    assignedTo: { groups: [agents] }
groups:
  - { code: bosses, name: Начальники }
  - { code: agents, name: Agents, groups: [shift] }
  - { code: shift, name: Shift, users: [helper] }
  - { code: second, name: { en-US: Second department, ru-RU: Второй отдел } }
users:
${USERS.map(user).join('')}`;

export interface IdentityFixture {
  app: TestApp;
  keys: Record<FixtureUser, string>;
  /** Below `/api/v1`, or with a leading `!` below `/api/admin/v1`. */
  call(who: FixtureUser, method: string, path: string, body?: unknown): Promise<TestAnswer>;
  /** As `call`, and the answer's `data`; anything but a success fails the test. */
  ok<T = any>(who: FixtureUser, method: string, path: string, body?: unknown): Promise<T>;
  /** The body of a new person. */
  person(name?: string): { login: string; displayName: string; email: string };
  /** Ids of new ones. */
  user(): Promise<string>;
  group(): Promise<string>;
  unit(parentId?: string): Promise<string>;
  /** Id of a group of the fixture. */
  id(code: string): Promise<string>;
  rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  /** @throws AssertionError when an answer was not as the documents describe it */
  close(): Promise<void>;
}

export async function startIdentityFixture(): Promise<IdentityFixture> {
  const app = await startTestApp({ bundle: bundle(WORLD) });
  const undocumented = watchAnswers(app);
  const issue = async (scopes: string[] | 'all'): Promise<Record<FixtureUser, string>> => {
    const made = USERS.map(async (login) => [login, (await app.createKey({ login, scopes })).key] as const);
    return Object.fromEntries(await Promise.all(made)) as Record<FixtureUser, string>;
  };
  const keys = await issue('all');
  const adminKeys = await issue(['admin:manage']);
  const self: IdentityFixture = {
    app,
    keys,
    call: (who, method, path, body) => {
      const console = path.startsWith('!');
      return app.request(method, console ? `/api/admin/v1${path.slice(1)}` : `/api/v1${path}`, {
        key: console ? adminKeys[who] : keys[who],
        ...(body === undefined ? {} : { body }),
      });
    },
    ok: async (...args) => {
      const answer = await self.call(...args);
      assert.ok(answer.status < 300, `${args[1]} ${args[2]}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    },
    person: (name = `p-${randomUUID()}`) => ({
      login: name,
      displayName: `Person ${name}`,
      email: `${name}@example.org`,
    }),
    user: async () => (await self.ok('admin', 'POST', '/identity/users', self.person())).id,
    group: async () =>
      (await self.ok('admin', 'POST', '/identity/groups', { code: `g-${randomUUID()}`, name: 'G' })).id,
    unit: async (parentId) =>
      (
        await self.ok('admin', 'POST', '/identity/org-units', {
          name: 'U',
          ...(parentId === undefined ? {} : { parentId }),
        })
      ).id,
    id: async (code) =>
      (await self.rows<{ id: string }>('SELECT id FROM groups WHERE code = $1', [code]))[0]?.id ?? assert.fail(code),
    rows: (statement, values) => stored(app, statement, values),
    close: async () => {
      await app.close();
      assert.deepEqual(undocumented.slice(0, 3), [], 'what answers said that the documents do not describe');
    },
  };
  return self;
}
