/** Files of comments and their drafts through HTTP (docs/spec/around-records.md#attachments). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { MODULES } from '../../modules.ts';
import { operationsOf } from '../../platform/module.ts';
import { givePlaces } from '../../platform/journal/places.ts';
import {
  assertRejected,
  assertSameError,
  concurrently,
  countOutcomes,
  type FixtureUser,
  type Made,
  type RecordFixture,
  startRecordFixture,
} from '../../../test/support/record-fixture.ts';
import { isRecordRead } from '../../../test/support/operation-calls.ts';
import { sweepDrafts } from './store-drafts.ts';

/** Part of the names of all files that must not be seen. */
const MARK = 'narwhalcanary';

let around: RecordFixture;

async function upload(made: Made, who: FixtureUser, draft: boolean, filename = `${MARK}.txt`): Promise<any> {
  const path = `/objects/${made.id}/attachments${draft ? '?draft=true' : ''}`;
  return await around.ok(who, 'POST', path, { filename, contentBase64: 'eA==', mediaType: 'text/plain' });
}

function comment(made: Made, who: FixtureUser, attachmentIds: readonly string[], more: object = {}) {
  return around.call(who, 'POST', `/objects/${made.id}/comments`, {
    body: 'Look',
    visibility: 'public',
    attachmentIds,
    ...more,
  });
}

async function listed(made: Made, who: FixtureUser): Promise<any[]> {
  return await around.ok(who, 'GET', `/objects/${made.id}/attachments`);
}

async function statusOf(who: FixtureUser, id: string): Promise<number> {
  return (await around.call(who, 'GET', `/attachments/${id}/content`)).status;
}

/** The reading operations on the record, and the changes feed, whose answers to the user hold one of the words. */
async function leaks(made: Made, who: FixtureUser, words: readonly string[]): Promise<string[]> {
  while (await givePlaces(around.app.db));
  const reads = operationsOf(MODULES).filter((one) => isRecordRead(one));
  assert.ok(reads.length > 5);
  const found: string[] = [];
  const paths = reads.map(({ path }) => path.replace('{objectId}', made.id));
  for (const path of [...paths, '/changes?limit=1000', `/search?q=${MARK}`, '/objects?pageSize=100']) {
    const answer = await around.call(who, 'GET', path);
    if (words.some((word) => JSON.stringify(answer.body ?? '').includes(word))) found.push(path);
  }
  return found;
}

