import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { bundle } from '../../../test/support/small-configuration.ts';
import { type SearchFixture, startSearchFixture } from '../../../test/support/search-fixture.ts';

describe('search of other kinds', () => {
  let world: SearchFixture;
  let problems: string[];
  before(async () => {
    world = await startSearchFixture();
    problems = watchAnswers(world.app);
  });
  after(async () => {
    await world.close();
    assert.deepEqual(problems, []);
  });

  it('finds comments of readable records; internal ones only with the right to read them', async () => {
    const north = await world.make({ title: 'North', region: 'north' });
    const south = await world.make({ title: 'South', region: 'south' });
    const comment = async (id: string, body: string, visibility: string): Promise<string> =>
      (await world.ok('chief', 'POST', `/objects/${id}/comments`, { body, visibility })).id;
    const open = await comment(north, 'Talked about walnuts', 'public');
    const inner = await comment(north, 'Walnut allergy, keep quiet', 'internal');
    const far = await comment(south, 'Walnuts too', 'public');
    const hits = async (who: 'chief' | 'agent' | 'north' | 'stranger'): Promise<string[]> => {
      const { status, body } = await world.search(who, { q: 'walnut', kinds: 'comment' });
      assert.equal(status, 200);
      assert.equal(body.data.total, body.data.results.length);
      return body.data.results.map((result: { id: string }) => result.id).sort();
    };
    assert.deepEqual(await hits('chief'), [open, inner, far].sort());
    assert.deepEqual(await hits('agent'), [open, far].sort());
    assert.deepEqual(await hits('north'), [open]);
    assert.deepEqual(await hits('stranger'), []);
    const [hit] = (await world.search('north', { q: 'walnut', kinds: 'comment' })).body.data.results;
    assert.deepEqual([hit.objectId, hit.title, hit.snippet], [north, 'North', 'Talked about <mark>walnuts</mark>']);

    await world.ok('chief', 'PATCH', `/comments/${inner}`, { expectedRevision: 1, visibility: 'public' });
    assert.deepEqual(await hits('north'), [open, inner].sort());
    await world.ok('chief', 'PATCH', `/comments/${inner}`, { expectedRevision: 2, body: 'Almonds' });
    await world.ok('chief', 'DELETE', `/comments/${open}`, { expectedRevision: 1 });
    assert.deepEqual(await hits('north'), []);
    assert.deepEqual(await hits('chief'), [far]);
    await world.ok('chief', 'DELETE', `/objects/${south}`, { expectedRevision: 1 });
    assert.deepEqual(await hits('chief'), []);
  });

  it('does not find records by their comments', async () => {
    const id = await world.make({ title: 'Bare' });
    await world.ok('chief', 'POST', `/objects/${id}/comments`, { body: 'pistachio', visibility: 'public' });
    assert.deepEqual(await world.titles('chief', { q: 'pistachio' }), []);
  });

  it('combines kinds, best hits first', async () => {
    const id = await world.make({ title: 'Cashew cashew' });
    const comment = await world.ok('chief', 'POST', `/objects/${id}/comments`, {
      body: 'cashew',
      visibility: 'public',
    });
    const { body } = await world.search('chief', { q: 'cashew', kinds: 'comment,object' });
    assert.deepEqual(body.data.results.map((one: { id: string }) => one.id).sort(), [id, comment.id].sort());
    const scores = body.data.results.map((one: { score: number }) => one.score);
    assert.ok(scores[0] >= scores[1]);
    assert.deepEqual(body.data.facets.kind.map(({ value }: { value: string }) => value).sort(), ['comment', 'object']);
    assert.deepEqual([body.data.total, body.data.totalExact, body.data.totalPages], [2, true, 1]);
    const pages = [1, 2, 3].map((page) =>
      world.search('chief', { q: 'cashew', kinds: 'object,comment', pageSize: 1, page }),
    );
    const shown = (await Promise.all(pages)).map((answer) => answer.body.data);
    assert.deepEqual(
      shown.map((data) => data.hasMore),
      [true, false, false],
    );
    assert.equal(new Set(shown.flatMap((data) => data.results.map((one: { id: string }) => one.id))).size, 2);
  });

  it('finds users, groups and units for their administrators, including new ones', async () => {
    const unit = await world.ok('chief', 'POST', '/identity/org-units', { name: 'Отдел снабжения', location: 'Тверь' });
    const group = await world.ok('chief', 'POST', '/identity/groups', { code: 'night-watch', name: 'Night watch' });
    const person = await world.ok('chief', 'POST', '/identity/users', {
      login: 'zhukova',
      displayName: 'Анна Жукова',
      email: 'anna@example.org',
    });
    const hit = async (q: string, kinds: string): Promise<string[]> =>
      (await world.search('chief', { q, kinds })).body.data.results.map((one: { id: string }) => one.id);
    for (const q of ['Жукова', 'анна жук', 'zhukova', 'жокова']) assert.deepEqual(await hit(q, 'user'), [person.id], q);
    // Other users have an address at example.org, too.
    assert.equal((await hit('anna@example.org', 'user'))[0], person.id);
    for (const q of ['night', 'night-watch', 'Watch night']) assert.deepEqual(await hit(q, 'group'), [group.id], q);
    for (const q of ['снабжение', 'тверь']) assert.deepEqual(await hit(q, 'org-unit,group'), [unit.id], q);
    assert.deepEqual(await hit('night', 'user,org-unit'), []);
    for (const kinds of ['user', 'group', 'org-unit', 'object,user']) {
      const { status, body } = await world.search('agent', { q: 'anna', kinds });
      assert.deepEqual(
        [status, body.error?.code, body.error?.details],
        [403, 'RIGHT_MISSING', { right: 'user.administer' }],
      );
    }
    const articles = await world.search('agent', { q: 'anna', kinds: 'article' });
    assert.deepEqual([articles.status, articles.body.error.details], [403, { right: 'kb.read' }]);
  });

  it('finds services whose audience admits the caller', async () => {
    await world.app.apply(
      bundle(`
services:
  - { code: laptop, name: { ru-RU: Ноутбук, en-US: Laptop }, description: A portable computer, audience: { everyone: true } }
  - { code: server, name: Laptop rack, audience: { users: [chief] } }`),
    );
    const hits = async (who: 'chief' | 'agent', q: string): Promise<string[]> =>
      (await world.titles(who, { q, kinds: 'service' })).map(String).sort();
    assert.deepEqual((await hits('chief', 'laptop')).length, 2);
    assert.deepEqual((await hits('agent', 'laptop')).length, 1);
    assert.deepEqual((await hits('agent', 'rack')).length, 0);
    assert.deepEqual((await hits('agent', 'portable')).length, 1);
  });

  it('requires the scope of each kind', async () => {
    const scopes: [string, string][] = [
      ['comment', 'comments:read'],
      ['article', 'kb:read'],
      ['service', 'catalog:read'],
      ['user', 'identity:read'],
      ['group', 'identity:read'],
      ['org-unit', 'identity:read'],
    ];
    const { key: narrow } = await world.app.createKey({ login: 'chief', scopes: ['search:read'] });
    assert.equal((await world.app.request('GET', '/api/v1/search?q=walnut', { key: narrow })).status, 200);
    for (const [kind, scope] of scopes) {
      const { key } = await world.app.createKey({ login: 'chief', scopes: ['search:read', scope] });
      const path = `/api/v1/search?q=walnut&kinds=object,${kind}`;
      const refused = await world.app.request('GET', path, { key: narrow });
      assert.deepEqual(
        [refused.status, refused.body.error.code, refused.body.error.details],
        [403, 'SCOPE_MISSING', { scope }],
      );
      assert.equal((await world.app.request('GET', path, { key })).status, 200, kind);
    }
    const { key } = await world.app.createKey({ login: 'chief', scopes: ['comments:read'] });
    assert.equal((await world.app.request('GET', '/api/v1/search?q=walnut&kinds=comment', { key })).status, 403);
  });
});
