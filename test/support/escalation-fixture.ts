/** A fixture in which memberships grant roles, records and audiences. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startTestApp, type TestAnswer, type TestApp, type TestOptions } from './app.ts';
import { watchAnswers } from './response-check.ts';
import { ACTIONS, bundle, RIGHTS, stored, user } from './small-configuration.ts';

/**
 * - admin: all rights. clerk: administers users and configures, nothing else. member: a clerk who is in the group `secret`
 * and in the unit `branch`. delegate: a clerk who may grant the group `listed` and the unit `branch`.
 * - by-group, by-unit, by-units: read cases of their groups, of their unit, of their unit and those below.
 * - nobody: no rights.
 */
export const USERS = ['admin', 'clerk', 'member', 'delegate', 'by-group', 'by-unit', 'by-units', 'nobody'] as const;
export type FixtureUser = (typeof USERS)[number];

const WORLD = `
settings: { defaultLocale: en-US }
types:
  - code: case
    title: title
    fields: [ { code: title, dataType: string }, { code: team, dataType: group }, { code: place, dataType: org-unit } ]
roles:
  - code: administrator
    rights: [${RIGHTS}]
    records: [ { type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' } ]
    assignedTo: { users: [admin] }
  - { code: clerk, rights: [user.administer, config.manage, import.manage, import.execute], assignedTo: { users: [clerk, member, delegate] } }
  - { code: delegate, memberships: { groups: [listed], orgUnits: [branch] }, assignedTo: { users: [delegate] } }
  - { code: audited, rights: [audit.read], assignedTo: { groups: [auditors] } }
  - code: by-group
    records: [ { type: case, where: { field: team, operator: in, value: $myGroups }, actions: [read], fields: { read: '*' } } ]
    assignedTo: { users: [by-group] }
  - code: by-unit
    records: [ { type: case, where: { field: place, operator: equals, value: $myOrgUnit }, actions: [read], fields: { read: '*' } } ]
    assignedTo: { users: [by-unit] }
  - code: by-units
    records: [ { type: case, where: { field: place, operator: in, value: $myOrgUnits }, actions: [read], fields: { read: '*' } } ]
    assignedTo: { users: [by-units] }
groups:
  - { code: secret, users: [member] }
  - { code: listed }
  - { code: plain }
  - { code: admitted }
  - { code: auditors, groups: [inner] }
  - { code: inner }
orgUnits:
  - { code: root }
  - { code: branch, parent: root }
  - { code: leaf, parent: branch }
  - { code: apart }
  - { code: alone }
users:
${USERS.map((login) => (login === 'member' ? user(login).replace(' }', ', orgUnit: branch }') : user(login))).join('')}
services: [ { code: mail, audience: { groups: [admitted] } } ]
catalogs:
  - code: shop
    categories: [ { code: all } ]
    items: [ { code: item, category: all, type: case, audience: { orgUnits: [apart] } } ]
`;

export interface EscalationFixture {
  app: TestApp;
  /** Below `/api/v1`, or with a leading `!` below `/api/admin/v1`. */
  call(who: FixtureUser, method: string, path: string, body?: unknown): Promise<TestAnswer>;
  /** As `call`, and the answer's `data`; anything but a success fails the test. */
  ok<T = any>(who: FixtureUser, method: string, path: string, body?: unknown): Promise<T>;
  /** Id of a user by login, or of a group or unit by code. */
  id(name: string): Promise<string>;
  /** Id of a new user. */
  user(): Promise<string>;
  login(id: string): Promise<string>;
  /** The status of reading the record. */
  sees(who: FixtureUser, objectId: string): Promise<number>;
  rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export async function startEscalationFixture(options: Omit<TestOptions, 'bundle'> = {}): Promise<EscalationFixture> {
  const app = await startTestApp({ ...options, bundle: bundle(WORLD) });
  const undocumented = watchAnswers(app);
  const issue = async (scopes: string[] | 'all'): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(USERS.map(async (login) => [login, (await app.createKey({ login, scopes })).key] as const)),
    );
  const [keys, adminKeys] = [await issue('all'), await issue(['admin:manage'])];
  const self: EscalationFixture = {
    app,
    call: (who, method, path, body) => {
      const console = path.startsWith('!');
      return app.request(method, console ? `/api/admin/v1${path.slice(1)}` : `/api/v1${path}`, {
        key: (console ? adminKeys : keys)[who] ?? assert.fail(who),
        ...(body === undefined ? {} : { body }),
      });
    },
    ok: async (...args) => {
      const answer = await self.call(...args);
      assert.ok(answer.status < 300, `${args[1]} ${args[2]}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    },
    id: async (name) => {
      const rows = await self.rows<{ id: string }>(
        `SELECT id FROM users WHERE login = $1 UNION ALL SELECT id FROM groups WHERE code = $1
          UNION ALL SELECT id FROM org_units WHERE code = $1`,
        [name],
      );
      return rows[0]?.id ?? assert.fail(`nothing is called ${name}`);
    },
    user: async () => {
      const login = `p-${randomUUID()}`;
      const body = { login, displayName: 'Somebody', email: `${login}@example.org` };
      return (await self.ok('admin', 'POST', '/identity/users', body)).id;
    },
    login: async (id) =>
      (await self.rows<{ login: string }>('SELECT login FROM users WHERE id = $1', [id]))[0]?.login ?? assert.fail(id),
    sees: async (who, objectId) => (await self.call(who, 'GET', `/objects/${objectId}`)).status,
    rows: (statement, values) => stored(app, statement, values),
    close: async () => {
      await app.close();
      assert.deepEqual(undocumented.slice(0, 3), [], 'what answers said that the documents do not describe');
    },
  };
  return self;
}
