/** Relations through HTTP, rule by rule (docs/spec/around-records.md#relations). */
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
import type { TestAnswer } from '../../../test/support/app.ts';

const CALLERS = 32;
let around: RecordFixture;

const at = (made: Made): string => `/objects/${made.id}/relations`;

function relate(source: Made, code: string, target: Made, who: FixtureUser = 'chief'): Promise<TestAnswer> {
  return around.call(who, 'POST', at(source), { definitionId: around.id(code), targetObjectId: target.id });
}

async function related(source: Made, code: string, target: Made): Promise<string> {
  const answer = await relate(source, code, target);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.data.relation.id;
}

async function listed(made: Made, direction = '', who: FixtureUser = 'chief'): Promise<any[]> {
  return await around.ok(who, 'GET', `${at(made)}${direction && `?direction=${direction}`}`);
}

const many = (count: number, type: 'case' | 'problem' = 'case'): Promise<Made[]> =>
  concurrently(count, () => around.make({}, type));

const standing = async (code: string, made: readonly Made[]): Promise<number> => {
  const [row] = await around.rows<{ n: number }>(
    `SELECT count(*)::int AS n FROM relations WHERE definition_id = $1 AND state = 'ACTIVE' AND source_id = ANY($2)`,
    [around.id(code), made.map(({ id }) => id)],
  );
  return row?.n ?? 0;
};

