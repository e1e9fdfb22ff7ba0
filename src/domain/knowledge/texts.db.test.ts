/** The content of articles: scripts are removed, images are stored separately, and other modules get the data they need. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import { MODULES } from '../../modules.ts';
import { collect } from '../../platform/module.ts';
import { sweepBlobs } from '../../platform/blobs/register.ts';
import { FileBlobs } from '../../platform/blobs/filesystem.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { assertRejected } from '../../../test/support/record-fixture.ts';
import { Articles } from '../../../test/support/articles.ts';
import { type CatalogFixture, type FixtureUser, startCatalogFixture } from '../../../test/support/catalog-fixture.ts';
import { Authenticator } from '../access/index.ts';
import { articleEvent, articleSource } from './index.ts';

const GIF = Buffer.from('R0lGODlhAQABAAAAACw=', 'base64');
const URL = `data:image/gif;base64,${GIF.toString('base64')}`;
const SHA256 = createHash('sha256').update(GIF).digest('hex');

let world: CatalogFixture;
let articles: Articles;

/** Runs a read with the user's current rights. */
async function as<T>(who: FixtureUser, fn: (ctx: ReadContext) => Promise<T>): Promise<T> {
  const { work, system, versions } = world.app.app;
  const actor = await new Authenticator({ db: world.app.db, versions, clock: systemClock }).actorOf(world.people[who]);
  assert.ok(actor !== undefined);
  return await work.read({ ...system(), actor }, fn);
}

