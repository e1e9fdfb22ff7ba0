/** The work queues of the starter: what their types share is a column, a sort key and a column of files. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { ACTIONS, bundle, idOf } from '../../../test/support/small-configuration.ts';

/** `blind` reads no priority, and the requester only of incidents; `reader` the priority of an incident only if it is P1. */
const PEOPLE = `
types:
  - code: errand
    name: Errand
    title: name
    fields:
      - { code: name, dataType: string, search: { filter: true } }
      - { code: urgency, dataType: enum, role: priority, constraints: { options: [{ code: later, name: Later }, { code: p1, name: Now }, { code: never, name: Never }] } }
      - { code: team, dataType: group, role: group, search: { filter: true } }
      - { code: category, dataType: integer }
roles:
  - code: everything
    rights: [export.execute]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [agent] }
  - code: blind
    rights: [export.execute]
    records:
      - { type: incident, actions: [read], fields: { read: [title, requester, assignee, assignmentGroup] } }
      - { type: request, actions: [read], fields: { read: [title, assignee, assignmentGroup] } }
    assignedTo: { users: [blind] }
  - code: reader
    rights: [export.execute]
    records:
      - { type: incident, actions: [read], fields: { read: [title, assignmentGroup, assignee] } }
      - { type: request, actions: [read], fields: { read: [title, assignmentGroup, assignee, priority] } }
      - { type: incident, where: { field: priority, operator: equals, value: p1 }, actions: [read], fields: { read: [priority] } }
    assignedTo: { users: [reader] }
groups: [{ code: team, name: Team, users: [agent, blind, reader] }]
users:
  - { login: agent, displayName: Agent }
  - { login: blind, displayName: Blind }
  - { login: reader, displayName: Reader }
  - { login: zoe, displayName: Zoe }
  - { login: ann, displayName: Ann }`;

