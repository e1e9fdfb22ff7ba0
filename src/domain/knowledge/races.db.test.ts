/** Concurrent changes of one article: the database lets one succeed, and the others get an error. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  assertRejected,
  countOutcomes,
  concurrently,
  duringUncommittedChange,
} from '../../../test/support/record-fixture.ts';
import { Articles, type Version } from '../../../test/support/articles.ts';
import { type CatalogFixture, startCatalogFixture } from '../../../test/support/catalog-fixture.ts';

let world: CatalogFixture;
let articles: Articles;

const ROUNDS = 8;

/** Versions of the article by locale and state. */
async function states({ id }: { id: string }): Promise<Record<string, number>> {
  const rows = await world.rows<{ name: string; n: number }>(
    `SELECT locale || ' ' || state AS name, count(*)::int AS n FROM kb_versions WHERE article_id = $1 GROUP BY 1`,
    [id],
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

async function eventsOf({ id }: { id: string }, type: string): Promise<{ data: any }[]> {
  return await world.rows('SELECT data FROM journal WHERE subject = $1 AND type = $2 ORDER BY seq', [
    `article:${id}`,
    type,
  ]);
}

async function ready(code: string, more: object = {}): Promise<Version> {
  const draft = await articles.draft({ code, ...more });
  await articles.admit(draft);
  return draft;
}

describe('concurrent changes of articles', () => {
  before(async () => {
    world = await startCatalogFixture();
    articles = new Articles(world);
  });
  after(() => world.close());

  it('create one draft per locale with concurrent requests, for a new and an existing code', async () => {
    const fresh = `f-${randomUUID()}`;
    const answers = await concurrently(8, (turn) => articles.create({ code: fresh, title: `by ${turn}` }));
    assert.deepEqual(countOutcomes(answers), { 201: 1, '409 ALREADY_EXISTS': 7 });
    const made = answers.find(({ status }) => status === 201)?.body.data as Version;
    assert.deepEqual(await states(made), { 'ru-RU DRAFT': 1 });
    await articles.admit(made);
    await articles.publish(made);
    const next = await concurrently(8, () => articles.create({ code: fresh }));
    assert.deepEqual(countOutcomes(next), { 201: 1, '409 ALREADY_EXISTS': 7 });
    assert.deepEqual(await states(made), { 'ru-RU DRAFT': 1, 'ru-RU ACTIVE': 1 });
  });

  it('create one article when two locales of a new code are created at once', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const code = `t-${randomUUID()}`;
      const answers = await concurrently(4, (turn) =>
        articles.create({ code, locale: turn % 2 === 0 ? 'ru-RU' : 'en-US' }),
      );
      assert.deepEqual(countOutcomes(answers), { 201: 2, '409 ALREADY_EXISTS': 2 });
      const ids = answers.flatMap(({ status, body }) => (status === 201 ? [body.data.id] : []));
      assert.equal(new Set(ids).size, 1);
    }
  });

  it('publish a version once and emit one event with concurrent publishers', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const code = `p-${randomUUID()}`;
      const before = await articles.published({ code });
      const draft = await ready(code);
      const answers = await concurrently(6, () => articles.publish(draft));
      assert.deepEqual(countOutcomes(answers), { 200: 1, '409 NOT_A_DRAFT': 5 });
      assert.deepEqual(await states(draft), { 'ru-RU ACTIVE': 1, 'ru-RU ARCHIVED': 1 });
      const events = await eventsOf(draft, 'ArticlePublished');
      assert.deepEqual(
        events.map(({ data }) => [data.versionId, data.replacedVersionId]),
        [
          [before.versionId, undefined],
          [draft.versionId, before.versionId],
        ],
      );
    }
  });

  it('never change a published text: concurrent edits are rejected', async () => {
    for (let round = 0; round < 3 * ROUNDS; round++) {
      const draft = await ready(`x-${randomUUID()}`, { body: 'first' });
      const edits = Array.from({ length: 4 }, (_, turn) => `edit ${turn}`);
      const order = edits.map((body) => () => articles.edit(draft, { body }));
      order.splice(round % 5, 0, () => articles.publish(draft));
      const answers = await Promise.all(order.map((call) => call()));
      const published = answers[round % 5];
      assert.equal(published?.status, 200);
      const others = answers.filter((answer) => answer !== published);
      assert.ok(others.every(({ status, body }) => status === 200 || body.error.code === 'NOT_A_DRAFT'));
      const { body } = await world.ok('reader', 'GET', `/kb/articles/${draft.id}`);
      const changes = await eventsOf(draft, 'ArticleDraftChanged');
      assert.equal(
        changes.length,
        others.filter(({ status }) => status === 200).length,
        'each acknowledged change is an event',
      );
      assert.ok(changes.length > 0 ? edits.includes(body) : body === 'first', body);
      const [last] = await world.rows<{ type: string }>(
        `SELECT type FROM journal WHERE subject = $1 ORDER BY seq DESC LIMIT 1`,
        [`article:${draft.id}`],
      );
      assert.equal(last?.type, 'ArticlePublished', 'nothing changed after it');
    }
  });

  it('reject a change that was decided before a publication it waited for', async () => {
    const draft = await ready(`w-${randomUUID()}`, { body: 'as published' });
    const publication = `WITH a AS (UPDATE kb_articles SET revision = revision + 1 WHERE id = $1)
      UPDATE kb_versions SET state = 'ACTIVE', draft_locale = NULL, active_locale = locale, published_at = now() WHERE id = $2`;
    const answer = await duringUncommittedChange(world, publication, [draft.id, draft.versionId], () =>
      articles.edit(draft, { body: 'too late' }),
    );
    assertRejected(answer, 409, 'NOT_A_DRAFT');
    assert.equal((await world.ok('reader', 'GET', `/kb/articles/${draft.id}`)).body, 'as published');
  });

  it('reject a publication after a concurrent audience removal or archiving', async () => {
    const one = await ready(`a-${randomUUID()}`);
    const emptied = `WITH a AS (UPDATE kb_articles SET revision = revision + 1 WHERE id = $1)
      UPDATE kb_versions SET audiences = '[]', audience_ids = '{}' WHERE id = $2`;
    assertRejected(
      await duringUncommittedChange(world, emptied, [one.id, one.versionId], () => articles.publish(one)),
      409,
      'AUDIENCE_MISSING',
    );
    for (let round = 0; round < ROUNDS; round++) {
      const draft = await ready(`b-${randomUUID()}`);
      const token = await articles.token(draft);
      const [published, archived] = await Promise.all([articles.publish(draft), articles.archive(draft, token)]);
      const outcome = [published, archived].map(({ status, body }) => (status === 200 ? 200 : body.error.code)).join();
      // Either the article was archived first, or publishing made the token stale.
      assert.ok(['NOT_A_DRAFT,200', '200,VERSION_TOKEN_STALE'].includes(outcome), outcome);
      assert.deepEqual(await states(draft), { [`ru-RU ${published.status === 200 ? 'ACTIVE' : 'ARCHIVED'}`]: 1 });
    }
  });

  it('cannot make two versions active in a locale, even by direct SQL', async () => {
    const code = `d-${randomUUID()}`;
    await articles.published({ code });
    const draft = await ready(code);
    const force = (state: string, column: string): Promise<unknown> =>
      world.rows(`UPDATE kb_versions SET state = $1, draft_locale = NULL, ${column} = locale WHERE id = $2`, [
        state,
        draft.versionId,
      ]);
    await assert.rejects(force('ACTIVE', 'active_locale'), /kb_versions_active/);
    await assert.rejects(
      world.rows(`UPDATE kb_versions SET state = 'ACTIVE', draft_locale = NULL WHERE id = $1`, [draft.versionId]),
      /check constraint/,
    );
    await assert.rejects(
      world.rows(
        `UPDATE kb_versions SET state = 'DRAFT', active_locale = NULL, draft_locale = locale WHERE article_id = $1`,
        [draft.id],
      ),
      /kb_versions_draft/,
    );
  });
});
