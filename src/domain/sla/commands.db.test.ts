/**
 * Commands on instances, the rights they need, and the explanation of times (docs/spec/workflow-and-sla.md#sla-instances,
 * docs/spec/access.md#roles-and-rights, docs/spec/configuration.md#administration-api).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestAnswer } from '../../../test/support/app.ts';
import { assertRejected } from '../../../test/support/record-fixture.ts';
import { HOUR, type Instance, type SlaFixture, startSlaFixture } from '../../../test/support/sla-fixture.ts';

const MONDAY = '2026-11-23T08:00:00.000Z';

describe('commands on SLA instances', () => {
  let world: SlaFixture;

  before(async () => {
    world = await startSlaFixture(MONDAY);
  });
  after(() => world.close());

  const command = async (instance: Instance, name: string, body: unknown = {}): Promise<Instance> => {
    const answer = await world.command('chief', instance, name, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.data;
  };
  const fresh = async (values: Record<string, unknown> = {}): Promise<[string, Instance]> => {
    world.clock.set(MONDAY);
    const id = await world.make(values);
    return [id, await world.sla(id)];
  };

  it('pauses, resumes and stops', async () => {
    const [id, instance] = await fresh();
    world.clock.pass(HOUR);
    const paused = await command(instance, 'pause', { expectedRevision: 1 });
    assert.deepEqual([paused.status, paused.revision, paused.elapsedMs], ['PAUSED', 2, HOUR]);
    assert.deepEqual(await world.sla(id), paused, 'the answer is what reading says');
    world.clock.pass(HOUR);
    const resumed = await command(instance, 'resume', { expectedRevision: 2 });
    assert.deepEqual([resumed.status, resumed.revision, resumed.elapsedMs], ['ACTIVE', 3, HOUR]);
    world.clock.pass(HOUR);
    const stopped = await command(instance, 'stop');
    assert.deepEqual([stopped.status, stopped.revision, stopped.elapsedMs], ['STOPPED', 4, 2 * HOUR]);
    assert.deepEqual(await world.sla(id), stopped);
    const events = await world.events(instance);
    assert.deepEqual(
      events.map(({ type, actor, data }) => [type, actor.displayName, actor.via, data['by']]),
      [
        ['SlaStarted', 'Person chief', 'api', undefined],
        ['SlaPaused', 'Person chief', 'api', 'manual'],
        ['SlaResumed', 'Person chief', 'api', 'manual'],
        ['SlaStopped', 'Person chief', 'api', 'manual'],
      ],
    );
  });

  it('rejects a command in the wrong status, and checks the revision first', async () => {
    const [, instance] = await fresh();
    const no = (name: string): Promise<TestAnswer> => world.command('chief', instance, name, {});
    assertRejected(await no('resume'), 409, 'SLA_COMMAND_NOT_ALLOWED', 'resume while ACTIVE');
    await command(instance, 'pause');
    assertRejected(await no('pause'), 409, 'SLA_COMMAND_NOT_ALLOWED', 'pause while PAUSED');
    const stale = await world.command('chief', instance, 'pause', { expectedRevision: 1 });
    assertRejected(stale, 409, 'REVISION_CONFLICT');
    const paused = (await world.events(instance)).find(({ type }) => type === 'SlaPaused');
    assert.ok(paused !== undefined);
    const { via: _via, ...actor } = paused.actor as { via: string };
    assert.deepEqual(stale.body.error.details, { changedSince: [{ field: 'status', at: paused.at, actor }] });
    const stopped = await command(instance, 'stop');
    for (const name of ['pause', 'resume', 'stop'])
      assertRejected(await no(name), 409, 'SLA_COMMAND_NOT_ALLOWED', name);
    assert.equal((await command(stopped, 'recalculate')).status, 'STOPPED');
    assert.equal((await world.eventTypes(instance)).length, 4);
  });

  it('rejects invalid requests', async () => {
    const [, instance] = await fresh();
    for (const expectedRevision of ['1', null, 0, 1.5, true]) {
      assertRejected(await world.command('chief', instance, 'pause', { expectedRevision }), 400, 'INVALID_REQUEST');
    }
    assertRejected(await world.command('chief', instance, 'pause', { revision: 1 }), 400, 'INVALID_REQUEST');
    assertRejected(
      await world.command('chief', instance, 'pause', { calendarId: world.id('always') }),
      400,
      'INVALID_REQUEST',
    );
    assertRejected(await world.command('chief', instance, 'stop', { calendarVersion: 1 }), 400, 'INVALID_REQUEST');
    for (const name of ['history', 'start', 'PAUSE', 'pause%20'])
      assertRejected(await world.command('chief', instance, name, {}), 404, 'NOT_FOUND', name);
    assertRejected(
      await world.call('chief', 'POST', `/sla/${world.id('resolution')}/pause`, {}),
      404,
      'NOT_FOUND',
      'a policy',
    );
    assertRejected(await world.call('chief', 'POST', '/sla/nonsense/pause', {}), 404, 'NOT_FOUND');
    const without = await world.call('chief', 'POST', `/sla/${instance.id}/pause`);
    assert.equal(without.status, 200, 'the body may be left out');
  });

  it('keeps a pause by command when the pause condition becomes false', async () => {
    const [id, instance] = await fresh();
    await command(instance, 'pause');
    await world.to(id, 'wait');
    await world.to(id, 'work');
    assert.equal((await world.sla(id)).status, 'PAUSED');
    await command(instance, 'resume');
    // The policy's pause condition acts again.
    await world.to(id, 'wait');
    assert.equal((await world.sla(id)).status, 'PAUSED');
    await world.to(id, 'work');
    assert.equal((await world.sla(id)).status, 'ACTIVE');
    // The stop condition also stops a paused instance.
    await command(instance, 'pause');
    await world.to(id, 'done');
    assert.equal((await world.sla(id)).status, 'STOPPED');
  });

  it('keeps a resume by command until the pause condition was false once', async () => {
    const [id, instance] = await fresh();
    await world.to(id, 'wait');
    await command(instance, 'resume');
    await world.change(id, { priority: 'p2' });
    await world.change(id, { priority: 'p1' });
    assert.equal((await world.sla(id)).status, 'ACTIVE', 'the record still waits');
    await world.to(id, 'work');
    await world.to(id, 'wait');
    assert.equal((await world.sla(id)).status, 'PAUSED');
  });

  it('pauses again at once if the condition was false at the resume by command', async () => {
    const [id, instance] = await fresh();
    await command(instance, 'pause');
    await command(instance, 'resume');
    await world.to(id, 'wait');
    assert.equal((await world.sla(id)).status, 'PAUSED');
    // Paused by command before and resumed by command during the pause condition: the condition does not pause again.
    await world.to(id, 'work');
    await command(instance, 'pause');
    await world.to(id, 'wait');
    await command(instance, 'resume');
    await world.change(id, { priority: 'p2' });
    assert.equal((await world.sla(id)).status, 'ACTIVE');
  });

  it('does not restart after a stop by command until the start condition was false once', async () => {
    const [id, instance] = await fresh();
    await command(instance, 'stop');
    await world.change(id, { priority: 'p1' });
    await world.to(id, 'work');
    assert.deepEqual(
      (await world.all(id)).map((one) => one.status),
      ['STOPPED'],
    );
    await world.to(id, 'done');
    await world.to(id, 'new');
    assert.deepEqual(
      (await world.all(id)).map((one) => one.status),
      ['STOPPED', 'ACTIVE'],
    );
    // Stopped while the condition is already false: the next time the condition holds, a new instance starts.
    await world.to(id, 'wait');
    const second = await world.sla(id);
    await command(second, 'stop');
    await world.to(id, 'work');
    assert.equal((await world.all(id)).length, 3);
  });

  it('keeps a chosen calendar until it is recalculated without one', async () => {
    const [id, instance] = await fresh();
    const always = world.id('always');
    const pinned = await command(instance, 'recalculate', { calendarId: always });
    assert.deepEqual(
      [pinned.calendarId, pinned.calendarVersion, pinned.dueAt, pinned.revision, pinned.status],
      [always, 1, '2026-11-24T00:00:00.000Z', 2, 'ACTIVE'],
    );
    assert.deepEqual(await world.sla(id), pinned);
    await world.change(id, { priority: 'p1' });
    assert.equal((await world.sla(id)).dueAt, '2026-11-23T12:00:00.000Z');
    await command(instance, 'pause');
    const free = await command(instance, 'recalculate');
    assert.deepEqual([free.calendarId, free.status, free.pausedAt], [world.id('office'), 'PAUSED', MONDAY]);
    for (const [body, path] of [
      [{ calendarId: randomUUID() }, '/calendarId'],
      [{ calendarId: world.id('resolution') }, '/calendarId'],
      [{ calendarId: always, calendarVersion: 2 }, '/calendarVersion'],
      [{ calendarVersion: 9 }, '/calendarVersion'],
    ] as const) {
      const answer = await world.command('chief', instance, 'recalculate', body);
      assertRejected(answer, 400, 'INVALID_REQUEST');
      assert.equal(answer.body.error.details[0].path, path);
    }
    assertRejected(
      await world.command('chief', instance, 'recalculate', { calendarId: 'office' }),
      400,
      'INVALID_REQUEST',
    );
  });

  it('returns no due time for a calendar that never opens', async () => {
    const [id, instance] = await fresh();
    const never = await command(instance, 'recalculate', { calendarId: world.id('never') });
    assert.deepEqual([never.dueAt, never.breached], [null, false]);
    world.clock.pass(5000 * HOUR);
    await world.work();
    assert.equal((await world.sla(id)).elapsedMs, 0);
    assert.deepEqual(await world.eventTypes(instance), ['SlaStarted', 'SlaRecalculated']);
  });

  it('changes a stopped instance only by recalculate', async () => {
    const [id, instance] = await fresh();
    world.clock.set('2026-11-24T15:00:00.000Z'); // 15 h of office time, 31 h of real time
    await world.to(id, 'done');
    assert.deepEqual([(await world.sla(id)).elapsedMs, (await world.sla(id)).breached], [15 * HOUR, false]);
    await world.change(id, { priority: 'p1' });
    assert.equal((await world.sla(id)).targetMs, 16 * HOUR);
    const recalculated = await command(instance, 'recalculate', { calendarId: world.id('always') });
    assert.deepEqual(
      [
        recalculated.status,
        recalculated.elapsedMs,
        recalculated.targetMs,
        recalculated.breached,
        recalculated.breachedAt,
      ],
      ['STOPPED', 31 * HOUR, 4 * HOUR, true, '2026-11-23T12:00:00.000Z'],
    );
    world.clock.pass(1000 * HOUR);
    await world.work();
    assert.deepEqual(await world.sla(id), recalculated);
    assert.equal((await world.eventTypes(instance)).at(-1), 'SlaRecalculated');
  });

  it('requires sla.control and reveals nothing about hidden records', async () => {
    const [, instance] = await fresh();
    const answer = await world.command('agent', instance, 'pause', {});
    assertRejected(answer, 403, 'RIGHT_MISSING');
    assert.deepEqual(answer.body.error.details, { right: 'sla.control' });
    assert.equal((await world.command('looker', instance, 'pause', {})).status, 200, 'reading the record is enough');
    const [hiddenId, hidden] = await fresh({ secret: true });
    const absent = { id: randomUUID() };
    for (const [path, method] of [
      [(of: { id: string }) => `/sla/${of.id}/history`, 'GET'],
      [(of: { id: string }) => `/sla/${of.id}/pause`, 'POST'],
      [(of: { id: string }) => `/sla/${of.id}/recalculate`, 'POST'],
    ] as const) {
      const seen = await world.call('looker', method, path(hidden), method === 'POST' ? {} : undefined);
      const not = await world.call('looker', method, path(absent), method === 'POST' ? {} : undefined);
      assertRejected(seen, 404, 'NOT_FOUND');
      assert.deepEqual(seen.body.error, not.body.error);
    }
    const list = await world.call('looker', 'GET', `/objects/${hiddenId}/sla`);
    assertRejected(list, 404, 'NOT_FOUND');
    assert.deepEqual(list.body.error, (await world.call('looker', 'GET', `/objects/${absent.id}/sla`)).body.error);
    assertRejected(await world.call('stranger', 'GET', `/objects/${hiddenId}/sla`), 404, 'NOT_FOUND');
    assert.equal((await world.sla(hiddenId)).status, 'ACTIVE');
    // A looker reads only the field `title`, but the whole SLA, because it belongs to the record.
    const [shownId] = await fresh();
    assert.equal((await world.ok<Instance[]>('looker', 'GET', `/objects/${shownId}/sla`)).length, 2);
  });

  it('explains every interval; the counted ones add up to the elapsed time', async () => {
    world.clock.set('2026-12-23T12:00:00.000Z'); // Wednesday 13:00 in Berlin
    const id = await world.make({ priority: 'p3' });
    const instance = await world.sla(id);
    world.clock.set('2026-12-24T09:00:00.000Z');
    await world.command('looker', instance, 'pause', {});
    world.clock.set('2026-12-24T10:00:00.000Z');
    await world.command('looker', instance, 'resume', {});
    world.clock.set('2026-12-28T09:00:00.000Z');
    await world.to(id, 'wait');
    world.clock.set('2026-12-28T10:00:00.000Z');
    const explanation = await world.ok('chief', 'GET', `/api/admin/v1/sla/${instance.id}/explanation`);
    const by = (who: string, name: string) => ({
      by: who,
      actor: { id: world.id(name), displayName: `Person ${name}` },
    });
    const interval = (from: string, to: string, counted: boolean, reason: string, more = {}) => {
      return { from: `2026-12-${from}:00.000Z`, to: `2026-12-${to}:00.000Z`, counted, reason, ...more };
    };
    assert.deepEqual(
      explanation.intervals.map(({ ms, ...rest }: { ms: number; from: string; to: string }) => {
        assert.equal(ms, Date.parse(rest.to) - Date.parse(rest.from));
        return rest;
      }),
      [
        interval('23T12:00', '23T16:00', true, 'open'),
        interval('23T16:00', '23T23:00', false, 'closed'),
        interval('23T23:00', '24T08:00', false, 'special-hours', { name: 'Christmas Eve' }),
        interval('24T08:00', '24T09:00', true, 'special-hours', { name: 'Christmas Eve' }),
        interval('24T09:00', '24T10:00', false, 'paused', { pausedBy: by('manual', 'looker') }),
        interval('24T10:00', '24T11:00', true, 'special-hours', { name: 'Christmas Eve' }),
        interval('24T11:00', '24T23:00', false, 'special-hours', { name: 'Christmas Eve' }),
        interval('24T23:00', '25T23:00', false, 'holiday', { name: 'Christmas Day' }),
        interval('25T23:00', '28T08:00', false, 'closed'),
        interval('28T08:00', '28T09:00', true, 'open'),
        interval('28T09:00', '28T10:00', false, 'paused', { pausedBy: by('policy', 'chief') }),
      ],
    );
    assert.deepEqual([explanation.elapsedMs, explanation.until], [7 * HOUR, '2026-12-28T10:00:00.000Z']);
    assert.deepEqual(explanation.calendar, {
      id: world.id('office'),
      code: 'office',
      version: 1,
      timezone: 'Europe/Berlin',
    });
    assert.deepEqual(explanation.instance, await world.sla(id));
    const counted = explanation.intervals.filter((one: { counted: boolean }) => one.counted);
    assert.equal(
      counted.reduce((sum: number, one: { ms: number }) => sum + one.ms, 0),
      explanation.elapsedMs,
    );
  });

  it('answers with what rules change in the same unit of work', async () => {
    await world.apply(`
rules:
  - { code: prioritise, on: [SlaPaused], types: [incident], runAs: agent, do: [ { set: { priority: p1 } } ] }
  - { code: conceal, on: [SlaPaused], types: [incident], runAs: agent, when: { field: note, operator: equals, value: hide }, do: [ { set: { secret: true } } ] }
  - { code: finish, on: [SlaResumed], types: [incident], runAs: agent, do: [ { transition: to-done } ] }`);
    const [id, instance] = await fresh();
    world.clock.pass(HOUR);
    const paused = await command(instance, 'pause');
    assert.deepEqual([paused.status, paused.targetMs], ['PAUSED', 4 * HOUR]);
    assert.deepEqual(await world.sla(id), paused);
    const finished = await command(instance, 'resume');
    assert.deepEqual([finished.status, 'pausedAt' in finished, 'stoppedAt' in finished], ['STOPPED', false, true]);
    assert.deepEqual(await world.sla(id), finished);
    const [, hidden] = await fresh({ note: 'hide' });
    const { status, body } = await world.command('looker', hidden, 'pause', {});
    assert.deepEqual([status, body.data.status, body.data.targetMs], [200, 'PAUSED', 16 * HOUR], 'as before the rules');
    assert.equal((await world.command('looker', hidden, 'resume', {})).status, 404);
  });
});