describe('texts of articles', () => {
  before(async () => {
    world = await startCatalogFixture();
    articles = new Articles(world);
  });
  after(() => world.close());

  it('contain no active content in either form', async () => {
    const hostile = [
      'Привет <script>alert("x")</script> мир',
      '<script>alert("x")</script>\n\nПривет мир',
      'Привет [мир](javascript:alert("x"))',
      'Привет <img src=x onerror=alert(1)> мир',
      'Привет <a href="javascript:alert(1)" onclick="alert(2)">мир</a>',
      'Привет <svg><script>alert("x")</script></svg> мир',
      'Привет <iframe srcdoc="<script>alert(1)</script>"></iframe> мир',
    ];
    for (const body of hostile) {
      const draft = await articles.published({ body });
      const read = await world.ok('reader', 'GET', `/kb/articles/${draft.id}`);
      for (const text of [read.body, JSON.stringify(read.bodyDocument)]) {
        assert.doesNotMatch(text, /script|onerror|onclick|alert|iframe|svg/i, `${body} gives ${text}`);
        assert.match(text, /Привет/);
      }
    }
    for (const node of [
      { type: 'image', attrs: { src: 'https://evil.org/i.png' } },
      {
        type: 'paragraph',
        content: [{ type: 'text', text: 'x', marks: [{ type: 'link', attrs: { href: 'javascript:x' } }] }],
      },
      { type: 'paragraph', attrs: { onclick: 'x' } },
      { type: 'html', content: [] },
    ]) {
      assertRejected(await articles.create({ bodyDocument: { type: 'doc', content: [node] } }), 400, 'INVALID_VALUES');
    }
    assertRejected(await articles.create({ body: 'a\u0000b' }), 400, 'INVALID_JSON');
    assertRejected(await articles.create({ body: 'x'.repeat(200_001) }), 400, 'INVALID_VALUES');
  });

  it('are returned as written if possible and always parse to the same document', async () => {
    for (const body of ['*Обычный* текст\n\n* пункт', 'C:\\temp & [скобки] <b>жирно</b>', 'a|b\n-|-\n1|2']) {
      const draft = await articles.draft({ body });
      const first = await articles.version(draft);
      if (!body.includes('<')) assert.equal(first.body, body);
      await articles.edit(draft, { body: first.body });
      const again = await articles.version(draft);
      assert.deepEqual([again.body, again.bodyDocument], [first.body, first.bodyDocument]);
      await articles.edit(draft, { bodyDocument: first.bodyDocument });
      assert.deepEqual((await articles.version(draft)).bodyDocument, first.bodyDocument);
    }
  });

  it('store images separately, readable by readers of a text with the image', async () => {
    const code = `i-${randomUUID()}`;
    const draft = await articles.draft({ code, body: `Рисунок\n\n![схема](${URL})` });
    const path = `/kb/articles/${draft.id}/images/${SHA256}`;
    const read = await articles.version(draft);
    assert.equal(read.body, `Рисунок\n\n![схема](blob:${SHA256})`);
    assert.equal(read.bodyDocument.content[1].attrs.src, `blob:${SHA256}`);
    assertRejected(await world.call('reader', 'GET', path), 404, 'NOT_FOUND', 'of a draft');
    assert.equal((await world.call('writer', 'GET', path)).status, 200);
    await articles.admit(draft, [{ kind: 'user', id: world.people.anna }]);
    await articles.publish(draft);
    assertRejected(await world.call('reader', 'GET', path), 404, 'NOT_FOUND', 'of somebody else’s article');
    const served = await world.call('anna', 'GET', path);
    assert.deepEqual(
      [served.status, served.headers.get('content-type'), served.headers.get('content-security-policy')],
      [200, 'image/gif', 'sandbox'],
    );
    assertRejected(await world.call('carl', 'GET', path), 403, 'RIGHT_MISSING');
    assertRejected(
      await world.call('anna', 'GET', `/kb/articles/${draft.id}/images/${'0'.repeat(64)}`),
      404,
      'NOT_FOUND',
    );
    const next = await articles.draft({ code, body: `Снова ![схема](blob:${SHA256})` });
    assert.equal(next.id, draft.id);
    const stolen = await articles.create({ body: `![x](blob:${SHA256})` });
    assertRejected(stolen, 400, 'INVALID_VALUES');
    assert.equal(stolen.body.error.details[0].code, 'UNKNOWN_IMAGE');
    await sweepBlobs(
      world.app.db,
      new FileBlobs(world.app.blobFolder),
      collect(MODULES, 'blobUses'),
      Date.now() + 10 * 86_400_000,
    );
    assert.equal((await world.call('anna', 'GET', path)).status, 200, 'the sweeper leaves it alone');
  });

  it('are passed to search only when published, with their audience', async () => {
    const code = `s-${randomUUID()}`;
    const version = await articles.published(
      { code, title: 'Т', summary: 'К', tags: ['x', 'y'], body: '# Шаг\n\n*раз* и **два**' },
      [{ kind: 'group', id: world.id('desk') }],
    );
    const draft = await articles.draft({ code });
    const { updatedAt, ...text } = (await as('chief', (ctx) => articleSource.activeText(ctx, version.versionId))) ?? {};
    assert.equal(typeof updatedAt, 'string');
    assert.deepEqual(text, {
      articleId: version.id,
      title: 'Т',
      summary: 'К',
      tags: ['x', 'y'],
      body: 'Шаг\nраз и два',
    });
    assert.equal(await as('chief', (ctx) => articleSource.activeText(ctx, draft.versionId)), undefined);
    assert.equal(await as('chief', (ctx) => articleSource.activeText(ctx, randomUUID())), undefined);
    const ids: string[] = [];
    for (let after: string | null = null; ; ) {
      const page: string[] = await as('chief', (ctx) => articleSource.activeIds(ctx, after, 2));
      ids.push(...page);
      after = page.at(-1) ?? null;
      if (page.length < 2) break;
    }
    assert.deepEqual(ids, [...ids].sort());
    assert.ok(ids.includes(version.versionId) && !ids.includes(draft.versionId));
    const found = (who: FixtureUser): Promise<string[]> =>
      as(who, async (ctx) => {
        const visible = articleSource.visible(ctx, sql`s.id`);
        const all = [version.versionId, draft.versionId];
        const rows = await ctx.query<{ id: string }>(
          sql`SELECT s.id FROM unnest(${all}::uuid[]) AS s (id) WHERE ${visible}`,
        );
        return rows.map(({ id }) => id);
      });
    assert.deepEqual(await found('anna'), [version.versionId]);
    assert.deepEqual(await found('boris'), []);
    assert.deepEqual(await found('chief'), []);
  });

  it('are found by search only when published and only by their audience', async () => {
    const word = `slovo${randomUUID().slice(0, 8)}`;
    const code = `q-${randomUUID()}`;
    const search = async (who: FixtureUser): Promise<string[]> =>
      (await world.ok(who, 'GET', `/search?kinds=article&q=${word}`)).results.map(({ id }: { id: string }) => id);
    const first = await articles.draft({ code, body: `Первый ${word} <script>evil${word}</script>` });
    await articles.admit(first, [{ kind: 'orgUnit', id: world.id('hq') }]);
    assert.deepEqual(await search('anna'), []);
    await articles.publish(first);
    const [found, ...others] = await search('anna');
    assert.ok(found === first.id || found === first.versionId);
    assert.deepEqual(others, []);
    assert.deepEqual([await search('boris'), await search('chief')], [[], []]);
    const second = await articles.draft({ code, body: 'Второй текст' });
    await articles.admit(second);
    assert.equal((await search('anna')).length, 1);
    await articles.publish(second);
    assert.deepEqual(await search('anna'), [], 'the version before is found no more');
    const third = await articles.published({ code, locale: 'en-US', title: word });
    assert.equal((await search('boris')).length, 1);
    await articles.archive(third, await articles.token(third, 'en-US'));
    assert.deepEqual(await search('boris'), []);
    assertRejected(await world.call('carl', 'GET', `/search?kinds=article&q=${word}`), 403, 'RIGHT_MISSING');
  });

  it('are sent to webhook receivers only if they may read them', async () => {
    const code = `h-${randomUUID()}`;
    const version = await articles.published({ code, title: 'Т' }, [{ kind: 'user', id: world.people.anna }]);
    const draft = await articles.draft({ code });
    await articles.admit(draft);
    const event = (who: FixtureUser, { versionId }: { versionId: string }) =>
      as(who, (ctx) => articleEvent(ctx, { articleId: version.id, versionId, title: 'anything' }));
    const data = { articleId: version.id, versionId: version.versionId, code, locale: 'ru-RU', title: 'Т' };
    assert.deepEqual(await event('anna', version), data);
    for (const who of ['boris', 'chief', 'carl'] as const) assert.equal(await event(who, version), undefined, who);
    assert.equal(await event('anna', draft), undefined, 'a draft sends no event');
    assert.equal(await event('anna', { versionId: randomUUID() }), undefined);
    await articles.archive(version, await articles.token(version));
    assert.deepEqual(await event('anna', version), data, 'that it was archived is for those who could read it');
  });
});
