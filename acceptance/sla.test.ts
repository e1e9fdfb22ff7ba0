/** Service levels from outside, on a service as its users run it and by its own clock. Rules by number: `COVERAGE.md`. */
import assert from 'node:assert/strict';
import { after, describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, before, it, problemsOf, CONFIGURATION, Fixture } from './service.ts';

const week = (hours: string): string =>
  ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => `${day}: ['${hours}']`).join(', ');

/** A month of open time, and two seconds of it. */
const POLICIES = `
calendars:
  - { code: always, timezone: Europe/Moscow, week: { ${week('00:00-24:00')} } }
  - { code: mornings, timezone: Europe/Moscow, week: { ${week('06:00-12:00')} } }
slaPolicies:
  - code: long
    name: { ru-RU: Долго, en-US: Long }
    type: ticket
    calendar: always
    targets: [{ when: { field: urgency, operator: equals, value: high }, duration: PT100H }, { duration: PT700H }]
    start: { field: workflowState, operator: equals, value: fresh }
    stop: { field: workflowState, operator: equals, value: finished }
    pause: { field: open, operator: equals, value: false }
    warnAt: [50]
  - code: quick
    type: ticket
    calendar: always
    targets: [{ duration: PT2S }]
    start: { field: urgency, operator: equals, value: high }
    stop: { field: workflowState, operator: equals, value: finished }
    warnAt: [50]
`;

const HOUR = 3_600_000;

let fixture: Fixture;
let admin: string;
let stranger: string;

function accepted(answer: Answer, status = 200): any {
  assert.equal(answer.status, status, answer.text.slice(0, 400));
  assert.deepEqual(problemsOf(answer), []);
  return answer.body.data;
}

const call = async (method: string, place: string, body?: unknown, status = 200): Promise<any> =>
  accepted(await fixture.send(method, `/api/v1${place}`, body === undefined ? {} : { body }), status);

const make = async (values: Record<string, unknown> = {}): Promise<any> =>
  await call('POST', '/objects', { typeDefinitionId: 'ticket', values: { subject: 'Timed', ...values } }, 201);

const slaOf = async (id: string, policy = 'long'): Promise<any> =>
  (await call('GET', `/objects/${id}/sla`)).find(({ policyCode }: { policyCode: string }) => policyCode === policy);

async function refused(method: string, place: string, status: number, code: string, body?: unknown): Promise<void> {
  const answer = await fixture.send(method, `/api/v1${place}`, body === undefined ? {} : { body });
  assert.deepEqual([answer.status, answer.body?.error?.code], [status, code], answer.text.slice(0, 300));
  assert.deepEqual(problemsOf(answer), []);
}

