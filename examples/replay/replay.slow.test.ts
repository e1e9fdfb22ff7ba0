/** A life of records of all kinds of changes, repeated in an empty second installation. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Docket } from '../../client/src/index.ts';
import { givePlaces } from '../../src/platform/journal/places.ts';
import { type RecordFixture, startRecordFixture } from '../../test/support/record-fixture.ts';
import { Replay } from './replay.ts';

let source: RecordFixture;
let target: RecordFixture;

const clientOf = ({ app, keys }: RecordFixture): Docket => new Docket({ url: app.url, key: keys.chief });

/** What both installations must have in common: users by login, no times, no ids of comments, files and relations. */
async function contents(fixture: RecordFixture): Promise<unknown> {
  const docket = clientOf(fixture);
  const users = await fixture.rows<{ id: string; login: string }>('SELECT id, login FROM users');
  const named = (text: string): string => users.reduce((result, { id, login }) => result.replaceAll(id, login), text);
  const exported: unknown[] = [];
  for (const typeDefinitionId of ['case', 'problem']) {
    const file = await docket.exports.create({ typeDefinitionId, format: 'JSON', limit: 1000, query: {} });
    const rows = JSON.parse(named(await file.text())) as Record<string, any>[];
    for (const { id, number, title, state, workflowState, values } of rows)
      exported.push({ id, number, title, state, workflowState: workflowState?.code, values });
  }
  const around: unknown[] = [];
  for (const { id } of await fixture.rows<{ id: string }>('SELECT id FROM objects ORDER BY id')) {
    const comments = await docket.comments.list(id);
    const files = await docket.attachments.list(id);
    const relations = await docket.relations.list(id, { direction: 'outgoing' });
    around.push({
      id,
      state: (await docket.objects.get(id)).state,
      comments: comments.map(({ body, visibility }) => `${visibility}: ${body}`),
      files: await Promise.all(
        files.map(async (file) => [file.originalFilename, await (await docket.attachments.download(file.id)).text()]),
      ),
      relations: relations.map(({ definitionCode, targetObjectId }) => `${definitionCode} ${targetObjectId}`).sort(),
    });
  }
  return { exported, around };
}

describe('a replay of the changes feed', () => {
  before(async () => {
    source = await startRecordFixture();
    target = await startRecordFixture();
    // Reading users by login needs one right, exports the other.
    const text =
      'roles: [{ code: people, name: People, rights: [user.administer, export.execute], assignedTo: { users: [chief] } }]';
    for (const { app } of [source, target]) await app.apply([{ name: 'people.yaml', text }]);
  });
  after(async () => {
    await source.close();
    await target.close();
  });

  it('repeats records, changes, comments, files, relations and transitions', async () => {
    const { ok, id: idOf } = source;
    const chief = async (method: string, path: string, body?: unknown): Promise<any> =>
      await ok('chief', method, path, body);
    const problem = await source.make({ title: 'The cause' }, 'problem');
    const first = await source.make({ title: 'First', assignee: await source.person('agent'), causes: [problem.id] });
    const second = await source.make({ title: 'Second', note: 'with a note' });
    await chief('PATCH', `/objects/${first.id}`, { expectedRevision: 1, changes: { count: 7, note: 'changed' } });
    await chief('PATCH', `/objects/${first.id}`, { expectedRevision: 2, changes: { note: null, kind: 'a' } });
    const moved = await chief('POST', `/objects/${first.id}/transitions`, {
      transitionId: idOf('take'),
      expectedRevision: 3,
      expectedStateId: first.stateId,
      values: { note: 'taken' },
    });
    const { workflowState } = await chief('GET', `/objects/${first.id}`);
    await chief('POST', `/objects/${first.id}/transitions`, {
      transitionId: idOf('hold'),
      expectedRevision: moved.object.revision,
      expectedStateId: workflowState.id,
      values: { $reason: 'waits for a part', grade: 'b' },
    });
    await chief('POST', `/objects/${first.id}/comments`, { body: 'public words', visibility: 'public' });
    const said = await chief('POST', `/objects/${first.id}/comments`, { body: 'at first', visibility: 'internal' });
    await chief('PATCH', `/comments/${said.id}`, { expectedRevision: said.revision, body: 'at last' });
    const gone = await chief('POST', `/objects/${first.id}/comments`, { body: 'gone', visibility: 'public' });
    await chief('DELETE', `/comments/${gone.id}`, { expectedRevision: gone.revision });
    const contentBase64 = Buffer.from('content').toString('base64');
    await chief('POST', `/objects/${second.id}/attachments`, { filename: 'отчёт.txt', contentBase64 });
    const relate = async (definition: string, targetObjectId: string): Promise<any> =>
      (await chief('POST', `/objects/${first.id}/relations`, { definitionId: idOf(definition), targetObjectId }))
        .relation;
    await relate('about', second.id);
    const ended = await relate('after', second.id);
    await chief('DELETE', `/relations/${ended.id}`, { expectedRevision: ended.revision });
    await source.archive(second);
    while (await givePlaces(source.app.db));

    const { repeated, left } = await new Replay(clientOf(source), clientOf(target)).run();
    assert.deepEqual(await contents(target), await contents(source));
    assert.deepEqual(Object.fromEntries(repeated), {
      ObjectCreated: 3,
      ObjectUpdated: 2,
      ObjectTransitioned: 2,
      CommentAdded: 2,
      AttachmentAdded: 1,
      RelationAdded: 2,
      RelationArchived: 1,
      ObjectArchived: 1,
    });
    assert.equal(left.length, 1, left.join());
  });
});
