/** Requests on behalf of users through HTTP (docs/spec/catalogue-and-knowledge.md#catalogue). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestAnswer } from '../../../test/support/app.ts';
import { assertSameError, assertRejected, countOutcomes, concurrently } from '../../../test/support/record-fixture.ts';
import { type CatalogFixture, type FixtureUser, startCatalogFixture } from '../../../test/support/catalog-fixture.ts';
import { bundle, changeRights } from '../../../test/support/small-configuration.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const VALUES = { title: 'A laptop', model: 'small' };

let world: CatalogFixture;

interface Ask {
  who?: FixtureUser;
  for?: FixtureUser;
  item?: string;
  values?: object;
  assetId?: unknown;
  key?: string;
}

/** Makes a request; by default the bot makes it for anna. */
function ask({ who = 'bot', for: whom = 'anna', item = 'new-laptop', values = VALUES, assetId, key }: Ask = {}) {
  const body = { requesterId: world.people[whom], values, ...(assetId === undefined ? {} : { assetId }) };
  return world.call(who, 'POST', `/catalog/items/${world.id(item)}/requests`, body, key);
}

async function made(asked: Ask = {}): Promise<any> {
  const answer = await ask(asked);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.data;
}

const details = (answer: TestAnswer): string[] =>
  answer.body.error.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);
const stored = async (id: string): Promise<any> => (await world.rows('SELECT * FROM objects WHERE id = $1', [id]))[0];
const asset = async (owner: FixtureUser, title = 'Asset'): Promise<string> =>
  (
    await world.ok('chief', 'POST', '/objects', {
      typeDefinitionId: 'asset',
      values: { title, owner: world.people[owner] },
    })
  ).id;

