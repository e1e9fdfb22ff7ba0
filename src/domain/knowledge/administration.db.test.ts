/**
 * The knowledge base in the administration API: audiences, archiving, and the resulting events
 * (docs/spec/configuration.md#administration-api).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { assertSameError, assertRejected } from '../../../test/support/record-fixture.ts';
import { Articles, EVERYONE, type Version } from '../../../test/support/articles.ts';
import { type CatalogFixture, startCatalogFixture } from '../../../test/support/catalog-fixture.ts';
import { changeRights } from '../../../test/support/small-configuration.ts';

let world: CatalogFixture;
let articles: Articles;

interface ArticleEvent {
  type: string;
  data: Record<string, unknown>;
  object_id: string | null;
  via: string;
}

/** The article's events in the journal, oldest first. */
async function eventsOf({ id }: Version): Promise<ArticleEvent[]> {
  return await world.rows<ArticleEvent>(
    `SELECT j.type, j.data, j.object_id, j.via FROM journal j WHERE j.subject = $1 ORDER BY j.seq`,
    [`article:${id}`],
  );
}

describe('the knowledge base administration', () => {
  before(async () => {
    world = await startCatalogFixture();
    articles = new Articles(world);
  });
  after(() => world.close());

  it('returns names of bases and sections in the requested locale', async () => {
    const [base] = await world.adminOk('writer', 'GET', '/kb/bases');
    assert.deepEqual(base, {
      id: world.id('it'),
      code: 'it',
      name: 'IT',
      visibility: 'internal',
      locales: ['ru-RU', 'en-US'],
      sections: [
        { id: world.id('network'), code: 'network', name: 'Сеть', parentId: null },
        { id: world.id('mail'), code: 'mail', name: 'Mail', parentId: world.id('network') },
      ],
    });
    assert.equal((await world.adminOk('writer', 'GET', '/kb/bases?locale=de-DE'))[0].sections[0].name, 'Network');
  });

  it('replaces the audience of a version', async () => {
    const draft = await articles.draft();
    const path = `/kb/article-versions/${draft.versionId}/audiences`;
    assert.deepEqual(await world.adminOk('writer', 'GET', path), { versionId: draft.versionId, audiences: [] });
    const group = { kind: 'group', id: world.id('desk') };
    const unit = { kind: 'orgUnit', id: world.id('hq') };
    const person = { kind: 'user', id: world.people.anna };
    const set = await world.adminOk('writer', 'PUT', path, { audiences: [group, unit, person, group] });
    assert.deepEqual(set, {
      versionId: draft.versionId,
      audiences: [
        { ...group, name: 'Desk' },
        { ...unit, name: 'HQ' },
        { ...person, name: 'Person anna' },
      ],
    });
    assert.deepEqual(await world.adminOk('writer', 'GET', path), set);
    assert.deepEqual((await articles.version(draft)).audiences, [group, unit, person]);
    await world.adminOk('writer', 'PUT', path, { audiences: [{ kind: 'everyone', id: null }] });
    assert.deepEqual((await world.adminOk('writer', 'GET', path)).audiences, [{ kind: 'everyone', name: null }]);
  });

  it('rejects unknown and archived audiences', async () => {
    const draft = await articles.draft();
    const path = `/kb/article-versions/${draft.versionId}/audiences`;
    const refuse = async (audience: unknown, code: string, status = 400): Promise<void> =>
      assertRejected(
        await world.admin('chief', 'PUT', path, { audiences: [audience] }),
        status,
        code,
        JSON.stringify(audience),
      );
    await refuse({ kind: 'user', id: randomUUID() }, 'INVALID_VALUES');
    await refuse({ kind: 'user', id: world.people.dora }, 'INVALID_VALUES');
    await refuse({ kind: 'user', id: world.id('desk') }, 'INVALID_VALUES');
    await refuse({ kind: 'group' }, 'INVALID_VALUES');
    await refuse({ kind: 'everyone', id: world.people.anna }, 'INVALID_VALUES');
    await refuse({ kind: 'role', id: world.people.anna }, 'INVALID_REQUEST');
    await refuse({ kind: 'user', id: 'anna' }, 'INVALID_REQUEST');
    await refuse({ kind: 'everyone', name: 'x' }, 'INVALID_REQUEST');
    assertRejected(await world.admin('chief', 'PUT', path, {}), 400, 'INVALID_REQUEST');
    assertRejected(
      await world.admin('chief', 'PUT', `/kb/article-versions/${randomUUID()}/audiences`, { audiences: [] }),
      404,
      'NOT_FOUND',
    );
    assert.deepEqual((await articles.version(draft)).audiences, []);
  });

  it('changes the audience of an active version at once; requires kb.publish and a non-empty audience', async () => {
    const version = await articles.published();
    const path = `/kb/article-versions/${version.versionId}/audiences`;
    const audiences = [{ kind: 'user', id: world.people.boris }];
    const denied = await world.admin('writer', 'PUT', path, { audiences });
    assertRejected(denied, 403, 'RIGHT_MISSING');
    assert.deepEqual(denied.body.error.details, { right: 'kb.publish' });
    assertRejected(await world.admin('chief', 'PUT', path, { audiences: [] }), 409, 'AUDIENCE_MISSING');
    assert.equal(await articles.sees('reader', version), true);
    await world.adminOk('chief', 'PUT', path, { audiences });
    assert.deepEqual([await articles.sees('reader', version), await articles.sees('boris', version)], [false, true]);
    await articles.archive(version, await articles.token(version));
    assertRejected(await world.admin('chief', 'PUT', path, { audiences: EVERYONE }), 409, 'ARCHIVED');
  });

  it('uses the current members of groups and units', async () => {
    const version = await articles.published({}, [{ kind: 'group', id: world.id('desk') }]);
    assert.deepEqual([await articles.sees('anna', version), await articles.sees('boris', version)], [true, false]);
    await changeRights(
      world.app,
      `INSERT INTO group_members (id, group_id, member_type, member_id, created_at) VALUES ($1, $2, 'user', $3, now())`,
      [randomUUID(), world.id('night'), world.people.boris],
    );
    await world.app.app.versions.refresh();
    assert.equal(await articles.sees('boris', version), true);
    await changeRights(world.app, 'DELETE FROM group_members WHERE member_id = $1', [world.people.boris]);
    await world.app.app.versions.refresh();
    assert.equal(await articles.sees('boris', version), false);
  });

  it('lists versions by state, base and article with paging', async () => {
    const version = await articles.published({ title: 'Listed' });
    await articles.draft({ title: 'Other' });
    const list = async (query: string): Promise<any> =>
      await world.adminOk('writer', 'GET', `/kb/article-versions${query}`);
    const own = await list(`?articleId=${version.id}`);
    assert.deepEqual([own.rows.length, own.hasMore, own.rows[0].state], [1, false, 'ACTIVE']);
    assert.ok((await list('?state=ACTIVE&baseId=it')).rows.every(({ state }: any) => state === 'ACTIVE'));
    const [one, two] = [await list('?pageSize=1'), await list('?pageSize=1&page=2')];
    assert.ok(one.hasMore && one.rows[0].versionId !== two.rows[0].versionId);
    assert.equal((await list('?baseId=portal&pageSize=100')).rows.filter(({ id }: any) => id === version.id).length, 0);
    for (const query of ['?state=x', '?baseId=nowhere', '?articleId=x', '?q=x'])
      assertRejected(await world.admin('writer', 'GET', `/kb/article-versions${query}`), 400, 'INVALID_REQUEST');
  });

  it('archives the versions of a locale with the current token', async () => {
    const code = `m-${randomUUID()}`;
    const active = await articles.published({ code });
    const english = await articles.published({ code, locale: 'en-US' });
    const token = await articles.token(active);
    assert.match(token, /^[A-Za-z0-9_-]{43}$/);
    const draft = await articles.draft({ code });
    assertRejected(await articles.archive(active, token), 409, 'VERSION_TOKEN_STALE', 'a draft came');
    let fresh = await articles.token(active);
    assert.notEqual(fresh, token);
    for (const change of [
      () => articles.edit(draft, { title: 'Новая' }),
      () => articles.admit(draft),
      () => articles.publish(draft),
    ]) {
      await change();
      assertRejected(await articles.archive(active, fresh), 409, 'VERSION_TOKEN_STALE');
      const next = await articles.token(active);
      assert.notEqual(next, fresh);
      fresh = next;
    }
    const articleState = await world.adminOk('chief', 'GET', `/kb/articles/${active.id}/material`);
    assert.deepEqual(articleState, { versionId: draft.versionId, version: fresh, locale: 'ru-RU', state: 'ACTIVE' });
    assertRejected(await articles.archive(draft, await articles.token(active, 'en-US')), 409, 'VERSION_TOKEN_STALE');
    const third = await articles.draft({ code });
    const done = await articles.archive(draft, await articles.token(active));
    assert.deepEqual(
      [done.status, done.body.data],
      [200, { id: active.id, versionId: draft.versionId, state: 'ARCHIVED' }],
    );
    assert.deepEqual(
      [(await articles.version(draft)).state, (await articles.version(third)).state],
      ['ARCHIVED', 'ARCHIVED'],
    );
    assert.equal(
      (await world.ok('reader', 'GET', `/kb/articles/${active.id}`)).versionId,
      english.versionId,
      'other locales stay',
    );
    assertRejected(await articles.archive(draft, fresh), 409, 'ARCHIVED');
  });

  it('rejects archiving without confirmation', async () => {
    const version = await articles.published();
    const token = await articles.token(version);
    const call = (body: object) => world.call('chief', 'POST', '/kb/articles/archive', body);
    const { versionId } = version;
    for (const confirmed of [false, 1, 'true', null, undefined]) {
      assertRejected(await call({ versionId, version: token, confirmed }), 400, 'INVALID_REQUEST', String(confirmed));
    }
    for (const stale of [1, null, ''])
      assertRejected(await call({ versionId, version: stale, confirmed: true }), 400, 'INVALID_REQUEST');
    for (const stale of ['1', `${token}x`, token.toUpperCase(), randomUUID()])
      assertRejected(await call({ versionId, version: stale, confirmed: true }), 409, 'VERSION_TOKEN_STALE');
    assert.equal(await articles.sees('reader', version), true);
    assertRejected(await call({ versionId: randomUUID(), version: token, confirmed: true }), 404, 'NOT_FOUND');
    assert.equal((await call({ versionId, version: token, confirmed: true })).status, 200);
    assert.equal(await articles.sees('reader', version), false);
    assertRejected(await world.admin('chief', 'GET', `/kb/articles/${version.id}/material`), 404, 'NOT_FOUND');
  });

  it('restores an archived version as a draft', async () => {
    const code = `r-${randomUUID()}`;
    const version = await articles.published({ code, title: 'Back' });
    const path = `/kb/article-versions/${version.versionId}/restore`;
    assertRejected(await world.admin('writer', 'POST', path), 409, 'STATE_CONFLICT');
    await articles.archive(version, await articles.token(version));
    const other = await articles.draft({ code });
    const taken = await world.admin('writer', 'POST', path);
    assertRejected(taken, 409, 'ALREADY_EXISTS');
    assert.deepEqual(taken.body.error.details, { field: 'locale' });
    await articles.archive(other, await articles.token(version));
    const restored = await world.adminOk('writer', 'POST', path);
    assert.deepEqual(restored, { ...version, state: 'DRAFT', title: 'Back' });
    const { state, publishedAt, archivedAt, audiences } = await articles.version(version);
    assert.deepEqual([state, publishedAt, archivedAt, audiences], ['DRAFT', null, null, EVERYONE]);
    assert.equal(await articles.sees('reader', version), false);
    assert.equal((await articles.publish(version)).status, 200);
    assertSameError(
      await world.admin('writer', 'POST', `/kb/article-versions/${randomUUID()}/restore`),
      await articles.edit({ versionId: randomUUID() }, { title: 'x' }),
    );
  });

  it('emits events for published and archived versions, not for drafts', async () => {
    const code = `e-${randomUUID()}`;
    const first = await articles.published({ code, title: 'One' });
    const second = await articles.published({ code, title: 'Two' });
    const draft = await articles.draft({ code, title: 'Three' });
    await articles.archive(second, await articles.token(first));
    const data = (version: Version, title: string) => {
      return { articleId: first.id, versionId: version.versionId, code, locale: 'ru-RU', title };
    };
    const events = await eventsOf(first);
    assert.ok(events.every(({ object_id }) => object_id === null));
    assert.deepEqual(
      events
        .filter(({ type }) => /^Article(?:Published|Archived)$/.test(type))
        .map(({ type, data: said }) => [type, said]),
      [
        ['ArticlePublished', data(first, 'One')],
        ['ArticlePublished', { ...data(second, 'Two'), replacedVersionId: first.versionId }],
        ['ArticleArchived', data(second, 'Two')],
      ],
    );
    assert.deepEqual(
      events.map(({ type }) => type).filter((type) => !/^Article(?:Published|Archived)$/.test(type)),
      [
        'ArticleDrafted',
        'ArticleAudiencesSet',
        'ArticleDrafted',
        'ArticleAudiencesSet',
        'ArticleDrafted',
        'ArticleDraftArchived',
      ],
    );
    const audience = events.find(({ type }) => type === 'ArticleAudiencesSet');
    assert.deepEqual([audience?.via, audience?.data.before, audience?.data.after], ['console', [], EVERYONE]);
    const text = JSON.stringify(
      await world.rows('SELECT data FROM journal WHERE subject = $1', [`article:${draft.id}`]),
    );
    assert.ok(!text.includes('Текст'), 'events hold no texts');
  });
});
