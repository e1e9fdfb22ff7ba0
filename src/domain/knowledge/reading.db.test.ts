/** Browsing of articles, views and votes: only within what the caller may read; counts for authors. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Articles, type Version } from '../../../test/support/articles.ts';
import { type CatalogFixture, type FixtureUser, startCatalogFixture } from '../../../test/support/catalog-fixture.ts';
import { assertRejected, assertSameError } from '../../../test/support/record-fixture.ts';
import { bundle, withoutCorrelation } from '../../../test/support/small-configuration.ts';
import { countViewDays } from './store-reading.ts';

const PORTAL = { baseId: 'portal', sectionId: 'start', visibility: 'portal' } as const;

let world: CatalogFixture;
let articles: Articles;

async function browse(who: FixtureUser, query: string): Promise<string[]> {
  const { rows } = await world.adminOk(who, 'GET', `/kb/browse?${query}`);
  return rows.map(({ id }: Version) => id);
}

/** Sections with their counts, by code. */
async function contents(who: FixtureUser): Promise<Record<string, Record<string, number>>> {
  const bases = await world.adminOk<any[]>(who, 'GET', '/kb/contents');
  return Object.fromEntries(
    bases.map(({ code, sections }) => [
      code,
      Object.fromEntries(sections.map((one: { code: string; articles: number }) => [one.code, one.articles])),
    ]),
  );
}

const path = ({ id }: { id: string }, part: string): string => `/kb/articles/${id}/${part}`;

describe('browsing articles', () => {
  before(async () => {
    world = await startCatalogFixture();
    articles = new Articles(world);
    await world.app.apply(
      bundle('roles: [{ code: portal-reader, rights: [kb.portal], assignedTo: { users: [carl] } }]'),
    );
    await world.app.app.versions.refresh();
  });
  after(() => world.close());

  it('lists sections with the articles that the caller may read', async () => {
    assert.deepEqual(await contents('reader'), {});
    const everybody = await articles.published({ sectionId: 'mail', title: 'Почта на телефоне', tags: ['почта'] });
    await articles.published({ sectionId: 'mail', title: 'Только для Бориса' }, [
      { kind: 'user', id: world.people.boris },
    ]);
    await articles.draft({ title: 'Черновик' });
    const open = await articles.published({ ...PORTAL, title: 'Принтер' });
    assert.deepEqual(await contents('reader'), { it: { network: 0, mail: 1 }, portal: { start: 1 } });
    assert.deepEqual(await contents('boris'), { it: { network: 0, mail: 2 }, portal: { start: 1 } });
    assert.deepEqual(await contents('carl'), { portal: { start: 1 } });
    assertRejected(await world.admin('dora', 'GET', '/kb/contents'), 401, 'UNAUTHENTICATED');
    assertRejected(await world.admin('bot', 'GET', '/kb/contents'), 403, 'RIGHT_MISSING');

    assert.deepEqual(await browse('reader', `sectionId=${world.id('network')}`), [everybody.id], 'with sections below');
    assert.deepEqual(await browse('reader', 'sort=newest'), [open.id, everybody.id]);
    assert.deepEqual(await browse('reader', 'sort=title'), [everybody.id, open.id]);
    assert.deepEqual(await browse('carl', 'sort=title'), [open.id]);
    assert.deepEqual(await browse('carl', `sectionId=${world.id('mail')}`), []);
    assert.deepEqual(await browse('reader', `sectionId=${randomUUID()}`), []);
    const first = await world.adminOk('reader', 'GET', '/kb/browse?page=1&pageSize=1');
    assert.deepEqual([first.rows.length, first.hasMore], [1, true]);
  });

  it('lists related articles, the most alike first', async () => {
    const about = await articles.published({ title: 'Замена картриджа принтера', tags: ['печать'], sectionId: 'mail' });
    const tagged = await articles.published({ title: 'Бумага', tags: ['печать', 'склад'] });
    const alike = await articles.published({ title: 'Картридж принтера: заказ', sectionId: 'mail' });
    const hidden = await articles.published({ title: 'Замена картриджа принтера', tags: ['печать'] }, [
      { kind: 'user', id: world.people.boris },
    ]);
    const found = await browse('reader', `relatedTo=${about.id}`);
    assert.deepEqual(new Set(found.slice(0, 2)), new Set([tagged.id, alike.id]));
    assert.ok(!found.includes(about.id) && !found.includes(hidden.id));
    assert.equal((await browse('boris', `relatedTo=${about.id}`))[0], hidden.id);
    const absent = await world.admin('reader', 'GET', `/kb/browse?relatedTo=${randomUUID()}`);
    assertSameError(await world.admin('reader', 'GET', `/kb/browse?relatedTo=${hidden.id}`), absent);
  });
});

