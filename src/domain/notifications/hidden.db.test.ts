/**
 * What notifications must not tell about hidden fields, the history and hidden comments. Rights are judged when a notification is
 * made and again at each reading; each of the two is tested without the help of the other.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { notifyAll, testAuthenticator } from '../../../test/support/notify-all.ts';
import { ACTIONS, bundle, idOf, stored } from '../../../test/support/small-configuration.ts';
import type { Authenticator } from '../access/index.ts';

const PEOPLE = ['chief', 'reader', 'guest', 'clerk', 'lead', 'anna'] as const;
type Person = (typeof PEOPLE)[number];

/** Roles of those who watch. @param fields that the reader may read @param actions of the reader */
const watchers = (fields: string, actions = 'read, history'): string => `
roles:
  - { code: reader, records: [{ type: case, actions: [${actions}], fields: { read: [${fields}] } }], assignedTo: { users: [reader] } }
`;
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    name: Case
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: secret, dataType: string }
      - { code: note, dataType: string }
      - { code: assignee, dataType: user }
      - { code: lead, dataType: user }
rules:
  - code: tell-lead
    types: [case]
    on: [ObjectUpdated]
    when: { field: changed, operator: contains, value: note }
    runAs: chief
    do: [{ notify: { to: [lead] } }]
  - code: tell-desk
    types: [case]
    on: [ObjectUpdated]
    when: { field: changed, operator: contains, value: title }
    runAs: chief
    do: [{ comment: { visibility: internal, body: 'Renamed' } }]
${watchers('title, secret')}
  - { code: guest, records: [{ type: case, actions: [read], fields: { read: '*' } }], assignedTo: { users: [guest] } }
  - code: clerk
    rights: [user.administer]
    records: [{ type: case, actions: [read, update, history], fields: { read: [title, note, assignee], write: [title, note] } }]
    assignedTo: { users: [clerk] }
  - code: chief
    rights: [config.manage, user.administer]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }]
    assignedTo: { users: [chief, lead, anna] }
users: [${PEOPLE.map((login) => `{ login: ${login}, displayName: ${login} }`).join(', ')}]
`;

describe('what notifications hide', () => {
  let app: TestApp;
  let authenticator: Authenticator;
  const keys = {} as Record<Person, string>;
  const ids = {} as Record<Person, string>;

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    authenticator = testAuthenticator(app);
    for (const login of PEOPLE) {
      keys[login] = (await app.createKey({ login, scopes: ['admin:manage'] })).key;
      ids[login] = await idOf(app, 'users', login);
    }
  });
  after(() => app.close());

  const call = async (who: Person, method: string, path: string, body?: unknown): Promise<any> => {
    const answer = await app.request(method, `/api/admin/v1${path}`, { key: keys[who], body });
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const create = async (values: object = {}): Promise<string> =>
    (await call('chief', 'POST', '/objects', { typeDefinitionId: 'case', values: { title: 'A', ...values } })).data.id;
  const change = async (id: string, expectedRevision: number, changes: object, who: Person = 'chief', query = '') =>
    await call(who, 'PATCH', `/objects/${id}${query}`, { expectedRevision, changes });
  const made = async (objectId: string): Promise<string[]> => {
    await notifyAll(app, authenticator);
    const rows = await stored<{ login: string; fields: string[] | null }>(
      app,
      `SELECT u.login, n.fields FROM notifications n JOIN users u ON u.id = n.user_id
        WHERE n.object_id = $1 AND n.kind = 'watch' ORDER BY n.place, u.login`,
      [objectId],
    );
    return rows.map(({ login, fields }) => `${login} ${fields?.join()}`);
  };
  const listed = async (who: Person): Promise<number> => {
    const { data } = await call(who, 'GET', '/notifications?unread=true');
    const { data: counted } = await call(who, 'GET', '/notifications/count');
    assert.equal(counted.unread, data.rows.length);
    return data.rows.length;
  };

  it('are not made of fields that a watcher may not read, nor without the right to the history', async () => {
    const id = await create();
    for (const who of ['reader', 'guest', 'clerk'] as const) await call(who, 'PUT', `/objects/${id}/watch`);
    await change(id, 1, { secret: 'x' });
    await change(id, 2, { assignee: ids.anna });
    assert.deepEqual(await made(id), ['reader secret', 'clerk assignee']);
  });

  it('are neither listed nor counted after the right to the field or to the history is lost', async () => {
    const id = await create();
    await call('reader', 'PUT', `/objects/${id}/watch`);
    await call('reader', 'POST', '/notifications/read', { all: true });
    await change(id, 1, { secret: 'y' });
    assert.deepEqual(await made(id), ['reader secret']);
    assert.equal(await listed('reader'), 1);
    for (const lost of [watchers('title'), watchers('title, secret', 'read')]) {
      await app.apply(bundle(lost));
      assert.equal(await listed('reader'), 0, lost);
      await app.apply(bundle(watchers('title, secret')));
      assert.equal(await listed('reader'), 1);
    }
  });

  it('are not shown in a dry run to who may not read the field or the comment that they are about', async () => {
    const id = await create({ assignee: ids.anna, lead: ids.lead });
    const tried = async (who: Person, changes: object): Promise<string[]> => {
      const { meta } = await change(id, 1, changes, who, '?dryRun=true');
      return meta.effects.notifications.map(
        ({ to, template }: { to: string; template: string }) => `${to} ${template}`,
      );
    };
    assert.deepEqual(await tried('chief', { note: 'x' }), ['lead rule']);
    assert.deepEqual(await tried('clerk', { note: 'x' }), [], 'the field is hidden');
    assert.deepEqual(await tried('chief', { title: 'B' }), ['anna comment']);
    assert.deepEqual(await tried('clerk', { title: 'B' }), [], 'the comment is hidden');
  });
});
