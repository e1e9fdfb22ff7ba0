/** How instances follow changes of their records, regardless of what makes the change (docs/spec/workflow-and-sla.md#sla-instances). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR, type Instance, MINUTE, type SlaFixture, startSlaFixture } from '../../../test/support/sla-fixture.ts';

const MONDAY = '2026-11-23T08:00:00.000Z'; // 09:00 in Berlin

describe('transitions of SLA instances', () => {
  let world: SlaFixture;

  before(async () => {
    world = await startSlaFixture(MONDAY);
  });
  after(() => world.close());

  const at = (time: string): void => world.clock.set(time);
  const shape = ({ status, revision, elapsedMs, dueAt }: Instance): unknown[] => [
    status,
    revision,
    elapsedMs / HOUR,
    dueAt,
  ];

  it('starts an instance of each policy of the type when a record is created', async () => {
    at(MONDAY);
    const id = await world.make();
    const { id: instanceId, policyId, calendarId, ...rest } = await world.sla(id);
    assert.match(instanceId, /^[0-9a-f-]{36}$/);
    assert.equal(policyId, world.id('resolution'));
    assert.equal(calendarId, world.id('office'));
    assert.deepEqual(rest, {
      objectId: id,
      policyCode: 'resolution',
      name: 'Resolution',
      status: 'ACTIVE',
      revision: 1,
      startedAt: MONDAY,
      dueAt: '2026-11-24T16:00:00.000Z',
      targetMs: 16 * HOUR,
      elapsedMs: 0,
      remainingMs: 16 * HOUR,
      breached: false,
      calendarVersion: 1,
    });
    assert.equal((await world.sla(id, 'response')).dueAt, '2026-11-23T09:00:00.000Z');
    const plain = await world.ok('chief', 'POST', '/objects', { typeDefinitionId: 'plain', values: {} });
    assert.deepEqual(await world.ok('chief', 'GET', `/objects/${plain.id}/sla`), []);
  });

  it('starts no instance if the start condition is false', async () => {
    at(MONDAY);
    const id = await world.make({ assignee: world.id('agent') });
    assert.deepEqual(await world.all(id, 'response'), []);
    // The start condition holds only later.
    world.clock.pass(HOUR);
    await world.change(id, { assignee: null });
    assert.equal((await world.sla(id, 'response')).startedAt, '2026-11-23T09:00:00.000Z');
  });

  it('pauses, resumes and stops with workflow transitions', async () => {
    at(MONDAY);
    const id = await world.make();
    world.clock.pass(HOUR);
    await world.to(id, 'work');
    assert.deepEqual(shape(await world.sla(id)), ['ACTIVE', 1, 1, '2026-11-24T16:00:00.000Z']);
    world.clock.pass(HOUR);
    await world.to(id, 'wait');
    world.clock.pass(2 * HOUR);
    const paused = await world.sla(id);
    assert.deepEqual(shape(paused), ['PAUSED', 2, 2, '2026-11-25T10:00:00.000Z']);
    assert.equal(paused.pausedAt, '2026-11-23T10:00:00.000Z');
    await world.to(id, 'work');
    const resumed = await world.sla(id);
    assert.deepEqual(shape(resumed), ['ACTIVE', 3, 2, '2026-11-25T10:00:00.000Z']);
    assert.equal(resumed.pausedAt, undefined);
    world.clock.pass(HOUR);
    await world.to(id, 'done');
    const stopped = await world.sla(id);
    assert.deepEqual(shape(stopped), ['STOPPED', 4, 3, '2026-11-25T10:00:00.000Z']);
    assert.equal(stopped.stoppedAt, '2026-11-23T13:00:00.000Z');
    assert.deepEqual(await world.eventTypes(stopped), ['SlaStarted', 'SlaPaused', 'SlaResumed', 'SlaStopped']);
    world.clock.pass(100 * HOUR);
    assert.deepEqual(await world.sla(id), stopped, 'a stopped instance stays unchanged');
  });

  it('stops while paused without counting the pause', async () => {
    at(MONDAY);
    const id = await world.make();
    await world.to(id, 'wait');
    world.clock.pass(3 * HOUR);
    await world.to(id, 'done');
    const stopped = await world.sla(id);
    assert.deepEqual([stopped.status, stopped.elapsedMs, stopped.pausedAt], ['STOPPED', 0, undefined]);
  });

  it('starts a new instance when the record is reopened', async () => {
    at(MONDAY);
    const id = await world.make();
    world.clock.pass(HOUR);
    await world.to(id, 'done');
    world.clock.pass(HOUR);
    await world.to(id, 'work');
    const both = await world.all(id);
    assert.deepEqual(
      both.map(({ status, startedAt, elapsedMs }) => [status, startedAt, elapsedMs]),
      [
        ['STOPPED', MONDAY, HOUR],
        ['ACTIVE', '2026-11-23T10:00:00.000Z', 0],
      ],
    );
    // Further changes of a record with a running instance start no second one.
    await world.to(id, 'new');
    await world.change(id, { priority: 'p2' });
    assert.equal((await world.all(id)).length, 2);
  });

  it('starts paused if the pause condition holds at creation', async () => {
    at(MONDAY);
    await world.apply(`
slaPolicies:
  - code: waiting
    type: incident
    calendar: always
    targets: [{ duration: PT1H }]
    start: { field: note, operator: is-empty, value: false }
    pause: { field: note, operator: equals, value: hold }
    stop: { field: note, operator: equals, value: stop }`);
    const id = await world.make({ note: 'hold' });
    const instance = await world.sla(id, 'waiting');
    assert.deepEqual([instance.status, instance.revision], ['PAUSED', 1]);
    assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', 'SlaPaused']);
    await world.change(id, { note: 'go' });
    assert.equal((await world.sla(id, 'waiting')).status, 'ACTIVE');
    // An instance does not start if the stop condition holds.
    assert.deepEqual(await world.all(await world.make({ note: 'stop' }), 'waiting'), []);
  });

  it('changes the target when the priority changes', async () => {
    at(MONDAY);
    const id = await world.make();
    world.clock.pass(HOUR);
    await world.change(id, { priority: 'p1' });
    const urgent = await world.sla(id);
    assert.deepEqual([urgent.targetMs, urgent.dueAt, urgent.revision], [4 * HOUR, '2026-11-23T12:00:00.000Z', 2]);
    const recalculated = (await world.events(urgent)).at(-1);
    assert.equal(recalculated?.type, 'SlaRecalculated');
    assert.deepEqual(
      [recalculated.data['reason'], recalculated.data['targetMsBefore'], recalculated.data['dueAtBefore']],
      ['target', 16 * HOUR, '2026-11-24T16:00:00.000Z'],
    );
    // A change between equal targets emits no event.
    await world.change(id, { priority: 'p2' });
    await world.change(id, { priority: 'p3' });
    assert.deepEqual(await world.eventTypes(urgent), ['SlaStarted', 'SlaRecalculated', 'SlaRecalculated']);
  });

  it('reports at once what a shorter target has passed, and again what a longer target moves ahead', async () => {
    at(MONDAY);
    const id = await world.make();
    at('2026-11-23T13:00:00.000Z'); // 5 h
    await world.change(id, { priority: 'p1' });
    const late = await world.sla(id);
    assert.deepEqual([late.breached, late.breachedAt], [true, '2026-11-23T12:00:00.000Z']);
    assert.deepEqual(await world.eventTypes(late), [
      'SlaStarted',
      'SlaRecalculated',
      'SlaWarning 50',
      'SlaWarning 90',
      'SlaBreached',
    ]);
    await world.work();
    await world.change(id, { priority: 'p3' });
    const relieved = await world.sla(id);
    assert.deepEqual([relieved.breached, relieved.breachedAt, relieved.remainingMs], [false, undefined, 11 * HOUR]);
    at('2026-11-24T09:00:00.000Z');
    await world.work();
    assert.equal((await world.eventTypes(late)).at(-1), 'SlaWarning 50');
  });

  it('writes several changes of one transition as one revision', async () => {
    at(MONDAY);
    const id = await world.make();
    world.clock.pass(5 * HOUR);
    await world.to(id, 'done', { priority: 'p1' });
    const stopped = await world.sla(id);
    assert.deepEqual([stopped.status, stopped.revision, stopped.breached], ['STOPPED', 2, true]);
    assert.deepEqual(await world.eventTypes(stopped), [
      'SlaStarted',
      'SlaRecalculated',
      'SlaWarning 50',
      'SlaWarning 90',
      'SlaBreached',
      'SlaStopped',
    ]);
  });

  it('does not change the revision of the record', async () => {
    at(MONDAY);
    const id = await world.make();
    world.clock.pass(20 * 24 * HOUR);
    await world.work();
    const instance = await world.sla(id);
    await world.command('chief', instance, 'stop');
    assert.equal((await world.ok('chief', 'GET', `/objects/${id}`)).revision, 1);
    const history = await world.ok('chief', 'GET', `/objects/${id}/history`);
    const ours = history.filter(
      (event: { data: { slaInstanceId?: string } }) => event.data.slaInstanceId === instance.id,
    );
    assert.deepEqual(
      ours.map((event: { type: string; revision: unknown }) => [event.type, event.revision]),
      ['SlaStarted', 'SlaWarning', 'SlaWarning', 'SlaBreached', 'SlaStopped'].map((type) => [type, null]),
    );
    const sent = await world.rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM journal j WHERE j.object_id = $1 AND j.type LIKE 'Sla%'`,
      [id],
    );
    assert.ok((sent[0]?.n ?? 0) > 5);
  });

  it('writes events to the journal in the same transaction', async () => {
    at(MONDAY);
    const id = await world.make();
    const waiting = await world.rows<{ type: string }>('SELECT type FROM journal WHERE object_id = $1 ORDER BY seq', [
      id,
    ]);
    assert.deepEqual(
      waiting.map((row) => row.type),
      ['ObjectCreated', 'SlaStarted', 'SlaStarted'],
    );
  });

  it('pauses when the record is archived and resumes when it is restored', async () => {
    at(MONDAY);
    const id = await world.make();
    world.clock.pass(HOUR);
    await world.ok('chief', 'DELETE', `/objects/${id}`, { expectedRevision: 1 });
    const held = await world.sla(id);
    assert.deepEqual(shape(held).slice(0, 3), ['PAUSED', 2, 1]);
    at('2026-11-30T08:00:00.000Z');
    await world.work();
    for (const command of ['pause', 'resume', 'stop', 'recalculate']) {
      const answer = await world.command('chief', held, command);
      assert.deepEqual([answer.status, answer.body.error.code], [409, 'ARCHIVED'], command);
    }
    await world.ok('chief', 'POST', `/api/admin/v1/objects/${id}/restore`);
    const freed = await world.sla(id);
    assert.deepEqual(shape(freed), ['ACTIVE', 3, 1, '2026-12-01T15:00:00.000Z']);
    assert.deepEqual(await world.eventTypes(freed), ['SlaStarted', 'SlaPaused', 'SlaResumed']);
    const [first, second] = (await world.events(freed)).slice(1);
    assert.deepEqual([first?.data['by'], second?.data['by']], ['archive', 'archive']);
  });

  it('follows bulk operations item by item', async () => {
    at(MONDAY);
    const ids = await Promise.all([world.make(), world.make(), world.make()]);
    world.clock.pass(HOUR);
    const records = await Promise.all(ids.map((id) => world.ok('chief', 'GET', `/objects/${id}`)));
    const moved = await world.ok('chief', 'POST', '/bulk', {
      operation: 'transition',
      items: records.map(({ id, workflowState }, index) => ({
        objectId: id,
        transitionId: world.id('to-wait'),
        expectedRevision: index === 1 ? 7 : 1,
        expectedStateId: workflowState.id,
        values: {},
      })),
    });
    assert.deepEqual(
      moved.map((item: { status: string }) => item.status),
      ['SUCCEEDED', 'FAILED', 'SUCCEEDED'],
    );
    const statuses = await Promise.all(ids.map(async (id) => (await world.sla(id)).status));
    assert.deepEqual(statuses, ['PAUSED', 'ACTIVE', 'PAUSED']);
    await world.ok('chief', 'POST', '/bulk', {
      operation: 'update',
      items: ids.map((objectId, index) => ({
        objectId,
        expectedRevision: index === 1 ? 1 : 2,
        changes: { priority: 'p1' },
      })),
    });
    for (const id of ids) assert.equal((await world.sla(id)).targetMs, 4 * HOUR);
    await world.ok('chief', 'POST', '/bulk', {
      operation: 'archive',
      items: ids.map((objectId, index) => ({ objectId, expectedRevision: index === 1 ? 2 : 3 })),
    });
    for (const id of ids) assert.equal((await world.sla(id)).status, 'PAUSED');
  });

  it('follows imports and stores nothing for a dry run', async () => {
    at(MONDAY);
    const { id: definitionId } = await world.ok('chief', 'POST', '/import-definitions', {
      code: 'rows',
      name: 'Rows',
      targetKind: 'object',
      targetTypeId: 'incident',
      format: 'JSON',
      mode: 'UPSERT',
      sourceCode: 'rows',
      resolver: { externalIdField: 'no' },
      mapping: [
        { source: 'subject', target: 'title' },
        { source: 'priority', target: 'priority' },
      ],
    });
    const run = (priority: string, dryRun: boolean) =>
      world.ok('chief', 'POST', '/imports/run', {
        definitionId,
        content: JSON.stringify([{ no: '1', subject: 'Imported', priority }]),
        dryRun,
      });
    const before = await world.rows<{ n: number }>('SELECT count(*)::int AS n FROM sla_instances');
    const tried = await run('p3', true);
    assert.equal(tried.succeeded, 1);
    const [row] = (await run('p3', false)).rows;
    const after = await world.rows<{ n: number }>('SELECT count(*)::int AS n FROM sla_instances');
    assert.equal((after[0]?.n ?? 0) - (before[0]?.n ?? 0), 2);
    world.clock.pass(HOUR);
    await run('p1', false);
    const instance = await world.sla(row.id);
    assert.deepEqual([instance.targetMs, instance.revision], [4 * HOUR, 2]);
    assert.deepEqual(
      (await world.events(instance)).map(({ type, actor }) => [type, actor.via]),
      [
        ['SlaStarted', 'import'],
        ['SlaRecalculated', 'import'],
      ],
    );
  });

  it('is not written for changes that no condition uses', async () => {
    at(MONDAY);
    const id = await world.make();
    const before = await world.rows<{ lock_version: number }>(
      'SELECT lock_version FROM sla_instances WHERE object_id = $1',
      [id],
    );
    world.clock.pass(MINUTE);
    await world.change(id, { title: 'Another title' });
    const after = await world.rows<{ lock_version: number }>(
      'SELECT lock_version FROM sla_instances WHERE object_id = $1',
      [id],
    );
    assert.deepEqual(after, before);
  });

  it('is rolled back with the failed change', async () => {
    at(MONDAY);
    const id = await world.make();
    const { workflowState } = await world.ok('chief', 'GET', `/objects/${id}`);
    const move = { transitionId: world.id('to-wait'), expectedRevision: 1, expectedStateId: workflowState.id };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => world.call('chief', 'POST', `/objects/${id}/transitions`, move)),
    );
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, ...Array.from({ length: 7 }, () => 409)]);
    assert.deepEqual(await world.eventTypes(await world.sla(id)), ['SlaStarted', 'SlaPaused']);
  });

  it('uses the current policy: no instance without a target or for an archived policy', async () => {
    at(MONDAY);
    await world.apply(`
slaPolicies:
  - code: urgent-only
    type: incident
    calendar: always
    targets: [{ when: { field: priority, operator: equals, value: p1 }, duration: PT1H }]
    start: { field: workflowState, operator: not-equals, value: done }
    stop: { field: workflowState, operator: equals, value: done }`);
    const id = await world.make();
    assert.deepEqual(await world.all(id, 'urgent-only'), []);
    await world.change(id, { priority: 'p1' });
    const started = await world.sla(id, 'urgent-only');
    assert.equal(started.targetMs, HOUR);
    // If no target applies any more, the instance keeps its target.
    await world.change(id, { priority: 'p3' });
    assert.deepEqual(
      [(await world.sla(id, 'urgent-only')).targetMs, (await world.sla(id, 'urgent-only')).status],
      [HOUR, 'ACTIVE'],
    );
    await world.rows(`UPDATE config_items SET state = 'ARCHIVED' WHERE code = 'urgent-only'`);
    await world.rows('UPDATE cache_versions SET config = config + 1, rights = rights + 1');
    await world.app.app.versions.refresh();
    const later = await world.make({ priority: 'p1' });
    assert.deepEqual(await world.all(later, 'urgent-only'), []);
    // Running instances continue until they stop.
    await world.to(id, 'done');
    assert.equal((await world.sla(id, 'urgent-only')).status, 'STOPPED');
  });
});
