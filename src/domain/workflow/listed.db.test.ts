/** The states from which a transition is listed and can be made. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type RecordFixture, assertRejected, startRecordFixture } from '../../../test/support/record-fixture.ts';

let around: RecordFixture;

const codes = async (id: string): Promise<string[]> => {
  const { transitions } = await around.ok('chief', 'GET', `/objects/${id}/workflow`);
  return transitions.map(({ code }: { code: string }) => code);
};

async function go(id: string, code: string, values: Record<string, unknown> = {}): Promise<void> {
  const { object, state } = await around.ok('chief', 'GET', `/objects/${id}/workflow`);
  await around.ok('chief', 'POST', `/objects/${id}/transitions`, {
    transitionId: around.id(code),
    expectedRevision: object.revision,
    expectedStateId: state.id,
    values,
  });
}

describe('listed transitions', () => {
  before(async () => {
    around = await startRecordFixture();
  });
  after(() => around.close());

  it("starts a transition from '*' in every state but its own target, in calls and in bulk", async () => {
    const made = await around.make();
    assert.ok(!(await codes(made.id)).includes('reopen'), 'it is not listed in its target');
    const body = {
      transitionId: around.id('reopen'),
      expectedRevision: 1,
      expectedStateId: made.stateId,
    };
    assertRejected(
      await around.call('chief', 'POST', `/objects/${made.id}/transitions`, body),
      400,
      'TRANSITION_NOT_AVAILABLE',
    );
    const bulk = await around.ok('chief', 'POST', '/bulk', {
      operation: 'transition',
      items: [{ objectId: made.id, values: {}, ...body }],
    });
    assert.equal(bulk[0].error?.code, 'TRANSITION_NOT_AVAILABLE');
    assert.equal((await around.ok('chief', 'GET', `/objects/${made.id}`)).revision, 1);
    for (const way of [['take'], ['take', 'hold'], ['take', 'hold', 'take']]) {
      const record = await around.make();
      for (const step of way) await go(record.id, step, step === 'hold' ? { $reason: 'x' } : {});
      assert.ok((await codes(record.id)).includes('reopen'), way.join());
      await go(record.id, 'reopen');
      assert.equal((await around.ok('chief', 'GET', `/objects/${record.id}`)).workflowState.code, 'new', way.join());
    }
  });
});
