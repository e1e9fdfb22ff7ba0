/** Records, their types and their history, over HTTP only. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe } from 'node:test';
import { type Answer, before, it, problemsOf, Fixture } from './service.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let fixture: Fixture;
let helper: string;

function refused(answer: Answer, status: number, code: string, what = ''): void {
  assert.equal(answer.status, status, `${what} ${answer.text.slice(0, 400)}`);
  assert.equal(answer.body.error.code, code, what);
  assert.deepEqual(problemsOf(answer), [], what);
}

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

const patch = async (id: string, expectedRevision: number, changes: unknown, key = fixture.key): Promise<Answer> =>
  await fixture.api('PATCH', `/objects/${id}`, { key, body: { expectedRevision, changes } });
const remove = async (id: string, expectedRevision: number): Promise<Answer> =>
  await fixture.api('DELETE', `/objects/${id}`, { body: { expectedRevision } });
const paths = (answer: Answer): string[] =>
  answer.body.error.details.map((detail: { path: string }) => detail.path).sort();

describe('objects', () => {
  before(async () => {
    fixture = await Fixture.start();
    helper = await fixture.keyOf('helper');
  });
  after(() => fixture?.stop());

  it('lists accessible types and dictionaries (M-1)', async () => {
    const { types } = accepted(await fixture.api('GET', '/metadata/types'));
    const ticket = types.find((type: { code: string }) => type.code === 'ticket');
    assert.deepEqual(Object.keys(ticket).sort(), ['code', 'id', 'name', 'objectCategory']);
    assert.deepEqual([ticket.name, ticket.objectCategory], ['Заявка', 'object']);
    assert.equal(types.find((type: { code: string }) => type.code === 'part').objectCategory, 'dictionary');
    for (const code of ['incident', 'problem', 'request', 'asset']) {
      assert.ok(
        types.some((type: { code: string }) => type.code === code),
        `${code} of the starter`,
      );
    }
    const own = accepted(await fixture.api('GET', '/metadata/types', { key: helper })).types;
    assert.deepEqual(
      own.map((type: { code: string }) => type.code),
      ['ticket'],
    );
    const none = accepted(await fixture.api('GET', '/metadata/types', { key: await fixture.keyOf('outsider') }));
    assert.deepEqual(none, { types: [] });
  });

  it('describes the fields of a type by id or code (M-2)', async () => {
    const byCode = accepted(await fixture.api('GET', '/metadata/types/ticket/fields'));
    assert.deepEqual(accepted(await fixture.api('GET', `/metadata/types/${byCode.id}/fields`)), byCode);
    const subject = byCode.fields.find((field: { code: string }) => field.code === 'subject');
    assert.deepEqual(subject, {
      code: 'subject',
      name: 'Тема',
      dataType: 'string',
      required: true,
      readOnly: false,
      multiple: false,
      constraints: { maxLength: 50 },
    });
    const urgency = byCode.fields.find((field: { code: string }) => field.code === 'urgency');
    assert.deepEqual(
      [urgency.required, urgency.default, urgency.constraints.options.map((option: { code: string }) => option.code)],
      [false, 'low', ['low', 'high']],
    );
    const seen = accepted(await fixture.api('GET', '/metadata/types/ticket/fields', { key: helper })).fields;
    assert.deepEqual(seen.map((field: { code: string }) => field.code).sort(), ['open', 'subject', 'urgency']);
    assert.equal(seen.find((field: { code: string }) => field.code === 'urgency').readOnly, true);
    for (const type of ['nowhere', randomUUID(), '__proto__'])
      refused(await fixture.api('GET', `/metadata/types/${type}/fields`), 404, 'NOT_FOUND', type);
    refused(await fixture.api('GET', '/metadata/types/part/fields', { key: helper }), 404, 'NOT_FOUND');
  });

  it('creates records (O-2)', async () => {
    const answer = await fixture.api('POST', '/objects', {
      body: {
        typeDefinitionId: 'ticket',
        values: { subject: 'Ёлка', hours: '1.50', due: '2026-11-21T12:15:00+03:00' },
      },
    });
    const made = accepted(answer, 201);
    assert.match(made.id, UUID);
    assert.equal(made.revision, 1);
    assert.equal(made.state, 'ACTIVE');
    assert.deepEqual(made.values, {
      subject: 'Ёлка',
      hours: '1.5',
      due: '2026-11-21T09:15:00.000Z',
      urgency: 'low',
      open: true,
    });
    assert.match(made.number, /^TCK\d{7}$/);
    assert.deepEqual([made.title, made.typeCode, made.workflowState.code], ['Ёлка', 'ticket', 'fresh']);
    assert.match(made.createdAt, INSTANT);
    assert.deepEqual(made.createdBy.displayName, 'Главный');
    assert.deepEqual(accepted(await fixture.api('GET', `/objects/${made.id}`)), made);
    const byId = await fixture.api('POST', '/objects', {
      body: { typeDefinitionId: made.typeDefinitionId, values: { subject: 'by id' } },
    });
    assert.ok(accepted(byId, 201).number > made.number, 'numbers rise');
  });

  it('requires every required field and a known type', async () => {
    const missing = await fixture.api('POST', '/objects', {
      body: { typeDefinitionId: 'ticket', values: { urgency: 'none', nowhere: 1, hours: true } },
    });
    refused(missing, 400, 'INVALID_VALUES');
    assert.deepEqual(paths(missing), ['/values/hours', '/values/nowhere', '/values/subject', '/values/urgency']);
    for (const body of [
      { values: {} },
      { typeDefinitionId: 'ticket' },
      { typeDefinitionId: 5, values: {} },
      { typeDefinitionId: 'ticket', values: [] },
      { typeDefinitionId: 'nowhere', values: {} },
    ]) {
      refused(await fixture.api('POST', '/objects', { body }), 400, 'INVALID_REQUEST', JSON.stringify(body));
    }
  });

  it('accepts an explicit id once, even if the caller cannot see the existing record', async () => {
    const objectId = randomUUID();
    const body = { typeDefinitionId: 'ticket', objectId, values: { subject: 'explicit', open: false } };
    assert.equal(accepted(await fixture.api('POST', '/objects', { body }), 201).id, objectId);
    for (const key of [fixture.key, helper]) {
      const again = await fixture.api('POST', '/objects', { key, body: { ...body, values: { subject: 'other' } } });
      refused(again, 409, 'ALREADY_EXISTS');
      assert.deepEqual(again.body.error.details, { field: 'objectId' });
    }
    for (const bad of ['x', '', 5, objectId.slice(1)])
      refused(await fixture.api('POST', '/objects', { body: { ...body, objectId: bad } }), 400, 'INVALID_REQUEST');
  });

  it('changes fields at the expected revision (O-4, C-7, E-409)', async () => {
    const { id } = await fixture.create({ hours: '1' });
    const changed = accepted(await patch(id, 1, { subject: 'Другой', hours: null }));
    assert.deepEqual(
      [changed.id, changed.revision, changed.values.subject, changed.title],
      [id, 2, 'Другой', 'Другой'],
    );
    assert.ok(!Object.hasOwn(changed.values, 'hours'));
    const stale = await patch(id, 1, { subject: 'Третий' });
    refused(stale, 409, 'REVISION_CONFLICT');
    const { changedSince } = stale.body.error.details;
    assert.deepEqual(changedSince.map((one: { field: string }) => one.field).sort(), ['hours', 'subject']);
    assert.equal(changedSince[0].actor.displayName, 'Главный');
    assert.match(changedSince[0].at, INSTANT);
    assert.ok(!JSON.stringify(stale.body.error).includes('"revision"'));
    refused(await patch(id, 3, { subject: 'Третий' }), 409, 'REVISION_CONFLICT', 'a revision to come');
    refused(await patch(id, 2, {}), 400, 'INVALID_REQUEST');
    const equal = accepted(await patch(id, 2, { subject: 'Другой' }));
    assert.equal(equal.revision, 2, 'an equal value is no change');
    refused(await patch(randomUUID(), 1, { subject: 'x' }), 404, 'NOT_FOUND');
    refused(
      await patch(id, 2, { workflowState: 'finished' }),
      400,
      'INVALID_VALUES',
      'the state changes by transitions alone',
    );
  });

  it('archives records and never deletes them (C-8, O-5)', async () => {
    const { id } = await fixture.create();
    refused(await remove(id, 2), 409, 'REVISION_CONFLICT');
    const gone = accepted(await remove(id, 1));
    assert.deepEqual([gone.id, gone.revision, gone.state], [id, 2, 'ARCHIVED']);
    const read = accepted(await fixture.api('GET', `/objects/${id}`));
    assert.deepEqual([read.state, read.revision], ['ARCHIVED', 2]);
    assert.match(read.archivedAt, INSTANT);
    refused(await remove(id, 2), 409, 'ARCHIVED', 'again');
    refused(await patch(id, 2, { subject: 'x' }), 409, 'ARCHIVED');
    const ids = async (query: string): Promise<string[]> =>
      accepted(await fixture.api('GET', `/objects?pageSize=100${query}`)).rows.map((row: { id: string }) => row.id);
    assert.ok(!(await ids('')).includes(id));
    assert.ok(!(await ids('&state=ACTIVE')).includes(id));
    assert.ok(!(await ids('&state=fresh')).includes(id), 'a workflow state lists no archived record');
    assert.ok((await ids('&state=ARCHIVED')).includes(id));
  });

  it('lists records newest first, by type and state, in pages (O-1)', async () => {
    const made: string[] = [];
    for (let count = 0; count < 7; count++) made.unshift((await fixture.create({ name: `p${count}` }, 'part')).id);
    const list = async (query: string): Promise<any> =>
      accepted(await fixture.api('GET', `/objects?typeId=part${query}`));
    const all = await list('');
    assert.deepEqual(Object.keys(all).sort(), ['hasMore', 'page', 'pageSize', 'rows']);
    assert.deepEqual(
      all.rows.map((row: { id: string }) => row.id),
      made,
    );
    assert.deepEqual(all.rows[0], accepted(await fixture.api('GET', `/objects/${made[0]}`)));
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(`&pageSize=3&page=${page}`)));
    assert.deepEqual(
      pages.map(({ rows, hasMore }) => [rows.length, hasMore]),
      [
        [3, true],
        [3, true],
        [1, false],
        [0, false],
      ],
    );
    assert.deepEqual(
      pages.flatMap(({ rows }) => rows.map((row: { id: string }) => row.id)),
      made,
    );
    const { typeDefinitionId } = all.rows[0];
    assert.deepEqual(accepted(await fixture.api('GET', `/objects?typeId=${typeDefinitionId}`)).rows.length, 7);
    refused(await fixture.api('GET', '/objects?typeId=nowhere'), 400, 'INVALID_REQUEST');
    refused(await fixture.api('GET', '/objects?state=nowhere'), 400, 'INVALID_REQUEST');
    refused(
      await fixture.api('GET', '/objects?typeId=part', { key: helper }),
      400,
      'INVALID_REQUEST',
      'a type that is not there for them',
    );
    assert.ok(
      accepted(await fixture.api('GET', '/objects?state=fresh')).rows.every(
        (row: any) => row.workflowState.code === 'fresh',
      ),
    );
  });

  it('returns the history, oldest first (O-6)', async () => {
    const { id } = await fixture.create({ secret: 'тайна' });
    await patch(id, 1, { subject: 'Второй' });
    await patch(id, 2, { secret: null });
    await remove(id, 3);
    const events = accepted(await fixture.api('GET', `/objects/${id}/history`));
    assert.deepEqual(
      events.map((event: any) => [event.type, event.revision]),
      [
        ['ObjectCreated', 1],
        ['ObjectUpdated', 2],
        ['ObjectUpdated', 3],
        ['ObjectArchived', 4],
      ],
    );
    assert.deepEqual(events[1].changes, [{ field: 'subject', from: 'Принтер', to: 'Второй' }]);
    assert.deepEqual(events[2].changes, [{ field: 'secret', from: 'тайна', to: null }]);
    for (const event of events) {
      assert.deepEqual(Object.keys(event).sort(), ['actor', 'at', 'changes', 'data', 'id', 'revision', 'type']);
      assert.deepEqual([event.actor.displayName, event.actor.via], ['Главный', 'api']);
    }
    refused(
      await fixture.api('GET', `/objects/${id}/history`, { key: helper }),
      403,
      'RIGHT_MISSING',
      'the right to read is not enough',
    );
    refused(await fixture.api('GET', `/objects/${randomUUID()}/history`), 404, 'NOT_FOUND');
  });

  it('describes the fields of one record without values (M-3)', async () => {
    const { id } = await fixture.create({ secret: 'тайна' });
    const schema = accepted(await fixture.api('GET', `/objects/${id}/schema`));
    assert.equal(schema.id, id);
    assert.deepEqual(
      schema.fields.map((field: { code: string }) => field.code),
      ['subject', 'urgency', 'hours', 'due', 'parts', 'open', 'secret'],
    );
    assert.ok(!JSON.stringify(schema).includes('тайна'));
    const seen = accepted(await fixture.api('GET', `/objects/${id}/schema`, { key: helper })).fields;
    assert.deepEqual(
      seen.map((field: any) => [field.code, field.readOnly]),
      [
        ['subject', false],
        ['urgency', true],
        ['open', false],
      ],
    );
  });

  it('shows each caller only what they may see (A-2, O-3)', async () => {
    const shown = await fixture.create({ secret: 'тайна', hours: '3' });
    const hidden = await fixture.create({ open: false });
    const seen = accepted(await fixture.api('GET', `/objects/${shown.id}`, { key: helper }));
    assert.deepEqual(seen.values, { subject: 'Принтер', urgency: 'low', open: true });
    refused(await fixture.api('GET', `/objects/${hidden.id}`, { key: helper }), 404, 'NOT_FOUND');
    refused(await patch(hidden.id, 1, { subject: 'x' }, helper), 404, 'NOT_FOUND');
    refused(
      await fixture.api('DELETE', `/objects/${shown.id}`, { key: helper, body: { expectedRevision: 1 } }),
      403,
      'RIGHT_MISSING',
    );
    const rows = accepted(await fixture.api('GET', '/objects?pageSize=100', { key: helper })).rows;
    assert.ok(rows.some((row: { id: string }) => row.id === shown.id));
    assert.ok(rows.every((row: any) => row.values.open === true && !Object.hasOwn(row.values, 'secret')));
    const readOnly = await patch(shown.id, 1, { urgency: 'high' }, helper);
    refused(readOnly, 403, 'FIELD_READ_ONLY');
    const secret = await patch(shown.id, 1, { secret: 'x' }, helper);
    const nowhere = await patch(shown.id, 1, { nowhere: 'x' }, helper);
    refused(secret, 400, 'INVALID_VALUES');
    assert.deepEqual(JSON.parse(JSON.stringify(secret.body.error).replaceAll('secret', 'nowhere')), nowhere.body.error);
    const away = accepted(await patch(shown.id, 1, { open: false }, helper));
    assert.deepEqual(
      [away.revision, away.values, away.title],
      [2, {}, null],
      'a change may take a record out of sight',
    );
    refused(await fixture.api('GET', `/objects/${shown.id}`, { key: helper }), 404, 'NOT_FOUND');
  });

  it('accepts references only to existing records that the caller may read', async () => {
    const part = await fixture.create({ name: 'Картридж' }, 'part');
    const other = await fixture.create();
    const ok = accepted(
      await fixture.api('POST', '/objects', {
        body: { typeDefinitionId: 'ticket', values: { subject: 'x', parts: [part.id] } },
      }),
      201,
    );
    assert.deepEqual(ok.values.parts, [part.id]);
    for (const parts of [[other.id], [randomUUID()], ['Картридж'], [part.id, part.id], part.id]) {
      const answer = await fixture.api('POST', '/objects', {
        body: { typeDefinitionId: 'ticket', values: { subject: 'x', parts } },
      });
      refused(answer, 400, 'INVALID_VALUES', JSON.stringify(parts));
      assert.ok(paths(answer).every((path) => path.startsWith('/values/parts')));
    }
  });

  it('replays a repeated create with an Idempotency-Key without a second effect (I-1)', async () => {
    const body = { typeDefinitionId: 'ticket', values: { subject: 'keyed' } };
    const send = (given: unknown): Promise<Answer> =>
      fixture.api('POST', '/objects', { body: given, headers: { 'idempotency-key': 'order-17' } });
    const first = await send(body);
    const second = await send({ values: { subject: 'keyed' }, typeDefinitionId: 'ticket' });
    assert.deepEqual(accepted(second, 201), accepted(first, 201));
    assert.equal(second.headers.get('idempotency-replayed'), 'true');
    assert.notEqual(second.body.meta.correlationId, first.body.meta.correlationId);
    refused(await send({ ...body, values: { subject: 'other' } }), 409, 'IDEMPOTENCY_KEY_REUSED');
    const rows = accepted(await fixture.api('GET', '/objects?pageSize=100')).rows;
    assert.equal(rows.filter((row: { title: string }) => row.title === 'keyed').length, 1);
    for (const key of ['', 'x'.repeat(256), 'a b']) {
      const headers = { 'idempotency-key': key };
      refused(await fixture.api('POST', '/objects', { body, headers }), 400, 'INVALID_IDEMPOTENCY_KEY');
    }
  });

  it('answers a dry run as the call would, with its effects, and keeps nothing (O-dry-run)', async () => {
    const { id } = await fixture.create({ urgency: 'low', secret: 'тайна' });
    const dry = (method: string, place: string, body: unknown, key = fixture.key): Promise<Answer> =>
      fixture.api(method, `${place}?dryRun=true`, { key, body });
    const body = { expectedRevision: 1, changes: { subject: 'Сканер', secret: 'иная' } };
    const tried = await dry('PATCH', `/objects/${id}`, body);
    assert.equal(accepted(tried).revision, 2);
    const { dryRun, effects } = tried.body.meta;
    const [event] = effects.events;
    assert.deepEqual([dryRun, event.type, event.objectId, event.revision], [true, 'ObjectUpdated', id, 2]);
    assert.deepEqual(event.changes.map(({ field, from, to }: any) => [field, from, to]).sort(), [
      ['secret', 'тайна', 'иная'],
      ['subject', 'Принтер', 'Сканер'],
    ]);
    assert.deepEqual(accepted(await patch(id, 1, body.changes)).values, tried.body.data.values);
    const made = { typeDefinitionId: 'ticket', values: { subject: 'only tried' } };
    const { id: never, number } = accepted(await dry('POST', '/objects', made), 201);
    assert.equal(number, null);
    refused(await fixture.api('GET', `/objects/${never}`), 404, 'NOT_FOUND');
    refused(await dry('PATCH', `/objects/${id}`, body), 409, 'REVISION_CONFLICT');
    refused(await dry('DELETE', `/objects/${id}`, { expectedRevision: 2 }, helper), 403, 'RIGHT_MISSING');
    refused(await fixture.api('GET', '/objects?dryRun=true'), 400, 'INVALID_REQUEST');
    const headers = { 'idempotency-key': 'tried' };
    refused(await fixture.api('POST', '/objects?dryRun=true', { body: made, headers }), 400, 'INVALID_REQUEST');
  });

  it('shows a record as of a revision or a moment, and what changed between revisions (O-as-of)', async () => {
    const first = await fixture.create({ hours: '1' });
    const second = accepted(await patch(first.id, 1, { subject: 'Сканер', hours: null }));
    accepted(await patch(first.id, 2, { hours: '2' }));
    const asOf = (query: string, key = fixture.key): Promise<Answer> =>
      fixture.api('GET', `/objects/${first.id}${query}`, { key });
    for (const then of [first, second]) {
      const answer = await asOf(`?revision=${then.revision}`);
      assert.deepEqual(accepted(answer), then);
      assert.deepEqual(answer.body.meta.asOf, { revision: then.revision, at: then.updatedAt });
    }
    assert.equal(accepted(await asOf(`?at=${new Date().toISOString()}`)).revision, 3);
    assert.deepEqual(
      accepted(await asOf('/diff?from=1&to=3')).changes.map(({ field, from, to }: any) => [field, from, to]),
      [
        ['subject', 'Принтер', 'Сканер'],
        ['hours', '1', '2'],
      ],
    );
    refused(await asOf('?revision=4'), 404, 'NOT_FOUND');
    refused(await asOf(`?revision=1&at=${first.createdAt}`), 400, 'INVALID_REQUEST');
    refused(await asOf('?revision=1', helper), 403, 'RIGHT_MISSING', 'the history is not for everybody');
  });
});
