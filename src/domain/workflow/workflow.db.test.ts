/** Workflow through HTTP, rule by rule (docs/spec/workflow-and-sla.md#workflow). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestAnswer } from '../../../test/support/app.ts';
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
import { changeRights, idOf } from '../../../test/support/small-configuration.ts';

/** 00:30 of the next day in the time zone of the settings. */
const NOW = '2026-11-21T14:30:00.000Z';
const TODAY = '2026-11-22';
const REPORT = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Decided.' }] }] };

let around: RecordFixture;

interface Snapshot {
  object: { id: string; revision: number };
  state: { id: string; code: string; name: string; category: string } | null;
  transitions: { id: string; code: string; name: string; to: { code: string }; fields: { code: string }[] }[];
  permission: { transition: boolean };
}

const snapshot = (made: Made, who: FixtureUser = 'chief'): Promise<Snapshot> =>
  around.ok(who, 'GET', `/objects/${made.id}/workflow`);

const codes = async (made: Made, who: FixtureUser = 'chief'): Promise<string[]> =>
  (await snapshot(made, who)).transitions.map(({ code }) => code);

interface Try {
  who?: FixtureUser;
  values?: Record<string, unknown>;
  expectedRevision?: number;
  expectedStateId?: string;
  transitionId?: string;
}

/** Makes the transition, by default with the record's current revision and state. */
async function attempt(made: Made, code: string, { who = 'chief', ...given }: Try = {}): Promise<TestAnswer> {
  const { object, state } = await snapshot(made);
  return await around.call(who, 'POST', `/objects/${made.id}/transitions`, {
    transitionId: given.transitionId ?? around.id(code),
    expectedRevision: given.expectedRevision ?? object.revision,
    expectedStateId: given.expectedStateId ?? state?.id ?? randomUUID(),
    ...(given.values === undefined ? {} : { values: given.values }),
  });
}

async function go(made: Made, code: string, values?: Record<string, unknown>): Promise<number> {
  const answer = await attempt(made, code, values === undefined ? {} : { values });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.data.object.revision;
}

/** A record in the state `work`. */
async function working(values: Record<string, unknown> = {}): Promise<Made> {
  const made = await around.make(values);
  await go(made, 'take');
  return made;
}

const stateOf = async (made: Made): Promise<string | undefined> =>
  (await around.ok('chief', 'GET', `/objects/${made.id}`)).workflowState?.code;

const paths = (answer: TestAnswer): string[] =>
  answer.body.error.details.map(({ path }: { path: string }) => path).sort();

