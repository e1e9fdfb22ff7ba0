/** The preview of a rule on the history, and which rule can fire which (docs/spec/rules.md#preview). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { ACTIONS, bundle } from '../../../test/support/small-configuration.ts';

/** The clerk cannot read `secret`, internal comments, and records of the kind `private`. */
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, search: { filter: true, text: true } }
      - { code: kind, dataType: string }
      - { code: team, dataType: string }
      - { code: planned, dataType: datetime }
      - { code: secret, dataType: string }
workflows:
  - code: flow
    initial: new
    states: [{ code: new, category: open }, { code: done, category: done }]
    transitions: [{ code: finish, from: [new], to: done, set: { team: nobody } }]
rules:
  - { code: a-route, name: Route, enabled: true, on: [ObjectUpdated], types: [case], runAs: robot, when: { field: kind, operator: equals, value: routed }, do: [{ set: { team: x } }] }
  - { code: b-back, name: Back, on: [ObjectUpdated], types: [case], runAs: robot, when: { field: team, operator: equals, value: x }, do: [{ set: { kind: routed } }] }
  - { code: c-off, name: Off, enabled: false, on: [CommentAdded], types: [case], runAs: robot, when: { field: changed, operator: contains, value: kind }, do: [{ set: { team: x } }] }
roles:
  - code: robot
    records: [{ type: case, actions: [${ACTIONS}], fields: { read: [title, kind, team, planned], write: [team] } }]
    assignedTo: { users: [robot] }
  - code: chief
    rights: [config.manage, role.assign]
    records: [{ type: case, actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: clerk
    rights: [config.manage]
    records: [{ type: case, where: { field: kind, operator: not-equals, value: private }, actions: [read, history, comment.create], fields: { read: [title, kind, team] } }]
    assignedTo: { users: [clerk, guest] }
  - { code: guest, rights: [role.assign], assignedTo: { users: [guest] } }
users:
  - { login: robot, displayName: Robot }
  - { login: chief, displayName: Chief }
  - { login: clerk, displayName: Clerk }
  - { login: guest, displayName: Guest }`;

const IS_NETWORK = { field: 'kind', operator: 'equals', value: 'network' };

describe('the preview of a rule', () => {
  let app: TestApp;
  let key: string;
  const keys = new Map<string, string>();
  let undocumented: readonly unknown[];
  const ids = new Map<string, string>();

  async function preview(login: string, rule: object, days?: number): Promise<any> {
    const whole = { code: 'tried', on: ['ObjectCreated', 'ObjectUpdated'], types: ['case'], runAs: 'robot', ...rule };
    const body = { rule: { do: [{ set: { team: 'x' } }], ...whole }, ...(days === undefined ? {} : { days }) };
    return await app.request('POST', '/api/admin/v1/rules/preview', { key: keys.get(login) ?? '', body });
  }
  /** Titles of the records with the number of firings, the latest first. */
  async function found(login: string, rule: object): Promise<unknown[]> {
    const { status, body } = await preview(login, rule);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.data.complete, body.data.records], [true, body.data.examples.length]);
    return body.data.examples.map(({ title, firings }: any) => [title, firings]);
  }
  async function ok(method: string, path: string, body: unknown): Promise<any> {
    const answer = await app.request(method, `/api/v1${path}`, { key, body });
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body.data;
  }
  async function make(title: string, kind: string, ...later: object[]): Promise<void> {
    const made = await ok('POST', '/objects', { typeDefinitionId: 'case', values: { title, kind } });
    const { id } = made;
    let { revision } = made;
    ids.set(title, id);
    for (const changes of later) {
      ({ revision } = await ok('PATCH', `/objects/${id}`, { expectedRevision: revision, changes }));
    }
  }

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    undocumented = watchAnswers(app);
    key = (await app.createKey({ login: 'chief' })).key;
    for (const login of ['chief', 'clerk', 'guest']) {
      keys.set(login, (await app.createKey({ login, scopes: ['admin:manage'] })).key);
    }
    await make('Created so', 'network');
    await make(
      'Changed twice',
      'other',
      { kind: 'network' },
      { title: 'Changed twice' },
      { kind: 'other' },
      { kind: 'network' },
      { kind: 'gone' },
    );
    await make('Another', 'other', { secret: 'hush' });
    await make('Private', 'network', { kind: 'private' });
    for (const visibility of ['public', 'internal']) {
      await ok('POST', `/objects/${ids.get('Another')}/comments`, { visibility, body: visibility });
    }
  });
  after(async () => {
    await app.close();
    assert.deepEqual(undocumented, []);
  });

  it('meets each record as it was at the event', async () => {
    assert.deepEqual(await found('chief', { when: IS_NETWORK }), [
      ['Private', 1],
      ['Changed twice', 2],
      ['Created so', 1],
    ]);
    const every = await found('chief', { when: IS_NETWORK, once: 'every-time' });
    assert.deepEqual(every, await found('chief', { when: IS_NETWORK }), 'the same title is no change');
    assert.deepEqual(await found('chief', { on: ['ObjectUpdated'], when: { ...IS_NETWORK, operator: 'not-equals' } }), [
      ['Private', 1],
      ['Changed twice', 2],
    ]);
    const changed = { field: 'changed', operator: 'contains', value: 'secret' };
    assert.deepEqual(await found('chief', { runAs: 'chief', when: changed }), [['Another', 1]]);
    const { data } = (await preview('chief', { when: IS_NETWORK }, 7)).body;
    assert.deepEqual([data.firings, data.limited, data.examples[0].eventType], [4, false, 'ObjectCreated']);
    assert.equal(Date.parse(data.to) - Date.parse(data.from), 7 * 86_400_000);
  });

  it('counts one change of several events once, as all of it left the record', async () => {
    await make('Finished', 'other');
    const id = ids.get('Finished') ?? '';
    const { workflowState } = (await app.request('GET', `/api/v1/objects/${id}`, { key })).body.data;
    const { transitions } = (await app.request('GET', `/api/v1/objects/${id}/workflow`, { key })).body.data;
    const step = { transitionId: transitions[0].id, expectedRevision: 1, expectedStateId: workflowState.id };
    await ok('POST', `/objects/${id}/transitions`, step);
    const done = { field: 'workflowState', operator: 'equals', value: 'done' };
    assert.deepEqual(await found('chief', { on: ['ObjectTransitioned', 'ObjectUpdated'], when: done }), [
      ['Finished', 1],
    ]);
  });

  it('shows what both the caller and the user of the rule may read', async () => {
    const secret = { field: 'secret', operator: 'equals', value: 'hush' };
    assert.deepEqual(await found('chief', { when: secret }), [], 'the robot cannot read it');
    assert.deepEqual(await found('chief', { runAs: 'chief', when: secret }), [['Another', 1]]);
    const hidden = (await preview('guest', { runAs: 'chief', when: secret })).body.data;
    assert.deepEqual([hidden.records, hidden.limited], [0, true]);
    assert.deepEqual(await found('guest', { when: IS_NETWORK }), [
      ['Changed twice', 2],
      ['Created so', 1],
    ]);
    const replied = { on: ['CommentAdded'] };
    assert.deepEqual(await found('guest', replied), [['Another', 1]], 'without the internal comment');
    assert.deepEqual(await found('chief', replied), [['Another', 2]]);
    const foreign = await preview('clerk', { when: IS_NETWORK });
    assert.deepEqual([foreign.status, foreign.body.error.code], [403, 'RIGHT_MISSING']);
    assert.equal((await preview('clerk', { runAs: 'clerk', when: IS_NETWORK })).body.data.records, 2);
  });

  it('computes the moments of a time-based rule, and meets the records as they were then', async () => {
    const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
    const timed = (when?: object) => ({
      on: undefined,
      after: { duration: 'PT2H', since: 'planned' },
      ...(when === undefined ? {} : { when }),
    });
    await make('Over', 'waits', { planned: at(-3) }, { kind: 'gone' });
    await make('Moved', 'waits', { planned: at(-1) }, { planned: at(-5) });
    await make('To come', 'waits', { planned: at(-1) });
    await make('Cleared', 'waits', { planned: null });
    assert.deepEqual(await found('chief', timed()), [
      ['Moved', 1],
      ['Over', 1],
    ]);
    const waits = { field: 'kind', operator: 'equals', value: 'waits' };
    assert.deepEqual(await found('chief', timed(waits)), await found('chief', timed()), 'changed after the moment');
    const { data } = (await preview('chief', timed())).body;
    assert.equal(data.examples[0].eventType, 'Timer');
    const hidden = (await preview('clerk', { ...timed(), runAs: 'clerk' })).body.data;
    assert.deepEqual([hidden.records, hidden.limited], [0, false], 'the time tells the value of a field');
    const fromState = { on: undefined, after: { duration: 'PT1H', since: 'workflowState' } };
    assert.deepEqual(await found('chief', fromState), [], 'no record is an hour old');
    const limited = (await preview('guest', timed())).body.data;
    assert.deepEqual([limited.records, limited.limited], [0, true]);
  });

  it('refuses a rule that a bundle could not have, with places', async () => {
    const { status, body } = await preview('chief', { when: { field: 'nothing', operator: 'equals', value: 'x' } });
    assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST']);
    assert.match(JSON.stringify(body.error), /nothing/);
    const misshapen = await preview('chief', { once: 'sometimes' });
    assert.deepEqual([misshapen.status, misshapen.body.error.code], [400, 'INVALID_REQUEST']);
  });

  it('names the rules that a rule can fire, loops, and rules that never fire', async () => {
    const { body } = await app.request('GET', '/api/admin/v1/rules/graph', { key: keys.get('clerk') ?? '' });
    assert.deepEqual(
      body.data.map(({ code, name, enabled, fires, loop, unmeetable }: any) => [
        code,
        name,
        enabled,
        fires,
        loop,
        unmeetable,
      ]),
      [
        ['a-route', 'Route', true, ['b-back'], ['a-route', 'b-back', 'a-route'], null],
        ['b-back', 'Back', true, ['a-route'], ['b-back', 'a-route', 'b-back'], null],
        ['c-off', 'Off', false, [], null, 'changed'],
      ],
    );
  });
});