describe('files of comments', () => {
  before(async () => {
    around = await startRecordFixture();
  });
  after(() => around.close());

  it('are drafts that their uploader alone sees until a comment takes them', async () => {
    const made = await around.make();
    const file = await upload(made, 'agent', true);
    assert.equal(file.draft, true);
    assert.deepEqual(
      (await listed(made, 'agent')).map(({ id, draft }) => [id, draft]),
      [[file.id, true]],
    );
    assert.equal(await statusOf('agent', file.id), 200);
    for (const who of ['chief', 'viewer', 'stranger'] as const) {
      assert.equal(await statusOf(who, file.id), 404, who);
      assert.deepEqual(await leaks(made, who, [file.id, MARK]), [], who);
    }
    assert.equal(
      (await around.call('chief', 'DELETE', `/attachments/${file.id}`, { expectedRevision: 1 })).status,
      404,
    );
    const types = async (): Promise<string[]> =>
      (await around.ok('chief', 'GET', `/objects/${made.id}/history`)).map(({ type }: any) => type);
    assert.deepEqual(await types(), ['ObjectCreated']);

    const { body } = await comment(made, 'agent', [file.id]);
    assert.deepEqual(await types(), ['ObjectCreated', 'CommentAdded', 'AttachmentAdded']);
    const [seen, ...others] = await listed(made, 'viewer');
    assert.deepEqual([seen.id, seen.commentId, seen.draft, others], [file.id, body.data.id, undefined, []]);
    assert.equal(await statusOf('viewer', file.id), 200);
  });

  it('have the visibility of their comment in every reading operation, also those that were attached before', async () => {
    const made = await around.make();
    const [draft, plain] = [
      await upload(made, 'chief', true, `${MARK}-2`),
      await upload(made, 'chief', false, `${MARK}-2`),
    ];
    const said = (await comment(made, 'chief', [draft.id, plain.id], { visibility: 'internal' })).body.data;
    for (const who of ['agent', 'viewer'] as const) {
      assert.deepEqual(await leaks(made, who, [draft.id, plain.id, `${MARK}-2`]), [], who);
      for (const { id } of [draft, plain]) assert.equal(await statusOf(who, id), 404, who);
    }
    const change = { expectedRevision: 1, visibility: 'public' };
    await around.ok('chief', 'PATCH', `/comments/${said.id}`, change);
    assert.equal((await listed(made, 'agent')).length, 2);
    assert.ok((await leaks(made, 'agent', [plain.id])).length > 1);
    await around.ok('chief', 'PATCH', `/comments/${said.id}`, { expectedRevision: 2, visibility: 'internal' });
    assert.deepEqual(await leaks(made, 'agent', [draft.id, plain.id, `${MARK}-2`]), []);
    await around.ok('chief', 'DELETE', `/comments/${said.id}`, { expectedRevision: 3 });
    assert.deepEqual(await listed(made, 'chief'), []);
    assert.equal(await statusOf('chief', draft.id), 404);
  });

  it('are taken once, by their uploader, on their record', async () => {
    const [made, other] = [await around.make(), await around.make()];
    const { id } = await upload(made, 'agent', true);
    const unknown = await comment(made, 'agent', [randomUUID()]);
    assertRejected(unknown, 400, 'INVALID_VALUES');
    assert.equal(unknown.body.error.details[0].path, '/attachmentIds/0');
    assertSameError(await comment(made, 'chief', [id]), unknown);
    assertSameError(await comment(other, 'agent', [id]), unknown);
    const twice = await comment(made, 'agent', [id, id]);
    assert.equal(twice.body.error.details[0].path, '/attachmentIds/1');
    const answers = await concurrently(8, () => comment(made, 'agent', [id]));
    assert.deepEqual(countOutcomes(answers), { 201: 1, '400 INVALID_VALUES': 7 });
    const plain = await upload(made, 'agent', false);
    const again = await concurrently(8, () => comment(made, 'agent', [plain.id]));
    assert.deepEqual(countOutcomes(again), { 201: 1, '400 INVALID_VALUES': 7 });
    assert.equal((await around.ok('chief', 'GET', `/objects/${made.id}/comments`)).length, 2);
    const unseen = await comment(made, 'viewer', [id]);
    assertRejected(unseen, 403, 'RIGHT_MISSING');
  });

  it('are taken once per Idempotency-Key, by no dry run, and by no comment on an archived record', async () => {
    const made = await around.make();
    const { id } = await upload(made, 'agent', true);
    const path = `/objects/${made.id}/comments`;
    const body = { body: 'Look', visibility: 'public', attachmentIds: [id] };
    assert.equal((await around.call('agent', 'POST', `${path}?dryRun=true`, body)).status, 201);
    assert.equal((await listed(made, 'agent'))[0].draft, true);
    const options = { idempotencyKey: randomUUID() };
    const answers = await concurrently(4, () => around.call('agent', 'POST', path, body, options));
    assert.deepEqual(countOutcomes(answers), { 201: 4 });
    assert.equal(new Set(answers.map((answer) => answer.body.data.id)).size, 1);
    const late = await upload(made, 'agent', true);
    await around.archive(made);
    assertRejected(await comment(made, 'agent', [late.id]), 409, 'ARCHIVED');
    const file = { filename: 'a', contentBase64: 'eA==' };
    assertRejected(
      await around.call('agent', 'POST', `/objects/${made.id}/attachments?draft=true`, file),
      409,
      'ARCHIVED',
    );
  });

  it('that nobody sent are removed by their uploader, or after a day', async () => {
    const made = await around.make();
    const [removed, swept] = [await upload(made, 'agent', true), await upload(made, 'agent', true)];
    const one = `/attachments/${removed.id}`;
    assertRejected(await around.call('agent', 'DELETE', one, { expectedRevision: 2 }), 409, 'REVISION_CONFLICT');
    await around.ok('agent', 'DELETE', one, { expectedRevision: 1 });
    assertRejected(await around.call('agent', 'DELETE', one, { expectedRevision: 1 }), 404, 'NOT_FOUND');
    await around.rows(`UPDATE attachment_drafts SET created_at = created_at - interval '25 hours'`);
    assert.deepEqual(await listed(made, 'agent'), []);
    assertRejected(await comment(made, 'agent', [swept.id]), 400, 'INVALID_VALUES');
    await sweepDrafts(around.app.db, new Date().toISOString());
    assert.deepEqual(await around.rows('SELECT id FROM attachment_drafts'), []);
  });
});
