/** Notifications over HTTP: who gets which, what is hidden at each reading, watches, choices and mails. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestAnswer, type TestApp } from '../../../test/support/app.ts';
import { readEvents } from '../../../test/support/event-stream.ts';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { ACTIONS, bundle, changeRights, idOf, stored } from '../../../test/support/small-configuration.ts';
import { notifyAll, testAuthenticator } from '../../../test/support/notify-all.ts';
import { givePlaces } from '../../platform/journal/places.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Authenticator } from '../access/index.ts';
import { notificationJobs } from './jobs.ts';
import { checkWatches } from './make.ts';
import { purgeNotifications } from './store.ts';
import { adoptImports } from './store-make.ts';

const PEOPLE = ['chief', 'anna', 'boris', 'clerk', 'rita', 'wim'] as const;
type Person = (typeof PEOPLE)[number];

const FLOW = `
workflows:
  - code: flow
    initial: begun
    states: [{ code: begun, category: open }, { code: ended, category: done }]
    transitions: [{ code: end, from: [begun], to: ended }]
`;
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC, notificationFields: { group: [team] } }
types:
  - code: case
    name: Case
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: open, dataType: boolean, default: true }
      - { code: secret, dataType: string }
      - { code: assignee, dataType: user }
      - { code: team, dataType: group }
      - { code: requester, dataType: user }
${FLOW}
roles:
  - code: chief
    rights: [config.manage, user.administer, role.assign, import.manage, import.execute, audit.read]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: agent
    records:
      - { type: case, where: { field: open, operator: equals, value: true }, actions: [read, history, comment.create, Private Comment], fields: { read: [title, open, assignee, team, requester] } }
    assignedTo: { users: [anna, boris, wim] }
  - code: requester
    records: [{ type: case, where: { field: requester, operator: equals, value: $me }, actions: [read], fields: { read: [title] } }]
    assignedTo: { users: [rita] }
  - code: clerk
    rights: [user.administer, role.assign]
    records: [{ type: case, actions: [read, history, comment.create], fields: { read: [title] } }]
    assignedTo: { users: [clerk] }
groups: [{ code: desk, name: Desk, users: [anna, boris] }]
users: [${PEOPLE.map((login) => `{ login: ${login}, displayName: ${login}, email: ${login}@example.org }`).join(', ')}]
`;

interface Item {
  id: string;
  kind: string;
  eventType: string;
  readAt: string | null;
  object: { id: string; title: string | null };
  fields: { code: string }[];
  comment: { excerpt: string } | null;
}

describe('notifications', () => {
  let app: TestApp;
  let undocumented: readonly unknown[];
  let authenticator: Authenticator;
  const keys = {} as Record<Person, string>;
  const ids = {} as Record<Person, string>;

  const send = async (who: Person, method: string, path: string, body?: unknown): Promise<TestAnswer> =>
    await app.request(method, `/api/admin/v1${path}`, { key: keys[who], ...(body === undefined ? {} : { body }) });
  const ok = async (who: Person, method: string, path: string, body?: unknown): Promise<any> => {
    const answer = await send(who, method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const actorsOf = (userIds: readonly string[]) => authenticator.actorsOf(userIds);
  const refresh = () => app.app.versions.refresh();

  /** Makes the notifications of all that is committed. */
  const make = async (options: Parameters<typeof notifyAll>[2] = {}): Promise<void> =>
    await notifyAll(app, authenticator, options);
  const listOf = async (who: Person, query = ''): Promise<Item[]> =>
    (await ok(who, 'GET', `/notifications${query}`)).rows;
  const kindsOn = async (who: Person, objectId: string): Promise<string[]> =>
    (await listOf(who, '?pageSize=100')).filter(({ object }) => object.id === objectId).map(({ kind }) => kind);
  const create = async (values: Record<string, unknown> = {}): Promise<string> =>
    (await ok('chief', 'POST', '/objects', { typeDefinitionId: 'case', values: { title: 'A case', ...values } })).id;
  const change = async (id: string, expectedRevision: number, changes: Record<string, unknown>): Promise<void> =>
    await ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision, changes });
  const comment = async (id: string, body: string, visibility = 'public'): Promise<{ id: string }> =>
    await ok('chief', 'POST', `/objects/${id}/comments`, { body, visibility });
  const group = () => idOf(app, 'groups', 'desk');

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    undocumented = watchAnswers(app);
    authenticator = testAuthenticator(app);
    for (const login of PEOPLE) {
      keys[login] = (await app.createKey({ login, scopes: ['admin:manage'] })).key;
      ids[login] = await idOf(app, 'users', login);
    }
    await make();
  });
  after(async () => {
    await app.close();
    assert.deepEqual(undocumented, []);
  });

  it('tells assignees, groups without an assignee, requesters and mentioned users, and never the actor', async () => {
    const id = await create({ team: await group(), requester: ids.rita });
    await make();
    assert.deepEqual(await kindsOn('anna', id), ['assigned']);
    assert.deepEqual(await kindsOn('boris', id), ['assigned']);
    assert.deepEqual(await kindsOn('rita', id), []);
    await change(id, 1, { assignee: ids.anna });
    await comment(id, 'Look at this, @boris and @chief', 'internal');
    await comment(id, 'It is done.');
    const { state, transitions } = await ok('chief', 'GET', `/objects/${id}/workflow`);
    const step = { transitionId: transitions[0].id, expectedRevision: 2, expectedStateId: state.id };
    await ok('chief', 'POST', `/objects/${id}/transitions`, step);
    await make();
    assert.deepEqual(await kindsOn('anna', id), ['comment', 'comment', 'assigned', 'assigned']);
    assert.deepEqual(await kindsOn('boris', id), ['mention', 'assigned']);
    assert.deepEqual(await kindsOn('rita', id), ['state', 'comment'], 'no internal comment');
    assert.deepEqual(await kindsOn('chief', id), []);
    const [, told] = (await listOf('rita')).filter(({ object }) => object.id === id);
    assert.deepEqual([told?.comment?.excerpt, told?.object.title], ['It is done.', 'A case']);
  });

  it('tells of a comment once, also if it becomes public later', async () => {
    const id = await create({ requester: ids.rita, assignee: ids.anna });
    const { id: commentId } = await comment(id, 'Only for us', 'internal');
    await make();
    const before = await kindsOn('anna', id);
    assert.deepEqual(await kindsOn('rita', id), []);
    await ok('chief', 'PATCH', `/comments/${commentId}`, { expectedRevision: 1, visibility: 'public' });
    await make();
    assert.deepEqual(await kindsOn('rita', id), ['comment']);
    assert.deepEqual(await kindsOn('anna', id), before);
    await ok('chief', 'PATCH', `/comments/${commentId}`, { expectedRevision: 2, visibility: 'internal' });
    assert.deepEqual(await kindsOn('rita', id), [], 'hidden again at the next reading');
    await ok('chief', 'DELETE', `/comments/${commentId}`, { expectedRevision: 3 });
    assert.ok(!(await kindsOn('anna', id)).includes('comment'), 'archived');
  });

  it('notifies watchers of what they may see, and ends the watch with the right to read', async () => {
    const id = await create();
    const path = `/objects/${id}/watch`;
    assert.deepEqual(await ok('wim', 'GET', path), { watching: false });
    assert.deepEqual(await ok('wim', 'PUT', path), { watching: true });
    assert.deepEqual(await ok('wim', 'PUT', path), { watching: true });
    await change(id, 1, { secret: 'x' });
    await change(id, 2, { title: 'Other', secret: 'y' });
    await make();
    const [told, ...others] = (await listOf('wim')).filter(({ object }) => object.id === id);
    assert.deepEqual(
      [told?.kind, told?.fields.map(({ code }) => code), others],
      ['watch', ['title'], []],
      'hidden fields notify nobody',
    );
    await change(id, 3, { open: false });
    assert.equal((await send('wim', 'GET', path)).status, 404);
    assert.deepEqual(await kindsOn('wim', id), [], 'what cannot be read is not listed');
    await make();
    await change(id, 4, { open: true });
    assert.deepEqual(await ok('wim', 'GET', path), { watching: false });
    assert.equal((await send('wim', 'PUT', `/objects/${randomUUID()}/watch`)).status, 404);
    await ok('wim', 'PUT', path);
    assert.deepEqual(await ok('wim', 'DELETE', path), { watching: false });
    await comment(id, 'Nobody watches');
    await make();
    assert.equal((await kindsOn('wim', id)).filter((kind) => kind === 'watch').length, 1);
  });

  it('ends watches after a change of rights, without an event of the record', async () => {
    const id = await create({ requester: ids.rita });
    for (const who of ['wim', 'rita'] as const) await ok(who, 'PUT', `/objects/${id}/watch`);
    const holders = `role_assignments WHERE member_id = $1`;
    const rows = await stored<object>(app, `SELECT * FROM ${holders}`, [ids.rita]);
    await changeRights(app, `DELETE FROM ${holders}`, [ids.rita]);
    const check = async (): Promise<boolean> => {
      const done = await app.app.work.write(app.app.system(), (ctx) => checkWatches(ctx, { actorsOf }, refresh));
      return done.kind === 'done' && done.data;
    };
    while (await check());
    const insert = `INSERT INTO role_assignments SELECT * FROM jsonb_populate_recordset(NULL::role_assignments, $1::jsonb)`;
    await changeRights(app, insert, [JSON.stringify(rows)]);
    await refresh();
    assert.deepEqual(await ok('rita', 'GET', `/objects/${id}/watch`), { watching: false });
    assert.deepEqual(await ok('wim', 'GET', `/objects/${id}/watch`), { watching: true });
    const slow = { read: async () => true, write: async () => await sleep(50, { kind: 'done', data: true }) };
    const parts = { db: app.db, clock: systemClock, work: slow as unknown as typeof app.app.work, refresh, actorsOf };
    const jobs = notificationJobs({ ...parts, sendsMail: false, system: async () => app.app.system() });
    const startedMs = performance.now();
    assert.equal(await jobs.find(({ name }) => name === 'notification-watches')?.run(), true);
    assert.ok(performance.now() - startedMs > 400, 'a check rests nine times as long as it took');
  });

  it('counts and lists in pages only what is visible, and marks as read only the own ones', async () => {
    await ok('anna', 'POST', '/notifications/read', { all: true });
    const made: string[] = [];
    for (let index = 0; index < 5; index++) made.push(await create({ assignee: ids.anna }));
    await make();
    await change(made[4] as string, 1, { open: false });
    assert.deepEqual(await ok('anna', 'GET', '/notifications/count'), { unread: 4 });
    const first = await ok('anna', 'GET', '/notifications?unread=true&pageSize=3');
    const second = await ok('anna', 'GET', '/notifications?unread=true&pageSize=3&page=2');
    const objects = [...first.rows, ...second.rows].map(({ object }: Item) => object.id);
    assert.deepEqual([objects, first.hasMore, second.hasMore], [made.slice(0, 4).reverse(), true, false]);
    const own = first.rows.map(({ id }: Item) => id);
    await ok('boris', 'POST', '/notifications/read', { ids: own });
    assert.deepEqual(await ok('anna', 'GET', '/notifications/count'), { unread: 4 });
    await ok('anna', 'POST', '/notifications/read', { ids: own });
    assert.deepEqual(await ok('anna', 'GET', '/notifications/count'), { unread: 1 });
    assert.equal((await send('anna', 'POST', '/notifications/read', {})).status, 400);
  });

  it('follows choices, and queues a mail at the end of the quiet hours', async () => {
    const off = { console: false, mail: 'never' };
    const chosen = await ok('boris', 'PUT', '/notifications/choices', {
      comment: { console: false, mail: 'digest' },
      assigned: off,
    });
    assert.deepEqual(chosen.comment, { console: false, mail: 'digest' });
    assert.deepEqual(chosen.mention, { console: true, mail: 'now' });
    assert.deepEqual(await ok('boris', 'GET', '/notifications/choices'), chosen);
    assert.deepEqual(await ok('boris', 'GET', '/notifications/quiet-hours'), { from: null, to: null });
    await ok('anna', 'PUT', '/notifications/quiet-hours', { from: '00:00', to: '23:59' });
    assert.equal((await send('anna', 'PUT', '/notifications/quiet-hours', { from: '22:00', to: null })).status, 400);
    const id = await create({ assignee: ids.boris });
    await comment(id, 'Hello @anna');
    await make({ sendsMail: true });
    assert.deepEqual(await kindsOn('boris', id), []);
    const mails = await stored<{ user_id: string; kind: string; is_digest: boolean; due: string }>(
      app,
      `SELECT m.user_id, m.kind, m.is_digest, to_char(m.due_at AT TIME ZONE 'UTC', 'HH24:MI') AS due
        FROM notification_mails m JOIN notifications n ON n.id = m.notification_id WHERE n.object_id = $1 ORDER BY m.kind`,
      [id],
    );
    assert.deepEqual(mails, [
      { user_id: ids.boris, kind: 'comment', is_digest: true, due: '08:00' },
      { user_id: ids.anna, kind: 'mention', is_digest: false, due: '23:59' },
    ]);
  });

  it('makes nothing twice if several processes make notifications', async () => {
    const id = await create({ assignee: ids.anna, requester: ids.rita });
    for (let index = 0; index < 20; index++) await comment(id, `Comment ${index}`);
    await Promise.all([make(), make(), make()]);
    assert.equal((await kindsOn('rita', id)).length, 20);
    assert.equal((await kindsOn('anna', id)).length, 21);
  });

  it('continues an event with many recipients in the next unit', async () => {
    const id = await create({ team: await group(), requester: ids.rita });
    await comment(id, 'For @wim, @anna, @boris, @rita');
    await make({ recipientsAtOnce: 2 });
    assert.deepEqual(await kindsOn('wim', id), ['mention']);
    assert.deepEqual(await kindsOn('anna', id), ['mention', 'assigned']);
    assert.deepEqual(await kindsOn('rita', id), ['mention']);
    const rows = await stored<{ n: number }>(app, 'SELECT count(*)::int AS n FROM notifications WHERE object_id = $1', [
      id,
    ]);
    assert.deepEqual(rows, [{ n: 5 }], 'boris wants no assignments');
  });

  it('continues among watchers, of whom each unit reads only the next ones', async () => {
    const id = await create();
    for (const who of ['anna', 'boris', 'clerk', 'wim', 'chief'] as const) await ok(who, 'PUT', `/objects/${id}/watch`);
    await comment(id, 'First');
    await comment(id, 'Second');
    await make({ recipientsAtOnce: 1 });
    for (const who of ['anna', 'boris', 'clerk', 'wim'] as const) {
      assert.deepEqual(await kindsOn(who, id), ['watch', 'watch'], who);
    }
    assert.deepEqual(await kindsOn('chief', id), []);
  });

  it('puts the notifications of a bulk call into one mail, and those of an import if its definition says so', async () => {
    const [first, second] = [await create({ assignee: ids.wim }), await create({ assignee: ids.wim })];
    await make();
    const { key } = await app.createKey({ login: 'chief' });
    const post = async (path: string, body: unknown): Promise<void> => {
      const answer = await app.request('POST', `/api/v1${path}`, { key, body });
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
    };
    const changes = { assignee: ids.anna };
    const items = [first, second].map((objectId) => ({ objectId, expectedRevision: 1, changes }));
    await post('/bulk', { operation: 'update', items });
    const mapping = ['title', 'assignee'].map((field) => ({ source: field, target: field }));
    const kind = { targetKind: 'object', targetTypeId: 'case', format: 'CSV', mode: 'UPSERT' };
    for (const [code, flag] of [['told', { notifications: true }] as const, ['silent', {}] as const]) {
      const resolver = { externalIdField: 'title' };
      await post('/import-definitions', { ...kind, code, sourceCode: code, resolver, mapping, ...flag });
      const content = `title,assignee\n${code} 1,${ids.wim}\n${code} 2,${ids.wim}\n`;
      await post('/imports/run', { definitionId: code, content, dryRun: false });
    }
    // As after a copy to a cluster with lower transaction ids.
    await changeRights(app, `UPDATE notification_imports SET txid = (txid::text::bigint + 1000000)::text::xid8`, []);
    while (await givePlaces(app.db));
    await changeRights(app, `UPDATE journal SET txid = '0' WHERE via = 'import'`, []);
    await adoptImports(app.db);
    await make({ sendsMail: true });
    const mails = await stored<{ login: string; mails: number; notifications: number }>(
      app,
      `SELECT u.login, count(DISTINCT batch)::int AS mails, count(*)::int AS notifications FROM notification_mails m
        JOIN users u ON u.id = m.user_id WHERE batch IS NOT NULL GROUP BY u.login ORDER BY u.login`,
    );
    assert.deepEqual(mails, [
      { login: 'anna', mails: 1, notifications: 2 },
      { login: 'wim', mails: 1, notifications: 2 },
    ]);
    const imported = (await listOf('wim')).slice(0, 2).map(({ object }) => object.title);
    assert.deepEqual(imported, ['told 2', 'told 1']);
  });

  it('reports in a dry run who would be notified, others only to administrators of users', async () => {
    const tried = async (who: Person, id: string, body: string, visibility = 'internal'): Promise<unknown> => {
      const answer = await send(who, 'POST', `/objects/${id}/comments?dryRun=true`, { body, visibility });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      return answer.body.meta.effects.notifications;
    };
    const id = await create({ assignee: ids.anna, requester: ids.rita });
    const all = [
      { to: 'anna', channel: 'console', template: 'comment' },
      { to: 'wim', channel: 'console', template: 'mention' },
    ];
    assert.deepEqual(await tried('chief', id, '@wim, @rita must not see this'), all);
    assert.deepEqual(await tried('boris', id, '@wim, @rita must not see this'), []);
    assert.deepEqual(
      await tried('clerk', id, 'A comment on an incident', 'public'),
      [],
      'the assignee is a hidden field',
    );
  });

  it('explains why users were notified or not, others only to those who may assign roles', async () => {
    const id = await create({ assignee: ids.anna, requester: ids.rita });
    await change(id, 1, { secret: 'x' });
    await comment(id, 'Internal @wim', 'internal');
    await make();
    await comment(id, 'Not made yet');
    const explain = async (user?: string, who: Person = 'chief'): Promise<unknown> => {
      const { events } = await ok(who, 'POST', '/notifications/explain', { objectId: id, ...(user && { user }) });
      return events.map((one: { kind: string | null; reason: string | null }) => one.kind ?? one.reason);
    };
    assert.deepEqual(await explain('anna'), ['PENDING', 'comment', 'NOT_CONCERNED', 'assigned']);
    assert.deepEqual(await explain(ids.rita), ['PENDING', 'COMMENT_HIDDEN', 'NOT_CONCERNED', 'NOT_CONCERNED']);
    assert.deepEqual(await explain('wim'), ['PENDING', 'mention', 'NOT_CONCERNED', 'NOT_CONCERNED']);
    assert.deepEqual(await explain(), ['PENDING', 'OWN_ACTION', 'OWN_ACTION', 'OWN_ACTION']);
    assert.deepEqual(await explain(undefined, 'anna'), ['PENDING', 'comment', 'assigned'], 'only what anna may see');
    await ok('anna', 'PUT', '/notifications/choices', { comment: { console: false, mail: 'never' } });
    await make();
    assert.deepEqual(await explain('anna'), ['NOT_WANTED', 'comment', 'NOT_CONCERNED', 'assigned']);
    assert.deepEqual(await explain('anna', 'clerk'), ['UNKNOWN', 'UNKNOWN'], 'the assignee is a hidden field');
    const refused = await send('anna', 'POST', '/notifications/explain', { objectId: id, user: 'rita' });
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'RIGHT_MISSING']);
    const [event] = (await ok('chief', 'GET', '/audit?type=NotificationsExplained&pageSize=1')).rows;
    assert.equal(event.data.objectId, id);
    await ok('anna', 'PUT', '/notifications/choices', {});
  });

  it('sends the number of unread ones to open streams', async () => {
    await make();
    const response = await fetch(`${app.url}/api/admin/v1/notifications/stream`, {
      headers: { Authorization: `Bearer ${keys.anna}`, Accept: 'text/event-stream' },
    });
    const { unread } = await ok('anna', 'GET', '/notifications/count');
    const events = readEvents(response);
    const next = async (): Promise<unknown> => JSON.parse((await events.next(20_000))?.data ?? '');
    assert.deepEqual(await next(), { unread });
    await create({ assignee: ids.anna });
    await make();
    assert.deepEqual(await next(), { unread: unread + 1 });
    events.close();
  });

  it('deletes old notifications with their mails', async () => {
    while ((await purgeNotifications(app.db, new Date(systemClock.now() + 1000).toISOString(), 10)) === 10);
    assert.deepEqual(await stored(app, 'SELECT id FROM notifications'), []);
    assert.deepEqual(await stored(app, 'SELECT notification_id FROM notification_mails'), []);
  });
});