describe('relations', () => {
  before(async () => {
    around = await startRecordFixture();
  });
  after(() => around.close());

  it('appear in both directions, each with its own name', async () => {
    const source = await around.make({ title: 'The case' });
    const target = await around.make({ title: 'The problem' }, 'problem');
    const added = await around.ok('chief', 'POST', at(source), {
      definitionId: around.id('about'),
      targetObjectId: target.id,
    });
    const { id } = added.relation;
    assert.deepEqual(added, { relation: { id, revision: 1 }, idempotent: false });
    const [outgoing] = await listed(source);
    const { createdAt, ...rest } = outgoing;
    assert.match(createdAt, /^20.*Z$/);
    assert.deepEqual(rest, {
      id,
      definitionId: around.id('about'),
      definitionCode: 'about',
      name: 'Is about',
      direction: 'outgoing',
      sourceObjectId: source.id,
      targetObjectId: target.id,
      related: { id: target.id, number: null, title: 'The problem', state: 'ACTIVE' },
      revision: 1,
      state: 'ACTIVE',
    });
    const [incoming] = await listed(target, 'incoming');
    assert.deepEqual([incoming.id, incoming.name, incoming.direction], [id, 'Has', 'incoming']);
    assert.deepEqual([incoming.related.title, incoming.related.number.slice(0, 4)], ['The case', 'CASE']);
    assert.deepEqual([await listed(source, 'incoming'), await listed(target, 'outgoing')], [[], []]);
    for (const direction of ['', 'both', 'Incoming']) {
      assertRejected(await around.call('chief', 'GET', `${at(source)}?direction=${direction}`), 400, 'INVALID_REQUEST');
    }
    for (const made of [source, target]) {
      assert.equal((await around.ok('chief', 'GET', `/objects/${made.id}`)).revision, 1);
    }
  });

  it('are returned if they already exist, and can be created again after removal', async () => {
    const [source, target] = (await many(2)) as [Made, Made];
    const id = await related(source, 'about', target);
    const again = await relate(source, 'about', target);
    assert.equal(again.status, 201);
    assert.deepEqual(again.body.data, { relation: { id, revision: 1 }, idempotent: true });
    const one = `/relations/${id}`;
    assertRejected(await around.call('chief', 'DELETE', one, { expectedRevision: 2 }), 409, 'REVISION_CONFLICT');
    const removals = await concurrently(8, () => around.call('chief', 'DELETE', one, { expectedRevision: 1 }));
    assert.deepEqual(countOutcomes(removals), { 200: 1, '409 ARCHIVED': 7 });
    const removed = removals.find(({ status }) => status === 200);
    assert.deepEqual(removed?.body.data, { id, state: 'ARCHIVED', revision: 2 });
    assertRejected(await around.call('chief', 'DELETE', one, { expectedRevision: 2 }), 409, 'ARCHIVED');
    assert.deepEqual(await listed(source), []);
    const recreated = await relate(source, 'about', target);
    assert.equal(recreated.body.data.idempotent, false);
    assert.notEqual(recreated.body.data.relation.id, id);
    const back = await relate(target, 'about', source);
    assert.equal(back.body.data.idempotent, false, 'the other way round is another relation');
    const events = await around.ok<{ type: string }[]>('chief', 'GET', `/objects/${source.id}/history`);
    const kinds = events.map(({ type }) => type);
    assert.deepEqual(kinds, ['ObjectCreated', 'RelationAdded', 'RelationArchived', 'RelationAdded']);
  });

  it('are rejected for an invalid source, target or definition', async () => {
    const [source, target] = (await many(2)) as [Made, Made];
    const problem = await around.make({}, 'problem');
    const cases: [Made, string, Made, string][] = [
      [source, randomUUID(), target, '/definitionId'],
      [source, around.id('over'), target, '/definitionId'],
      [problem, around.id('about'), target, '/definitionId'],
      [source, around.id('caused-by'), target, '/targetObjectId'],
      [source, around.id('about'), source, '/targetObjectId'],
      [source, around.id('about'), { ...target, id: randomUUID() }, '/targetObjectId'],
    ];
    for (const [from, definitionId, to, where] of cases) {
      const answer = await around.call('chief', 'POST', at(from), { definitionId, targetObjectId: to.id });
      assertRejected(answer, 400, 'INVALID_REQUEST', where);
      assert.equal(answer.body.error.details[0].path, where);
    }
    for (const body of [
      {},
      { definitionId: around.id('about') },
      { definitionId: 'about', targetObjectId: target.id },
    ]) {
      assertRejected(await around.call('chief', 'POST', at(source), body), 400, 'INVALID_REQUEST');
    }
  });

  it('are visible only if the caller can read both ends', async () => {
    const source = await around.make();
    const shown = await around.make({ kind: 'a' }, 'problem');
    const hidden = await around.make({ kind: 'b', title: 'Hidden' }, 'problem');
    const absent = { ...hidden, id: randomUUID() };
    assertSameError(await relate(source, 'about', hidden, 'agent'), await relate(source, 'about', absent, 'agent'));
    const seen = await related(source, 'about', shown);
    const unseen = await related(source, 'about', hidden);
    assert.deepEqual(
      (await listed(source, '', 'agent')).map(({ id }) => id),
      [seen],
    );
    assert.equal((await listed(source)).length, 2);
    const removal = await around.call('agent', 'DELETE', `/relations/${unseen}`, { expectedRevision: 1 });
    assertRejected(removal, 404, 'NOT_FOUND');
    assertSameError(
      removal,
      await around.call('agent', 'DELETE', `/relations/${randomUUID()}`, { expectedRevision: 1 }),
    );
    assertRejected(await around.call('viewer', 'GET', at(hidden)), 404, 'NOT_FOUND');
    const history = await around.call('agent', 'GET', `/objects/${source.id}/history`);
    assert.ok(history.body.data.some(({ data }: any) => data.relationId === seen));
    assert.ok(!JSON.stringify(history.body).includes(hidden.id));
    const dark = await around.make({ kind: 'b' });
    const bright = await around.make({ kind: 'a' });
    await related(dark, 'about', bright);
    assert.deepEqual(await listed(bright, 'incoming', 'viewer'), []);
    const titled = await around.make({ kind: 'a', title: 'A title' });
    await related(bright, 'about', titled);
    const [relation] = await listed(bright, 'outgoing', 'viewer');
    assert.equal(relation.related.title, null, 'a hidden title is null here too');
    assert.ok(!JSON.stringify(await listed(bright, 'outgoing', 'viewer')).includes('A title'));
  });

  it('require the right on the source', async () => {
    const [source, target] = (await many(2)) as [Made, Made];
    const id = await related(source, 'about', target);
    const denied = await relate(source, 'about', target, 'viewer');
    assertRejected(denied, 403, 'RIGHT_MISSING');
    assert.deepEqual(denied.body.error.details, { right: 'relation.create' });
    const removal = await around.call('viewer', 'DELETE', `/relations/${id}`, { expectedRevision: 9 });
    assertRejected(removal, 403, 'RIGHT_MISSING');
    assert.deepEqual(removal.body.error.details, { right: 'relation.delete' });
    assertRejected(await relate({ ...source, id: randomUUID() }, 'about', target), 404, 'NOT_FOUND');
  });

  it('of archived records cannot be changed', async () => {
    const [source, target, other] = (await many(3)) as [Made, Made, Made];
    const id = await related(source, 'about', target);
    await around.archive(target);
    assertRejected(await relate(other, 'about', target), 409, 'ARCHIVED');
    assert.equal((await listed(source))[0].related.state, 'ARCHIVED');
    await around.archive(source);
    assertRejected(await relate(source, 'about', other), 409, 'ARCHIVED');
    assertRejected(await around.call('chief', 'DELETE', `/relations/${id}`, { expectedRevision: 1 }), 409, 'ARCHIVED');
    assert.equal((await listed(source)).length, 1);
    const [one, two] = (await many(2)) as [Made, Made];
    const archived = `UPDATE objects SET state = 'ARCHIVED', revision = revision + 1, archived_at = now() WHERE id = $1`;
    assertRejected(
      await duringUncommittedChange(around, archived, [two.id], () => relate(one, 'about', two)),
      409,
      'ARCHIVED',
    );
    const [three, four] = (await many(2)) as [Made, Made];
    assertRejected(
      await duringUncommittedChange(around, archived, [three.id], () => relate(three, 'about', four)),
      409,
      'ARCHIVED',
    );
  });

  it('respect the cardinality at each end', async () => {
    for (const [code, sourceOnce, targetOnce] of [
      ['about', false, false],
      ['caused-by', true, false],
      ['splits', false, true],
      ['twin', true, true],
    ] as const) {
      const type = code === 'caused-by' ? 'problem' : 'case';
      const [a, b] = (await many(2)) as [Made, Made];
      const [x, y] = (await many(2, type)) as [Made, Made];
      const id = await related(a, code, x);
      const more = await relate(a, code, y);
      const shared = await relate(b, code, x);
      for (const [answer, once] of [
        [more, sourceOnce],
        [shared, targetOnce],
      ] as const) {
        if (once) assertRejected(answer, 409, 'RELATION_CARDINALITY', code);
        else assert.equal(answer.status, 201, code);
      }
      assert.equal((await relate(a, code, x)).body.data.idempotent, true, 'the very same is no further one');
      await around.ok('chief', 'DELETE', `/relations/${id}`, { expectedRevision: 1 });
      const [c] = (await many(1)) as [Made];
      if (sourceOnce || targetOnce) assert.equal((await relate(sourceOnce ? a : c, code, x)).status, 201, 'room again');
    }
  });

  it(`are created once by ${CALLERS} concurrent callers`, async () => {
    const [source, target] = (await many(2)) as [Made, Made];
    const answers = await concurrently(CALLERS, () => relate(source, 'about', target));
    assert.deepEqual(countOutcomes(answers), { 201: CALLERS });
    assert.equal(new Set(answers.map(({ body }) => body.data.relation.id)).size, 1);
    assert.equal(answers.filter(({ body }) => body.data.idempotent === false).length, 1);
    assert.equal(await standing('about', [source]), 1);
    const events = await around.rows(`SELECT 1 FROM journal WHERE object_id = $1 AND type = 'RelationAdded'`, [
      source.id,
    ]);
    assert.equal(events.length, 1);
  });

  it(`respect each cardinality with ${CALLERS} concurrent callers`, async () => {
    const full = { 201: 1, '409 RELATION_CARDINALITY': CALLERS - 1 };
    const [center] = (await many(1)) as [Made];
    const around32 = await many(CALLERS);
    const problems = await many(CALLERS, 'problem');
    assert.deepEqual(
      countOutcomes(await concurrently(CALLERS, (i) => relate(center, 'caused-by', problems[i] as Made))),
      full,
    );
    assert.deepEqual(
      countOutcomes(await concurrently(CALLERS, (i) => relate(around32[i] as Made, 'splits', center))),
      full,
    );
    assert.deepEqual(
      countOutcomes(await concurrently(CALLERS, (i) => relate(around32[i] as Made, 'twin', center))),
      full,
    );
    const [other] = (await many(1)) as [Made];
    assert.deepEqual(
      countOutcomes(await concurrently(CALLERS, (i) => relate(other, 'twin', around32[i] as Made))),
      full,
    );
    const free = await concurrently(CALLERS, (i) => relate(center, 'splits', around32[i] as Made));
    assert.deepEqual(countOutcomes(free), { 201: CALLERS });
  });

  it('never form a cycle, however many are created concurrently', async () => {
    const cycle = await many(CALLERS);
    const next = (i: number): Made => cycle[(i + 1) % CALLERS] as Made;
    const closing = await concurrently(CALLERS, (i) => relate(cycle[i] as Made, 'after', next(i)));
    assert.deepEqual(countOutcomes(closing), { 201: CALLERS - 1, '409 RELATION_CYCLE': 1 });
    const pairs = await concurrently(20, async () => (await many(2)) as [Made, Made]);
    const both = await Promise.all(pairs.flatMap(([a, b]) => [relate(a, 'after', b), relate(b, 'after', a)]));
    assert.deepEqual(countOutcomes(both), { 201: 20, '409 RELATION_CYCLE': 20 });
    const [a, b, c] = (await many(3)) as [Made, Made, Made];
    const id = await related(a, 'after', b);
    await related(b, 'after', c);
    assertRejected(await relate(c, 'after', a), 409, 'RELATION_CYCLE');
    await around.ok('chief', 'DELETE', `/relations/${id}`, { expectedRevision: 1 });
    await related(c, 'after', a);
    await related(b, 'about', a);
    await related(a, 'about', b);
  });

  it('cannot be removed while the field refers to the target', async () => {
    const problem = await around.make({}, 'problem');
    const source = await around.make({ cause: problem.id });
    const id = await related(source, 'held-by', problem);
    const remove = () => around.call('chief', 'DELETE', `/relations/${id}`, { expectedRevision: 1 });
    assertRejected(await remove(), 409, 'RELATION_REQUIRED_BY_FIELD');
    const change = (expectedRevision: number, changes: object) =>
      around.call('chief', 'PATCH', `/objects/${source.id}`, { expectedRevision, changes });
    assert.equal((await change(1, { cause: null })).status, 200);
    assert.equal((await remove()).status, 200);
    const others = await around.make({}, 'problem');
    const listing = await around.make({ causes: [others.id, problem.id] });
    const held = await related(listing, 'caused-by', problem);
    const removal = await around.call('chief', 'DELETE', `/relations/${held}`, { expectedRevision: 1 });
    assertRejected(removal, 409, 'RELATION_REQUIRED_BY_FIELD', 'one of several');
  });

  it('are either removed or referenced by the field when both happen concurrently', async () => {
    const problem = await around.make({}, 'problem');
    const outcomes = await concurrently(16, async () => {
      const source = await around.make();
      const id = await related(source, 'held-by', problem);
      const changes = { cause: problem.id };
      const [removed] = await Promise.all([
        around.call('chief', 'DELETE', `/relations/${id}`, { expectedRevision: 1 }),
        around.ok('chief', 'PATCH', `/objects/${source.id}`, { expectedRevision: 1, changes }),
      ]);
      const events = await around.rows<{ type: string }>(
        `SELECT type FROM journal WHERE object_id = $1 AND type IN ('ObjectUpdated', 'RelationArchived') ORDER BY at, seq`,
        [source.id],
      );
      return { removed, events: events.map(({ type }) => type) };
    });
    for (const { removed, events } of outcomes) {
      if (removed.status === 200) assert.equal(events.length, 2);
      else assertRejected(removed, 409, 'RELATION_REQUIRED_BY_FIELD');
    }
    const held = await around.make();
    const id = await related(held, 'held-by', problem);
    const set = `UPDATE objects SET revision = revision + 1, "values" = "values" || jsonb_build_object('cause', $2::text) WHERE id = $1`;
    const answer = await duringUncommittedChange(around, set, [held.id, problem.id], () =>
      around.call('chief', 'DELETE', `/relations/${id}`, { expectedRevision: 1 }),
    );
    assertRejected(answer, 409, 'RELATION_REQUIRED_BY_FIELD');
  });

  it('replay the stored response for an Idempotency-Key', async () => {
    const [source, target] = (await many(2)) as [Made, Made];
    const body = { definitionId: around.id('about'), targetObjectId: target.id };
    const keyed = () => around.call('chief', 'POST', at(source), body, { idempotencyKey: 'relate' });
    const first = await keyed();
    const replayed = await keyed();
    assert.deepEqual(replayed.body.data, first.body.data);
    assert.equal(replayed.body.data.idempotent, false);
    assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
    assert.equal((await relate(source, 'about', target)).body.data.idempotent, true);
    await around.ok('chief', 'DELETE', `/relations/${first.body.data.relation.id}`, { expectedRevision: 1 });
    assert.deepEqual((await keyed()).body.data, first.body.data);
    assert.equal(await standing('about', [source]), 0, 'a replay makes nothing');
  });

  it('have definitions that are listed to callers who can use them', async () => {
    const codes = async (who: FixtureUser, query = ''): Promise<string[]> =>
      (await around.ok<{ code: string }[]>(who, 'GET', `/relation-definitions${query}`)).map(({ code }) => code).sort();
    const all = ['about', 'after', 'caused-by', 'held-by', 'splits', 'twin'];
    assert.deepEqual(await codes('chief'), all);
    assert.deepEqual(await codes('stranger'), []);
    const source = await around.make();
    const problem = await around.make({}, 'problem');
    assert.deepEqual(await codes('agent', `?sourceObjectId=${source.id}`), all);
    assert.deepEqual(await codes('chief', `?sourceObjectId=${problem.id}`), []);
    const path = `/relation-definitions?sourceObjectId=`;
    assertRejected(await around.call('viewer', 'GET', path + source.id), 403, 'RIGHT_MISSING');
    assertRejected(await around.call('stranger', 'GET', path + source.id), 404, 'NOT_FOUND');
    assertRejected(await around.call('chief', 'GET', `${path}x`), 400, 'INVALID_REQUEST');
    const [about] = await around.ok<any[]>('chief', 'GET', '/relation-definitions');
    const types = await around.ok('chief', 'GET', '/metadata/types');
    const idOf = (code: string) => types.types.find((type: { code: string }) => type.code === code).id;
    const { id: _, ...rest } = about;
    assert.deepEqual(rest, {
      code: 'about',
      name: 'Is about',
      inverseName: 'Has',
      sourceTypeIds: [idOf('case')],
      targetTypeIds: [idOf('problem'), idOf('case')],
      cardinality: 'many-to-many',
      acyclic: false,
      active: true,
    });
    const [limited] = await around.ok<any[]>('viewer', 'GET', '/relation-definitions');
    assert.deepEqual(limited.targetTypeIds, [idOf('case')], 'a type out of reach is not named');
  });
});