describe('workflow', () => {
  before(async () => {
    around = await startRecordFixture({ clock: { now: () => Date.parse(NOW) } });
  });
  after(() => around.close());

  it('shows the state and each transition with its form', async () => {
    const made = await around.make();
    const { object, state, transitions, permission } = await snapshot(made);
    assert.deepEqual(object, { id: made.id, revision: 1 });
    assert.deepEqual(state, { id: around.id('new'), code: 'new', name: 'New', category: 'open' });
    assert.deepEqual(permission, { transition: true });
    assert.deepEqual(
      transitions.map(({ code }) => code),
      ['take'],
    );
    const [take] = transitions;
    assert.equal(take?.id, around.id('take'));
    assert.deepEqual(take?.to, { id: around.id('work'), code: 'work', name: 'In work' });
    assert.deepEqual(
      take?.fields.map(({ code }) => code),
      ['note', 'count'],
    );
    const busy = await working();
    const finish = (await snapshot(busy)).transitions.find(({ code }) => code === 'finish');
    assert.deepEqual(
      finish?.fields.map((field: any) => [field.code, field.dataType, field.required]),
      [
        ['solution', 'text', true],
        ['$reason', 'text', false],
        ['$decisionReport', 'rich-text', true],
        ['secret', 'string', true],
      ],
    );
    const hold = (await snapshot(busy, 'agent')).transitions.find(({ code }) => code === 'hold');
    assert.deepEqual(
      hold?.fields.map((field: any) => [field.code, field.readOnly ?? false]),
      [
        ['$reason', false],
        ['grade', true],
      ],
      'a hidden field is no part of the form, one to be read alone is marked so',
    );
  });

  it('shows only what the caller can do now', async () => {
    const made = await around.make();
    assert.deepEqual(await codes(made, 'agent'), ['take']);
    assert.deepEqual(await snapshot(made, 'viewer').then(({ permission, transitions }) => [permission, transitions]), [
      { transition: false },
      [],
    ]);
    const unmet = await around.make({ kind: 'b' });
    assert.deepEqual(await codes(unmet), []);
    const hidden = await around.make({ secret: 'x' });
    assert.deepEqual(await codes(hidden, 'agent'), [], 'conditions look at hidden fields too');
    const busy = await working();
    assert.deepEqual(await codes(busy), ['hold', 'finish', 'reopen']);
    assert.deepEqual(await codes(busy, 'agent'), ['hold']);
    await around.archive(busy);
    const archived = await snapshot(busy);
    assert.deepEqual([archived.transitions, archived.permission], [[], { transition: false }]);
    assert.equal(archived.state?.code, 'work');
    const without = await around.make({}, 'problem');
    const none = await snapshot(without);
    assert.deepEqual([none.state, none.transitions], [null, []]);
    assertRejected(await around.call('stranger', 'GET', `/objects/${made.id}/workflow`), 404, 'NOT_FOUND');
  });

  it('executes a transition as one change: state, values, set, history', async () => {
    const made = await around.make({ title: 'Steps', assignee: await idOf(around.app, 'users', 'viewer') });
    const answer = await attempt(made, 'take', { who: 'agent', values: { note: 'mine', count: 3 } });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(answer.body.data, {
      object: { id: made.id, revision: 2 },
      transition: { id: around.id('take') },
    });
    const agent = await idOf(around.app, 'users', 'agent');
    const { values, workflowState, revision } = await around.ok('chief', 'GET', `/objects/${made.id}`);
    assert.deepEqual([workflowState.code, revision], ['work', 2]);
    assert.deepEqual(values, {
      title: 'Steps',
      kind: 'a',
      note: 'mine',
      count: 3,
      startedAt: NOW,
      day: TODAY,
      assignee: agent,
    });
    const events = await around.ok<any[]>('chief', 'GET', `/objects/${made.id}/history`);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['ObjectCreated', 'ObjectTransitioned'],
    );
    const [, event] = events;
    assert.deepEqual(
      [event.revision, event.at, event.data],
      [2, NOW, { transition: { id: around.id('take'), code: 'take' } }],
    );
    assert.deepEqual(event.changes.map(({ field }: { field: string }) => field).sort(), [
      'assignee',
      'count',
      'day',
      'note',
      'startedAt',
      'workflowState',
    ]);
    assert.deepEqual(
      event.changes.find(({ field }: { field: string }) => field === 'workflowState'),
      { field: 'workflowState', from: 'new', to: 'work' },
    );
  });

  it('stores reason and decision report with the event, clears and writes literally what `set` says', async () => {
    const made = await working();
    await go(made, 'finish', {
      solution: 'done',
      secret: 's',
      $reason: ' because ',
      $decisionReport: '<p>Decided.</p>',
    });
    const { values } = await around.ok('chief', 'GET', `/objects/${made.id}`);
    assert.equal(values.note, '$paid');
    assert.ok(!Object.hasOwn(values, 'assignee') && !Object.hasOwn(values, '$reason'));
    const events = await around.ok<any[]>('chief', 'GET', `/objects/${made.id}/history`);
    assert.equal(events.at(-1).data.reason, ' because ');
    assert.deepEqual(events.at(-1).data.decisionReport, REPORT);
  });

  it('checks everything again, regardless of what was shown', async () => {
    const made = await around.make();
    assert.ok((await codes(made, 'agent')).includes('take'));
    await around.ok('chief', 'PATCH', `/objects/${made.id}`, {
      expectedRevision: 1,
      changes: { kind: 'b', secret: 'x' },
    });
    const unmet = await attempt(made, 'take', { who: 'agent' });
    assertRejected(unmet, 400, 'TRANSITION_CONDITION_NOT_MET');
    assert.deepEqual(paths(unmet), ['/values/kind'], 'hidden fields of the condition are not named');
    assert.deepEqual(paths(await attempt(made, 'take')), ['/values/kind', '/values/secret']);
    assertRejected(await attempt(made, 'take', { expectedRevision: 1 }), 409, 'REVISION_CONFLICT');
    assert.equal(await stateOf(made), 'new');
    const agent = await idOf(around.app, 'users', 'agent');
    const other = await around.make();
    const roles = await around.rows<{ role_id: string }>('SELECT role_id FROM role_assignments WHERE member_id = $1', [
      agent,
    ]);
    await changeRights(around.app, 'DELETE FROM role_assignments WHERE member_id = $1', [agent]);
    await around.app.app.versions.refresh();
    assertRejected(await attempt(other, 'take', { who: 'agent' }), 404, 'NOT_FOUND');
    await changeRights(around.app, `INSERT INTO role_assignments VALUES ($1, 'user', $2)`, [roles[0]?.role_id, agent]);
    await around.app.app.versions.refresh();
  });

  it('returns a conflict for a stale revision or state, and 404 for a missing record', async () => {
    const made = await around.make();
    const stale = await attempt(made, 'take', { expectedRevision: 7 });
    assertRejected(stale, 409, 'REVISION_CONFLICT');
    assertRejected(await attempt(made, 'take', { expectedStateId: around.id('work') }), 409, 'STATE_CONFLICT');
    assertRejected(await attempt(made, 'take', { expectedStateId: randomUUID() }), 409, 'STATE_CONFLICT');
    assertRejected(await attempt(made, 'finish'), 400, 'TRANSITION_NOT_AVAILABLE');
    assertRejected(await attempt(made, '', { transitionId: randomUUID() }), 400, 'TRANSITION_NOT_AVAILABLE');
    const problem = await around.make({}, 'problem');
    assertRejected(await attempt(problem, 'take'), 400, 'TRANSITION_NOT_AVAILABLE');
    await around.ok('chief', 'PATCH', `/objects/${made.id}`, {
      expectedRevision: 1,
      changes: { note: 'x', secret: 'y' },
    });
    const conflict = await attempt(made, 'take', { who: 'agent', expectedRevision: 1 });
    assertRejected(conflict, 409, 'REVISION_CONFLICT');
    assert.deepEqual(
      conflict.body.error.details.changedSince.map(({ field }: { field: string }) => field),
      ['note'],
    );
    for (const bad of [
      { expectedRevision: '1' },
      { expectedStateId: null },
      { transitionId: 'take' },
      { values: [] },
      { more: 1 },
    ]) {
      const body = { transitionId: around.id('take'), expectedRevision: 1, expectedStateId: made.stateId, ...bad };
      const answer = await around.call('chief', 'POST', `/objects/${made.id}/transitions`, body);
      assertRejected(answer, 400, 'INVALID_REQUEST');
    }
  });

  it('checks the record, then the right to the transition, then the rest', async () => {
    const made = await working();
    const denied = await attempt(made, 'finish', { who: 'agent', expectedRevision: 99 });
    assertRejected(denied, 403, 'RIGHT_MISSING');
    assert.deepEqual(denied.body.error.details, { right: 'transition:finish' });
    assertRejected(await attempt(made, 'hold', { who: 'viewer', expectedRevision: 99 }), 403, 'RIGHT_MISSING');
    assertRejected(await attempt(made, 'hold', { who: 'stranger' }), 404, 'NOT_FOUND');
    const body = { transitionId: around.id('hold'), expectedRevision: 1, expectedStateId: randomUUID() };
    const hidden = await around.make({ kind: 'b' });
    assertSameError(
      await around.call('viewer', 'POST', `/objects/${hidden.id}/transitions`, body),
      await around.call('viewer', 'POST', `/objects/${randomUUID()}/transitions`, body),
    );
    await around.archive(made);
    assertRejected(await attempt(made, 'hold', { values: { $reason: 'x' } }), 409, 'ARCHIVED');
  });

  it('accepts only fields of its form, checks field rights, and reports all problems at once', async () => {
    const made = await working();
    const outside = await attempt(made, 'hold', {
      values: { $reason: 'x', title: 'y', $decisionReport: REPORT, nothing: 1 },
    });
    assertRejected(outside, 400, 'INVALID_VALUES');
    assert.deepEqual(paths(outside), ['/values/$decisionReport', '/values/nothing', '/values/title']);
    const hidden = await attempt(made, 'hold', { who: 'agent', values: { $reason: 'x', secret: 'y' } });
    assertRejected(hidden, 400, 'INVALID_VALUES');
    assertRejected(
      await attempt(made, 'hold', { who: 'agent', values: { $reason: 'x', grade: 'y' } }),
      403,
      'FIELD_READ_ONLY',
    );
    const wrong = await attempt(made, 'finish', { values: { solution: 5, $reason: 7, other: 1 } });
    assertRejected(wrong, 400, 'INVALID_VALUES');
    assert.deepEqual(paths(wrong), [
      '/values/$decisionReport',
      '/values/$reason',
      '/values/other',
      '/values/secret',
      '/values/solution',
    ]);
    assert.equal(await stateOf(made), 'work');
    assert.equal((await around.ok('chief', 'GET', `/objects/${made.id}`)).revision, 2);
  });

  it('enforces what its form requires: reason, report and fields', async () => {
    for (const $reason of [undefined, null, '', '  \n ']) {
      const made = await working();
      const answer = await attempt(made, 'hold', { values: { $reason } });
      assertRejected(answer, 400, 'INVALID_VALUES', JSON.stringify($reason));
      assert.deepEqual(paths(answer), ['/values/$reason']);
    }
    const made = await working({ solution: 'stood before' });
    for (const $decisionReport of [null, '', '<p> </p>', { type: 'doc', content: [{ type: 'paragraph' }] }]) {
      const answer = await attempt(made, 'finish', { values: { secret: 's', $decisionReport } });
      assert.deepEqual(paths(answer), ['/values/$decisionReport']);
    }
    const cleared = await attempt(made, 'finish', { values: { secret: 's', solution: null, $decisionReport: REPORT } });
    assert.deepEqual(paths(cleared), ['/values/solution']);
    await go(made, 'finish', { secret: 's', $decisionReport: REPORT });
    assert.equal(await stateOf(made), 'done', 'an existing value is enough');
  });

  it('accepts one of 16 concurrent transitions, and none after another change', async () => {
    const made = await around.make();
    const answers = await concurrently(16, () =>
      attempt(made, 'take', { expectedRevision: 1, expectedStateId: made.stateId }),
    );
    assert.deepEqual(countOutcomes(answers), { 200: 1, '409 REVISION_CONFLICT': 15 });
    const events = await around.rows(`SELECT 1 FROM journal WHERE object_id = $1 AND type = 'ObjectTransitioned'`, [
      made.id,
    ]);
    assert.equal(events.length, 1);
    const other = await around.make();
    const patch = `UPDATE objects SET revision = revision + 1 WHERE id = $1`;
    const body = { transitionId: around.id('take'), expectedRevision: 1, expectedStateId: other.stateId };
    const late = await duringUncommittedChange(around, patch, [other.id], () =>
      around.call('chief', 'POST', `/objects/${other.id}/transitions`, body),
    );
    assertRejected(late, 409, 'REVISION_CONFLICT');
  });

  it('is the only way to change the state', async () => {
    const work = around.id('work');
    const names = ['workflowState', 'workflowStateId', 'workflowCategory', 'state', '$state', 'workflow_state_id'];
    for (const name of names) {
      for (const value of [work, 'work', { id: work }]) {
        const values = { title: 'x', kind: 'a', [name]: value };
        const created = await around.call('chief', 'POST', '/objects', { typeDefinitionId: 'case', values });
        assertRejected(created, 400, 'INVALID_VALUES', `create ${name}`);
      }
      const beside = { typeDefinitionId: 'case', values: { title: 'x' }, [name]: work };
      const created = await around.call('chief', 'POST', '/objects', beside);
      assertRejected(created, 400, 'INVALID_REQUEST', `create beside ${name}`);
    }
    const made = await around.make();
    const one = `/objects/${made.id}`;
    for (const name of names) {
      const changes = { [name]: work };
      assertRejected(
        await around.call('chief', 'PATCH', one, { expectedRevision: 1, changes }),
        400,
        'INVALID_VALUES',
        name,
      );
      const beside = { expectedRevision: 1, changes: { note: 'x' }, ...changes };
      assertRejected(await around.call('chief', 'PATCH', one, beside), 400, 'INVALID_REQUEST', name);
      assertRejected(
        await around.call('chief', 'DELETE', one, { expectedRevision: 1, ...changes }),
        400,
        'INVALID_REQUEST',
        name,
      );
      const items = [{ objectId: made.id, expectedRevision: 1, changes }];
      const [result] = await around.ok<any[]>('chief', 'POST', '/bulk', { operation: 'update', items });
      assert.equal(result.error.code, 'INVALID_VALUES', name);
      assertRejected(await attempt(made, 'take', { values: changes }), 400, 'INVALID_VALUES', name);
    }
    assert.deepEqual([await stateOf(made), (await around.ok('chief', 'GET', one)).revision], ['new', 1]);
    await go(made, 'take');
    await around.ok('chief', 'PATCH', one, { expectedRevision: 2, changes: { note: 'no change of state' } });
    await around.archive(made);
    assert.equal(await stateOf(made), 'work');
    const { key } = await around.app.createKey({ login: 'chief', scopes: ['admin:manage'] });
    const restored = await around.app.request('POST', `/api/admin/v1${one}/restore`, { key });
    assert.equal(restored.status, 200, JSON.stringify(restored.body));
    assert.equal(restored.body.data.workflowState.code, 'work', 'back in the state that it had');
    const states = await around.rows<{ changes: Record<string, unknown> }>(
      `SELECT changes FROM journal WHERE object_id = $1 AND changes ? 'workflowState'`,
      [made.id],
    );
    assert.equal(states.length, 1);
  });
});