describe('the fields that the types of a work queue share', () => {
  let app: TestApp;
  const keys = new Map<string, string>();
  let filter = '';

  async function call(who: string, method: string, path: string, body?: unknown): Promise<any> {
    return await app.request(method, path, { key: keys.get(who) ?? '', ...(body === undefined ? {} : { body }) });
  }
  async function ok(who: string, path: string): Promise<any> {
    const { status, body } = await call(who, 'GET', `/api/admin/v1${path}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data;
  }
  async function make(typeDefinitionId: string, values: object): Promise<void> {
    const made = await call('worker', 'POST', '/api/v1/objects', { typeDefinitionId, values });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  }
  const titles = async (who: string, sort: string, more = `&filter=${encodeURIComponent(filter)}`): Promise<string> =>
    (await ok(who, `/desk/objects?sort=${sort}${more}`)).rows.map((row: { title: string }) => row.title).join(' ');
  const offered = async (who: string, query = `?filter=${encodeURIComponent(filter)}`): Promise<Map<string, any>> =>
    new Map((await ok(who, `/desk/fields${query}`)).map((field: { code: string }) => [field.code, field]));

  before(async () => {
    app = await startTestApp();
    await app.apply(bundle(PEOPLE));
    keys.set('worker', (await app.createKey({ login: 'agent' })).key);
    for (const login of ['agent', 'blind', 'reader']) {
      keys.set(login, (await app.createKey({ login, scopes: ['admin:manage'] })).key);
    }
    const [ann, zoe, team] = await Promise.all([
      idOf(app, 'users', 'ann'),
      idOf(app, 'users', 'zoe'),
      idOf(app, 'groups', 'team'),
    ]);
    await make('incident', { title: 'I3', priority: 'p3', requester: zoe, assignmentGroup: team });
    await make('request', { title: 'R1', priority: 'p1', requester: ann, assignmentGroup: team });
    await make('incident', { title: 'I1', priority: 'p1', requester: ann, assignmentGroup: team });
    await make('request', { title: 'R2', priority: 'p2', requester: zoe, assignmentGroup: team });
    await make('errand', { name: 'E-never', urgency: 'never', team });
    await make('errand', { name: 'E-now', urgency: 'p1', team });
    const queues = await ok('agent', '/desk/queues/built-in');
    const { definition } = queues.find(({ code }: any) => code === 'unassigned');
    filter = JSON.stringify(definition.filter).replace('"$myGroups"', JSON.stringify([team]));
  });
  after(() => app.close());

  it('are offered by code and by role, with the options of all types', async () => {
    const fields = await offered('agent');
    for (const code of ['priority', 'requester', 'assignee', 'assignmentGroup']) assert.ok(fields.has(code), code);
    assert.ok(Object.keys(fields.get('priority').codes).length >= 2);
    assert.deepEqual(
      fields.get('priority').constraints.options.map((one: any) => one.code),
      ['p1', 'p2', 'p3', 'p4'],
    );
    // All records: errands have the priority and the group by the role of other fields.
    const all = await offered('agent', '');
    const errand = (await ok('agent', '/desk/types')).find(({ code }: any) => code === 'errand').id;
    assert.equal(all.get('priority').codes[errand], 'urgency');
    assert.equal(all.get('assignmentGroup').codes[errand], 'team');
    assert.equal(all.get('category').dataType, 'reference');
    assert.equal(all.get('category').codes[errand], undefined, 'another data type is another field');
    const options = all.get('priority').constraints.options.map((one: any) => one.code);
    assert.deepEqual([...options].sort(), ['later', 'never', 'p1', 'p2', 'p3', 'p4']);
    assert.ok(options.indexOf('later') < options.indexOf('p1') && options.indexOf('p1') < options.indexOf('never'));
  });

  it('sort in both directions, empty values last', async () => {
    assert.match(await titles('agent', 'priority'), /^(R1 I1|I1 R1) R2 I3$/);
    assert.match(await titles('agent', '-priority'), /^I3 R2 (R1 I1|I1 R1)$/);
    assert.match(await titles('agent', 'requester'), /^(R1 I1|I1 R1) (R2 I3|I3 R2)$/);
    assert.match(await titles('agent', '-requester'), /^(R2 I3|I3 R2) (R1 I1|I1 R1)$/);
    const all = (await titles('agent', 'priority', '&pageSize=100'))
      .split(' ')
      .filter((one) => /^[EIR][-0-9]/.test(one));
    assert.deepEqual(all.slice(0, 3).sort(), ['E-now', 'I1', 'R1']);
    assert.equal(
      (await titles('agent', 'assignmentGroup', '&pageSize=100')).split(' ').slice(0, 6).includes('E-now'),
      true,
    );
    const paged = [];
    for (const page of [1, 2, 3, 4]) {
      paged.push(await titles('agent', 'priority', `&pageSize=1&page=${page}&filter=${encodeURIComponent(filter)}`));
    }
    assert.equal(paged.join(' '), await titles('agent', 'priority'));
  });

  it('are columns of files', async () => {
    const columns = ['title', 'priority', 'requester', 'assignee', 'assignmentGroup'].map((code) => ({
      code,
      name: code,
    }));
    const base = { format: 'CSV', title: 'Queue', timeZone: 'UTC', words: { yes: 'yes', no: 'no' }, columns };
    const file = async (who: string, more: object): Promise<string[]> => {
      const answer = await call(who, 'POST', '/api/admin/v1/desk/objects/file', { ...base, ...more });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.split('\r\n').slice(1, -1);
    };
    const lines = await file('agent', { filter, sort: '-priority' });
    assert.equal(lines.length, 4);
    assert.match(lines[0] ?? '', /^I3,[^,]+,Zoe,,Team$/);
    const errand = (await file('agent', { sort: 'priority' })).find((line) => line.startsWith('E-now'));
    assert.equal(errand, 'E-now,Now,,,Team');
    const blind = await file('blind', {
      filter,
      sort: 'title',
      columns: columns.filter(({ code }) => code !== 'priority'),
    });
    assert.deepEqual(blind, ['I1,Ann,,Team', 'I3,Zoe,,Team', 'R1,,,Team', 'R2,,,Team']);
    const hidden = await call('blind', 'POST', '/api/admin/v1/desk/objects/file', { ...base, filter });
    const detail = hidden.body.error.details[0];
    assert.deepEqual([hidden.status, detail.path, detail.code], [400, '/columns/1/code', 'UNKNOWN_FIELD']);
  });

  it('are neither shown nor sorted where the caller may not read them', async () => {
    const fields = await offered('blind');
    assert.deepEqual([fields.has('priority'), Object.keys(fields.get('requester').codes).length], [false, 1]);
    const answers = await Promise.all(
      ['priority', 'nothing'].map((code) => call('blind', 'GET', `/api/admin/v1/desk/objects?sort=${code}`)),
    );
    assert.deepEqual(answers[0].body.error, answers[1].body.error);
    assert.equal(answers[0].status, 400);
    // Requesters of requests are hidden: they count as missing.
    assert.match(await titles('blind', 'requester'), /^I1 I3 (R1 R2|R2 R1)$/);
    assert.match(await titles('blind', '-requester'), /^I3 I1 (R1 R2|R2 R1)$/);
    // The priority of I3 is hidden on this record alone.
    assert.match(await titles('reader', 'priority'), /^(R1 I1|I1 R1) R2 I3$/);
    assert.match(await titles('reader', '-priority'), /^R2 (R1 I1|I1 R1) I3$/);
  });
});
