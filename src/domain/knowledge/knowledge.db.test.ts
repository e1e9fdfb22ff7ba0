/** Articles through HTTP, rule by rule (docs/spec/catalogue-and-knowledge.md#articles). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestAnswer } from '../../../test/support/app.ts';
import { assertSameError, assertRejected } from '../../../test/support/record-fixture.ts';
import { Articles, EVERYONE } from '../../../test/support/articles.ts';
import { type CatalogFixture, type FixtureUser, startCatalogFixture } from '../../../test/support/catalog-fixture.ts';
import { bundle } from '../../../test/support/small-configuration.ts';

let world: CatalogFixture;
let articles: Articles;

const details = (answer: TestAnswer): string[] =>
  answer.body.error.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`).sort();

describe('articles', () => {
  before(async () => {
    world = await startCatalogFixture();
    articles = new Articles(world);
  });
  after(() => world.close());

  it('are created as drafts, visible only in the administration API', async () => {
    const code = `c-${randomUUID()}`;
    const made = await articles.create(
      { code, title: 'Настройка VPN', summary: 'Кратко', tags: ['vpn', 'сеть'] },
      'writer',
    );
    assert.equal(made.status, 201);
    const { id, versionId, ...rest } = made.body.data;
    assert.deepEqual(rest, { state: 'DRAFT', title: 'Настройка VPN' });
    assert.equal(await articles.sees('chief', { id }), false);
    await articles.admit({ versionId });
    assert.equal(await articles.sees('chief', { id }), false, 'an audience alone publishes nothing');
    const listed = await world.adminOk('writer', 'GET', '/kb/article-versions?state=DRAFT');
    const { createdAt, updatedAt, ...shown } = listed.rows.find((row: any) => row.versionId === versionId);
    assert.ok(updatedAt >= createdAt);
    assert.deepEqual(shown, {
      id,
      versionId,
      code,
      baseId: world.id('it'),
      sectionId: world.id('network'),
      locale: 'ru-RU',
      title: 'Настройка VPN',
      summary: 'Кратко',
      tags: ['vpn', 'сеть'],
      visibility: 'internal',
      state: 'DRAFT',
      responsibleId: null,
      publishedAt: null,
      archivedAt: null,
      audiences: EVERYONE,
      reviewOn: null,
      feedback: { views: 0, helpful: 0, notHelpful: 0 },
    });
    const whole = await articles.version({ versionId });
    assert.equal(whole.body, 'Текст');
    assert.equal(whole.bodyDocument.type, 'doc');
  });

  it('are readable once published, with all their content', async () => {
    const version = await articles.published({ responsibleId: world.people.anna, body: '# Шаги\n\n1. Раз\n2. Два' });
    const read = await world.ok('reader', 'GET', `/kb/articles/${version.id}`);
    assert.deepEqual(
      [read.id, read.versionId, read.title, read.state],
      [version.id, version.versionId, 'Статья', 'ACTIVE'],
    );
    assert.equal(read.body, '# Шаги\n\n1. Раз\n2. Два');
    assert.equal(read.bodyDocument.content[1].type, 'orderedList');
    assert.deepEqual(read.responsible, { id: world.people.anna, displayName: 'Person anna' });
    assert.deepEqual([read.summary, read.tags, read.locales], [null, [], ['ru-RU']]);
    const [newest] = await world.ok('reader', 'GET', '/kb/articles');
    const { body: _body, bodyDocument: _document, responsible: _responsible, locales: _locales, ...listed } = read;
    assert.deepEqual(newest, listed, 'the list shows the same without the text, last published first');
    assertRejected(await world.call('reader', 'GET', '/kb/articles?page=1'), 400, 'INVALID_REQUEST');
    assertRejected(await world.call('reader', 'GET', `/kb/articles/${randomUUID()}`), 404, 'NOT_FOUND');
  });

  it('are readable only by their audience: everyone, nested groups, units above, single users', async () => {
    const open = await articles.published();
    const desk = await articles.published({}, [{ kind: 'group', id: world.id('desk') }]);
    const hq = await articles.published({}, [{ kind: 'orgUnit', id: world.id('hq') }]);
    const boris = await articles.published({}, [{ kind: 'user', id: world.people.boris }]);
    const both = await articles.published({}, [
      { kind: 'user', id: world.people.boris },
      { kind: 'orgUnit', id: world.id('lab') },
    ]);
    const seen = async (who: FixtureUser): Promise<boolean[]> => {
      const result: boolean[] = [];
      for (const version of [open, desk, hq, boris, both]) result.push(await articles.sees(who, version));
      return result;
    };
    assert.deepEqual(await seen('anna'), [true, true, true, false, true]);
    assert.deepEqual(await seen('boris'), [true, false, false, true, true]);
    assert.deepEqual(await seen('reader'), [true, false, false, false, false]);
    assert.deepEqual(await seen('chief'), [true, false, false, false, false]);
    const absent = await world.call('reader', 'GET', `/kb/articles/${randomUUID()}`);
    assertSameError(await world.call('reader', 'GET', `/kb/articles/${boris.id}`), absent);
  });

  it('have the visibility of their base', async () => {
    const portal = await articles.published({ baseId: 'portal', sectionId: 'start', visibility: 'portal' });
    assert.equal(await articles.sees('reader', portal), true);
    const wrong = await articles.create({ visibility: 'portal' });
    assertRejected(wrong, 400, 'INVALID_VALUES');
    assert.deepEqual(details(wrong), ['/visibility NOT_ALLOWED']);
    const draft = await articles.draft();
    assert.deepEqual(details(await articles.edit(draft, { visibility: 'portal' })), ['/visibility NOT_ALLOWED']);
    assert.equal((await articles.edit(draft, { visibility: 'internal' })).status, 200);
  });

  it('require kb.read, kb.write or kb.publish, depending on the operation', async () => {
    const draft = await articles.draft();
    await articles.admit(draft);
    const denied = async (answer: TestAnswer, right: string): Promise<void> => {
      assertRejected(answer, 403, 'RIGHT_MISSING');
      assert.deepEqual(answer.body.error.details, { right });
    };
    await denied(await world.call('carl', 'GET', '/kb/articles'), 'kb.read');
    await denied(await world.call('carl', 'GET', `/kb/articles/${draft.id}`), 'kb.read');
    for (const who of ['reader', 'publisher'] as const) {
      await denied(await articles.create({}, who), 'kb.write');
      await denied(await articles.edit(draft, { title: 'x' }, who), 'kb.write');
      await denied(await articles.edit({ versionId: randomUUID() }, { title: 'x' }, who), 'kb.write');
      await denied(await articles.archive(draft, 'x', who), 'kb.write');
      await denied(await world.admin(who, 'GET', '/kb/article-versions'), 'kb.write');
      await denied(await world.admin(who, 'GET', '/kb/bases'), 'kb.write');
      await denied(await world.admin(who, 'GET', `/kb/articles/${draft.id}/material`), 'kb.write');
      await denied(
        await world.admin(who, 'PUT', `/kb/article-versions/${draft.versionId}/audiences`, { audiences: [] }),
        'kb.write',
      );
    }
    await denied(await articles.publish(draft, 'writer'), 'kb.publish');
    assert.equal((await articles.publish(draft, 'publisher')).status, 200);
    const outside = await world.call('chief', 'PUT', `/kb/article-versions/${draft.versionId}/audiences`, {
      audiences: [],
    });
    assert.equal(outside.status, 404, 'audiences are set in the administration API alone');
    for (const path of [`/kb/articles/${draft.id}/material`, '/kb/bases'])
      assert.equal((await world.call('chief', 'GET', path)).status, 404, path);
    assertRejected(await world.call('chief', 'GET', '/kb/article-versions'), 404, 'NOT_FOUND');
  });

  it('require all parts of a version and report every problem at once', async () => {
    for (const name of ['baseId', 'sectionId', 'code', 'title', 'locale', 'visibility']) {
      const body = articles.body();
      delete body[name];
      assertRejected(await world.call('chief', 'POST', '/kb/articles', body), 400, 'INVALID_REQUEST', name);
    }
    const wrong = await articles.create({
      sectionId: 'nowhere',
      title: '  ',
      locale: 'de-DE',
      visibility: 'portal',
      tags: ['a', 'a'],
      responsibleId: randomUUID(),
      body: ' \n ',
    });
    assertRejected(wrong, 400, 'INVALID_VALUES');
    assert.deepEqual(details(wrong), [
      '/body REQUIRED',
      '/locale UNKNOWN_LOCALE',
      '/responsibleId UNKNOWN_REFERENCE',
      '/sectionId UNKNOWN_SECTION',
      '/tags/1 NOT_UNIQUE',
      '/title REQUIRED',
      '/visibility NOT_ALLOWED',
    ]);
    const base = await articles.create({ baseId: 'nowhere' });
    assertRejected(base, 400, 'INVALID_REQUEST');
    assert.deepEqual(details(base), ['/baseId UNKNOWN_BASE']);
    for (const more of [
      { code: 'with space' },
      { code: '' },
      { locale: 5 },
      { tags: 'x' },
      { state: 'ACTIVE' },
      { title: null },
    ]) {
      assertRejected(await articles.create(more), 400, 'INVALID_REQUEST', JSON.stringify(more));
    }
    for (const more of [
      { title: 'two\nlines' },
      { title: 'x'.repeat(301) },
      { tags: [''] },
      { responsibleId: world.people.dora },
    ])
      assertRejected(await articles.create(more), 400, 'INVALID_VALUES', JSON.stringify(more));
    const byIds = await articles.draft({ baseId: world.id('it'), sectionId: world.id('mail') });
    assert.equal((await articles.version(byIds)).sectionId, world.id('mail'));
  });

  it('accept exactly one form of text', async () => {
    const document = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Абзац' }] }] };
    const made = await articles.draft({ bodyDocument: document });
    const read = await articles.version(made);
    assert.deepEqual([read.body, read.bodyDocument], ['Абзац', document]);
    for (const answer of [
      await articles.create({ body: 'x', bodyDocument: document }),
      await articles.create({ body: undefined }),
      await articles.edit(made, { body: 'x', bodyDocument: document }),
    ]) {
      assertRejected(answer, 400, 'INVALID_REQUEST');
      assert.deepEqual(details(answer), ['/body EXACTLY_ONE']);
    }
    for (const bodyDocument of ['<p>x</p>', null, [], 5])
      assertRejected(await articles.create({ bodyDocument }), 400, 'INVALID_REQUEST');
    for (const bodyDocument of [{}, { type: 'paragraph' }, { type: 'doc', content: [{ type: 'script' }] }])
      assertRejected(await articles.create({ bodyDocument }), 400, 'INVALID_VALUES');
  });

  it('can be changed only as drafts; an unchanged draft is not written', async () => {
    const draft = await articles.draft({ summary: 'S', tags: ['t'], responsibleId: world.people.anna });
    const changed = await articles.edit(
      draft,
      { title: 'Другая', body: 'Иначе', summary: null, tags: [], responsibleId: null },
      'writer',
    );
    assert.deepEqual(changed.body.data, { ...draft, title: 'Другая' });
    const read = await articles.version(draft);
    assert.deepEqual(
      [read.title, read.body, read.summary, read.tags, read.responsibleId],
      ['Другая', 'Иначе', null, [], null],
    );
    for (const changes of [
      {},
      { sectionId: world.id('mail') },
      { code: 'x' },
      { locale: 'en-US' },
      { state: 'ACTIVE' },
      { body: null },
      { title: null },
    ]) {
      assertRejected(await articles.edit(draft, changes), 400, 'INVALID_REQUEST', JSON.stringify(changes));
    }
    assertRejected(await articles.edit(draft, { title: '' }), 400, 'INVALID_VALUES');
    const events = async (): Promise<number> =>
      (await world.rows('SELECT 1 FROM journal WHERE subject = $1', [`article:${draft.id}`])).length;
    const before = await events();
    const token = await articles.token(draft);
    assert.equal((await articles.edit(draft, { title: 'Другая', body: 'Иначе' })).status, 200);
    assert.equal(await events(), before, 'what changes nothing leaves no event');
    assert.equal(await articles.token(draft), token, 'and the material as it was');
    assertRejected(await articles.edit({ versionId: randomUUID() }, { title: 'x' }), 404, 'NOT_FOUND');
    await articles.admit(draft);
    await articles.publish(draft);
    for (const changes of [{ title: 'x' }, { title: 'Другая' }, { title: '' }])
      assertRejected(await articles.edit(draft, changes), 409, 'NOT_A_DRAFT');
    assert.equal((await articles.version(draft)).title, 'Другая');
  });

  it('are published once and only with an audience', async () => {
    const draft = await articles.draft();
    assertRejected(await articles.publish(draft), 409, 'AUDIENCE_MISSING');
    assert.equal((await articles.version(draft)).state, 'DRAFT');
    await articles.admit(draft);
    await articles.admit(draft, []);
    assertRejected(await articles.publish(draft), 409, 'AUDIENCE_MISSING');
    await articles.admit(draft);
    const done = await articles.publish(draft);
    assert.deepEqual(done.body.data, { id: draft.id, versionId: draft.versionId, state: 'ACTIVE' });
    assertRejected(await articles.publish(draft), 409, 'NOT_A_DRAFT');
    assertRejected(await articles.publish({ versionId: randomUUID() }), 404, 'NOT_FOUND');
    assertRejected(await articles.publish({ versionId: 'x' }), 400, 'INVALID_REQUEST');
  });

  it('get new versions by code, one draft per locale; publishing archives the previous version', async () => {
    const code = 'shared.code_1';
    const first = await articles.published({ code, title: 'Первая' });
    const second = await articles.draft({ code, title: 'Вторая', sectionId: 'mail' });
    assert.equal(second.id, first.id);
    assert.notEqual(second.versionId, first.versionId);
    const again = await articles.create({ code });
    assertRejected(again, 409, 'ALREADY_EXISTS');
    assert.deepEqual(again.body.error.details, { field: 'code' });
    assert.equal(
      (await articles.create({ code, locale: 'en-US' })).body.data.id,
      first.id,
      'another locale has a draft of its own',
    );
    assert.equal((await world.ok('reader', 'GET', `/kb/articles/${first.id}`)).title, 'Первая');
    assertRejected(await articles.publish(second), 409, 'AUDIENCE_MISSING');
    await articles.admit(second);
    await articles.publish(second);
    const read = await world.ok('reader', 'GET', `/kb/articles/${first.id}`);
    assert.deepEqual([read.title, read.versionId, read.sectionId], ['Вторая', second.versionId, world.id('mail')]);
    assert.equal((await articles.version(first)).state, 'ARCHIVED');
    assertRejected(await articles.publish(first), 409, 'NOT_A_DRAFT');
    const elsewhere = await articles.draft({ code, baseId: 'portal', sectionId: 'start', visibility: 'portal' });
    assert.notEqual(elsewhere.id, first.id, 'a code is of its base');
    const rows = (await world.adminOk('chief', 'GET', `/kb/article-versions?articleId=${first.id}`)).rows;
    assert.deepEqual(rows.map(({ state, locale }: any) => `${state} ${locale}`).sort(), [
      'ACTIVE ru-RU',
      'ARCHIVED ru-RU',
      'DRAFT en-US',
    ]);
  });

  it('are returned in the requested locale, else the default one, else by the order of the base', async () => {
    const code = `l-${randomUUID()}`;
    const russian = await articles.published({ code, title: 'ru' });
    await articles.published({ code, title: 'en', locale: 'en-US' }, [{ kind: 'user', id: world.people.anna }]);
    const only = await articles.published({ title: 'only ru' });
    const title = async (who: FixtureUser, query: string, { id } = russian): Promise<string> => {
      const listed = await world.ok<any[]>(who, 'GET', `/kb/articles${query}`);
      const read = await world.ok(who, 'GET', `/kb/articles/${id}${query}`);
      assert.deepEqual(
        listed.filter((one) => one.id === id).map((one) => one.title),
        [read.title],
        'one of each article, in the list as alone',
      );
      return read.title;
    };
    const table: [who: FixtureUser, query: string, title: string][] = [
      ['anna', '?locale=en-US', 'en'],
      ['anna', '?locale=ru-RU', 'ru'],
      ['anna', '', 'ru'],
      ['anna', '?locale=de-DE', 'en'],
      ['anna', '?locale=__proto__', 'en'],
      ['boris', '?locale=en-US', 'ru'],
      ['boris', '?locale=de-DE', 'ru'],
    ];
    for (const [who, query, expected] of table) assert.equal(await title(who, query), expected, `${who} ${query}`);
    assert.equal(await title('anna', '?locale=en-US', only), 'only ru');
    assert.deepEqual((await world.ok('anna', 'GET', `/kb/articles/${russian.id}`)).locales, ['en-US', 'ru-RU']);
    assert.deepEqual((await world.ok('boris', 'GET', `/kb/articles/${russian.id}`)).locales, ['ru-RU']);
  });

  it('are hidden while their base is archived', async () => {
    const version = await articles.published({ baseId: 'portal', sectionId: 'start', visibility: 'portal' });
    const draft = await articles.draft({ baseId: 'portal', sectionId: 'start', visibility: 'portal' });
    await world.rows(`UPDATE config_items SET state = 'ARCHIVED' WHERE section = 'knowledgeBases' AND code = 'portal'`);
    await world.rows('UPDATE cache_versions SET config = config + 1');
    await world.app.app.versions.refresh();
    assert.equal(await articles.sees('reader', version), false);
    const absent = await articles.edit({ versionId: randomUUID() }, { title: 'x' });
    assertSameError(await articles.edit(draft, { title: 'x' }), absent);
    assertSameError(await articles.publish(draft), absent);
    assertSameError(await world.admin('chief', 'GET', `/kb/article-versions/${draft.versionId}`), absent);
    const codes = (await world.adminOk('chief', 'GET', '/kb/bases')).map(({ code }: any) => code);
    assert.deepEqual(codes, ['it']);
    await world.rows(`UPDATE config_items SET state = 'ACTIVE' WHERE section = 'knowledgeBases'`);
    // The base became internal meanwhile, so a draft with the visibility `portal` no longer fits.
    await world.app.apply(
      bundle('knowledgeBases: [{ code: portal, visibility: internal, locales: [ru-RU], sections: [{ code: start }] }]'),
    );
    await world.app.app.versions.refresh();
    assert.equal(await articles.sees('reader', version), true);
    await articles.admit(draft);
    assert.deepEqual(details(await articles.publish(draft)), ['/visibility NOT_ALLOWED']);
    assert.equal((await articles.edit(draft, { visibility: 'internal' })).status, 200);
    assert.equal((await articles.publish(draft)).status, 200);
  });
});