describe('views and votes', () => {
  before(async () => {
    world = await startCatalogFixture();
    articles = new Articles(world);
    await world.app.apply(
      bundle('roles: [{ code: portal-reader, rights: [kb.portal], assignedTo: { users: [carl] } }]'),
    );
    await world.app.app.versions.refresh();
  });
  after(() => world.close());

  const feedback = async (article: Version) => (await articles.version(article)).feedback;

  it('counts a view once for each user and day, and a vote once for each user', async () => {
    const article = await articles.published({ ...PORTAL, title: 'Принтер' });
    for (const who of ['carl', 'carl', 'reader'] as const) {
      assert.deepEqual(await world.adminOk(who, 'POST', path(article, 'views')), { helpful: null });
    }
    assert.deepEqual(await feedback(article), { views: 2, helpful: 0, notHelpful: 0 });
    for (const helpful of [true, false, false]) {
      assert.deepEqual(await world.adminOk('carl', 'PUT', path(article, 'vote'), { helpful }), { helpful });
    }
    await world.adminOk('reader', 'PUT', path(article, 'vote'), { helpful: true });
    assert.deepEqual(await world.adminOk('carl', 'POST', path(article, 'views')), { helpful: false });
    assert.deepEqual(await feedback(article), { views: 2, helpful: 1, notHelpful: 1 });
    await world.adminOk('carl', 'PUT', path(article, 'vote'), { helpful: null });
    const listed = await world.adminOk('writer', 'GET', `/kb/article-versions?articleId=${article.id}`);
    assert.deepEqual(listed.rows[0].feedback, { views: 2, helpful: 1, notHelpful: 0 });
    await world.rows(`UPDATE kb_views SET day = day - 100 WHERE article_id = $1`, [article.id]);
    assert.equal((await feedback(article)).views, 0, 'older views do not count');
  });

  it('keeps counts by day instead of single views', async () => {
    const { db } = world.app;
    const today = new Date().toISOString().slice(0, 10);
    const article = await articles.published({ ...PORTAL, title: 'Сканер' });
    for (const who of ['carl', 'reader', 'chief'] as const) await world.adminOk(who, 'POST', path(article, 'views'));
    const kept = async () => {
      const [row] = await world.rows<object>(
        `SELECT (SELECT count(*)::int FROM kb_views WHERE article_id = $1) AS single,
          (SELECT sum(views)::int FROM kb_view_days WHERE article_id = $1) AS counted`,
        [article.id],
      );
      return row;
    };
    await countViewDays(db, today);
    assert.deepEqual(await kept(), { single: 3, counted: null }, 'the current day is not finished');
    await world.rows(`UPDATE kb_views SET day = day - 2 WHERE article_id = $1`, [article.id]);
    await Promise.all([countViewDays(db, today), countViewDays(db, today)]);
    assert.deepEqual(await kept(), { single: 0, counted: 3 });
    await world.adminOk('carl', 'POST', path(article, 'views'));
    assert.equal((await feedback(article)).views, 4);
    await world.rows(`UPDATE kb_view_days SET day = day - 90 WHERE article_id = $1`, [article.id]);
    assert.equal((await feedback(article)).views, 1);
    await countViewDays(db, today);
    assert.deepEqual(await kept(), { single: 1, counted: null });
  });

  it('counts simultaneous votes of one user once', async () => {
    const article = await articles.published();
    const votes = Array.from({ length: 12 }, (_, index) =>
      world.admin('reader', 'PUT', path(article, 'vote'), { helpful: index % 2 === 0 }),
    );
    assert.deepEqual(new Set((await Promise.all(votes)).map(({ status }) => status)), new Set([200]));
    const { helpful, notHelpful } = await feedback(article);
    assert.equal(helpful + notHelpful, 1);
  });

  it('sorts popular articles first, by views and votes', async () => {
    const seen = await articles.published({ ...PORTAL, title: 'A' });
    const useful = await articles.published({ ...PORTAL, title: 'B' });
    const useless = await articles.published({ ...PORTAL, title: 'C' });
    for (const who of ['reader', 'chief'] as const) {
      await world.adminOk(who, 'POST', path(seen, 'views'));
      await world.adminOk(who, 'PUT', path(useful, 'vote'), { helpful: true });
      await world.adminOk(who, 'PUT', path(useless, 'vote'), { helpful: false });
    }
    const found = await browse('carl', 'sort=popular');
    assert.deepEqual(
      [useful, seen, useless].map(({ id }) => found.indexOf(id)).toSorted((a, b) => a - b),
      [useful, seen, useless].map(({ id }) => found.indexOf(id)),
    );
    assert.equal(found.at(-1), useless.id);
  });

  it('needs the right to read the article, and says nothing about hidden ones', async () => {
    const internal = await articles.published();
    const draft = await articles.draft(PORTAL);
    const closed = await articles.published(PORTAL, [{ kind: 'user', id: world.people.boris }]);
    const absent = { id: randomUUID() };
    const calls = [
      ['POST', 'views', undefined],
      ['PUT', 'vote', { helpful: true }],
    ] as const;
    for (const [method, part, body] of calls) {
      const expected = await world.admin('carl', method, path(absent, part), body);
      assertRejected(expected, 404, 'NOT_FOUND');
      for (const one of [internal, draft, closed]) {
        const answer = await world.admin('carl', method, path(one, part), body);
        assert.equal(withoutCorrelation(answer), withoutCorrelation(expected));
      }
      assertRejected(await world.admin('bot', method, path(internal, part), body), 403, 'RIGHT_MISSING');
      assert.equal((await world.call('reader', method, path(internal, part), body)).status, 404, 'not public');
    }
    assert.deepEqual(await feedback(closed), { views: 0, helpful: 0, notHelpful: 0 });
  });
});

