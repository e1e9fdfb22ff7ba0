/** The rules of the starter configuration, switched on (docs/how-to/route-incidents.md). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { notifyAll, testAuthenticator } from '../../../test/support/notify-all.ts';
import { ManualClock } from '../../../test/support/sla-fixture.ts';
import { ACTIONS, bundle, idOf, stored } from '../../../test/support/small-configuration.ts';
import { fireDue } from '../sla/jobs.ts';
import { fireDueRules } from './jobs.ts';

const RULES = readFileSync(path.join(import.meta.dirname, '../../../config/itsm/90-rules.yaml'), 'utf8');
const PEOPLE = `
roles:
  - code: everything
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [agent, customer, colleague] }
groups: [{ code: service-desk, users: [colleague] }]
users: [ { login: agent, displayName: Agent }, { login: customer, displayName: Customer }, { login: colleague, displayName: Colleague } ]`;

/** 10:00 in the calendar `office`, which is open from 9:00 to 18:00 in Moscow. */
const MONDAY = '2026-11-23T07:00:00.000Z';
const RESOLUTION = { solution: 'Restarted', closeCode: 'solved' };

describe('the rules of the starter configuration', () => {
  const clock = new ManualClock(MONDAY);
  let app: TestApp;
  const keys = new Map<string, string>();

  async function as(login: string, method: string, call: string, body?: unknown): Promise<any> {
    const key = keys.get(login) ?? '';
    const answer = await app.request(method, `/api/v1${call}`, { key, ...(body === undefined ? {} : { body }) });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body.data;
  }
  async function go(id: string, code: string, values: object = {}): Promise<void> {
    const { revision, workflowState } = await as('agent', 'GET', `/objects/${id}`);
    const { transitions } = await as('agent', 'GET', `/objects/${id}/workflow`);
    const transitionId = transitions.find((one: any) => one.code === code).id;
    const body = { transitionId, expectedRevision: revision, expectedStateId: workflowState.id, values };
    await as('agent', 'POST', `/objects/${id}/transitions`, body);
  }
  const stateOf = async (id: string): Promise<string> =>
    (await as('agent', 'GET', `/objects/${id}`)).workflowState.code;
  const say = (login: string, id: string, visibility = 'public') =>
    as(login, 'POST', `/objects/${id}/comments`, { visibility, body: 'Hello' });

  const commentsOf = async (id: string): Promise<[visibility: string, body: string][]> =>
    (await as('agent', 'GET', `/objects/${id}/comments`)).map(({ visibility, body }: any) => [visibility, body]);
  /** An incident of the customer, which the agent has taken. */
  async function taken(more: object = {}): Promise<{ id: string; number: string }> {
    const values = { title: 'No mail', requester: await idOf(app, 'users', 'customer'), ...more };
    const made = await as('agent', 'POST', '/objects', { typeDefinitionId: 'incident', values });
    await go(made.id, 'take', { assignee: await idOf(app, 'users', 'agent') });
    return made;
  }
  /** Does the work of the timers at the instant, that of rules and that of SLA. */
  async function at(time: string): Promise<void> {
    clock.set(time);
    const { versions, work, system } = app.app;
    await versions.refresh();
    const people = testAuthenticator(app);
    while (await fireDue(work, system()));
    while (await fireDueRules(work, system(), (id) => people.actorOf(id)));
  }

  before(async () => {
    app = await startTestApp({ clock });
    await app.apply(bundle(PEOPLE));
    await app.apply(bundle(RULES.replaceAll('enabled: false', 'enabled: true')));
    for (const login of ['agent', 'customer']) keys.set(login, (await app.createKey({ login })).key);
  });
  after(() => app.close());

  it('route, reopen by a reply of the requester alone, and thank', async () => {
    const category = (
      await as('agent', 'POST', '/objects', { typeDefinitionId: 'category', values: { title: 'Mail' } })
    ).id;
    const { id, number } = await taken({ category });
    const { values } = await as('agent', 'GET', `/objects/${id}`);
    assert.equal(values.assignmentGroup, await idOf(app, 'groups', 'service-desk'));
    await say('customer', id);
    await go(id, 'resolve', RESOLUTION);
    await say('agent', id);
    await say('customer', id, 'internal');
    assert.equal(await stateOf(id), 'resolved');
    await say('customer', id);
    assert.equal(await stateOf(id), 'in-progress');
    const history = await as('agent', 'GET', `/objects/${id}/history`);
    const reopened = history.findLast(({ type }: any) => type === 'ObjectTransitioned');
    assert.deepEqual([reopened.data.rule, reopened.data.reason], ['reopen-by-reply', 'Заявитель ответил']);
    await go(id, 'resolve', RESOLUTION);
    await go(id, 'close');
    assert.match(
      (await commentsOf(id)).at(-1)?.join(' ') ?? '',
      new RegExp(`^public .*Обращение ${number} закрыто`, 's'),
    );
  });

  it('remind the requester once after two working days, unless the incident goes on', async () => {
    clock.set(MONDAY);
    const [{ id, number }, resumed] = [await taken(), await taken()];
    for (const one of [id, resumed.id]) await go(one, 'hold', { $reason: 'Asked' });
    await at('2026-11-24T15:00:00.000Z');
    await go(resumed.id, 'resume');
    await at('2026-11-25T06:59:59.999Z');
    assert.deepEqual(await commentsOf(id), []);
    await at('2026-11-25T07:00:00.000Z');
    await at('2026-12-25T07:00:00.000Z');
    const [[visibility, body] = [], ...others] = await commentsOf(id);
    assert.deepEqual([visibility, others, await stateOf(id)], ['public', [], 'pending']);
    assert.match(body ?? '', new RegExp(`Customer!\n\nМы ждём вашего ответа по обращению ${number}`));
    const toResumed = await commentsOf(resumed.id);
    assert.deepEqual(
      toResumed.filter(([shownTo]) => shownTo === 'public'),
      [],
    );
  });

  it('close after five working days, and then thank, unless the requester replies', async () => {
    clock.set(MONDAY);
    const [{ id }, reopened] = [await taken(), await taken()];
    for (const one of [id, reopened.id]) await go(one, 'resolve', RESOLUTION);
    await at('2026-11-30T06:59:59.999Z');
    assert.equal(await stateOf(id), 'resolved');
    await say('customer', reopened.id);
    await at('2026-11-30T07:00:00.000Z');
    assert.deepEqual([await stateOf(id), await stateOf(reopened.id)], ['closed', 'in-progress']);
    const [[visibility, thanks] = [], ...others] = await commentsOf(id);
    assert.deepEqual([visibility, others], ['public', []]);
    assert.match(thanks ?? '', /Спасибо/);
  });

  it('notify the assignee and the group before a target is breached', async () => {
    clock.set(MONDAY);
    const { id } = await taken({ priority: 'p1', assignmentGroup: await idOf(app, 'groups', 'service-desk') });
    await at('2026-11-23T08:59:59.999Z');
    assert.deepEqual(await commentsOf(id), []);
    await at('2026-11-23T09:00:00.000Z');
    assert.deepEqual(await commentsOf(id), [
      ['internal', 'Срок SLA скоро истечёт. Сообщение отправлено исполнителю и группе.'],
    ]);
    const instances = await as('agent', 'GET', `/objects/${id}/sla`);
    assert.deepEqual(instances.map(({ policyCode, status, breached }: any) => [policyCode, status, breached]).sort(), [
      ['incident-reaction', 'STOPPED', false],
      ['incident-resolution', 'ACTIVE', false],
    ]);
    await notifyAll(app, testAuthenticator(app));
    const told = await stored(
      app,
      `SELECT u.login FROM notifications n JOIN users u ON u.id = n.user_id
        WHERE n.object_id = $1 AND n.event_type = 'RuleNotified' ORDER BY u.login`,
      [id],
    );
    assert.deepEqual(told, [{ login: 'agent' }, { login: 'colleague' }]);
  });
});
