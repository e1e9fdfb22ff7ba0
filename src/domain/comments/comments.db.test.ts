/** Comments through HTTP, rule by rule (docs/spec/around-records.md). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type RecordFixture,
  assertSameError,
  duringUncommittedChange,
  type Made,
  type FixtureUser,
  assertRejected,
  startRecordFixture,
  countOutcomes,
  concurrently,
} from '../../../test/support/record-fixture.ts';
import { duringTransaction } from '../../../test/support/database.ts';

let around: RecordFixture;
const comments = (made: Made): string => `/objects/${made.id}/comments`;
const add = (made: Made, body: object, who: FixtureUser = 'chief') => around.ok(who, 'POST', comments(made), body);
const listed = async (made: Made, who: FixtureUser = 'chief'): Promise<string[]> =>
  (await around.ok<{ body: string }[]>(who, 'GET', comments(made))).map(({ body }) => body);
interface CommentEvent {
  type: string;
  at: string;
  actor: { id: string; displayName: string };
  data: { commentId: string };
}

const history = async (made: Made, who: FixtureUser): Promise<CommentEvent[]> =>
  await around.ok(who, 'GET', `/objects/${made.id}/history`);

describe('comments', () => {
  before(async () => {
    around = await startRecordFixture();
  });
  after(() => around.close());

  it('are internal by default, listed oldest first, and do not change the revision of the record', async () => {
    const made = await around.make();
    const first = await add(made, { body: 'first' });
    const { id, createdAt, updatedAt, author, ...rest } = first;
    assert.deepEqual(rest, { objectId: made.id, revision: 1, body: 'first', visibility: 'internal', state: 'ACTIVE' });
    assert.equal(author.displayName, 'Person chief');
    assert.equal(createdAt, updatedAt);
    const second = await add(made, { body: 'second', visibility: 'public' });
    assert.deepEqual(await around.ok('chief', 'GET', comments(made)), [first, second]);
    const edited = await around.ok('chief', 'PATCH', `/comments/${id}`, { expectedRevision: 1, body: 'other' });
    assert.deepEqual([edited.revision, edited.body, edited.visibility], [2, 'other', 'internal']);
    assert.deepEqual(await listed(made), ['other', 'second']);
    assert.equal((await around.ok('chief', 'GET', `/objects/${made.id}`)).revision, 1);
  });

  it('are never public by accident: an internal comment without the right is rejected', async () => {
    const made = await around.make();
    for (const body of [{ body: 'x' }, { body: 'x', visibility: 'internal' }]) {
      const answer = await around.call('agent', 'POST', comments(made), body);
      assertRejected(answer, 403, 'RIGHT_MISSING');
      assert.deepEqual(answer.body.error.details, { right: 'Private Comment' });
    }
    for (const visibility of [null, 'Public', '', 1, true]) {
      assertRejected(
        await around.call('agent', 'POST', comments(made), { body: 'x', visibility }),
        400,
        'INVALID_REQUEST',
      );
    }
    assert.deepEqual(await around.rows('SELECT 1 FROM comments WHERE object_id = $1', [made.id]), []);
    assert.deepEqual(
      await around.rows(`SELECT 1 FROM journal WHERE object_id = $1 AND type LIKE 'Comment%'`, [made.id]),
      [],
    );
    assert.equal((await add(made, { body: 'x', visibility: 'public' }, 'agent')).visibility, 'public');
  });

  it('are all found for the history of their record, including archived ones', async () => {
    await duringTransaction(around.app.db, async (client) => {
      // Force the plan of a large table: a sequential scan then appears only if no index fits.
      await client.query('SET LOCAL enable_seqscan = off');
      const asked = "WHERE object_id = '00000000-0000-7000-8000-000000000000' AND visibility = 'internal'";
      const plan = await client.query(`EXPLAIN SELECT id FROM comments ${asked}`);
      assert.match(JSON.stringify(plan.rows), /comments_of_object/);
    });
  });

  it('are hidden from callers without the right if they are internal', async () => {
    const made = await around.make();
    const internal = await add(made, { body: 'internal' });
    await add(made, { body: 'public', visibility: 'public' });
    for (const who of ['agent', 'viewer'] as const) assert.deepEqual(await listed(made, who), ['public']);
    const absent = `/comments/${randomUUID()}`;
    for (const [method, body] of [
      ['PATCH', { expectedRevision: 1, body: 'y' }],
      ['PATCH', { expectedRevision: 1, visibility: 'public' }],
      ['PATCH', { expectedRevision: 7, body: 'y' }],
      ['DELETE', { expectedRevision: 1 }],
    ] as const) {
      const hidden = await around.call('agent', method, `/comments/${internal.id}`, body);
      assertRejected(hidden, 404, 'NOT_FOUND');
      assertSameError(hidden, await around.call('agent', method, absent, body));
    }
    assert.deepEqual(await listed(made), ['internal', 'public']);
  });

  it('and history and relations are also answered in pages, only in the administration API', async () => {
    const made = await around.make({ title: 'The paged one' });
    for (const n of [1, 2, 3, 4, 5]) {
      await add(made, { body: `internal ${n}` });
      await add(made, { body: `public ${n}`, visibility: 'public' });
      const relation = { definitionId: around.id('about'), targetObjectId: (await around.make({}, 'problem')).id };
      await around.ok('chief', 'POST', `/objects/${made.id}/relations`, relation);
    }
    for (const who of ['chief', 'agent'] as const) {
      const key = (await around.app.createKey({ login: who, scopes: ['admin:manage'] })).key;
      const read = (list: string, query = '') =>
        around.app.request('GET', `/api/admin/v1/objects/${made.id}/${list}${query}`, { key });
      for (const list of ['comments', 'history', 'relations']) {
        const whole: unknown[] = (await read(list)).body.data;
        assert.ok(whole.length >= 5, list);
        for (const order of ['oldest', 'newest'] as const) {
          const pages: unknown[] = [];
          for (let page = 1, hasMore = true; hasMore; page++) {
            const { body } = await read(list, `?page=${page}&pageSize=3&order=${order}`);
            const { correlationId: _1, apiVersion: _2, ...meta } = body.meta;
            hasMore = pages.length + body.data.length < whole.length;
            assert.deepEqual(meta, { page, pageSize: 3, hasMore });
            pages.push(...body.data);
          }
          assert.deepEqual(order === 'oldest' ? pages : pages.toReversed(), whole);
        }
        assertRejected(await around.call(who, 'GET', `/objects/${made.id}/${list}?page=1`), 400, 'INVALID_REQUEST');
        assertRejected(await read(list, '?page=500000&pageSize=100'), 400, 'INVALID_REQUEST');
      }
    }
  });

  it('require the right for a change of visibility in either direction', async () => {
    const made = await around.make();
    const open = await add(made, { body: 'open', visibility: 'public' }, 'agent');
    const path = `/comments/${open.id}`;
    assertRejected(
      await around.call('agent', 'PATCH', path, { expectedRevision: 1, visibility: 'internal' }),
      403,
      'RIGHT_MISSING',
    );
    const kept = await around.ok('agent', 'PATCH', path, { expectedRevision: 1, body: 'still open' });
    assert.deepEqual([kept.visibility, kept.revision], ['public', 2]);
    const closed = await around.ok('chief', 'PATCH', path, { expectedRevision: 2, visibility: 'internal' });
    assert.deepEqual([closed.visibility, closed.body], ['internal', 'still open']);
    const edited = await around.ok('chief', 'PATCH', path, { expectedRevision: 3, body: 'closed' });
    assert.equal(edited.visibility, 'internal', 'an edit without visibility keeps it');
    assert.deepEqual(await listed(made, 'agent'), []);
    await around.ok('chief', 'PATCH', path, { expectedRevision: 4, visibility: 'public' });
    assert.deepEqual(await listed(made, 'agent'), ['closed']);
  });

  it('hide their events from callers who may not see them now', async () => {
    const made = await around.make();
    const one = await add(made, { body: 'one' });
    const two = await add(made, { body: 'two', visibility: 'public' });
    const seen = async (who: FixtureUser): Promise<string[]> =>
      (await history(made, who)).flatMap(({ type, data }) => (type.startsWith('Comment') ? [data.commentId] : []));
    assert.deepEqual(await seen('chief'), [one.id, two.id]);
    assert.deepEqual(await seen('agent'), [two.id]);
    await around.ok('chief', 'PATCH', `/comments/${two.id}`, { expectedRevision: 1, visibility: 'internal' });
    await around.ok('chief', 'PATCH', `/comments/${one.id}`, { expectedRevision: 1, visibility: 'public' });
    assert.deepEqual(await seen('agent'), [one.id, one.id]);
    await around.ok('chief', 'DELETE', `/comments/${two.id}`, { expectedRevision: 2 });
    assert.deepEqual(await seen('agent'), [one.id, one.id]);
    assert.equal((await seen('chief')).length, 5);
    const text = JSON.stringify(await around.rows('SELECT data, changes FROM journal WHERE object_id = $1', [made.id]));
    assert.ok(!text.includes('"two"'), 'events hold no text of comments');
  });

  it('have their own revision: one concurrent winner, conflicts for others, no revision without a change', async () => {
    const made = await around.make();
    const { id } = await add(made, { body: 'text' });
    const path = `/comments/${id}`;
    assert.equal((await around.ok('chief', 'PATCH', path, { expectedRevision: 1, body: 'text' })).revision, 1);
    assert.equal((await around.ok('chief', 'PATCH', path, { expectedRevision: 1 })).revision, 1);
    const answers = await concurrently(16, (turn) =>
      around.call('chief', 'PATCH', path, { expectedRevision: 1, body: `by ${turn}` }),
    );
    assert.deepEqual(countOutcomes(answers), { 200: 1, '409 REVISION_CONFLICT': 15 });
    const conflict = answers.find(({ status }) => status === 409);
    const updated = (await history(made, 'chief')).find(({ type }) => type === 'CommentUpdated');
    assert.ok(updated !== undefined);
    const changed = (field: string, { at, actor: { id: actorId, displayName } }: CommentEvent) => {
      return { field, at, actor: { id: actorId, displayName } };
    };
    assert.deepEqual(conflict?.body.error.details, { changedSince: [changed('body', updated)] });
    for (const expectedRevision of ['2', null, 0, 2.5, true]) {
      assertRejected(
        await around.call('chief', 'PATCH', path, { expectedRevision, body: 'y' }),
        400,
        'INVALID_REQUEST',
      );
    }
    assertRejected(await around.call('chief', 'DELETE', path, { expectedRevision: 1 }), 409, 'REVISION_CONFLICT');
    const events = await history(made, 'chief');
    assert.equal(events.filter(({ type }) => type === 'CommentUpdated').length, 1);
    await around.ok('chief', 'PATCH', path, { expectedRevision: 2, visibility: 'public' });
    const [, second] = (await history(made, 'chief')).filter(({ type }) => type === 'CommentUpdated');
    assert.ok(second !== undefined);
    const since = async (expectedRevision: number) =>
      (await around.call('agent', 'PATCH', path, { expectedRevision, body: 'z' })).body.error.details.changedSince;
    assert.deepEqual(await since(1), [changed('body', updated), changed('visibility', second)]);
    assert.deepEqual(await since(2), [changed('visibility', second)]);
    assert.deepEqual(await since(9), []);
  });

  it('are archived, not deleted, and cannot be changed then', async () => {
    const made = await around.make();
    const { id } = await add(made, { body: 'gone' });
    const path = `/comments/${id}`;
    assert.deepEqual(await around.ok('chief', 'DELETE', path, undefined, { headers: { 'if-match': '"1"' } }), {
      id,
      state: 'ARCHIVED',
      revision: 2,
    });
    assert.deepEqual(await listed(made), []);
    assertRejected(await around.call('chief', 'DELETE', path, { expectedRevision: 2 }), 409, 'ARCHIVED');
    assertRejected(await around.call('chief', 'PATCH', path, { expectedRevision: 2, body: 'y' }), 409, 'ARCHIVED');
    assert.equal((await around.rows('SELECT 1 FROM comments WHERE id = $1', [id])).length, 1);
  });

  it('on an archived record can be read but not written', async () => {
    const made = await around.make();
    const { id } = await add(made, { body: 'before' });
    await around.archive(made);
    assertRejected(await around.call('chief', 'POST', comments(made), { body: 'x' }), 409, 'ARCHIVED');
    assertRejected(
      await around.call('chief', 'PATCH', `/comments/${id}`, { expectedRevision: 1, body: 'x' }),
      409,
      'ARCHIVED',
    );
    assertRejected(await around.call('chief', 'DELETE', `/comments/${id}`, { expectedRevision: 1 }), 409, 'ARCHIVED');
    assert.deepEqual(await listed(made), ['before']);
  });

  it('cannot be added while the record is being archived', async () => {
    const archived = `UPDATE objects SET state = 'ARCHIVED', revision = revision + 1, archived_at = now() WHERE id = $1`;
    const made = await around.make();
    const { id } = await add(made, { body: 'before' });
    const calls: [string, string, object][] = [
      ['POST', comments(made), { body: 'late' }],
      ['PATCH', `/comments/${id}`, { expectedRevision: 1, body: 'late' }],
      ['DELETE', `/comments/${id}`, { expectedRevision: 1 }],
    ];
    for (const [method, path, body] of calls) {
      await around.rows(`UPDATE objects SET state = 'ACTIVE', archived_at = NULL WHERE id = $1`, [made.id]);
      const answer = await duringUncommittedChange(around, archived, [made.id], () =>
        around.call('chief', method, path, body),
      );
      assertRejected(answer, 409, 'ARCHIVED', method);
    }
    assert.deepEqual(await listed(made), ['before']);
  });

  it('check access to the record, then each right', async () => {
    const made = await around.make({ kind: 'b' });
    const { id } = await add(made, { body: 'x', visibility: 'public' });
    const absent = { id: randomUUID() } as Made;
    assertSameError(
      await around.call('viewer', 'GET', comments(made)),
      await around.call('viewer', 'GET', comments(absent)),
    );
    assertRejected(await around.call('viewer', 'GET', comments(made)), 404, 'NOT_FOUND');
    assertRejected(
      await around.call('viewer', 'PATCH', `/comments/${id}`, { expectedRevision: 1, body: 'y' }),
      404,
      'NOT_FOUND',
    );
    assertRejected(await around.call('stranger', 'POST', comments(made), { body: 'y' }), 404, 'NOT_FOUND');
    const readable = await around.make();
    const theirs = await add(readable, { body: 'x', visibility: 'public' });
    const denied = await around.call('viewer', 'POST', comments(readable), { body: 'y', visibility: 'public' });
    assertRejected(denied, 403, 'RIGHT_MISSING');
    assert.deepEqual(denied.body.error.details, { right: 'comment.create' });
    for (const method of ['PATCH', 'DELETE']) {
      const answer = await around.call('viewer', method, `/comments/${theirs.id}`, { expectedRevision: 9 });
      assertRejected(answer, 403, 'RIGHT_MISSING');
      assert.deepEqual(answer.body.error.details, { right: 'comment.edit' });
    }
  });

  it('contain 1 to 100,000 characters of valid text, stored in NFC', async () => {
    const made = await around.make();
    const long = '😀'.repeat(100_000);
    assert.equal((await add(made, { body: long })).body, long);
    for (const body of ['', '😀'.repeat(100_001), null, 5, ['x']]) {
      assertRejected(await around.call('chief', 'POST', comments(made), { body }), 400, 'INVALID_REQUEST');
    }
    assertRejected(await around.call('chief', 'POST', comments(made), {}), 400, 'INVALID_REQUEST');
    for (const body of ['a\u0000b', '\ud800', `a${'\u0301'.repeat(70)}`]) {
      assert.equal((await around.call('chief', 'POST', comments(made), { body })).status, 400);
    }
    const kept = '  <b>Привет</b>\n\u200b\u2028 {"a": 1} \\ ';
    assert.equal((await add(made, { body: kept })).body, kept);
    assert.equal((await add(made, { body: 'e\u0301' })).body, 'é');
    assertRejected(
      await around.call('chief', 'POST', comments(made), { body: 'x', author: 'me' }),
      400,
      'INVALID_REQUEST',
    );
    assertRejected(await around.call('chief', 'GET', `${comments(made)}?page=1`), 400, 'INVALID_REQUEST');
  });

  it('are added once per Idempotency-Key, and replayed only to callers who may still see them', async () => {
    const made = await around.make();
    const options = { idempotencyKey: 'once' };
    const body = { body: 'once', visibility: 'public' };
    const answers = await concurrently(8, () => around.call('agent', 'POST', comments(made), body, options));
    assert.deepEqual(countOutcomes(answers), { 201: 8 });
    assert.equal(new Set(answers.map((answer) => JSON.stringify(answer.body.data))).size, 1);
    assert.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length, 7);
    assert.deepEqual(await listed(made), ['once']);
    const other = await around.call('agent', 'POST', comments(made), { ...body, body: 'twice' }, options);
    assertRejected(other, 409, 'IDEMPOTENCY_KEY_REUSED');
    const { id } = answers[0]?.body.data ?? {};
    await around.ok('chief', 'PATCH', `/comments/${id}`, { expectedRevision: 1, visibility: 'internal' });
    assertRejected(await around.call('agent', 'POST', comments(made), body, options), 404, 'NOT_FOUND');
  });
});