describe('drafts and review dates', () => {
  before(async () => {
    world = await startCatalogFixture();
    articles = new Articles(world);
  });
  after(() => world.close());

  const NEW = { baseId: 'it', sectionId: 'network', title: 'Как настроить VPN?', locale: 'ru-RU', body: 'Текст' };

  it('makes codes from titles that no other article has, also for simultaneous drafts', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => world.admin('writer', 'POST', '/kb/drafts', NEW)),
    );
    const codes = answers.map(({ body }) => body.data.code);
    const stem = 'kak-nastroit-vpn';
    assert.deepEqual(codes.toSorted(), [stem, `${stem}-2`, `${stem}-3`, `${stem}-4`]);
    assert.equal(new Set(answers.map(({ body }) => body.data.id)).size, 4);
    const repeated = await Promise.all(
      [1, 2].map(() => world.admin('writer', 'POST', '/kb/drafts', NEW, 'one-article')),
    );
    assert.deepEqual(repeated[0]?.body.data, repeated[1]?.body.data, 'a repeated request makes one article');
  });

  it('gives the draft its audience, so that it can be published', async () => {
    const audiences = [{ kind: 'everyone' }, { kind: 'group', id: world.id('desk') }, { kind: 'everyone' }];
    const draft = await world.adminOk('writer', 'POST', '/kb/drafts', { ...NEW, audiences });
    assert.deepEqual((await articles.version(draft)).audiences, audiences.slice(0, 2));
    assert.equal((await articles.publish(draft)).status, 200);
    assert.equal(await articles.sees('reader', draft), true);
    const unknown = { ...NEW, audiences: [{ kind: 'group', id: randomUUID() }] };
    const refused = await world.admin('writer', 'POST', '/kb/drafts', unknown);
    assertRejected(refused, 400, 'INVALID_VALUES');
    assert.equal(refused.body.error.details[0].path, '/audiences/0/id');
    assertRejected(await world.admin('reader', 'POST', '/kb/drafts', NEW), 403, 'RIGHT_MISSING');
  });

  it('lists own drafts', async () => {
    const own = await world.adminOk('writer', 'POST', '/kb/drafts', NEW);
    const foreign = await articles.draft();
    const responsible = await articles.draft({ responsibleId: world.people.writer });
    const { rows } = await world.adminOk('writer', 'GET', '/kb/article-versions?own=true&state=DRAFT&pageSize=100');
    const listed = [own, foreign, responsible].map(({ id }) => rows.some((row: Version) => row.id === id));
    assert.deepEqual(listed, [true, false, true]);
  });

  it('keeps a review date and lists articles whose date has come', async () => {
    const article = await articles.published();
    const set = (reviewOn: string | null, who: FixtureUser = 'writer') =>
      world.admin(who, 'PUT', path(article, 'review'), { reviewOn });
    assert.deepEqual((await set('2020-01-31')).body.data, { id: article.id, reviewOn: '2020-01-31' });
    const due = async () => (await world.adminOk('writer', 'GET', '/kb/article-versions?reviewDue=true')).rows;
    assert.deepEqual(
      (await due()).map(({ id, reviewOn }: { id: string; reviewOn: string }) => [id, reviewOn]),
      [[article.id, '2020-01-31']],
    );
    await set('2999-12-31');
    assert.deepEqual(await due(), []);
    assert.equal((await articles.version(article)).reviewOn, '2999-12-31');
    await set(null);
    const events = await world.rows<{ data: unknown }>(
      `SELECT data FROM journal WHERE type = 'ArticleReviewSet' AND subject = $1 ORDER BY seq`,
      [`article:${article.id}`],
    );
    assert.deepEqual(events.at(-1)?.data, { articleId: article.id, before: '2999-12-31', after: null });
    for (const day of ['2024-02-30', '0000-01-01', '10000-01-01'])
      assertRejected(await set(day), 400, 'INVALID_REQUEST');
    assertRejected(await set(null, 'reader'), 403, 'RIGHT_MISSING');
  });
});
