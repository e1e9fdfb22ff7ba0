/** The rules of the starter configuration, switched on (docs/how-to/route-incidents.md). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { ACTIONS, bundle, idOf } from '../../../test/harness/small-configuration.ts';

const RULES = readFileSync(path.join(import.meta.dirname, '../../../config/itsm/90-rules.yaml'), 'utf8');
const PEOPLE = `
roles:
  - code: everything
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [agent, customer] }
users: [{ login: agent, displayName: Agent }, { login: customer, displayName: Customer }]`;

describe('the rules of the starter configuration', () => {
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

  before(async () => {
    app = await startTestApp();
    await app.apply(bundle(PEOPLE));
    await app.apply(bundle(RULES.replaceAll('enabled: false', 'enabled: true')));
    for (const login of ['agent', 'customer']) keys.set(login, (await app.createKey({ login })).key);
  });
  after(() => app.close());

  it('route, reopen by a reply of the requester alone, and thank', async () => {
    const category = (
      await as('agent', 'POST', '/objects', { typeDefinitionId: 'category', values: { title: 'Mail' } })
    ).id;
    const values = { title: 'No mail', category, requester: await idOf(app, 'users', 'customer') };
    const {
      id,
      number,
      values: made,
    } = await as('agent', 'POST', '/objects', { typeDefinitionId: 'incident', values });
    assert.equal(made.assignmentGroup, await idOf(app, 'groups', 'service-desk'));
    const resolve = { solution: 'Restarted', closeCode: 'solved' };
    await go(id, 'take', { assignee: await idOf(app, 'users', 'agent') });
    await say('customer', id);
    await go(id, 'resolve', resolve);
    await say('agent', id);
    await say('customer', id, 'internal');
    assert.equal(await stateOf(id), 'resolved');
    await say('customer', id);
    assert.equal(await stateOf(id), 'in-progress');
    const history = await as('agent', 'GET', `/objects/${id}/history`);
    const reopened = history.findLast(({ type }: any) => type === 'ObjectTransitioned');
    assert.deepEqual([reopened.data.rule, reopened.data.reason], ['reopen-by-reply', 'Заявитель ответил']);
    await go(id, 'resolve', resolve);
    await go(id, 'close');
    const comments = await as('agent', 'GET', `/objects/${id}/comments`);
    assert.match(comments.at(-1).body, new RegExp(`Обращение ${number} закрыто`));
  });
});
