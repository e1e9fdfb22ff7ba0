/** Time-based rules: their moments, once each, and changes of the configuration (docs/spec/rules.md#time-based-rules). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { ManualClock } from '../../../test/support/sla-fixture.ts';
import { ACTIONS, bundle, idOf, stored } from '../../../test/support/small-configuration.ts';
import { Authenticator } from '../access/index.ts';
import { fireDue } from '../sla/jobs.ts';
import { fireDueRules, timerUpdater } from './jobs.ts';
import { duringTransaction } from '../../../test/support/database.ts';
import { purgeRuleRuns } from './store.ts';

const MONDAY = '2026-11-23T08:00:00.000Z';

const rulesOf = (hours: string, more = ''): string => `
rules:
  - { code: remind, types: [case], runAs: robot, after: { duration: ${hours}, calendar: office, since: workflowState, while: { logic: AND, conditions: [ { field: workflowState, operator: equals, value: pending }, { field: kind, operator: not-equals, value: quiet } ] } }, do: [ { comment: { visibility: public, body: 'Still {{ workflowState }}' } } ] }
  - { code: planned, types: [case], runAs: robot, after: { duration: PT1H, since: planned }, do: [ { set: { kind: late } } ] }
  - { code: close, types: [case], runAs: robot, after: { duration: PT24H, since: workflowState, while: { field: workflowState, operator: equals, value: solved } }, do: [ { transition: finish } ] }
  - { code: bad, types: [case], runAs: robot, after: { duration: PT1H, since: workflowState, while: { field: kind, operator: equals, value: bad } }, do: [ { set: { kind: worse } }, { set: { locked: x } } ] }
  - { code: refusing, types: [case], runAs: robot, on: [ObjectUpdated], when: { field: kind, operator: equals, value: refused }, onError: refuse, do: [ { set: { locked: x } } ] }
  - { code: into-refusal, types: [case], runAs: robot, after: { duration: PT1H, since: workflowState, while: { field: kind, operator: equals, value: trap } }, do: [ { set: { kind: refused } } ] }
  - { code: greet, types: [case], runAs: robot, on: [SlaStarted], do: [ { comment: { visibility: public, body: 'We have started' } } ] }
  - { code: escalate, types: [case], runAs: robot, on: [SlaWarning], do: [ { set: { kind: urgent } } ] }
  - { code: breached, types: [case], runAs: robot, on: [SlaBreached], onError: refuse, do: [ { set: { locked: x } } ] }
${more}`;

const GROUND = `
settings: { defaultLocale: en-US, timezone: UTC }
calendars:
  - { code: office, timezone: UTC, week: { mon: ['09:00-17:00'], tue: ['09:00-17:00'], wed: ['09:00-17:00'], thu: ['09:00-17:00'], fri: ['09:00-17:00'] } }
slaPolicies:
  - code: respond
    type: case
    calendar: office
    targets: [{ when: { field: kind, operator: equals, value: urgent }, duration: PT12H }, { duration: PT8H }]
    start: { field: kind, operator: in, value: [sla, urgent] }
    stop: { field: workflowState, operator: equals, value: done }
    warnAt: [50]
types:
  - code: case
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: kind, dataType: string }
      - { code: locked, dataType: string }
      - { code: planned, dataType: datetime }
workflows:
  - code: flow
    initial: new
    states: [{ code: new, category: open }, { code: pending, category: open }, { code: solved, category: open }, { code: done, category: done }]
    transitions: [{ code: wait, from: '*', to: pending }, { code: again, from: [pending], to: pending }, { code: solve, from: '*', to: solved }, { code: resume, from: '*', to: new }, { code: finish, from: [solved], to: done }]
roles:
  - code: robot
    records: [{ type: case, actions: [${ACTIONS}], fields: { read: '*', write: [title, kind, planned] }, transitions: '*' }]
    assignedTo: { users: [robot] }
  - code: chief
    rights: [config.manage, role.assign]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
users: [ { login: robot, displayName: Robot }, { login: chief, displayName: Chief } ]`;

describe('time-based rules', () => {
  const clock = new ManualClock(MONDAY);
  let apps: TestApp[] = [];
  let key: string;
  const updaters = new Map<TestApp, ReturnType<typeof timerUpdater>>();

  before(async () => {
    const first = await startTestApp({ bundle: bundle(`${GROUND}${rulesOf('PT4H')}`), clock });
    apps = [first, await startTestApp({ on: first, clock }), await startTestApp({ on: first, clock })];
    key = (await first.createKey({ login: 'chief' })).key;
  });
  after(async () => {
    for (const app of apps.toReversed()) await app.close();
  });

  async function ok(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await (apps[0] as TestApp).request(method, `/api/v1${path}`, {
      key,
      ...(body === undefined ? {} : { body }),
    });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body.data;
  }
  const make = async (values: object = {}): Promise<string> =>
    (await ok('POST', '/objects', { typeDefinitionId: 'case', values: { title: 'Printer', ...values } })).id;
  const read = (id: string): Promise<any> => ok('GET', `/objects/${id}`);
  const change = async (id: string, changes: object): Promise<void> => {
    await ok('PATCH', `/objects/${id}`, { expectedRevision: (await read(id)).revision, changes });
  };
  const go = async (id: string, code: string): Promise<void> => {
    const { transitions } = await ok('GET', `/objects/${id}/workflow`);
    const { revision, workflowState } = await read(id);
    await ok('POST', `/objects/${id}/transitions`, {
      transitionId: transitions.find((one: any) => one.code === code).id,
      expectedRevision: revision,
      expectedStateId: workflowState.id,
    });
  };
  const commentsOf = async (id: string): Promise<number> => (await ok('GET', `/objects/${id}/comments`)).length;
  const rows = (text: string, values: unknown[] = []) => stored(apps[0] as TestApp, text, values);
  const runsOf = async (id: string): Promise<unknown[]> =>
    await rows(
      `SELECT i.code, r.outcome, r.event_type AS event, r.error ->> 'code' AS error FROM rule_runs r JOIN config_items i ON i.id = r.rule_id
        WHERE r.object_id = $1 ORDER BY r.at, i.code`,
      [id],
    );

  /** Does the work of the timers in the process until there is nothing to do. */
  async function work(app = apps[0] as TestApp): Promise<void> {
    const { versions, work: units, system } = app.app;
    await versions.refresh();
    const { db } = app;
    const people = new Authenticator({ db, versions, clock });
    const update = updaters.get(app) ?? timerUpdater();
    updaters.set(app, update);
    while (await update(db, units, system(), clock.now()));
    while (await fireDueRules(units, system(), (id) => people.actorOf(id)));
  }
  async function at(time: string): Promise<void> {
    clock.set(time);
    await work();
  }

  it('fire once at their moment in open time, with several processes', async () => {
    clock.set(MONDAY);
    const ids = await Promise.all(Array.from({ length: 30 }, () => make()));
    await Promise.all(ids.map((id) => go(id, 'wait')));
    await at('2026-11-23T12:59:59.999Z');
    assert.equal(await commentsOf(ids[0] ?? ''), 0);
    clock.set('2026-11-23T13:00:00.000Z');
    await Promise.all(apps.map((app) => work(app)));
    await Promise.all(apps.map((app) => work(app)));
    for (const id of ids) assert.equal(await commentsOf(id), 1);
    const [run, ...others] = await runsOf(ids[0] ?? '');
    assert.deepEqual([run, others], [{ code: 'remind', outcome: 'DONE', event: 'Timer', error: null }, []]);
    const events = await ok('GET', `/objects/${ids[0]}/history`);
    const event = events.find(({ type }: any) => type === 'CommentAdded');
    assert.deepEqual([event.actor.via, event.actor.displayName, event.data.rule], ['rule', 'Robot', 'remind']);
  });

  it('are armed anew by each change of the state, and fire late after downtime', async () => {
    clock.set(MONDAY);
    const id = await make();
    await go(id, 'wait');
    await at('2026-11-23T12:00:00.000Z');
    await go(id, 'resume');
    await go(id, 'wait');
    await at('2026-11-23T15:59:59.999Z');
    assert.equal(await commentsOf(id), 0, 'counted from the second change');
    await at('2026-12-24T00:00:00.000Z');
    assert.equal(await commentsOf(id), 1);
    await at('2026-12-25T00:00:00.000Z');
    assert.equal(await commentsOf(id), 1);
    await go(id, 'again');
    await at('2027-01-25T00:00:00.000Z');
    assert.equal(await commentsOf(id), 2, 'a change to the same state');
  });

  it('do not fire on records that their condition does not meet at the moment, or that are archived', async () => {
    clock.set(MONDAY);
    const [quiet, gone, left] = [await make({ kind: 'quiet' }), await make(), await make()];
    for (const id of [quiet, gone, left]) await go(id, 'wait');
    await go(left, 'resume');
    const pending = `SELECT 1 FROM rule_timers t JOIN config_items i ON i.id = t.rule_id
      WHERE t.object_id = $1 AND i.code = 'remind'`;
    assert.deepEqual([(await rows(pending, [quiet])).length, (await rows(pending, [left])).length], [1, 0]);
    await ok('DELETE', `/objects/${gone}`, { expectedRevision: (await read(gone)).revision });
    await at('2026-11-24T00:00:00.000Z');
    for (const id of [quiet, left]) assert.equal(await commentsOf(id), 0);
    assert.deepEqual(await runsOf(gone), []);
    await change(quiet, { kind: 'loud' });
    await at('2026-11-25T00:00:00.000Z');
    assert.equal(await commentsOf(quiet), 0, 'the moment is over');
  });

  it('count from a field, also if it changes or is cleared', async () => {
    clock.set(MONDAY);
    const id = await make({ planned: '2026-11-23T10:00:00.000Z' });
    await change(id, { planned: '2026-11-23T11:00:00.000Z' });
    await at('2026-11-23T11:59:59.999Z');
    assert.equal((await read(id)).values.kind, undefined);
    await at('2026-11-23T12:00:00.000Z');
    assert.deepEqual([(await read(id)).values.kind, (await read(id)).revision], ['late', 3]);
    const other = await make({ planned: '2026-11-23T15:00:00.000Z' });
    await change(other, { planned: null });
    await at('2026-11-24T12:00:00.000Z');
    assert.equal((await read(other)).revision, 2);
  });

  it('note a failure once, also if a rule that they fire refuses the change', async () => {
    clock.set(MONDAY);
    const [bad, trap] = [await make({ kind: 'bad' }), await make({ kind: 'trap' })];
    await at('2026-11-23T09:00:00.000Z');
    await at('2026-11-23T10:00:00.000Z');
    assert.deepEqual(await runsOf(bad), [{ code: 'bad', outcome: 'FAILED', event: 'Timer', error: 'FIELD_READ_ONLY' }]);
    assert.deepEqual(await runsOf(trap), [
      { code: 'into-refusal', outcome: 'FAILED', event: 'Timer', error: 'RULE_REFUSED' },
    ]);
    assert.deepEqual([(await read(bad)).revision, (await read(trap)).revision], [1, 1]);
  });

  it('close a record by a transition, which arms them anew in the same statement', async () => {
    clock.set(MONDAY);
    const id = await make();
    await go(id, 'solve');
    await at('2026-11-24T08:00:00.000Z');
    assert.equal((await read(id)).workflowState.code, 'done');
    await at('2026-12-24T08:00:00.000Z');
    assert.deepEqual(await runsOf(id), [{ code: 'close', outcome: 'DONE', event: 'Timer', error: null }]);
  });

  it('run on SLA events, within the change or the timer that makes them', async () => {
    clock.set(MONDAY);
    const id = await make({ kind: 'sla' });
    assert.deepEqual([await commentsOf(id), (await read(id)).revision], [1, 1]);
    const sla = async (): Promise<any> => (await ok('GET', `/objects/${id}/sla`))[0];
    assert.equal((await sla()).dueAt, '2026-11-23T17:00:00.000Z');
    const { work: units, system, versions } = (apps[0] as TestApp).app;
    const fire = async (time: string): Promise<void> => {
      clock.set(time);
      await versions.refresh();
      while (await fireDue(units, system()));
    };
    await fire('2026-11-23T13:00:00.000Z');
    const { values, revision } = await read(id);
    assert.deepEqual([values.kind, revision, (await sla()).dueAt], ['urgent', 2, '2026-11-24T13:00:00.000Z']);
    await fire('2026-11-24T13:00:00.000Z');
    assert.equal((await sla()).breached, true);
    assert.deepEqual(await runsOf(id), [
      { code: 'greet', outcome: 'DONE', event: 'SlaStarted', error: null },
      { code: 'escalate', outcome: 'DONE', event: 'SlaWarning', error: null },
      { code: 'breached', outcome: 'FAILED', event: 'SlaBreached', error: 'FIELD_READ_ONLY' },
      { code: 'escalate', outcome: 'DONE', event: 'SlaWarning', error: null },
    ]);
    const types = (await ok('GET', `/objects/${id}/history`)).map(({ type }: any) => type);
    assert.deepEqual(types, [
      'ObjectCreated',
      'SlaStarted',
      'CommentAdded',
      'SlaWarning',
      'ObjectUpdated',
      'SlaRecalculated',
      'SlaWarning',
      'SlaBreached',
    ]);
  });

  it('are armed on the records that are there, and computed again when the rule or the calendar changes', async () => {
    clock.set(MONDAY);
    const [early, late] = [await make(), await make()];
    for (const id of [early, late]) await go(id, 'wait');
    clock.set('2026-11-23T10:30:00.000Z');
    const fresh = (hours: string): string =>
      `  - { code: fresh, types: [case], runAs: robot, after: { duration: ${hours}, calendar: office, since: workflowState, while: { field: workflowState, operator: equals, value: pending } }, do: [ { set: { kind: fresh } } ] }`;
    const app = apps[0] as TestApp;
    await app.apply(bundle(rulesOf('PT6H', fresh('PT1H'))));
    await at('2026-11-23T13:30:00.000Z');
    assert.deepEqual(
      [await commentsOf(early), (await read(early)).values.kind],
      [0, undefined],
      'six hours; a new rule whose moment is over',
    );
    await app.apply(bundle(rulesOf('PT6H', fresh('PT7H'))));
    await at('2026-11-23T15:00:00.000Z');
    assert.equal(await commentsOf(early), 1);
    const hours = "week: { mon: ['09:00-15:30'], tue: ['09:00-17:00'] }";
    await app.apply(bundle(`calendars: [ { code: office, timezone: UTC, ${hours} } ]`));
    await at('2026-11-23T17:00:00.000Z');
    assert.equal((await read(late)).values.kind, undefined, 'the office closed earlier');
    await at('2026-11-24T09:30:00.000Z');
    assert.equal((await read(late)).values.kind, 'fresh');
  });

  it('are left to processes that know their rule', async () => {
    clock.set(MONDAY);
    await work();
    const app = apps[0] as TestApp;
    const older = app.app.system();
    const newest = `  - { code: newest, types: [case], runAs: robot, after: { duration: PT1H, since: workflowState, while: { field: workflowState, operator: equals, value: solved } }, do: [ { set: { kind: newest } } ] }`;
    await app.apply(bundle(rulesOf('PT6H', newest)));
    const id = await make();
    await go(id, 'solve');
    clock.set('2026-11-23T09:00:00.000Z');
    const people = new Authenticator({ db: app.db, versions: app.app.versions, clock });
    await fireDueRules(app.app.work, older, (userId) => people.actorOf(userId));
    await timerUpdater()(app.db, app.app.work, older, clock.now());
    const pending = `SELECT i.code FROM rule_timers t JOIN config_items i ON i.id = t.rule_id
      WHERE t.object_id = $1 AND t.due_at <= '2026-11-23T09:00:00.000Z'`;
    assert.deepEqual(await rows(pending, [id]), [{ code: 'newest' }]);
    await work();
    assert.equal((await read(id)).values.kind, 'newest');
  });

  it('run on each SLA event, also when another process reports one that a rule refuses', async () => {
    clock.set(MONDAY);
    const app = apps[0] as TestApp;
    const stop = `  - { code: stop, types: [case], runAs: robot, on: [ObjectUpdated], when: { field: title, operator: equals, value: Refused }, once: every-time, onError: refuse, do: [ { set: { locked: x } } ] }`;
    await app.apply(bundle(rulesOf('PT6H', stop)));
    const refused = await make({ kind: 'sla', title: 'Refused' });
    clock.set('2026-11-23T09:30:00.000Z');
    const other = await make({ kind: 'sla' });
    clock.set('2026-11-23T13:30:00.000Z');
    const { work: units, system, versions } = app.app;
    await versions.refresh();
    let wasHeld = false;
    const racing: Pick<typeof units, 'read' | 'write'> = {
      read: (caller, unit) => units.read(caller, unit),
      write: async (caller, unit) => {
        const holds = caller.reacts === false && !wasHeld;
        if (!holds) return await units.write(caller, unit);
        wasHeld = true;
        return await duringTransaction(app.db, async (client) => {
          await client.query('SELECT 1 FROM sla_instances WHERE object_id = $1 FOR UPDATE', [refused]);
          return await units.write(caller, unit);
        });
      },
    };
    while (await fireDue(racing as typeof units, system()));
    assert.ok(wasHeld);
    assert.deepEqual([(await read(refused)).values.kind, (await read(other)).values.kind], ['sla', 'urgent']);
  });

  it('wait for a minute after an error of the service, and do not hold up others', async () => {
    clock.set(MONDAY);
    const { work: units, system } = (apps[0] as TestApp).app;
    const id = await make({ planned: '2026-11-23T10:00:00.000Z' });
    await work();
    clock.set('2026-11-23T11:00:00.000Z');
    const broken = fireDueRules(units, system(), () => Promise.reject(new Error('broken')));
    await assert.rejects(broken, /could not be run/);
    assert.equal(await fireDueRules(units, system(), () => assert.fail('nothing is due')), false);
    await at('2026-11-23T11:00:59.999Z');
    assert.equal((await read(id)).values.kind, undefined);
    await at('2026-11-23T11:01:00.000Z');
    assert.equal((await read(id)).values.kind, 'late');
  });

  it('can be tried', async () => {
    clock.set(MONDAY);
    const id = await make();
    await go(id, 'wait');
    const admin = (await (apps[0] as TestApp).createKey({ login: 'chief', scopes: ['admin:manage'] })).key;
    const tried = await (apps[0] as TestApp).request('POST', '/api/admin/v1/rules/remind/try', {
      key: admin,
      body: { objectId: id },
    });
    assert.deepEqual(tried.body.data.rules, [{ code: 'remind', outcome: 'DONE' }]);
    assert.deepEqual(
      tried.body.data.events.map(({ type }: any) => type),
      ['CommentAdded'],
    );
    assert.equal(await commentsOf(id), 0);
  });

  it('keep the last 1,000 runs of each rule', async () => {
    const app = apps[0] as TestApp;
    const ruleId = await idOf(app, 'config_items', 'bad');
    await rows(
      `INSERT INTO rule_runs (id, rule_id, object_id, at, event_type, chain, outcome, effects, duration_ms, correlation_id)
        SELECT gen_random_uuid(), $1, gen_random_uuid(), now() + n * interval '1 year', 'Timer', '[]', 'DONE', '[]', 1, 'n' || n
        FROM generate_series(1, 1003) n`,
      [ruleId],
    );
    const others = 'SELECT count(*)::int AS n FROM rule_runs WHERE rule_id <> $1';
    const before = await rows(others, [ruleId]);
    while (await purgeRuleRuns(app.db));
    const ids = await rows('SELECT correlation_id AS id FROM rule_runs WHERE rule_id = $1 ORDER BY at', [ruleId]);
    assert.deepEqual([ids.length, ids[0], ids.at(-1)], [1000, { id: 'n4' }, { id: 'n1003' }]);
    assert.deepEqual(await rows(others, [ruleId]), before);
  });
});
