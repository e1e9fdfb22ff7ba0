/** Readers with `kb.portal`: portal articles in the administration API, and no trace of any other article. */
import assert from 'node:assert/strict';
import { hash, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Articles, type Version } from '../../../test/support/articles.ts';
import { type CatalogFixture, startCatalogFixture } from '../../../test/support/catalog-fixture.ts';
import { assertRejected, assertSameError } from '../../../test/support/record-fixture.ts';
import { bundle, withoutCorrelation } from '../../../test/support/small-configuration.ts';

const PORTAL = { baseId: 'portal', sectionId: 'start', visibility: 'portal' } as const;
const GIF = 'R0lGODlhAQABAAAAADs=';
const SHA256 = hash('sha256', Buffer.from(GIF, 'base64'));
const IMAGE = `![](data:image/gif;base64,${GIF})`;
const SEARCHES = ['q=принтер', 'q=printer', 'q=принтр', 'q=кабель принтер', 'q=zzzzz', 'q=принтер&page=2&pageSize=1'];

let world: CatalogFixture;
let articles: Articles;
let open: Version;

/** Everything that `carl` can get about articles, without the parts that differ between any two calls. */
async function everything(): Promise<unknown[]> {
  const paths = [
    '/kb/articles',
    '/kb/articles?locale=en-US',
    `/kb/articles/${open.id}`,
    `/kb/articles/${open.id}?locale=en-US`,
    `/kb/articles/${open.id}/images/${SHA256}`,
    '/kb/contents',
    ...['title', 'newest', 'popular'].map((sort) => `/kb/browse?sort=${sort}`),
    `/kb/browse?relatedTo=${open.id}`,
    '/kb/browse?page=2&pageSize=1',
    ...SEARCHES.map((query) => `/search?kinds=article&${query}`),
    ...SEARCHES.map((query) => `/search?kinds=article,service,object&${query}`),
  ];
  const answers: unknown[] = [];
  for (const path of paths) {
    const answer = await world.admin('carl', 'GET', path);
    // An image has no envelope.
    answers.push([path, answer.status, path.includes('/images/') ? answer.body : withoutCorrelation(answer)]);
  }
  return answers;
}

describe('readers with kb.portal', () => {
  before(async () => {
    world = await startCatalogFixture();
    articles = new Articles(world);
    await world.app.apply(
      bundle('roles: [{ code: portal-reader, rights: [kb.portal], assignedTo: { users: [carl] } }]'),
    );
    await world.app.app.versions.refresh();
    open = await articles.published({ ...PORTAL, title: 'Принтер', body: `Кабель. ${IMAGE}` });
  });
  after(() => world.close());

  it('read portal articles with their images, and find them', async () => {
    const listed = await world.adminOk<any[]>('carl', 'GET', '/kb/articles');
    assert.deepEqual(
      listed.map(({ id }) => id),
      [open.id],
    );
    assert.equal((await world.adminOk('carl', 'GET', `/kb/articles/${open.id}`)).title, 'Принтер');
    const image = await world.admin('carl', 'GET', `/kb/articles/${open.id}/images/${SHA256}`);
    assert.equal(image.status, 200);
    const found = await world.adminOk('carl', 'GET', `/search?kinds=article&q=${encodeURIComponent('кабель')}`);
    assert.deepEqual(
      found.results.map(({ id }: { id: string }) => id),
      [open.id],
    );
  });

  it('read nothing through the public API, regardless of the scopes of their key', async () => {
    for (const path of [
      '/kb/articles',
      `/kb/articles/${open.id}`,
      `/kb/articles/${open.id}/images/${SHA256}`,
      '/search?kinds=article&q=zz',
      '/search?kinds=object,article&q=%D0%BF%D1%80%D0%B8%D0%BD%D1%82%D0%B5%D1%80',
    ]) {
      const answer = await world.call('carl', 'GET', path);
      assertRejected(answer, 403, 'RIGHT_MISSING');
      assert.deepEqual(answer.body.error.details, { right: 'kb.read' }, path);
    }
  });

  it('get the same answers whether or not hidden articles exist', async () => {
    const earlier = await everything();
    const text = { title: 'Принтер и кабель', summary: 'Printer', tags: ['принтер'], body: `Принтер. ${IMAGE}` };
    const internal = await articles.published(text);
    const draft = await articles.draft({ ...PORTAL, ...text });
    await articles.admit(draft);
    const elsewhere = await articles.published({ ...PORTAL, ...text }, [{ kind: 'group', id: world.id('desk') }]);
    const archived = await articles.published({ ...PORTAL, ...text });
    await articles.archive(archived, await articles.token(archived));
    assert.deepEqual(await everything(), earlier);

    const absent = await world.admin('carl', 'GET', `/kb/articles/${randomUUID()}`);
    assertRejected(absent, 404, 'NOT_FOUND');
    const noImage = await world.admin('carl', 'GET', `/kb/articles/${randomUUID()}/images/${SHA256}`);
    for (const { id } of [internal, draft, elsewhere, archived]) {
      assertSameError(await world.admin('carl', 'GET', `/kb/articles/${id}`), absent);
      assertSameError(await world.admin('carl', 'GET', `/kb/articles/${id}/images/${SHA256}`), noImage);
    }
    for (const path of ['/kb/article-versions', `/kb/article-versions/${open.versionId}`]) {
      assertRejected(await world.admin('carl', 'GET', path), 403, 'RIGHT_MISSING');
    }
    assert.equal((await world.admin('reader', 'GET', `/kb/articles/${internal.id}`)).status, 200, 'kb.read reads both');
  });

  it('lose an article when its base becomes internal', async () => {
    await world.app.apply(
      bundle('knowledgeBases: [{ code: portal, visibility: internal, locales: [ru-RU], sections: [{ code: start }] }]'),
    );
    await world.app.app.versions.refresh();
    assert.deepEqual(await world.adminOk('carl', 'GET', '/kb/articles'), []);
    assertRejected(await world.admin('carl', 'GET', `/kb/articles/${open.id}`), 404, 'NOT_FOUND');
  });
});
