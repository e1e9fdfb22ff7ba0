/** Comments, attachments, relations, workflow and bulk changes of a record. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { after, describe } from 'node:test';
import { readEvents } from '../test/support/event-stream.ts';
import { type Answer, before, it, problemsOf, Fixture } from './service.ts';

let fixture: Fixture;
let helper: string;
let outsider: string;

const RIGHTS = `
roles:
  - code: around
    records:
      - type: ticket
        actions: [comment.create, comment.edit, Private Comment, attachment.add, attachment.delete, relation.create, relation.delete]
        fields: { read: '*', write: '*' }
    assignedTo: { users: [chief] }
  - code: around-narrow
    records:
      - type: ticket
        where: { field: open, operator: equals, value: true }
        actions: [comment.create, comment.edit]
        fields: { read: [subject], write: [] }
    assignedTo: { users: [helper] }
relationDefinitions:
  - { code: follows, name: Follows, inverseName: Precedes, sourceTypes: [ticket], targetTypes: [ticket], cardinality: many-to-one, acyclic: true }
`;

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

function refused(answer: Answer, status: number, code: string, what = ''): any {
  assert.equal(answer.status, status, `${what} ${answer.text.slice(0, 400)}`);
  assert.equal(answer.body.error.code, code, what);
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.error.details;
}

const ABSENT = '00000000-0000-7000-8000-000000000000';
const get = (place: string, key = fixture.key) => fixture.api('GET', place, { key });
const post = (place: string, body: unknown, key = fixture.key, headers: Record<string, string> = {}) =>
  fixture.api('POST', place, { key, body, headers });
const patch = (place: string, body: unknown, key = fixture.key) => fixture.api('PATCH', place, { key, body });
const remove = (place: string, body: unknown, key = fixture.key) => fixture.api('DELETE', place, { key, body });

describe('comments, attachments, relations, workflow and bulk changes', () => {
  before(async () => {
    fixture = await Fixture.start();
    await fixture.apply(RIGHTS);
    helper = await fixture.keyOf('helper');
    outsider = await fixture.keyOf('outsider');
  });
  after(() => fixture?.stop());

  it('creates comments as internal by default, with their own revisions and archive (A-comments)', async () => {
    const { id } = await fixture.create();
    const place = `/objects/${id}/comments`;
    const internal = accepted(await post(place, { body: 'Between us' }), 201);
    assert.deepEqual([internal.revision, internal.visibility, internal.state], [1, 'internal', 'ACTIVE']);
    const open = accepted(await post(place, { body: 'For all', visibility: 'public' }, helper), 201);
    assert.deepEqual(refused(await post(place, { body: 'x' }, helper), 403, 'RIGHT_MISSING'), {
      right: 'Private Comment',
    });
    const ids = async (key: string) => accepted(await get(place, key)).map((comment: any) => comment.id);
    assert.deepEqual([await ids(fixture.key), await ids(helper)], [[internal.id, open.id], [open.id]]);
    const [hidden, absent] = [internal.id, ABSENT].map((one) =>
      patch(`/comments/${one}`, { expectedRevision: 1, body: 'x' }, helper),
    );
    assert.deepEqual((await hidden)?.body.error, (await absent)?.body.error);
    accepted(await patch(`/comments/${open.id}`, { expectedRevision: 1, body: 'For everybody' }));
    const stale = refused(
      await patch(`/comments/${open.id}`, { expectedRevision: 1, body: 'x' }, helper),
      409,
      'REVISION_CONFLICT',
    );
    assert.deepEqual(
      stale.changedSince.map(({ field, actor }: any) => [field, actor.displayName]),
      [['body', 'Главный']],
    );
    assert.equal(accepted(await remove(`/comments/${open.id}`, { expectedRevision: 2 })).state, 'ARCHIVED');
    refused(await remove(`/comments/${open.id}`, { expectedRevision: 3 }), 409, 'ARCHIVED');
    assert.equal(accepted(await get(`/objects/${id}`)).revision, 1);
    refused(await get(`${place}?page=1`), 400, 'INVALID_REQUEST');
    for (const body of ['', 'x'.repeat(100_001)]) refused(await post(place, { body }), 400, 'INVALID_REQUEST');
  });

  it('returns attachments byte for byte, whole and in ranges, as downloads only (A-files)', async () => {
    const { id } = await fixture.create();
    const place = `/objects/${id}/attachments`;
    const content = Buffer.from('<script>alert(1)</script>');
    const file = { filename: 'Отчёт.html', contentBase64: content.toString('base64'), mediaType: 'text/html' };
    const made = accepted(await post(place, file, fixture.key, { 'idempotency-key': 'a-file' }), 201);
    assert.deepEqual([made.originalFilename, made.size, made.revision], ['Отчёт.html', content.length, 1]);
    const again = await post(place, file, fixture.key, { 'idempotency-key': 'a-file' });
    assert.deepEqual([accepted(again, 201).id, again.headers.get('idempotency-replayed')], [made.id, 'true']);
    const where = `/attachments/${made.id}/content`;
    const whole = await get(where);
    assert.equal(whole.text, content.toString());
    assert.equal(whole.headers.get('content-type'), 'application/octet-stream');
    assert.match(whole.headers.get('content-disposition') ?? '', /^attachment; .*filename\*=UTF-8''%D0%9E/);
    assert.equal(whole.headers.get('x-content-type-options'), 'nosniff');
    const part = (headers: Record<string, string>) => fixture.api('GET', where, { headers });
    const ranged = await part({ range: 'bytes=1-6', 'if-range': whole.headers.get('etag') ?? '' });
    assert.deepEqual(
      [ranged.status, ranged.text, ranged.headers.get('content-range')],
      [206, 'script', 'bytes 1-6/25'],
    );
    const behind = await part({ range: 'bytes=25-' });
    refused(behind, 416, 'RANGE_NOT_SATISFIABLE');
    assert.equal(behind.headers.get('content-range'), 'bytes */25');
    assert.equal((await part({ range: 'bytes=1-6', 'if-range': '"x"' })).status, 200);
    refused(await post(place, { filename: 'a', contentBase64: '' }), 400, 'ATTACHMENT_EMPTY');
    refused(await post(place, { filename: 'a', contentBase64: 'YQ' }), 400, 'INVALID_REQUEST');
    refused(await post(place, { filename: 'a/b', contentBase64: 'YQ==' }), 400, 'INVALID_REQUEST');
    refused(await post(place, { filename: 'a', contentBase64: 'YQ==', objectId: ABSENT }), 400, 'INVALID_REQUEST');
    refused(await post(place, { filename: 'a', contentBase64: 'YQ==' }, helper), 403, 'RIGHT_MISSING');
    assert.deepEqual((await get(where, outsider)).body.error, (await get(`/attachments/${ABSENT}/content`)).body.error);
    refused(await remove(`/attachments/${made.id}`, { expectedRevision: 1 }, helper), 403, 'RIGHT_MISSING');
    assert.equal(accepted(await remove(`/attachments/${made.id}`, { expectedRevision: 1 })).state, 'ARCHIVED');
    assert.deepEqual(accepted(await get(place)), []);
    refused(await get(where), 404, 'NOT_FOUND');
  });

  it('shows a draft to its uploader alone, and the files of a comment to those who may see it (A-files)', async () => {
    const { id } = await fixture.create();
    const place = `/objects/${id}/attachments`;
    const file = { filename: 'screen.png', contentBase64: 'YQ==', mediaType: 'image/png' };
    const upload = async () => accepted(await post(`${place}?draft=true`, file), 201);
    const names = async (key: string) => accepted(await get(place, key)).map((one: any) => one.id);
    const say = async (visibility: string, attachmentIds: string[]) =>
      await post(`/objects/${id}/comments`, { body: 'See the picture', visibility, attachmentIds });
    const [open, between] = [await upload(), await upload()];
    assert.deepEqual([(await names(fixture.key)).length, await names(helper)], [2, []]);
    accepted(await say('public', [open.id]), 201);
    accepted(await say('internal', [between.id]), 201);
    assert.deepEqual([(await names(fixture.key)).length, await names(helper)], [2, [open.id]]);
    refused(await get(`/attachments/${between.id}/content`, helper), 404, 'NOT_FOUND');
    assert.equal((await get(`/attachments/${open.id}/content`, helper)).text, 'a');
    const [problem] = refused(await say('public', [open.id]), 400, 'INVALID_VALUES');
    assert.equal(problem.path, '/attachmentIds/0');
  });

  it('stores a relation once, shows it in both directions and enforces its definition (A-relations)', async () => {
    const [a, b, c] = [await fixture.create(), await fixture.create(), await fixture.create({ open: false })];
    const definitions = accepted(await get(`/relation-definitions?sourceObjectId=${a.id}`));
    const definitionId = definitions.find(({ code }: { code: string }) => code === 'follows').id;
    const relate = (from: any, to: string) =>
      post(`/objects/${from.id}/relations`, { definitionId, targetObjectId: to });
    const made = accepted(await relate(a, b.id), 201);
    assert.deepEqual(accepted(await relate(a, b.id), 201), { ...made, idempotent: true });
    assert.equal(made.idempotent, false);
    refused(await relate(a, c.id), 409, 'RELATION_CARDINALITY');
    refused(await relate(b, a.id), 409, 'RELATION_CYCLE');
    refused(await relate(b, b.id), 400, 'INVALID_REQUEST');
    accepted(await relate(b, c.id), 201);
    const [seen] = accepted(await get(`/objects/${b.id}/relations?direction=incoming`));
    assert.deepEqual([seen.id, seen.name, seen.related.id], [made.relation.id, 'Precedes', a.id]);
    assert.equal(accepted(await get(`/objects/${b.id}/relations`)).length, 1);
    assert.deepEqual(accepted(await get(`/objects/${b.id}/relations`, helper)), [], 'the other end is out of sight');
    refused(await get(`/objects/${b.id}/relations?direction=both`), 400, 'INVALID_REQUEST');
    const gone = `/relations/${made.relation.id}`;
    refused(await remove(gone, { expectedRevision: 2 }), 409, 'REVISION_CONFLICT');
    const { id, revision, state } = accepted(await remove(gone, { expectedRevision: 1 }));
    assert.deepEqual([id, revision, state], [made.relation.id, 2, 'ARCHIVED']);
  });

  it('changes the state only through transitions that match the expected revision and state (A-workflow, A-order)', async () => {
    const { id } = await fixture.create({ secret: 'x' });
    const { object, state, transitions } = accepted(await get(`/objects/${id}/workflow`));
    assert.deepEqual([object, state.code, transitions.length], [{ id, revision: 1 }, 'fresh', 1]);
    const place = `/objects/${id}/transitions`;
    const body = { transitionId: transitions[0].id, expectedRevision: 1, expectedStateId: state.id, values: {} };
    refused(await post(place, body, outsider), 404, 'NOT_FOUND');
    refused(await post(place, body, helper), 403, 'RIGHT_MISSING');
    refused(await post(place, { ...body, expectedStateId: ABSENT }), 409, 'STATE_CONFLICT');
    refused(await post(place, { ...body, expectedRevision: 2 ** 53 - 1 }), 409, 'REVISION_CONFLICT');
    refused(await post(place, { ...body, transitionId: ABSENT }), 400, 'TRANSITION_NOT_AVAILABLE');
    refused(await post(place, { ...body, values: { subject: 'x' } }), 400, 'INVALID_VALUES');
    refused(
      await patch(`/objects/${id}`, { expectedRevision: 1, changes: { workflowState: 'finished' } }),
      400,
      'INVALID_VALUES',
    );
    assert.deepEqual(accepted(await post(place, body)), {
      object: { id, revision: 2 },
      transition: { id: body.transitionId },
    });
    refused(await post(place, body), 409, 'REVISION_CONFLICT');
    // Rights are checked before revision and values.
    const early = { expectedRevision: 1, changes: { urgency: 'high', nothing: 1 } };
    refused(await patch(`/objects/${id}`, early, helper), 403, 'FIELD_READ_ONLY');
    refused(await patch(`/objects/${id}`, { ...early, changes: { secret: 'y' } }, helper), 409, 'REVISION_CONFLICT');
  });

  it('handles each item of a bulk change like a single call (A-bulk)', async () => {
    const [a, b] = [await fixture.create(), await fixture.create({ open: false })];
    const item = (id: string, expectedRevision: number, subject: unknown = 'New') => ({
      objectId: id,
      expectedRevision,
      changes: { subject },
    });
    const items = [
      item(a.id, 1),
      item(b.id, 1),
      item(ABSENT, 1),
      item(a.id, 1),
      item(a.id, 2, 5),
      item(a.id, 2, 'Newer'),
    ];
    const results = accepted(await post('/bulk', { operation: 'update', items }, helper));
    assert.deepEqual(
      results.map(({ objectId, status, revision, error }: any) => [objectId, status, revision ?? error.code]),
      [
        [a.id, 'SUCCEEDED', 2],
        [b.id, 'FAILED', 'NOT_FOUND'],
        [ABSENT, 'FAILED', 'NOT_FOUND'],
        [a.id, 'FAILED', 'REVISION_CONFLICT'],
        [a.id, 'FAILED', 'INVALID_VALUES'],
        [a.id, 'SUCCEEDED', 3],
      ],
    );
    assert.deepEqual(results[1].error, results[2].error, 'hidden and absent alike');
    for (const count of [0, 1001]) {
      const many = Array.from({ length: count }, () => ({ objectId: ABSENT, expectedRevision: 1 }));
      refused(await post('/bulk', { operation: 'archive', items: many }), 400, 'INVALID_REQUEST');
    }
  });

  it('returns every event once and in order, within the rights and scopes of the key (A-feed)', async () => {
    const start = accepted(await get('/changes?after=now')).next;
    const { id } = await fixture.create({ subject: 'followed' });
    accepted(await patch(`/objects/${id}`, { expectedRevision: 1, changes: { subject: 'changed' } }));
    accepted(await post(`/objects/${id}/comments`, { body: 'said', visibility: 'public' }), 201);
    // A service that is used by others has other events, too.
    const follow = async (key: string, limit: number, least: number): Promise<any[]> => {
      const events: any[] = [];
      for (let after = start; ; ) {
        const wait = events.length < least ? 25 : 0;
        const page = accepted(await get(`/changes?after=${after}&limit=${limit}&wait=${wait}&types=ticket`, key));
        events.push(...page.events.filter(({ objectId }: { objectId: string }) => objectId === id));
        after = page.next;
        if (page.caughtUp && events.length >= least) return events;
      }
    };
    const whole = await follow(fixture.key, 1000, 3);
    assert.deepEqual(
      whole.map(({ eventType, revision }) => `${eventType} ${revision}`),
      ['ObjectCreated 1', 'ObjectUpdated 2', 'CommentAdded null'],
    );
    const ids = (events: readonly any[]): string[] => events.map(({ eventId }) => eventId);
    assert.deepEqual(ids(await follow(fixture.key, 1, 3)), ids(whole));
    assert.deepEqual(ids(await follow(helper, 1000, 0)), [], 'without the right history');
    const bare = await fixture.keyOf('chief', 'objects:read');
    assert.deepEqual(ids(await follow(bare, 1000, 2)), ids(whole).slice(0, 2));
    refused(await get('/changes?eventTypes=CommentAdded', bare), 403, 'SCOPE_MISSING');
    const since = accepted(await get(`/changes?after=${whole[0].cursor}&types=ticket&include=object`)).events;
    const next = since.find(({ objectId }: { objectId: string }) => objectId === id);
    assert.deepEqual([next.eventId, next.object.values.subject], [whole[1].eventId, 'changed']);
    for (const after of ['x', `${start}A`, 'A'.repeat(201)])
      refused(await get(`/changes?after=${after}`), 400, 'INVALID_CURSOR', after);
    refused(await get('/changes?limit=0'), 400, 'INVALID_REQUEST');
    const stream = await fetch(`${fixture.url}/api/v1/changes?types=ticket`, {
      headers: {
        authorization: `Bearer ${fixture.key}`,
        accept: 'text/event-stream',
        'last-event-id': whole[1].cursor,
      },
    });
    const events = readEvents(stream);
    let said = await events.next(20_000);
    while (said !== undefined && JSON.parse(said.data).objectId !== id) said = await events.next(20_000);
    events.close();
    assert.deepEqual([said?.event, JSON.parse(said?.data ?? '{}').eventId], ['CommentAdded', whole[2].eventId]);
  });
});
