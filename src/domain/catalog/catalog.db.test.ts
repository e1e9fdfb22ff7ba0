/** Reads of services and the catalogue through HTTP (docs/spec/catalogue-and-knowledge.md#catalogue). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../platform/clock.ts';
import { Authenticator } from '../access/index.ts';
import { serviceSource } from './index.ts';
import { assertSameError, assertRejected } from '../../../test/support/record-fixture.ts';
import { type CatalogFixture, type FixtureUser, startCatalogFixture } from '../../../test/support/catalog-fixture.ts';
import { bundle, changeRights, withoutCorrelation } from '../../../test/support/small-configuration.ts';

let world: CatalogFixture;

const services = async (who: FixtureUser, query = ''): Promise<string[]> =>
  (await world.ok<{ code: string }[]>(who, 'GET', `/services${query}`)).map(({ code }) => code).sort();
const items = async (who: FixtureUser): Promise<string[]> =>
  (await world.ok(who, 'GET', '/catalog')).items.map(({ code }: { code: string }) => code).sort();

describe('services', () => {
  before(async () => {
    world = await startCatalogFixture();
  });
  after(() => world.close());

  it('are listed only for their audience: everyone, nested groups, units above, single users', async () => {
    assert.deepEqual(await services('anna'), ['desk-only', 'hq-only', 'laptop']);
    assert.deepEqual(await services('boris'), ['boris-only', 'laptop']);
    assert.deepEqual(await services('carl'), ['laptop']);
    assert.deepEqual(await services('chief'), ['laptop'], 'rights admit nobody');
  });

  it('give the same answer byte for byte if missing and if unavailable', async () => {
    const [hidden, archived] = [world.id('boris-only'), world.id('nobody')];
    assert.equal((await world.ok('boris', 'GET', `/services/${hidden}`)).code, 'boris-only');
    const absent = await world.call('anna', 'GET', `/services/${randomUUID()}`);
    assertRejected(absent, 404, 'NOT_FOUND');
    for (const id of [hidden, archived, 'no-id', world.id('new-laptop')]) {
      const answer = await world.call('anna', 'GET', `/services/${id}`);
      if (id !== 'no-id') assert.equal(withoutCorrelation(answer), withoutCorrelation(absent), id);
      assertRejected(answer, 404, 'NOT_FOUND');
    }
  });

  it('follow changes of groups and units within a second', async () => {
    const [group, user] = [world.id('night'), world.people.carl];
    await changeRights(
      world.app,
      `INSERT INTO group_members (id, group_id, member_type, member_id, created_at) VALUES ($1, $2, 'user', $3, now())`,
      [randomUUID(), group, user],
    );
    await world.app.app.versions.refresh();
    assert.deepEqual(await services('carl'), ['desk-only', 'laptop']);
    await changeRights(world.app, 'DELETE FROM group_members WHERE member_id = $1', [user]);
    await changeRights(world.app, `UPDATE org_units SET state = 'ARCHIVED' WHERE code = $1`, ['hq']);
    await world.app.app.versions.refresh();
    assert.deepEqual(await services('carl'), ['laptop']);
    assert.deepEqual(await services('anna'), ['desk-only', 'laptop'], 'an archived unit is no audience');
    await changeRights(world.app, `UPDATE org_units SET state = 'ACTIVE' WHERE code = $1`, ['hq']);
    await world.app.app.versions.refresh();
  });

  it('have names in the requested locale, else the default one, else any', async () => {
    const named = async (code: string, query: string): Promise<string> =>
      (await world.ok('anna', 'GET', `/services/${world.id(code)}${query}`)).name;
    const table: [code: string, query: string, name: string][] = [
      ['laptop', '?locale=de-DE', 'Notebook'],
      ['laptop', '?locale=ru-RU', 'Ноутбук'],
      ['laptop', '', 'Ноутбук'],
      ['laptop', '?locale=fr-FR', 'Laptop'],
      ['laptop', '?locale=xx', 'Laptop'],
      ['laptop', '?locale=', 'Laptop'],
      ['laptop', '?locale=__proto__', 'Laptop'],
      ['laptop', '?locale=constructor', 'Laptop'],
      ['hq-only', '?locale=fr-FR', 'Siège'],
      ['hq-only', '?locale=ru-RU', 'Zentrale'],
      ['hq-only', '', 'Zentrale'],
      ['desk-only', '?locale=ru-RU', 'Desk'],
    ];
    for (const [code, query, name] of table) assert.equal(await named(code, query), name, `${code}${query}`);
    const { description } = await world.ok('anna', 'GET', `/services/${world.id('laptop')}?locale=de-DE`);
    assert.equal(description, 'Для работы');
    assert.equal((await world.ok('anna', 'GET', `/services/${world.id('desk-only')}`)).description, null);
    const listed = await world.ok<{ name: string }[]>('anna', 'GET', '/services?locale=de-DE');
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['Desk', 'Notebook', 'Zentrale'],
      'by name',
    );
  });

  it('accept no parameter but the locale', async () => {
    for (const path of ['/services?page=1', '/catalog?q=x', `/services/${world.id('laptop')}?locales=ru-RU`]) {
      assertRejected(await world.call('anna', 'GET', path), 400, 'INVALID_REQUEST');
    }
    assertRejected(await world.call('anna', 'GET', `/services?locale=${'x'.repeat(65)}`), 400, 'INVALID_REQUEST');
    assertRejected(await world.call('anna', 'GET', '/services?locale=ru-RU&locale=en-US'), 400, 'INVALID_REQUEST');
  });
});

describe('services for search', () => {
  before(async () => {
    world = await startCatalogFixture();
  });
  after(() => world.close());

  it('are those available to the caller, with names and descriptions in every locale', async () => {
    const { work, system, versions } = world.app.app;
    const authenticator = new Authenticator({ db: world.app.db, versions, clock: systemClock });
    const found = async (who: FixtureUser) => {
      const actor = (await authenticator.actorOf(world.people[who])) ?? assert.fail();
      return await work.read({ ...system(), actor }, (ctx) => serviceSource.services(ctx));
    };
    const listed = await found('carl');
    assert.deepEqual(
      listed.map(({ updatedAt: _at, ...service }) => service),
      [
        {
          id: world.id('laptop'),
          title: 'Laptop',
          texts: ['laptop', 'Notebook', 'Laptop', 'Ноутбук', 'Для работы'],
        },
      ],
    );
    assert.match(listed[0]?.updatedAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const titles = (await found('anna')).map(({ title }) => title).sort();
    assert.deepEqual(titles, ['Desk', 'Laptop', 'Zentrale']);
  });
});

describe('catalogue', () => {
  before(async () => {
    world = await startCatalogFixture();
  });
  after(() => world.close());

  it('contains the items available to the caller, without empty categories', async () => {
    assert.deepEqual(await items('anna'), ['for-desk', 'for-hq', 'lacking', 'new-laptop', 'unasked']);
    assert.deepEqual(await items('boris'), ['for-boris', 'lacking', 'new-laptop', 'unasked']);
    assert.deepEqual(await items('carl'), ['lacking', 'new-laptop', 'unasked']);
    const catalog = await world.ok('carl', 'GET', '/catalog?locale=en-US');
    assert.deepEqual([catalog.id, catalog.code, catalog.name], [world.id('main'), 'main', 'Catalogue']);
    assert.deepEqual(catalog.categories, [
      { id: world.id('hardware'), code: 'hardware', name: 'Hardware', parentId: null },
      { id: world.id('portable'), code: 'portable', name: 'Portable', parentId: world.id('hardware') },
    ]);
    const codes = (await world.ok('anna', 'GET', '/catalog')).categories.map(({ code }: { code: string }) => code);
    assert.deepEqual(codes, ['hardware', 'portable', 'private']);
  });

  it('describes items in the requested locale with the readable fields', async () => {
    const find = async (who: FixtureUser, query: string, code: string): Promise<any> =>
      (await world.ok(who, 'GET', `/catalog${query}`)).items.find((item: { code: string }) => item.code === code);
    const { fields, ...item } = await find('anna', '', 'new-laptop');
    assert.deepEqual(item, {
      id: world.id('new-laptop'),
      code: 'new-laptop',
      name: 'Новый ноутбук',
      description: 'Описание',
      categoryId: world.id('portable'),
      serviceId: world.id('laptop'),
      assetTypes: ['asset'],
    });
    const shown = fields.map(({ code, required, readOnly }: any) => [code, required, readOnly]);
    assert.deepEqual(shown, [
      ['title', true, false],
      ['model', true, false],
      ['count', false, false],
      ['grade', false, true],
      ['affected', false, false],
    ]);
    assert.deepEqual([fields[1].name, fields[1].constraints.options[0].name], ['Модель', 'Малая']);
    assert.deepEqual(
      (await find('anna', '?locale=en-US', 'new-laptop')).fields[1].constraints.options[0].name,
      'Small',
    );
    assert.deepEqual((await find('carl', '', 'new-laptop')).fields, [], 'no grant concerns the type');
    const codes = (await find('chief', '', 'new-laptop')).fields.map(({ code }: any) => code);
    assert.deepEqual(codes, ['title', 'model', 'count', 'secret', 'grade', 'affected']);
    assert.equal((await find('anna', '', 'for-hq')).assetTypes, null, 'it takes no asset');
    assert.equal((await find('carl', '', 'new-laptop')).assetTypes, null, 'carl may not know of the field');
    assert.equal((await find('anna', '', 'for-hq')).serviceId, null, 'its service is not for anna');
  });

  it('is null if none is active; requests then return 404', async () => {
    const request = { requesterId: world.people.anna, values: { title: 'x', model: 'small' } };
    const path = `/catalog/items/${world.id('new-laptop')}/requests`;
    assertRejected(
      await world.call('bot', 'POST', `/catalog/items/${world.id('old-item')}/requests`, request),
      404,
      'NOT_FOUND',
    );
    await world.app.apply(bundle('catalogs: [{ code: main, active: false, categories: [], items: [] }]'));
    const answer = await world.call('anna', 'GET', '/catalog');
    assert.deepEqual([answer.status, answer.body.data], [200, null]);
    assertSameError(
      await world.call('bot', 'POST', path, request),
      await world.call('bot', 'POST', `/catalog/items/${randomUUID()}/requests`, request),
    );
    await world.app.apply(bundle('catalogs: [{ code: main, active: true, categories: [], items: [] }]'));
    assert.deepEqual(await world.ok('anna', 'GET', '/catalog'), {
      id: world.id('main'),
      code: 'main',
      name: 'main',
      categories: [],
      items: [],
    });
  });
});
