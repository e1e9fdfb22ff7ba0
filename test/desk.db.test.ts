/**
 * The API of the console besides the public operations: names, permitted actions, look-ups, queues, and their access checks.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { TestAnswer } from './support/app.ts';
import { type RecordFixture, PASSWORD, USERS, type FixtureUser, startRecordFixture } from './support/record-fixture.ts';

let fixture: RecordFixture;
let keys: Record<FixtureUser, string>;

const send = (who: FixtureUser, method: string, path: string, body?: unknown, headers = {}): Promise<TestAnswer> =>
  fixture.app.request(method, `/api/admin/v1${path}`, {
    key: keys[who],
    headers,
    ...(body === undefined ? {} : { body }),
  });

async function ok(who: FixtureUser, method: string, path: string, body?: unknown): Promise<any> {
  const answer = await send(who, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

function refused(answer: TestAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [status, code], JSON.stringify(answer.body));
}

const PEOPLE_MORE = `
users:
  - { login: yozhikov, displayName: Ёжиков Пётр 100%_ок }
  - { login: gone, displayName: Ёжиков Бывший }
`;

describe('the console API', () => {
  before(async () => {
    fixture = await startRecordFixture();
    const made = USERS.map(
      async (login) => [login, (await fixture.app.createKey({ login, scopes: ['admin:manage'] })).key] as const,
    );
    keys = Object.fromEntries(await Promise.all(made)) as Record<FixtureUser, string>;
    await fixture.app.apply([{ name: 'people.yaml', text: PEOPLE_MORE }]);
    await fixture.rows(`UPDATE users SET state = 'ARCHIVED' WHERE login = 'gone'`);
  });
  after(() => fixture.close());

  it('lists types with the permitted actions', async () => {
    const byCode = async (who: FixtureUser): Promise<Map<string, any>> =>
      new Map((await ok(who, 'GET', '/desk/types')).map((type: { code: string }) => [type.code, type]));
    const agent = await byCode('agent');
    assert.deepEqual(
      ['canRead', 'canCreate', 'canUpdate', 'canArchive', 'canTransition'].map((may) => agent.get('case')[may]),
      [true, true, true, true, true],
    );
    assert.deepEqual(
      ['canRead', 'canCreate', 'canUpdate', 'canArchive', 'canTransition'].map((may) => agent.get('problem')[may]),
      [true, false, false, false, false],
    );
    assert.equal(agent.get('case').titleField, 'title');
    assert.deepEqual(
      agent.get('case').states.map((state: { code: string }) => state.code),
      ['new', 'work', 'wait', 'done'],
    );
    const viewer = await byCode('viewer');
    assert.equal(viewer.get('case').titleField, null, 'a hidden field is not named');
    assert.equal((await byCode('stranger')).size, 0);
  });

  it('returns the permitted actions for one record', async () => {
    const { id } = await fixture.make({ kind: 'a' });
    const { actions } = await ok('agent', 'GET', `/objects/${id}/permissions`);
    assert.ok(actions.includes('update') && actions.includes('comment.create') && !actions.includes('Private Comment'));
    assert.deepEqual((await ok('viewer', 'GET', `/objects/${id}/permissions`)).actions, ['read']);
    const other = await fixture.make({ kind: 'b' });
    refused(await send('viewer', 'GET', `/objects/${other.id}/permissions`), 404, 'NOT_FOUND');
  });

  it('returns names in the language of the console, and in the default locale elsewhere', async () => {
    const text = `types: [{ code: tint, name: { en-US: Tint, ru-RU: Оттенок }, title: word, fields: [{ code: word, name: { en-US: Word, ru-RU: Слово }, dataType: string }] }]`;
    await fixture.app.apply([{ name: 'names.yaml', text }]);
    const find = async (locale: string): Promise<string> => {
      const headers = { 'accept-language': locale };
      const types = (await send('chief', 'GET', '/desk/types', undefined, headers)).body.data;
      const { fields } = (await send('chief', 'GET', '/metadata/types/tint/fields', undefined, headers)).body.data;
      const outside = await fixture.call('chief', 'GET', '/metadata/types/tint/fields', undefined, { headers });
      assert.equal(outside.body.data.fields[0].name, 'Word', 'the public interface has the default locale');
      return `${types.find((type: { code: string }) => type.code === 'tint').name} ${fields[0].name}`;
    };
    assert.equal(await find('ru-RU'), 'Оттенок Слово');
    assert.equal(await find('en-US,ru;q=0.5'), 'Tint Word');
    assert.equal(await find('*'), 'Tint Word', 'the default locale');
    assert.equal(await find('de-DE'), 'Tint Word');
  });

  it('arranges forms by the layout of the type, without what the caller cannot read', async () => {
    const text = `
types:
  - code: formed
    description: { en-US: A form, ru-RU: Форма }
    fields:
      - { code: a, dataType: string, description: Help for a }
      - { code: b, dataType: string, description: { en-US: Help for b, ru-RU: Справка } }
    layout: { sections: [ { name: First, fields: [a] }, { columns: 2, fields: [b] } ] }
roles:
  - { code: formed, records: [ { type: formed, actions: [read], fields: { read: [b] } } ], assignedTo: { users: [viewer] } }
  - { code: exporter, rights: [config.manage], assignedTo: { users: [chief] } }
`;
    await fixture.app.apply([{ name: 'formed.yaml', text }]);
    const formed = async (who: FixtureUser) =>
      (await ok(who, 'GET', '/desk/types')).find((type: { code: string }) => type.code === 'formed');
    const whole = await formed('chief');
    assert.deepEqual(whole.layout, [
      { name: 'First', columns: 1, fields: ['a'] },
      { name: null, columns: 2, fields: ['b'] },
    ]);
    assert.equal(whole.description, 'A form');
    const part = await formed('viewer');
    assert.deepEqual(part.layout, [{ name: null, columns: 2, fields: ['b'] }]);
    const { files } = await ok('chief', 'GET', '/config/export');
    const exported = files.find(({ name }: { name: string }) => name === 'types.yaml');
    assert.match(exported.text, /sections:\n\s+- name: First\n\s+fields:\n\s+- a\n\s+- columns: 2/);
  });

  it('finds active users by the prefix of their names', async () => {
    const find = async (q: string): Promise<string[]> => {
      const found = await ok('agent', 'GET', `/desk/lookup?kind=user&q=${encodeURIComponent(q)}`);
      return found.map((one: { name: string }) => one.name);
    };
    for (const q of ['Ёжиков', 'ёжиков', 'ЁЖИКОВ', 'пётр', '100%_', 'yozh', 'YOZH', ' ёжиков ']) {
      assert.ok((await find(q)).includes('Ёжиков Пётр 100%_ок'), q);
    }
    for (const q of ['_ёжиков', '100_', '%%%', 'бывший', '\\']) assert.deepEqual(await find(q), [], q);
    assert.ok((await find('')).length >= 4);
    refused(await send('stranger', 'GET', '/desk/lookup?kind=user'), 403, 'RIGHT_MISSING');
    refused(await send('viewer', 'GET', '/desk/lookup?kind=user'), 403, 'RIGHT_MISSING');
    refused(await send('agent', 'GET', '/desk/lookup?kind=org-unit'), 403, 'RIGHT_MISSING');
    refused(await send('agent', 'GET', '/desk/lookup?kind=key'), 400, 'INVALID_REQUEST');
  });

  it('suggests records by number and title, of one character too, then by words', async () => {
    const titles = async (who: FixtureUser, q: string): Promise<(string | null)[]> =>
      (await ok(who, 'GET', `/desk/suggestions?q=${encodeURIComponent(q)}`)).map((one: { title: string }) => one.title);
    await fixture.make({ kind: 'a', title: '†' });
    await fixture.make({ kind: 'a', title: 'Щ' });
    const named = await fixture.make({ kind: 'a', title: 'Щука' });
    await fixture.make({ kind: 'a', title: 'Рагу: щука и щавель' });
    assert.deepEqual(await titles('chief', '†'), ['†']);
    assert.deepEqual(await titles('chief', ' щ '), ['Щ', 'Рагу: щука и щавель', 'Щука']);
    assert.deepEqual(await titles('chief', 'щука'), ['Щука', 'Рагу: щука и щавель']);
    const { number } = await ok('chief', 'GET', `/objects/${named.id}`);
    const [found, ...others] = await ok('chief', 'GET', `/desk/suggestions?q=${number.toLowerCase()}`);
    assert.deepEqual([found.id, found.number, found.typeCode, others], [named.id, number, 'case', []]);
    assert.ok((await titles('chief', number.slice(0, -2))).includes('†'));
    assert.ok((await titles('chief', 'CAS')).length <= 8);
    // Titles that the caller may not read neither match nor appear.
    for (const q of ['†', 'щ', 'щука']) assert.deepEqual(await titles('viewer', q), []);
    assert.deepEqual(await titles('viewer', number), [null]);
    assert.deepEqual(await titles('stranger', number), []);
    refused(await send('chief', 'GET', '/desk/suggestions?q='), 400, 'INVALID_REQUEST');
  });

  it('tells users with the same name apart', async () => {
    const text = `users:
  - { login: ann.one, displayName: Анна Двойникова, email: one@example.org }
  - { login: ann.two, displayName: анна двойникова, email: two@example.org }
  - { login: ann.three, displayName: Анна Единственная, email: three@example.org }`;
    await fixture.app.apply([{ name: 'alike.yaml', text }]);
    const find = async (who: FixtureUser): Promise<unknown[]> =>
      (await ok(who, 'GET', `/desk/lookup?kind=user&q=${encodeURIComponent('анна')}`)).map(
        ({ id: _id, ...shown }: { id: string }) => shown,
      );
    const alike = [
      { name: 'Анна Двойникова', login: 'ann.one', email: 'one@example.org' },
      { name: 'анна двойникова', login: 'ann.two', email: 'two@example.org' },
    ];
    const found = await find('agent');
    for (const one of alike)
      assert.ok(
        found.some((other) => isDeepStrictEqual(other, one)),
        JSON.stringify(found),
      );
    assert.ok(
      found.some((other) => isDeepStrictEqual(other, { name: 'Анна Единственная' })),
      'no details of others',
    );
  });

  it('resolves ids only to names that the caller may see', async () => {
    const seen = await fixture.make({ kind: 'a', title: 'Seen' });
    const unseen = await fixture.make({ kind: 'b', title: 'Unseen' });
    const [chief] = await fixture.rows<{ id: string }>(`SELECT id FROM users WHERE login = 'chief'`);
    const ids = [seen.id, unseen.id, chief?.id, randomUUID(), seen.id].join(',');
    const labels = async (who: FixtureUser): Promise<unknown[]> =>
      (await ok(who, 'GET', `/desk/labels?ids=${ids}`)).map((one: any) => [one.kind, one.name]);
    assert.deepEqual(await labels('agent'), [
      ['user', 'Person chief'],
      ['object', 'Seen'],
      ['object', 'Unseen'],
    ]);
    assert.deepEqual(
      await labels('viewer'),
      [['object', null]],
      'neither people, nor hidden titles, nor hidden records',
    );
    assert.deepEqual(await labels('stranger'), []);
    for (const bad of ['', 'x', '-'.repeat(36), `${seen.id},`, `${seen.id},${'0'.repeat(36)}`]) {
      refused(await send('agent', 'GET', `/desk/labels?ids=${bad}`), 400, 'INVALID_REQUEST');
    }
    const many = Array.from({ length: 201 }, () => randomUUID()).join(',');
    refused(await send('agent', 'GET', `/desk/labels?ids=${many}`), 400, 'INVALID_REQUEST');
  });

  it('keeps queues private to their owners and shares them by right', async () => {
    const definition = {
      type: 'case',
      filter: { field: 'assignee', operator: 'equals', value: '$me' },
      columns: ['title'],
    };
    const own = await ok('agent', 'POST', '/desk/queues', { name: ' Mine ', shared: false, definition });
    assert.deepEqual([own.name, own.mayChange, own.revision, own.owner.displayName], ['Mine', true, 1, 'Person agent']);
    assert.deepEqual(own.definition, definition);
    const names = async (who: FixtureUser): Promise<string[]> =>
      (await ok(who, 'GET', '/desk/queues')).map((queue: { name: string }) => queue.name);
    assert.ok((await names('agent')).includes('Mine'));
    assert.ok(!(await names('chief')).includes('Mine'), 'private queues of others are not listed');
    const path = `/desk/queues/${own.id}`;
    refused(await send('chief', 'PATCH', path, { expectedRevision: 1, name: 'x' }), 404, 'NOT_FOUND');
    refused(await send('chief', 'DELETE', path, { expectedRevision: 1 }), 404, 'NOT_FOUND');
    refused(await send('agent', 'PATCH', path, { expectedRevision: 1, shared: true }), 403, 'RIGHT_MISSING');
    const both = await Promise.all(
      ['One', 'Two'].map((name) => send('agent', 'PATCH', path, { expectedRevision: 1, name })),
    );
    assert.deepEqual(both.map((one) => one.status).sort(), [200, 409], 'one of two concurrent changes gets a conflict');
    refused(await send('agent', 'DELETE', path, { expectedRevision: 1 }), 409, 'REVISION_CONFLICT');

    const shared = await ok('chief', 'POST', '/desk/queues', {
      name: 'For all',
      shared: true,
      definition: { type: 'case' },
    });
    for (const who of ['agent', 'viewer'] as const) assert.ok((await names(who)).includes('For all'));
    assert.ok(!(await names('stranger')).includes('For all'), 'the type is not there for them');
    refused(
      await send('agent', 'PATCH', `/desk/queues/${shared.id}`, { expectedRevision: 1, name: 'x' }),
      403,
      'RIGHT_MISSING',
    );
    refused(await send('agent', 'DELETE', `/desk/queues/${shared.id}`, { expectedRevision: 1 }), 403, 'RIGHT_MISSING');
    await ok('agent', 'DELETE', path, { expectedRevision: 2 });
    assert.ok(!(await names('agent')).some((name) => name === 'One' || name === 'Two'));
  });

  it('shows queues of a group to its members, who may share with it', async () => {
    const text = 'groups: [{ code: crew, name: Crew, users: [agent, viewer] }, { code: others, name: Others }]';
    await fixture.app.apply([{ name: 'crew.yaml', text }]);
    const groups = await fixture.rows<{ id: string }>(
      "SELECT id FROM groups WHERE code IN ('crew', 'others') ORDER BY code",
    );
    const [crew, others] = groups.map(({ id }) => id);
    const definition = { type: 'case' };
    const made = await ok('agent', 'POST', '/desk/queues', { name: 'Crew', shared: false, groupId: crew, definition });
    assert.deepEqual([made.group, made.shared, made.mayChange], [{ id: crew, name: 'Crew' }, false, true]);
    const seen = async (who: FixtureUser): Promise<any> =>
      (await ok(who, 'GET', '/desk/queues')).find((queue: { id: string }) => queue.id === made.id);
    assert.equal((await seen('viewer')).mayChange, false, 'members use it');
    assert.equal(await seen('chief'), undefined, 'the right to share does not show queues of other groups');
    const path = `/desk/queues/${made.id}`;
    refused(await send('viewer', 'PATCH', path, { expectedRevision: 1, name: 'x' }), 403, 'RIGHT_MISSING');
    refused(await send('chief', 'PATCH', path, { expectedRevision: 1, name: 'x' }), 404, 'NOT_FOUND');
    const other = { name: 'Other', shared: false, groupId: others, definition };
    refused(await send('agent', 'POST', '/desk/queues', other), 403, 'RIGHT_MISSING');
    for (const groupId of [randomUUID(), made.owner.id]) {
      refused(await send('chief', 'POST', '/desk/queues', { ...other, groupId }), 400, 'INVALID_REQUEST');
    }
    const foreign = await ok('chief', 'POST', '/desk/queues', other);
    const unknown = { expectedRevision: 1, groupId: randomUUID() };
    refused(await send('chief', 'PATCH', `/desk/queues/${foreign.id}`, unknown), 400, 'INVALID_REQUEST');
    await ok('chief', 'DELETE', `/desk/queues/${foreign.id}`, { expectedRevision: 1 });
    refused(await send('agent', 'PATCH', path, { expectedRevision: 1, groupId: others }), 403, 'RIGHT_MISSING');
    assert.equal((await ok('agent', 'PATCH', path, { expectedRevision: 1, groupId: null })).group, null);
    assert.equal(await seen('viewer'), undefined, 'private again');
    await ok('agent', 'DELETE', path, { expectedRevision: 2 });
  });

  it('hides and rejects queues that refer to something the caller may not read', async () => {
    const filter = { field: 'secret', operator: 'equals', value: 'canary-77' };
    const made = await ok('chief', 'POST', '/desk/queues', {
      name: 'Secret',
      shared: true,
      definition: { type: 'case', filter },
    });
    const { body } = await send('agent', 'GET', '/desk/queues');
    assert.ok(!JSON.stringify(body).includes('canary-77'));
    refused(await send('agent', 'DELETE', `/desk/queues/${made.id}`, { expectedRevision: 1 }), 404, 'NOT_FOUND');
    const create = (definition: unknown, name = 'n'): Promise<TestAnswer> =>
      send('agent', 'POST', '/desk/queues', { name, shared: false, definition });
    const hidden = await create({ type: 'case', filter });
    const unknown = await create({ type: 'case', filter: { ...filter, field: 'neverThere' } });
    refused(hidden, 400, 'INVALID_FILTER');
    const said = (answer: TestAnswer): string =>
      JSON.stringify(answer.body.error).replaceAll(/secret|neverThere/g, 'X');
    assert.equal(said(hidden), said(unknown), 'alike');
    refused(await create({ type: 'nothing' }), 400, 'INVALID_REQUEST');
    refused(
      await create({ type: 'case', filter: { field: 'title', operator: 'before', value: 'x' } }),
      400,
      'INVALID_FILTER',
    );
    refused(await create({ type: 'case', other: 1 }), 400, 'INVALID_REQUEST');
    for (const name of ['   ', 'a\u0007b', 'a\nb']) refused(await create({}, name), 400, 'INVALID_REQUEST');
    refused(await create({ columns: Array.from({ length: 41 }, () => 'a') }), 400, 'INVALID_REQUEST');
  });

  it('returns the CSRF token to a session, and none to a key', async () => {
    const signedIn = await fixture.app.request('POST', '/api/admin/v1/session', {
      body: { login: 'chief', password: PASSWORD },
    });
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const again = await fixture.app.request('GET', '/api/admin/v1/session', { headers: { cookie } });
    assert.equal(again.body.data.csrfToken, signedIn.body.data.csrfToken);
    const [stored] = await fixture.rows<{ token: string; csrf: string }>(
      `SELECT encode(token_hash, 'hex') AS token, encode(csrf_hash, 'hex') AS csrf FROM sessions`,
    );
    assert.ok(!JSON.stringify(stored).includes(again.body.data.csrfToken), 'the database holds hashes alone');
    assert.equal((await send('chief', 'GET', '/session')).body.data.csrfToken, undefined);
  });

  it('shows pending background work only to users with the right', async () => {
    refused(await send('agent', 'GET', '/health/backlog'), 403, 'RIGHT_MISSING');
    const before = await ok('chief', 'GET', '/health/backlog');
    await fixture.rows(`INSERT INTO journal (id, type, at, via, hash)
      VALUES (gen_random_uuid(), 'ObjectCreated', '2001-01-01T00:00:00Z', 'api', '\\x00')`);
    for (const at of ['2001-02-03T04:05:06Z', '2999-01-01T00:00:00Z'])
      await fixture.rows(
        `INSERT INTO webhook_deliveries (id, subscription_id, event_id, event_type, event_at, event_seq, event_data, max_attempts,
           base_delay_ms, created_at, due_at)
         VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'ObjectCreated', $1, 0, '{}', 3, 1000, $1, $1)`,
        [at],
      );
    const now = await ok('chief', 'GET', '/health/backlog');
    assert.deepEqual(now.outbox, { waiting: before.outbox.waiting + 1, oldestAt: '2001-01-01T00:00:00.000Z' });
    assert.deepEqual(now.deliveries, { waiting: 1, later: 1, oldestAt: '2001-02-03T04:05:06.000Z' });
    assert.deepEqual(now.timers, { waiting: 0, oldestAt: null });
  });
});