describe('SLA', () => {
  before(async () => {
    fixture = await Fixture.start();
    await fixture.apply(CONFIGURATION.replace('rights: [', 'rights: [sla.control, ') + POLICIES);
    admin = await fixture.keyOf('chief', 'admin:manage');
    stranger = await fixture.keyOf('outsider');
  });
  after(() => fixture?.stop());

  it('starts timers on records of a type with policies (SLA-1)', async () => {
    const { id } = await make();
    const instance = await slaOf(id);
    assert.deepEqual(
      [instance.objectId, instance.status, instance.revision, instance.name, instance.targetMs, instance.breached],
      [id, 'ACTIVE', 1, 'Долго', 700 * HOUR, false],
    );
    assert.equal(Date.parse(instance.dueAt) - Date.parse(instance.startedAt), 700 * HOUR);
    assert.ok(instance.elapsedMs >= 0 && instance.elapsedMs + instance.remainingMs === instance.targetMs);
    assert.equal(await slaOf(id, 'quick'), undefined);
  });

  it('pauses, retargets, stops and restarts timers when the record changes (SLA-1)', async () => {
    const { id } = await make();
    const change = async (expectedRevision: number, changes: unknown): Promise<void> =>
      await call('PATCH', `/objects/${id}`, { expectedRevision, changes });
    await change(1, { open: false });
    const paused = await slaOf(id);
    assert.deepEqual([paused.status, paused.revision], ['PAUSED', 2]);
    await sleep(50);
    assert.equal((await slaOf(id)).elapsedMs, paused.elapsedMs);
    await change(2, { open: true });
    await change(3, { urgency: 'high' });
    assert.deepEqual([(await slaOf(id)).status, (await slaOf(id)).targetMs], ['ACTIVE', 100 * HOUR]);
    const { state, transitions, object } = await call('GET', `/objects/${id}/workflow`);
    await call('POST', `/objects/${id}/transitions`, {
      transitionId: transitions[0].id,
      expectedRevision: object.revision,
      expectedStateId: state.id,
      values: {},
    });
    const stopped = await slaOf(id);
    assert.deepEqual([stopped.status, typeof stopped.stoppedAt], ['STOPPED', 'string']);
    assert.deepEqual(await slaOf(id), stopped, 'what stopped stays');
  });

  it('accepts commands only in matching statuses and at the expected revision (SLA-2)', async () => {
    const { id } = await make();
    const instance = await slaOf(id);
    const command = (name: string, body: unknown = {}): Promise<any> =>
      call('POST', `/sla/${instance.id}/${name}`, body);
    const no = (name: string, status: number, code: string, body: unknown = {}): Promise<void> =>
      refused('POST', `/sla/${instance.id}/${name}`, status, code, body);
    await no('resume', 409, 'SLA_COMMAND_NOT_ALLOWED');
    assert.equal((await command('pause', { expectedRevision: 1 })).status, 'PAUSED');
    await no('resume', 409, 'REVISION_CONFLICT', { expectedRevision: 1 });
    await no('pause', 409, 'SLA_COMMAND_NOT_ALLOWED');
    await no('recalculate', 400, 'INVALID_REQUEST', { calendarId: instance.policyId });
    await no('recalculate', 400, 'INVALID_REQUEST', { calendarVersion: 99 });
    await no('begin', 404, 'NOT_FOUND');
    const calendars = await accepted(await fixture.send('GET', '/api/admin/v1/config/calendars', { key: admin }));
    const mornings = calendars.find(({ code }: { code: string }) => code === 'mornings').id;
    const recalculated = await command('recalculate', { calendarId: mornings, calendarVersion: 1 });
    assert.deepEqual(
      [recalculated.status, recalculated.calendarId, recalculated.calendarVersion],
      ['PAUSED', mornings, 1],
    );
    assert.equal((await command('resume', { expectedRevision: recalculated.revision })).status, 'ACTIVE');
    assert.equal((await command('stop')).status, 'STOPPED');
    const events = await call('GET', `/sla/${instance.id}/history`);
    assert.deepEqual(
      events.map(({ type }: { type: string }) => type),
      ['SlaStarted', 'SlaPaused', 'SlaRecalculated', 'SlaResumed', 'SlaStopped'],
    );
    assert.ok(events.every(({ id: eventId, at, actor, data }: any) => eventId && at && actor.displayName && data));
  });

  it('sends each notification once and in time (SLA-4)', async () => {
    const { id } = await make({ urgency: 'high' });
    const instance = await slaOf(id, 'quick');
    await sleep(6000);
    const events = await call('GET', `/sla/${instance.id}/history`);
    assert.deepEqual(
      events.map(({ type }: { type: string }) => type),
      ['SlaStarted', 'SlaWarning', 'SlaBreached'],
    );
    const lag = Date.parse(events[2].at) - Date.parse(instance.dueAt);
    assert.ok(lag >= 0 && lag < 5000, `${lag} ms`);
    const breached = await slaOf(id, 'quick');
    assert.deepEqual([breached.breached, breached.breachedAt, breached.status], [true, instance.dueAt, 'ACTIVE']);
    assert.ok(breached.remainingMs < 0);
    const history = await call('GET', `/objects/${id}/history`);
    assert.ok(history.some(({ type }: { type: string }) => type === 'SlaBreached'));
  });

  it('explains timers to the millisecond (AD-explanation)', async () => {
    const { id } = await make();
    const instance = await slaOf(id);
    await call('POST', `/sla/${instance.id}/pause`);
    await sleep(20);
    const explanation = accepted(
      await fixture.send('GET', `/api/admin/v1/sla/${instance.id}/explanation`, { key: admin }),
    );
    const counted = explanation.intervals.filter((one: { counted: boolean }) => one.counted);
    assert.equal(
      counted.reduce((sum: number, one: { ms: number }) => sum + one.ms, 0),
      explanation.elapsedMs,
    );
    assert.deepEqual(
      [explanation.intervals.at(-1).reason, explanation.intervals.at(-1).pausedBy.by],
      ['paused', 'manual'],
    );
  });

  it('returns 404 to callers who may not read the record (SLA-3)', async () => {
    const { id } = await make();
    const instance = await slaOf(id);
    for (const [method, place] of [
      ['GET', `/objects/${id}/sla`],
      ['GET', `/sla/${instance.id}/history`],
      ['POST', `/sla/${instance.id}/pause`],
    ] as const) {
      const answer = await fixture.send(method, `/api/v1${place}`, {
        key: stranger,
        ...(method === 'POST' ? { body: {} } : {}),
      });
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'NOT_FOUND'], place);
    }
  });
});