describe('a catalogue request', () => {
  before(async () => {
    world = await startCatalogFixture({ clock: { now: () => Date.parse(NOW) } });
  });
  after(() => world.close());

  it('creates a record with the given values and those of the item', async () => {
    const data = await made();
    const { id, number, workflowState, ...rest } = data;
    assert.deepEqual(rest, { title: 'A laptop', state: 'ACTIVE', createdAt: NOW });
    assert.match(number, /^REQ\d{4}$/);
    assert.equal(workflowState.code, 'new');
    const record = await stored(id);
    assert.deepEqual(record.values, {
      title: 'A laptop',
      model: 'small',
      count: 1,
      requester: world.people.anna,
      priority: 'p3',
      neededAt: '2026-11-28T10:00:00.000Z',
      unit: world.id('lab'),
      service: world.id('laptop'),
    });
    assert.deepEqual([record.revision, record.number, record.created_by], [1, number, world.people.bot]);
    const seen = await world.ok('anna', 'GET', `/objects/${id}`);
    assert.deepEqual(seen.createdBy, { id: world.people.bot, displayName: 'Person bot' });
    assert.deepEqual(seen.values.requester, world.people.anna);
  });

  it('stores requester, actor and the channel `catalog` in the history', async () => {
    const { id } = await made();
    const [event, ...others] = await world.ok('chief', 'GET', `/objects/${id}/history`);
    assert.deepEqual(others, []);
    assert.equal(event.type, 'ObjectCreated');
    assert.deepEqual(event.actor, { id: world.people.bot, displayName: 'Person bot', via: 'catalog' });
    assert.deepEqual(event.data, {
      onBehalfOf: { id: world.people.anna, displayName: 'Person anna' },
      catalogItem: { id: world.id('new-laptop'), code: 'new-laptop' },
    });
    const own = await world.ok('anna', 'GET', `/objects/${id}/history`);
    assert.deepEqual(own[0].data, event.data);
    const byConsole = await world.adminOk('chief', 'POST', `/catalog/items/${world.id('unasked')}/requests`, {
      requesterId: world.people.chief,
      values: { title: 'x' },
    });
    const [{ via, actor_id }] = (await world.rows('SELECT via, actor_id FROM journal WHERE object_id = $1', [
      byConsole.id,
    ])) as [any];
    assert.deepEqual([via, actor_id], ['catalog', world.people.chief]);
  });

  it('requires catalog.impersonate for other requesters, with a key and in a session', async () => {
    for (const [who, other] of [
      ['anna', 'carl'],
      ['carl', 'anna'],
    ] as const) {
      const answer = await ask({ who, for: other });
      assertRejected(answer, 403, 'RIGHT_MISSING');
      assert.deepEqual(answer.body.error.details, { right: 'catalog.impersonate' });
    }
    const own = await ask({ who: 'anna', for: 'anna' });
    assert.equal(own.status, 201, JSON.stringify(own.body));
    const path0 = `/catalog/items/${world.id('new-laptop')}/requests`;
    const inConsole = await world.admin('anna', 'POST', path0, { requesterId: world.people.anna, values: VALUES });
    assert.equal(inConsole.status, 201, JSON.stringify(inConsole.body));
    assertRejected(
      await world.admin('anna', 'POST', path0, { requesterId: world.people.carl, values: VALUES }),
      403,
      'RIGHT_MISSING',
    );
    const unscoped = await world.app.createKey({ login: 'anna', scopes: ['objects:write', 'catalog:read'] });
    assertRejected(
      await world.app.request('POST', `/api/v1${path0}`, {
        key: unscoped.key,
        body: { requesterId: world.people.anna, values: VALUES },
      }),
      403,
      'SCOPE_MISSING',
    );
    const scoped = await world.app.createKey({ login: 'bot', scopes: ['objects:write', 'catalog:read'] });
    const path = `/api/v1/catalog/items/${world.id('new-laptop')}/requests`;
    const body = { requesterId: world.people.anna, values: VALUES };
    const answer = await world.app.request('POST', path, { key: scoped.key, body });
    assertRejected(answer, 403, 'SCOPE_MISSING');
    assert.deepEqual(answer.body.error.details, { scope: 'catalog:impersonate' });
    const enough = await world.app.createKey({ login: 'bot', scopes: ['catalog:impersonate'] });
    assert.equal((await world.app.request('POST', path, { key: enough.key, body })).status, 201);
    assertRejected(
      await world.call('bot', 'POST', '/objects', { typeDefinitionId: 'request', values: VALUES }),
      400,
      'INVALID_REQUEST',
      'the bot itself may create nothing',
    );
  });

  it('is checked with the rights of the requester, not the caller', async () => {
    const unable = await ask({ who: 'chief', for: 'carl' });
    assertRejected(unable, 403, 'RIGHT_MISSING');
    assert.deepEqual(unable.body.error.details, { right: 'create' });
    const hidden = await ask({ who: 'chief', values: { ...VALUES, secret: 'x' } });
    assertRejected(hidden, 400, 'INVALID_VALUES');
    assert.deepEqual(details(hidden), ['/values/secret UNKNOWN_FIELD']);
    const readOnly = await ask({ who: 'chief', values: { ...VALUES, grade: 'A' } });
    assertRejected(readOnly, 403, 'FIELD_READ_ONLY');
    assert.deepEqual(details(readOnly), ['/values/grade FIELD_READ_ONLY']);
    // The chief has every right. The requester's limits do not apply when the chief requests for themselves.
    assert.equal(
      (await ask({ who: 'chief', for: 'chief', values: { ...VALUES, secret: 'x', grade: 'A' } })).status,
      201,
    );
    // Without a requester field, the row condition of anna's grant does not hold for the new record.
    assertRejected(await ask({ item: 'unasked', values: { title: 'x' } }), 403, 'RIGHT_MISSING');
  });

  it('returns NOT_FOUND if the item is not available to the requester', async () => {
    const body = { requesterId: world.people.anna, values: { title: 'x' } };
    const absent = await world.call('chief', 'POST', `/catalog/items/${randomUUID()}/requests`, body);
    assertRejected(absent, 404, 'NOT_FOUND');
    for (const item of ['for-boris', 'for-nobody', 'old-item', 'hardware'])
      assertSameError(await ask({ who: 'chief', item, values: { title: 'x' } }), absent);
    assert.equal((await ask({ item: 'for-hq', values: { title: 'x' } })).status, 201);
    assert.equal((await ask({ item: 'for-boris', for: 'boris', values: { title: 'x' } })).status, 201);
    // For an unavailable item, other errors are not reported either.
    assertSameError(await ask({ item: 'for-boris', values: { nothing: 1 }, assetId: randomUUID() }), absent);
  });

  it('rejects a missing, archived or invalid requester', async () => {
    const path = `/catalog/items/${world.id('new-laptop')}/requests`;
    const absent = await world.call('bot', 'POST', path, { requesterId: randomUUID(), values: VALUES });
    assertRejected(absent, 400, 'INVALID_REQUEST');
    assert.deepEqual(details(absent), ['/requesterId UNKNOWN_USER']);
    assertSameError(await ask({ for: 'dora' }), absent);
    for (const requesterId of ['anna', null, 5, world.people.anna.toUpperCase()]) {
      assertRejected(await world.call('bot', 'POST', path, { requesterId, values: VALUES }), 400, 'INVALID_REQUEST');
    }
    for (const body of [{ values: VALUES }, { requesterId: world.people.anna }]) {
      assertRejected(await world.call('bot', 'POST', path, body), 400, 'INVALID_REQUEST');
    }
    assertRejected(
      await world.call('bot', 'POST', path, { requesterId: world.people.anna, values: VALUES, typeDefinitionId: 'x' }),
      400,
      'INVALID_REQUEST',
    );
  });

  it('accepts only fields of the form and requires its required fields', async () => {
    const wrong = await ask({
      values: { model: 'huge', note: 'x', priority: 'p1', unit: 'x', count: '2', nothing: 1 },
    });
    assertRejected(wrong, 400, 'INVALID_VALUES');
    assert.deepEqual(details(wrong).sort(), [
      '/values/count WRONG_TYPE',
      '/values/model NOT_AN_OPTION',
      '/values/note UNKNOWN_FIELD',
      '/values/nothing UNKNOWN_FIELD',
      '/values/priority UNKNOWN_FIELD',
      '/values/title REQUIRED',
      '/values/unit UNKNOWN_FIELD',
    ]);
    const words = wrong.body.error.details.filter(({ code }: any) => code === 'UNKNOWN_FIELD');
    assert.equal(new Set(words.map(({ message }: any) => message)).size, 1, 'one wording for all that is not there');
    for (const values of [{ title: 'x' }, { title: 'x', model: null }]) {
      assert.deepEqual(details(await ask({ values })), ['/values/model REQUIRED']);
    }
    const lacking = await ask({ item: 'lacking', values: { title: 'x' } });
    assertRejected(lacking, 400, 'INVALID_VALUES');
    assert.deepEqual(details(lacking), ['/values REQUIRED'], 'what the requester may not know is not named');
  });

  it('sets the requester field to the requester', async () => {
    const { id } = await made({ item: 'for-desk', values: { title: 'x', requester: world.people.boris } });
    assert.equal((await stored(id)).values.requester, world.people.anna);
  });

  it('writes values of the item without field rights, with `$$` as `$`', async () => {
    const { id } = await made({ who: 'chief', for: 'chief', item: 'unasked', values: { title: 'x', note: 'mine' } });
    const { values } = await stored(id);
    assert.equal(values.note, '$paid');
    assert.equal(Object.hasOwn(values, 'requester'), false);
    // anna may not write priority or service, and her grant does not let her read service.
    const own = await made();
    assert.equal((await stored(own.id)).values.service, world.id('laptop'));
    const boris = await made({ for: 'boris' });
    assert.equal((await stored(boris.id)).values.unit, world.id('branch'));
    const chief = await made({ for: 'chief' });
    assert.equal(Object.hasOwn((await stored(chief.id)).values, 'unit'), false, 'a variable without a value');
  });

  it('accepts only assets that the requester can read', async () => {
    const [mine, other] = [await asset('anna'), await asset('boris')];
    const { id } = await made({ assetId: mine });
    assert.deepEqual((await stored(id)).values.affected, [mine]);
    const absent = await ask({ assetId: randomUUID() });
    assertRejected(absent, 400, 'INVALID_VALUES');
    assert.deepEqual(details(absent), ['/assetId UNKNOWN_REFERENCE']);
    assertSameError(await ask({ who: 'chief', assetId: other }), absent);
    assertSameError(await ask({ assetId: id }), absent);
    const { revision } = await world.ok('chief', 'GET', `/objects/${mine}`);
    await world.ok('chief', 'DELETE', `/objects/${mine}`, { expectedRevision: revision });
    assertSameError(await ask({ assetId: mine }), absent);
    for (const assetId of [5, null, 'x', [mine]]) assertRejected(await ask({ assetId }), 400, 'INVALID_REQUEST');
    const pointless = await ask({ item: 'for-hq', values: { title: 'x' }, assetId: await asset('anna') });
    assert.deepEqual(details(pointless), ['/assetId NOT_ALLOWED']);
  });

  it('keeps other assets given in the form', async () => {
    const [one, two, three, four] = [
      await asset('anna'),
      await asset('anna'),
      await asset('anna'),
      await asset('anna'),
    ];
    const { id } = await made({ values: { ...VALUES, affected: [one, two] }, assetId: one });
    assert.deepEqual((await stored(id)).values.affected, [two, one]);
    const many = await ask({ values: { ...VALUES, affected: [one, two, three] }, assetId: four });
    assertRejected(many, 400, 'INVALID_VALUES');
    assert.deepEqual(details(many), ['/assetId TOO_MANY']);
    const stranger = await ask({ values: { ...VALUES, affected: [await asset('boris')] } });
    assert.deepEqual(details(stranger), ['/values/affected UNKNOWN_REFERENCE']);
  });

  it('stores nothing if it is rejected', async () => {
    const count = async (): Promise<unknown> =>
      await world.rows('SELECT (SELECT count(*) FROM objects) AS o, (SELECT count(*) FROM journal) AS j');
    const before = await count();
    for (const asked of [
      { for: 'carl' },
      { values: {} },
      { item: 'for-boris' },
      { who: 'anna', for: 'boris' },
    ] as Ask[])
      await ask(asked);
    assert.deepEqual(await count(), before);
  });

  it('is created once per idempotency key and replayed only while the caller may make it', async () => {
    const answers = await concurrently(8, () => ask({ key: 'once' }));
    assert.deepEqual(countOutcomes(answers), { 201: 8 });
    assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body.data))).size, 1);
    assert.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length, 7);
    assertRejected(await ask({ key: 'once', values: { ...VALUES, title: 'other' } }), 409, 'IDEMPOTENCY_KEY_REUSED');
    assertRejected(await ask({ key: 'once', for: 'boris' }), 409, 'IDEMPOTENCY_KEY_REUSED');
    // The item is part of the scope of the idempotency key.
    assert.equal((await ask({ key: 'once', item: 'for-hq', values: { title: 'x' } })).status, 201);
    const { id } = answers[0]?.body.data ?? {};
    await changeRights(world.app, `UPDATE objects SET "values" = "values" - 'requester' WHERE id = $1`, [id]);
    await world.app.app.versions.refresh();
    const hidden = await ask({ key: 'once' });
    assert.deepEqual([hidden.status, hidden.body.data.id, hidden.body.data.title], [201, id, null]);
    const role = await world.rows<{ role_id: string }>(
      'DELETE FROM role_assignments WHERE member_id = $1 AND role_id = $2 RETURNING role_id',
      [world.people.bot, world.id('bot')],
    );
    assert.equal(role.length, 1);
    await changeRights(world.app, 'SELECT $1::int', [1]);
    await world.app.app.versions.refresh();
    assertRejected(await ask({ key: 'once' }), 403, 'RIGHT_MISSING');
    await changeRights(world.app, `INSERT INTO role_assignments VALUES ($1, 'user', $2)`, [
      world.id('bot'),
      world.people.bot,
    ]);
    await world.app.app.versions.refresh();
    await changeRights(world.app, `UPDATE users SET state = 'ARCHIVED' WHERE login = $1`, ['anna']);
    await world.app.app.versions.refresh();
    assertRejected(await ask({ key: 'once' }), 400, 'INVALID_REQUEST', 'the requester has gone');
    await changeRights(world.app, `UPDATE users SET state = 'ACTIVE' WHERE login = $1`, ['anna']);
    await world.app.app.versions.refresh();
  });

  it('hides the title if its field is hidden from the requester', async () => {
    await world.app.apply(
      bundle(
        `roles: [{ code: requester, records: [{ type: request, actions: [create], fields: { read: [], write: [title, model] } }], assignedTo: { users: [anna] } }]`,
      ),
    );
    await world.app.app.versions.refresh();
    const { title, number } = await made({ who: 'chief' });
    assert.deepEqual([title, typeof number], [null, 'string']);
  });
});
