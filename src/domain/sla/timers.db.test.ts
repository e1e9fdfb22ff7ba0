/**
 * Warnings and breaches, each reported once and in time; recalculation after a change of policies or calendars
 * (docs/spec/workflow-and-sla.md#sla-instances).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import {
  CONFIGURED,
  HOUR,
  type Instance,
  MINUTE,
  type SlaFixture,
  startSlaFixture,
} from '../../../test/support/sla-fixture.ts';

const MONDAY = '2026-11-23T08:00:00.000Z';

/** Event types of all instances, by the number of times an instance has the event. */
const TIMES = `
  SELECT type, data->>'percent' AS percent, n::int AS times, count(*)::int AS instances FROM (
    SELECT type, data, count(*) OVER (PARTITION BY data->>'slaInstanceId', type, data->>'percent') AS n FROM journal
    WHERE type IN ('SlaWarning', 'SlaBreached') AND object_id = ANY($1::uuid[])) AS events GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

describe('timers of SLA instances', () => {
  let world: SlaFixture;
  let second: TestApp;

  before(async () => {
    world = await startSlaFixture(MONDAY);
    second = await startTestApp({ on: world.app, clock: world.clock });
  });
  after(async () => {
    await second.close();
    await world.close();
  });

  const fresh = async (count = 1, values: Record<string, unknown> = {}): Promise<string[]> => {
    world.clock.set(MONDAY);
    return await Promise.all(
      Array.from({ length: count }, () => world.make({ assignee: world.id('chief'), ...values })),
    );
  };
  const one = async (): Promise<[string, Instance]> => {
    const [id = ''] = await fresh();
    return [id, await world.sla(id)];
  };

  it('fire at their time, not before, and once each', async () => {
    const [, instance] = await one();
    for (const [time, expected] of [
      ['2026-11-23T15:59:59.999Z', []],
      ['2026-11-23T16:00:00.000Z', ['SlaWarning 50']],
      ['2026-11-24T14:23:59.999Z', ['SlaWarning 50']],
      ['2026-11-24T14:24:00.000Z', ['SlaWarning 50', 'SlaWarning 90']],
      ['2026-11-24T16:00:00.000Z', ['SlaWarning 50', 'SlaWarning 90', 'SlaBreached']],
      ['2026-12-24T16:00:00.000Z', ['SlaWarning 50', 'SlaWarning 90', 'SlaBreached']],
    ] as const) {
      world.clock.set(time);
      await world.work();
      await world.work();
      assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', ...expected], time);
    }
    const events = await world.events(instance);
    assert.deepEqual(
      events.slice(1).map(({ actor, data }) => [actor.via, actor.id, actor.displayName, data['dueAt']]),
      [1, 2, 3].map(() => ['system', null, 'system', '2026-11-24T16:00:00.000Z']),
    );
    assert.equal(events.at(-1)?.data['breachedAt'], '2026-11-24T16:00:00.000Z');
    assert.equal(
      (await world.events(instance))[1]?.data['slaRevision'],
      1,
      'a warning is no change that callers must know',
    );
  });

  it('fire late if no process was running at their time', async () => {
    const [, instance] = await one();
    world.clock.set('2026-12-01T00:00:00.000Z');
    await world.work();
    assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', 'SlaWarning 50', 'SlaWarning 90', 'SlaBreached']);
  });

  it('are reported before a later pause or stop', async () => {
    const [id, instance] = await one();
    world.clock.set('2026-11-23T16:00:00.000Z');
    await world.to(id, 'wait');
    assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', 'SlaWarning 50', 'SlaPaused']);
    world.clock.pass(1000 * HOUR);
    await world.work();
    assert.equal((await world.eventTypes(instance)).length, 3, 'a paused one is due for nothing');
    const [other, stopped] = await one();
    world.clock.set('2026-11-24T16:00:03.000Z');
    await world.command('chief', stopped, 'stop', {});
    assert.deepEqual((await world.eventTypes(stopped)).slice(-2), ['SlaBreached', 'SlaStopped']);
    await world.work();
    assert.equal((await world.all(other)).length, 1);
    assert.deepEqual(await world.eventTypes(stopped), [
      'SlaStarted',
      'SlaWarning 50',
      'SlaWarning 90',
      'SlaBreached',
      'SlaStopped',
    ]);
  });

  it('move by the length of a pause', async () => {
    const [id, instance] = await one();
    await world.to(id, 'wait');
    world.clock.pass(2 * HOUR);
    await world.to(id, 'work');
    world.clock.set('2026-11-23T16:00:00.000Z');
    await world.work();
    assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', 'SlaPaused', 'SlaResumed']);
    world.clock.set('2026-11-24T10:00:00.000Z');
    await world.work();
    assert.equal((await world.eventTypes(instance)).at(-1), 'SlaWarning 50');
  });

  it('fire once each with several processes', async () => {
    const ids = await fresh(120);
    world.clock.set('2026-11-24T16:00:00.000Z');
    await Promise.all([world.app, second, world.app, second].map((app) => world.work(app)));
    await Promise.all([world.app, second].map((app) => world.work(app)));
    assert.deepEqual(await world.rows(TIMES, [ids]), [
      { type: 'SlaBreached', percent: null, times: 1, instances: 120 },
      { type: 'SlaWarning', percent: '50', times: 1, instances: 120 },
      { type: 'SlaWarning', percent: '90', times: 1, instances: 120 },
    ]);
    const events = await world.rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM journal j WHERE j.object_id = ANY($1::uuid[])
       AND j.type = 'SlaBreached'`,
      [ids],
    );
    assert.equal(events[0]?.n, 120);
  });

  it('run serially with concurrent commands and transitions', async () => {
    for (let round = 0; round < 6; round++) {
      const [id, instance] = await one();
      world.clock.set('2026-11-24T16:00:00.000Z');
      const { workflowState, revision } = await world.ok('chief', 'GET', `/objects/${id}`);
      const [, command, transition] = await Promise.all([
        world.work(round % 2 === 0 ? world.app : second),
        world.command('chief', instance, round % 3 === 0 ? 'stop' : 'pause', {}),
        world.call('chief', 'POST', `/objects/${id}/transitions`, {
          transitionId: world.id('to-wait'),
          expectedRevision: revision,
          expectedStateId: workflowState.id,
        }),
      ]);
      assert.equal(transition.status, 200);
      assert.ok(command.status === 200 || command.body.error.code === 'SLA_COMMAND_NOT_ALLOWED');
      const events = await world.eventTypes(instance);
      for (const type of ['SlaWarning 50', 'SlaWarning 90', 'SlaBreached'])
        assert.equal(events.filter((name) => name === type).length, 1, events.join());
      const last = await world.sla(id);
      // The events must match the stored status.
      const statuses = events.filter((name) => ['SlaPaused', 'SlaResumed', 'SlaStopped'].includes(name));
      assert.equal(last.status, statuses.at(-1) === 'SlaStopped' ? 'STOPPED' : 'PAUSED', events.join());
      assert.equal(last.revision, 1 + statuses.length);
    }
  });

  it('fire although another instance cannot be calculated, and report that error', async () => {
    const ids = await fresh(3);
    const [broken] = await Promise.all(ids.map((id) => world.sla(id)));
    const policy = (id: string) =>
      world.rows('UPDATE sla_instances SET policy_id = $2 WHERE id = $1', [broken?.id, id]);
    await policy(randomUUID());
    world.clock.set('2026-11-23T16:00:00.000Z');
    await assert.rejects(world.work(), /1 SLA instances could not be recalculated/);
    for (const id of ids.slice(1))
      assert.deepEqual(await world.eventTypes(await world.sla(id)), ['SlaStarted', 'SlaWarning 50']);
    await policy(world.id('resolution'));
    await world.work();
    assert.deepEqual(await world.eventTypes(broken as Instance), ['SlaStarted', 'SlaWarning 50']);
  });

  it('accept one of several concurrent commands', async () => {
    const [id, instance] = await one();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, turn) =>
        (turn % 2 === 0 ? world.app : second).request('POST', `/api/v1/sla/${instance.id}/pause`, {
          key: world.keys.chief,
          body: { expectedRevision: 1 },
        }),
      ),
    );
    const codes = answers.map(({ status, body }) => body.error?.code ?? status).sort();
    assert.deepEqual(codes, [200, ...Array.from({ length: 15 }, () => 'REVISION_CONFLICT')]);
    assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', 'SlaPaused']);
    assert.equal((await world.sla(id)).revision, 2);
  });

  it('read few pages while none of 100,000 instances is due', async () => {
    await world.rows(`
      INSERT INTO sla_instances (id, object_id, policy_id, policy_version, revision, lock_version, status, started_at, pauses,
        start_armed, pause_armed, target_ms, calendar_id, calendar_version, pinned, due_at, next_at, notified_thresholds)
      SELECT gen_random_uuid(), gen_random_uuid(), '${world.id('response')}', 1, 1, 1, 'ACTIVE', '2030-01-01', '[]', false, true,
        3600000, '${world.id('always')}', 1, false, '2031-01-01', timestamptz '2031-01-01' + n * interval '1 second', '[]'
      FROM generate_series(1, 100000) AS n`);
    await world.rows('ANALYZE sla_instances');
    const plan = await world.rows<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS)
      SELECT EXISTS (SELECT 1 FROM sla_instances WHERE status <> 'STOPPED' AND next_at <= timestamptz '2020-12-31')`);
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    assert.match(text, /Index (Only )?Scan using sla_instances_timers/);
    const buffers = Number(/shared hit=(\d+)/.exec(text)?.[1]);
    assert.ok(buffers <= 8, text);
    await world.rows(`DELETE FROM sla_instances WHERE started_at = '2030-01-01'`);
  });
});

describe('a change of policies and calendars', () => {
  let world: SlaFixture;
  let second: TestApp;

  before(async () => {
    world = await startSlaFixture(MONDAY);
    second = await startTestApp({ on: world.app, clock: world.clock });
  });
  after(async () => {
    await second.close();
    await world.close();
  });

  const storedDue = async (id: string): Promise<(string | undefined)[]> => {
    const rows = await world.rows<{ due_at: string; next_at: string }>(
      `SELECT due_at, next_at FROM sla_instances WHERE object_id = $1 AND policy_id = $2`,
      [id, world.id('resolution')],
    );
    return [rows[0]?.due_at, rows[0]?.next_at];
  };
  const apply = async (change: (text: string) => string): Promise<void> => {
    await world.apply(change(CONFIGURED));
    await second.app.versions.refresh();
  };
  const longer = (text: string): string => text.replaceAll('PT16H', 'PT32H');
  const tuesdayClosed = (text: string): string => text.replace("tue: ['09:00-17:00']", 'tue: []');

  it('is visible to the next read, which writes nothing; the job updates the stored times', async () => {
    world.clock.set(MONDAY);
    const id = await world.make();
    const before = await world.sla(id);
    await apply(tuesdayClosed);
    const seen = await world.sla(id);
    assert.deepEqual(
      [seen.dueAt, seen.calendarVersion, seen.revision],
      ['2026-11-25T16:00:00.000Z', before.calendarVersion + 1, 1],
    );
    assert.deepEqual(await storedDue(id), ['2026-11-24T16:00:00.000Z', '2026-11-23T16:00:00.000Z']);
    await world.work();
    assert.deepEqual(await storedDue(id), ['2026-11-25T16:00:00.000Z', '2026-11-23T16:00:00.000Z']);
    assert.deepEqual(await world.sla(id), seen);
    const moved = (await world.events(before)).at(-1);
    assert.deepEqual(
      [moved?.type, moved?.data['reason'], moved?.actor.via],
      ['SlaRecalculated', 'configuration', 'system'],
    );
    await world.work();
    assert.equal((await world.events(before)).length, 2, 'moved once');
    await apply((text) => text);
    await world.work();
    assert.equal((await world.sla(id)).dueAt, '2026-11-24T16:00:00.000Z');
  });

  it('increments a calendar version only if the calendar changed, and keeps older versions', async () => {
    world.clock.set(MONDAY);
    const id = await world.make();
    const { calendarVersion: version, id: instanceId } = await world.sla(id);
    await apply(longer);
    assert.equal((await world.sla(id)).calendarVersion, version);
    await apply((text) => tuesdayClosed(longer(text)));
    assert.equal((await world.sla(id)).calendarVersion, version + 1);
    const old = await world.command('chief', { id: instanceId } as Instance, 'recalculate', {
      calendarVersion: version,
    });
    assert.deepEqual([old.body.data.calendarVersion, old.body.data.dueAt], [version, '2026-11-26T16:00:00.000Z']);
    await apply((text) => text.replace("mon: ['09:00-17:00']", 'mon: []'));
    await world.work();
    assert.deepEqual(
      [(await world.sla(id)).calendarVersion, (await world.sla(id)).dueAt],
      [version, '2026-11-24T16:00:00.000Z'],
      'it keeps to the chosen calendar, and follows the policy',
    );
    const explanation = await world.ok('chief', 'GET', `/api/admin/v1/sla/${instanceId}/explanation`);
    assert.equal(explanation.calendar.version, version);
    await apply((text) => text);
    const versions = await world.rows<{ version: number }>(
      'SELECT version FROM calendar_versions WHERE calendar_id = $1 ORDER BY 1',
      [world.id('office')],
    );
    assert.deepEqual(
      versions.map((row) => row.version),
      Array.from({ length: versions.length }, (_, index) => index + 1),
    );
  });

  it('does not change stopped instances', async () => {
    world.clock.set(MONDAY);
    const id = await world.make();
    world.clock.pass(HOUR);
    await world.to(id, 'done');
    const stopped = await world.sla(id);
    await apply((text) => text.replace("mon: ['09:00-17:00']", 'mon: []').replace('PT16H', 'PT1M'));
    await world.work();
    assert.deepEqual(await world.sla(id), stopped);
    const explanation = await world.ok('chief', 'GET', `/api/admin/v1/sla/${stopped.id}/explanation`);
    assert.deepEqual([explanation.elapsedMs, explanation.calendar.version], [HOUR, stopped.calendarVersion]);
    assert.deepEqual(
      explanation.intervals.map((one: { counted: boolean; ms: number }) => [one.counted, one.ms]),
      [[true, HOUR]],
    );
    await apply((text) => text);
  });

  it('reports no breach that no longer applies, and reports a new breach at once', async () => {
    world.clock.set(MONDAY);
    const id = await world.make();
    const instance = await world.sla(id);
    world.clock.set('2026-11-24T16:00:00.000Z');
    await apply(longer);
    await world.work();
    assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', 'SlaRecalculated', 'SlaWarning 50']);
    await apply((text) => text.replaceAll('PT16H', 'PT15H'));
    await world.work();
    assert.deepEqual((await world.eventTypes(instance)).slice(3), ['SlaRecalculated', 'SlaWarning 90', 'SlaBreached']);
    await apply((text) => text);
    await world.work();
  });

  it('reports a warning once, even if its percentage was removed and added again', async () => {
    world.clock.set(MONDAY);
    const instance = await world.sla(await world.make());
    world.clock.pass(8 * HOUR);
    await world.work();
    const warnAt = (percents: string) => apply((text) => text.replace('warnAt: [50, 90]', `warnAt: [${percents}]`));
    await warnAt('40, 60');
    await world.work();
    await warnAt('50, 90');
    await world.work();
    assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', 'SlaWarning 50', 'SlaWarning 40']);
  });

  it('updates each of many instances once, with several processes and concurrent commands', async () => {
    world.clock.set(MONDAY);
    await world.rows('DELETE FROM sla_instances');
    const ids = await Promise.all(Array.from({ length: 230 }, () => world.make()));
    const some = await Promise.all(ids.slice(0, 12).map((id) => world.sla(id)));
    world.clock.pass(10 * MINUTE);
    await apply(longer);
    const passes = Promise.all([world.work(), world.work(second), world.work(), world.work(second)]);
    const answers = await Promise.all(some.map((instance) => world.command('chief', instance, 'pause', {})));
    await passes;
    await world.work();
    assert.ok(answers.every((answer) => answer.status === 200));
    const stale = await world.rows<{ status: string; target_ms: string; n: number }>(
      `SELECT status, target_ms::text, count(*)::int AS n FROM sla_instances WHERE policy_id = $1 GROUP BY 1, 2 ORDER BY 1`,
      [world.id('resolution')],
    );
    assert.deepEqual(stale, [
      { status: 'ACTIVE', target_ms: String(32 * HOUR), n: 218 },
      { status: 'PAUSED', target_ms: String(32 * HOUR), n: 12 },
    ]);
    const twice = await world.rows(
      `SELECT data->>'slaInstanceId' FROM journal WHERE type = 'SlaRecalculated' AND object_id = ANY($1::uuid[])
       GROUP BY 1 HAVING count(*) <> 1`,
      [ids],
    );
    assert.deepEqual(twice, []);
    await apply((text) => text);
  });

  it('updates instances that a late transaction wrote under the previous configuration', async () => {
    world.clock.set(MONDAY);
    const id = await world.make();
    await world.work();
    // Simulates a unit of work that began before an apply and committed after it.
    await world.rows(
      `UPDATE sla_instances SET policy_version = 1, target_ms = 1, lock_version = lock_version + 1 WHERE object_id = $1 AND policy_id = $2`,
      [id, world.id('resolution')],
    );
    const left = async (): Promise<number> =>
      (await world.rows('SELECT 1 FROM sla_instances WHERE object_id = $1 AND target_ms = 1', [id])).length;
    await world.work();
    assert.equal(await left(), 1, 'nothing changed, so nobody looks yet');
    world.clock.pass(MINUTE);
    await world.work();
    assert.equal(await left(), 0);
  });
});
