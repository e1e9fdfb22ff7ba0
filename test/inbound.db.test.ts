/** Calls from outside (docs/spec/webhooks-and-inbound.md#inbound-integrations). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { purgeRuns } from '../src/domain/inbound/store.ts';
import type { TestAnswer } from './support/app.ts';
import {
  assertSameError,
  type RecordFixture,
  assertRejected,
  countOutcomes,
  concurrently,
} from './support/record-fixture.ts';
import {
  COMMENT,
  CREATE,
  direct,
  type InboundFixture,
  startInboundFixture,
  UPDATE,
} from './support/inbound-fixture.ts';

let fixture: InboundFixture;
let around: RecordFixture;
let people: Record<string, string>;

describe('inbound calls', () => {
  before(async () => {
    fixture = await startInboundFixture();
    ({ around, people } = fixture);
  });
  after(() => around.close());

  it('return what the matching endpoint returns, for every caller and error', async () => {
    const [create, update, comment] = [
      await fixture.integration(CREATE),
      await fixture.integration(UPDATE),
      await fixture.integration(COMMENT),
    ];
    const taken = (await around.make()).id;
    const creates: object[] = [
      { title: 'A', kind: 'a' },
      { title: 'A', kind: 'a', count: 5, note: 'n', day: '2026-11-21' },
      {},
      { title: null },
      { title: 7, kind: 'zzz', count: -1, day: 'today' },
      { title: 'A', secret: 'x' },
      { title: 'A', grade: 'x', kind: 'a' },
      { title: 'A', cause: randomUUID() },
      { title: 'A', objectId: taken },
      { title: 'A', objectId: 'x' },
      { title: 'A', objectId: 5 },
      { title: 'x'.repeat(101) },
      { title: '\u0001' },
    ];
    for (const who of ['chief', 'agent', 'viewer', 'stranger'] as const) {
      for (const { objectId, ...values } of creates as { objectId?: unknown }[]) {
        const body = { typeDefinitionId: 'case', values, ...(objectId === undefined ? {} : { objectId }) };
        const one = await around.call(who, 'POST', '/objects', body);
        const other = await fixture.call(who, create, { ...values, ...(objectId === undefined ? {} : { objectId }) });
        same(one, other, `${who} creates ${JSON.stringify(body)}`);
      }
      const changes: object[] = [
        { note: 'x' },
        { title: 'A record' },
        {},
        { title: null, count: 'many' },
        { secret: 'x' },
        { grade: 'x' },
        { expectedRevision: 9, note: 'x' },
        { expectedRevision: '1', note: 'x' },
        { expectedRevision: null, note: 'x' },
        { expectedRevision: 0, note: 'x' },
      ];
      for (const change of changes) {
        for (const kind of ['a', 'b']) {
          const [first, second] = [await around.make({ kind }), await around.make({ kind })];
          const { expectedRevision = 1, ...fields } = change as { expectedRevision?: unknown };
          const one = await around.call(who, 'PATCH', `/objects/${first.id}`, { expectedRevision, changes: fields });
          const other = await fixture.call(who, update, { objectId: second.id, expectedRevision, ...fields });
          same(one, other, `${who} changes ${kind} by ${JSON.stringify(change)}`, [first.id, second.id]);
        }
      }
      const comments: object[] = [
        { body: 'x' },
        { body: 'x', visibility: 'public' },
        { body: 'x', visibility: 'internal' },
        { body: '' },
        { body: 5 },
        {},
        { body: 'x', visibility: 'odd' },
        { body: '\u0000' },
      ];
      for (const body of comments.filter((one) => !JSON.stringify(one).includes('u0000'))) {
        for (const kind of ['a', 'b']) {
          const { id } = await around.make({ kind });
          const one = await around.call(who, 'POST', `/objects/${id}/comments`, body);
          const other = await fixture.call(who, comment, { objectId: id, ...body });
          same(one, other, `${who} comments ${kind} with ${JSON.stringify(body)}`);
        }
      }
    }
    const archived = await around.make();
    await around.archive(archived);
    same(
      await around.call('chief', 'POST', `/objects/${archived.id}/comments`, { body: 'x' }),
      await fixture.call('chief', comment, { objectId: archived.id, body: 'x' }),
      'archived',
    );
    for (const objectId of [randomUUID(), 'x', '..%2f']) {
      same(
        await around.call('chief', 'PATCH', `/objects/${encodeURIComponent(objectId)}`, {
          expectedRevision: 1,
          changes: { note: objectId },
        }),
        await fixture.call('chief', update, { objectId, expectedRevision: 1, note: objectId }),
        objectId,
      );
    }
    const upper = taken.toUpperCase();
    const written = { objectId: upper, expectedRevision: 1, note: 'x' };
    assert.equal((await fixture.call('chief', update, written)).body.data.id, taken);
    for (const objectId of [5, null, {}, ['x']]) {
      assertRejected(
        await fixture.call('chief', update, { objectId, expectedRevision: 1, note: 'x' }),
        404,
        'NOT_FOUND',
      );
    }
    const without = await fixture.call('chief', comment, { body: 'x' });
    assertRejected(without, 400, 'INVALID_REQUEST');
    assert.equal(without.body.error.details[0].path, '/objectId');
  });

  /** The same verdict, word for word; on success 201 and the same but for what two records differ in. */
  function same(one: TestAnswer, other: TestAnswer, what: string, ids: string[] = []): void {
    if (one.status >= 300) {
      alikeFor(one, other, what);
      return;
    }
    assert.equal(other.status, 201, `${what}: ${JSON.stringify(other.body)}`);
    const plain = (answer: TestAnswer): unknown => {
      const text = JSON.stringify(answer.body.data, (key, value) => (/^(?:id|number|.*At)$/.test(key) ? '-' : value));
      return JSON.parse(ids.reduce((result, id) => result.replaceAll(id, 'ID'), text));
    };
    const { revision: a, ...first } = plain(one) as { revision: number };
    const { revision: b, ...second } = plain(other) as { revision: number };
    assert.deepEqual(second, first, what);
    assert.ok(a >= 1 && b >= 1);
  }

  function alikeFor(one: TestAnswer, other: TestAnswer, what: string): void {
    try {
      assertSameError(one, other);
    } catch (error) {
      throw new Error(what, { cause: error });
    }
  }

  it("use the rights of the key's owner, not those of the principal", async () => {
    const [create, update, comment] = [
      await fixture.integration(CREATE),
      await fixture.integration(UPDATE),
      await fixture.integration(COMMENT),
    ];
    assertRejected(await fixture.call('stranger', create, { title: 'x' }), 400, 'INVALID_REQUEST');
    const made = await around.make({ kind: 'a' });
    assertRejected(
      await fixture.call('viewer', update, { objectId: made.id, expectedRevision: 1, note: 'x' }),
      403,
      'RIGHT_MISSING',
    );
    assertRejected(
      await fixture.call('agent', comment, { objectId: made.id, body: 'x' }),
      403,
      'RIGHT_MISSING',
      'internal by default',
    );
    const fixed = await fixture.integration({
      ...COMMENT,
      mapping: direct('objectId', 'body'),
      visibility: 'internal',
    });
    assertRejected(
      await fixture.call('agent', fixed, { objectId: made.id, body: 'x' }),
      403,
      'RIGHT_MISSING',
      'internal as configured',
    );
    const open = await fixture.integration({ ...COMMENT, visibility: 'public' });
    assert.equal((await fixture.call('agent', open, { objectId: made.id, body: 'x' })).body.data.visibility, 'public');
    const [event] = await around.rows<any>(
      'SELECT actor_id, via FROM journal WHERE object_id = $1 ORDER BY seq DESC LIMIT 1',
      [made.id],
    );
    assert.deepEqual(event, { actor_id: people['agent'], via: 'inbound' });
    const elsewhere = await around.app.createKey({ login: 'chief', scopes: ['objects:write'] });
    const answer = await around.app.request('POST', `/api/v1/inbound/${create}`, {
      key: elsewhere.key,
      body: { title: 'x' },
    });
    assertRejected(answer, 403, 'SCOPE_MISSING');
    assertRejected(await fixture.call('chief', randomUUID(), {}), 404, 'NOT_FOUND');
    assertRejected(await fixture.call('chief', 'x', {}), 404, 'NOT_FOUND');
  });

  it('accept any JSON and map own properties only', async () => {
    const id = await fixture.integration({
      ...CREATE,
      mapping: [
        { source: 'alerts.0.labels.host', target: 'title' },
        { source: 'constructor.name', target: 'note' },
        { source: 'alerts.length', target: 'count' },
      ],
    });
    const made = await fixture.call('chief', id, { alerts: [{ labels: { host: 'db-1' } }, 2] });
    assert.deepEqual(made.body.data.values, { title: 'db-1' });
    for (const body of [[], {}, '"text"', 5, 'null', true])
      assertRejected(await fixture.call('chief', id, body), 400, 'INVALID_VALUES');
    assertRejected(await fixture.call('chief', id, '{"__proto__": {"title": 1}}'), 400, 'INVALID_JSON');
  });

  it('run once per Idempotency-Key and replay what the caller may still see', async () => {
    const id = await fixture.integration(CREATE);
    const answers = await concurrently(32, () => fixture.call('chief', id, { title: 'Once', secret: 's' }, 'key-1'));
    assert.ok(answers.every(({ status, body }) => status === 201 || body.error.code === 'IDEMPOTENCY_IN_PROGRESS'));
    const ids = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.data.id));
    assert.equal(ids.size, 1);
    const replay = await fixture.call('chief', id, { secret: 's', title: 'Once' }, 'key-1');
    assert.deepEqual([replay.status, replay.headers.get('idempotency-replayed')], [201, 'true']);
    assertRejected(await fixture.call('chief', id, { title: 'Other' }, 'key-1'), 409, 'IDEMPOTENCY_KEY_REUSED');
    assert.equal((await fixture.runs(id, '?status=SUCCEEDED')).length, 1);
    const second = await fixture.integration(CREATE);
    assert.ok(
      !ids.has((await fixture.call('chief', second, { title: 'Once', secret: 's' }, 'key-1')).body.data.id),
      'its own space',
    );
    const failing = await fixture.call('chief', id, { title: null }, 'key-2');
    assertRejected(failing, 400, 'INVALID_VALUES');
    assert.equal((await fixture.call('chief', id, { title: 'Now' }, 'key-2')).status, 201, 'failures are not kept');
    const remark = await fixture.integration({ ...COMMENT, visibility: 'internal' });
    const made = await around.make();
    const first = await fixture.call('chief', remark, { objectId: made.id, body: 'x' }, 'key-3');
    assert.deepEqual(
      (await fixture.call('chief', remark, { objectId: made.id, body: 'x' }, 'key-3')).body.data,
      first.body.data,
    );
    await fixture.admin('POST', `/integrations/${id}/disable`);
    assertRejected(
      await fixture.call('chief', id, { secret: 's', title: 'Once' }, 'key-1'),
      409,
      'INTEGRATION_DISABLED',
      'a replay too',
    );
  });

  it('accept one of many concurrent calls per revision', async () => {
    const id = await fixture.integration(UPDATE);
    const made = await around.make();
    const answers = await concurrently(32, (n) =>
      fixture.call('chief', id, { objectId: made.id, expectedRevision: 1, note: `n${n}` }),
    );
    assert.deepEqual(countOutcomes(answers), { 201: 1, '409 REVISION_CONFLICT': 31 });
    assert.deepEqual(
      [(await fixture.runs(id, '?status=SUCCEEDED')).length, (await fixture.runs(id, '?status=FAILED')).length],
      [1, 31],
    );
  });

  it('log the reason of each failure and roll back the rest', async () => {
    const id = await fixture.integration(UPDATE);
    const made = await around.make();
    await around.ok('chief', 'PATCH', `/objects/${made.id}`, { expectedRevision: 1, changes: { secret: 'hush' } });
    const before = await around.rows('SELECT count(*)::int AS n FROM journal');
    const bad = await fixture.call('agent', id, { objectId: made.id, expectedRevision: 2, title: null, count: 'hush' });
    const stale = await fixture.call('chief', id, { objectId: made.id, expectedRevision: 1, note: 'x' });
    assert.equal(stale.body.error.details.changedSince[0].field, 'secret');
    assert.deepEqual(await around.rows('SELECT count(*)::int AS n FROM journal'), before);
    const good = await fixture.call('agent', id, { objectId: made.id, expectedRevision: 2, note: 'x' });
    await fixture.admin('POST', `/integrations/${id}/disable`);
    const closed = await fixture.call('agent', id, {});
    const found = await fixture.runs(id);
    assert.deepEqual(
      found.map(({ status, error, owner, objectId }) => [status, error?.code ?? null, owner.displayName, objectId]),
      [
        ['FAILED', 'INTEGRATION_DISABLED', 'Person agent', null],
        ['SUCCEEDED', null, 'Person agent', made.id],
        ['FAILED', 'REVISION_CONFLICT', 'Person chief', null],
        ['FAILED', 'INVALID_VALUES', 'Person agent', null],
      ],
    );
    assert.deepEqual(
      found.map(({ correlationId }) => correlationId),
      [closed, good, stale, bad].map(({ headers }) => headers.get('x-correlation-id')),
    );
    assert.deepEqual(found[3].error, bad.body.error);
    assert.deepEqual(found[2].error.details, {}, 'not what others changed');
    assert.ok(!JSON.stringify(found).includes('hush'), 'no values');
    assert.deepEqual((await fixture.runs(id, '?status=SUCCEEDED')).length, 1);
    assertRejected(await fixture.admin('GET', `/integrations/${randomUUID()}/runs`), 404, 'NOT_FOUND');
    assertRejected(await fixture.admin('GET', `/integrations/${id}/runs?status=ODD`), 400, 'INVALID_REQUEST');
  });

  it('are logged within limits', async () => {
    const id = await fixture.integration(CREATE, false);
    await around.rows(
      `INSERT INTO inbound_runs (id, integration_id, at, command, status, correlation_id)
       SELECT gen_random_uuid(), $1, now() - make_interval(mins => n), 'object.create', 'FAILED', n::text FROM generate_series(0, 250) n`,
      [id],
    );
    assert.equal((await fixture.runs(id)).length, 100);
    const left = async (): Promise<number> =>
      (await around.rows('SELECT 1 FROM inbound_runs WHERE integration_id = $1', [id])).length;
    const others = (await around.rows('SELECT 1 FROM inbound_runs')).length - 251;
    assert.equal(await purgeRuns(around.app.db, new Date(Date.now() - 200.5 * 60_000).toISOString(), 1000), false);
    assert.equal(await left(), 201);
    await purgeRuns(around.app.db, '2000-01-01T00:00:00.000Z', 120);
    assert.equal(await left(), 120);
    assert.deepEqual((await fixture.runs(id)).map(({ correlationId }) => correlationId).slice(0, 3), ['0', '1', '2']);
    assert.equal((await around.rows('SELECT 1 FROM inbound_runs')).length - 120, others, 'others keep theirs');
  });

  it('can be tested without a lasting effect', async () => {
    const id = await fixture.integration(
      {
        ...CREATE,
        mapping: [
          { source: 'a.b', target: 'title' },
          { source: 'n', target: 'count' },
        ],
      },
      false,
    );
    const attempt = (body: unknown) => fixture.admin('POST', `/integrations/${id}/try`, { body });
    const tables = 'objects, journal, inbound_runs, idempotency'.split(', ');
    const sizes = async (): Promise<number[]> =>
      await Promise.all(tables.map(async (table) => (await around.rows(`SELECT 1 FROM ${table}`)).length));
    const before = await sizes();
    const good = (await attempt({ a: { b: 'From outside' }, n: 3 })).body.data;
    assert.deepEqual([good.command, good.status, good.error], ['object.create', 201, null]);
    assert.deepEqual(good.request.body.values, { title: 'From outside', count: 3 });
    assert.equal(good.data.values.title, 'From outside');
    const bad = (await attempt({ n: 'many' })).body.data;
    assert.deepEqual([bad.status, bad.data, bad.error.code], [400, null, 'INVALID_VALUES']);
    assert.deepEqual(bad.error.details.map(({ path }: { path: string }) => path).sort(), [
      '/values/count',
      '/values/title',
    ]);
    const short = await fixture.integration(UPDATE, false);
    const refusal = (
      await fixture.admin('POST', `/integrations/${short}/try`, { body: { objectId: 'x', expectedRevision: 'y' } })
    ).body.data;
    assert.deepEqual([refusal.status, refusal.error.code], [400, 'INVALID_REQUEST']);
    assert.deepEqual(
      await sizes(),
      before.map((size, index) => (tables[index] === 'journal' ? size + 1 : size)),
      'but for the integration itself',
    );
  });
});
