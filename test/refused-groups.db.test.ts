/** Changes that are refused again and again, beside those of others: the refusals cost only their author (group commit). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { assertRejected, concurrently, countOutcomes } from './support/record-fixture.ts';
import { type RecordFixture, startRecordFixture } from './support/record-fixture.ts';
import type { TestAnswer } from './support/app.ts';

describe('refused changes', () => {
  let around: RecordFixture;
  before(async () => {
    around = await startRecordFixture();
  });
  after(() => around.close());

  const create = (who: 'chief' | 'agent', values: Record<string, unknown>, objectId?: string): Promise<TestAnswer> =>
    around.call(who, 'POST', '/objects', {
      typeDefinitionId: 'case',
      values: { title: 'A case', kind: 'a', ...values },
      ...(objectId === undefined ? {} : { objectId }),
    });
  const counts = () => ({ ...around.app.app.work.counts });
  /** Runs refused calls of the chief beside creates of the agent. @returns the answers to the chief */
  const beside = async (refused: (turn: number) => Promise<TestAnswer>): Promise<TestAnswer[]> => {
    const [answers, honest] = await Promise.all([
      concurrently(24, refused),
      concurrently(24, () => create('agent', {})),
    ]);
    assert.deepEqual(countOutcomes(honest), { 201: 24 });
    return answers;
  };

  it('with an id in use never reach the statement of a group', async () => {
    const { id } = await around.make();
    const from = counts();
    for (let wave = 0; wave < 5; wave++) {
      for (const answer of await beside(() => create('chief', {}, id))) {
        assertRejected(answer, 409, 'ALREADY_EXISTS');
        assert.deepEqual(answer.body.error.details, { field: 'objectId' });
      }
    }
    const to = counts();
    assert.deepEqual([to.refused - from.refused, to.units - from.units], [0, 120]);
    assert.ok(to.statements - from.statements < 120, 'the others are in groups');
    assertRejected(await create('chief', { count: 5000 }, id), 400, 'INVALID_VALUES', 'wrong values come first');
    const stranger = await around.call('stranger', 'POST', '/objects', {
      typeDefinitionId: 'case',
      values: { title: 'x' },
      objectId: id,
    });
    assertRejected(stranger, 400, 'INVALID_REQUEST', 'who may not create learns nothing of the id');
  });

  it('with one new id have one winner', async () => {
    for (let round = 0; round < 20; round++) {
      const id = randomUUID();
      const answers = await concurrently(6, (turn) => create(turn % 2 === 0 ? 'chief' : 'agent', {}, id));
      assert.deepEqual(countOutcomes(answers), { 201: 1, '409 ALREADY_EXISTS': 5 });
      assert.equal((await around.rows('SELECT 1 FROM objects WHERE id = $1', [id])).length, 1);
    }
  });

  it('of any kind undo no groups of others after the first ones', async () => {
    const made = await concurrently(24, () => around.make());
    const patch = (turn: number): Promise<TestAnswer> =>
      around.call('chief', 'PATCH', `/objects/${made[turn]?.id}`, {
        expectedRevision: 1,
        changes: { cause: randomUUID() },
      });
    const kinds: ((turn: number) => Promise<TestAnswer>)[] = [
      () => create('chief', { assignee: randomUUID() }),
      () => create('chief', { causes: [randomUUID()] }),
      patch,
    ];
    for (const refused of kinds) await beside(refused);
    const from = counts();
    for (let wave = 0; wave < 4; wave++) {
      for (const refused of kinds) {
        assert.deepEqual(countOutcomes(await beside(refused)), { '400 INVALID_VALUES': 24 });
      }
    }
    const to = counts();
    assert.equal(to.refused - from.refused, 0);
    assert.ok(to.statements - from.statements < to.units - from.units, 'the others are in groups');
  });

  it('keep their author out of groups only until enough changes succeed', async () => {
    for (let wave = 0; wave < 4; wave++) {
      assert.deepEqual(countOutcomes(await concurrently(24, () => create('chief', {}))), { 201: 24 });
    }
    const from = counts();
    await concurrently(48, () => create('chief', {}));
    const to = counts();
    assert.ok(to.statements - from.statements < 48, 'its changes are in groups');
  });
});
