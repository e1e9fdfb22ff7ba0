/** Rules on events: conditions, actions, one revision, failures, loops, rights, dry runs (docs/spec/rules.md). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { notifyAll, testAuthenticator } from '../../../test/support/notify-all.ts';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { ACTIONS, bundle, idOf, stored } from '../../../test/support/small-configuration.ts';

/** The robot cannot read `secret`, and cannot write `locked`. Each rule reacts to one `kind`. */
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    title: title
    numbering: { prefix: C, digits: 3 }
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, search: { filter: true, text: true } }
      - { code: kind, dataType: string }
      - { code: team, dataType: string }
      - { code: secret, dataType: string }
      - { code: locked, dataType: string }
      - { code: count, dataType: string }
      - { code: owners, dataType: user, multiple: true }
      - { code: boss, dataType: user }
  - { code: problem, title: title, fields: [ { code: title, dataType: string, required: true } ] }
workflows:
  - code: flow
    initial: new
    states: [{ code: new, category: open }, { code: work, category: open }, { code: done, category: done }]
    transitions: [{ code: take, from: [new], to: work }, { code: finish, from: [work], to: done }]
relationDefinitions:
  - { code: caused-by, sourceTypes: [case], targetTypes: [problem] }
  - { code: next-of, sourceTypes: [problem], targetTypes: [problem] }
rules:
  - code: a-route
    on: [ObjectCreated, ObjectUpdated]
    types: [case]
    runAs: robot
    when: { field: kind, operator: equals, value: network }
    do:
      - set: { team: network }
      - comment: { visibility: internal, body: 'Sent: {{ title }} [{{ secret }}] {{ team }}' }
      - transition: take
      - create: { type: problem, relation: caused-by, values: { title: 'Cause of {{ title }}' } }
  - code: b-follow
    on: [ObjectUpdated]
    types: [case]
    runAs: robot
    when: { field: team, operator: equals, value: network }
    do: [ { set: { count: routed } } ]
  - code: c-fail
    on: [ObjectUpdated]
    types: [case]
    runAs: robot
    when: { field: kind, operator: equals, value: fail }
    do: [ { comment: { visibility: public, body: 'Gone' } }, { set: { locked: x } } ]
  - code: d-refuse
    on: [ObjectUpdated]
    types: [case]
    runAs: robot
    when: { field: kind, operator: equals, value: refuse }
    onError: refuse
    do: [ { transition: finish } ]
  - code: e-reopen
    on: [CommentAdded]
    types: [case]
    runAs: robot
    when: { logic: AND, conditions: [ { field: comment.visibility, operator: equals, value: public }, { field: event.actor, operator: not-equals, value: robot } ] }
    do: [ { set: { count: replied } } ]
  - code: f-secret
    on: [ObjectUpdated]
    types: [case]
    runAs: robot
    when: { field: secret, operator: equals, value: hush }
    do: [ { comment: { visibility: public, body: 'It is hush' } } ]
  - code: g-loop
    on: [ObjectCreated]
    types: [problem]
    runAs: robot
    when: { field: title, operator: starts-with, value: again }
    do: [ { create: { type: problem, values: { title: '{{ title }}' } } } ]
  - { code: h-off, enabled: false, on: [ObjectCreated], types: [case], runAs: robot, do: [ { comment: { visibility: public, body: 'Off' } } ] }
  - { code: i-gone, on: [ObjectUpdated], types: [case], runAs: leaver, when: { field: kind, operator: equals, value: leaver }, do: [ { set: { count: left } } ] }
  - { code: j-notify, on: [ObjectUpdated], types: [case], runAs: robot, when: { field: kind, operator: equals, value: notify }, do: [ { notify: { to: [owners, boss] } } ] }
roles:
  - code: robot
    records:
      - { type: case, actions: [${ACTIONS}], fields: { read: [title, kind, team, locked, count, owners], write: [team, count] }, transitions: '*' }
      - { type: problem, actions: [${ACTIONS}], fields: { read: '*', write: '*' } }
    assignedTo: { users: [robot, leaver] }
  - { code: blind, rights: [config.manage], assignedTo: { users: [blind] } }
  - { code: clerk, rights: [config.manage], records: [{ type: case, actions: [read, update], fields: { read: [title, team], write: [kind] } }], assignedTo: { users: [clerk] } }
  - code: chief
    rights: [config.manage, role.assign, user.administer, import.manage, import.execute]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
users:
  - { login: robot, displayName: Robot }
  - { login: leaver, displayName: Leaver }
  - { login: blind, displayName: Blind }
  - { login: clerk, displayName: Clerk }
  - { login: chief, displayName: Chief }`;

describe('rules on events', () => {
  let app: TestApp;
  let key: string;
  let admin: string;
  let undocumented: readonly unknown[];
  const logged: any[] = [];

  async function call(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<any> {
    return await app.request(method, `/api/v1${path}`, {
      key,
      ...(body === undefined ? {} : { body }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    });
  }
  async function ok(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await call(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body.data;
  }
  const create = (values: object): Promise<any> =>
    ok('POST', '/objects', { typeDefinitionId: 'case', values: { title: 'Printer', ...values } });
  const change = (id: string, expectedRevision: number, changes: object): Promise<any> =>
    call('PATCH', `/objects/${id}`, { expectedRevision, changes });
  const commentsOf = async (id: string): Promise<string[]> =>
    (await ok('GET', `/objects/${id}/comments`)).map(({ body }: { body: string }) => body);
  const runsOf = async (id: string): Promise<unknown[]> =>
    await stored(
      app,
      `SELECT i.code, r.outcome, r.error ->> 'code' AS error FROM rule_runs r JOIN config_items i ON i.id = r.rule_id
        WHERE r.object_id = $1 ORDER BY i.code`,
      [id],
    );

  before(async () => {
    const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
    app = await startTestApp({ bundle: bundle(WORLD), log });
    undocumented = watchAnswers(app);
    key = (await app.createKey({ login: 'chief' })).key;
    admin = (await app.createKey({ login: 'chief', scopes: ['admin:manage'] })).key;
  });
  after(async () => {
    await app.close();
    assert.deepEqual(undocumented, []);
  });

  it('do all actions with the change, in one revision, and the answer shows the record as committed', async () => {
    const made = await create({ kind: 'network', secret: 'hush' });
    assert.deepEqual(
      [made.revision, made.values.team, made.values.count, made.workflowState.code, made.updatedBy.displayName],
      [1, 'network', 'routed', 'work', 'Robot'],
    );
    assert.match(made.number, /^C\d{3}$/);
    const { meta: _meta, ...now } = (await call('GET', `/objects/${made.id}`)).body;
    assert.deepEqual(now.data, made);
    assert.deepEqual(await commentsOf(made.id), ['Sent: Printer [] network'], 'without what the robot cannot read');
    const history = await ok('GET', `/objects/${made.id}/history`);
    assert.deepEqual(
      history.map(({ type, revision, actor, data }: any) => [type, revision, actor.via, actor.displayName, data.rule]),
      [
        ['ObjectCreated', 1, 'api', 'Chief', undefined],
        ['ObjectUpdated', 1, 'rule', 'Robot', 'a-route'],
        ['CommentAdded', null, 'rule', 'Robot', 'a-route'],
        ['ObjectTransitioned', 1, 'rule', 'Robot', 'a-route'],
        ['RelationAdded', null, 'rule', 'Robot', 'a-route'],
        ['ObjectUpdated', 1, 'rule', 'Robot', 'b-follow'],
      ],
    );
    const [related] = await ok('GET', `/objects/${made.id}/relations`);
    assert.ok(JSON.stringify(related).includes('Cause of Printer'), JSON.stringify(related));
    assert.deepEqual(await runsOf(made.id), [
      { code: 'a-route', outcome: 'DONE', error: null },
      { code: 'b-follow', outcome: 'DONE', error: null },
    ]);
    const old = (await call('GET', `/objects/${made.id}?revision=1`)).body.data;
    assert.deepEqual([old.values.team, old.workflowState.code], ['network', 'work']);
  });

  it('fire when the condition becomes true, and not while it stays so', async () => {
    const { id } = await create({ kind: 'other' });
    const first = await change(id, 1, { kind: 'network' });
    assert.deepEqual([first.body.data.revision, first.body.data.values.team], [2, 'network']);
    const second = await change(id, 2, { title: 'Scanner' });
    assert.equal(second.body.data.revision, 3);
    assert.equal((await commentsOf(id)).length, 1);
    await change(id, 3, { kind: 'other' });
    await change(id, 4, { kind: 'network' });
    // The transition is not available again, so the whole run is undone.
    assert.equal((await commentsOf(id)).length, 1);
  });

  it('are all or nothing, and a failure leaves the change and a line in the log', async () => {
    const { id } = await create({});
    const changed = await change(id, 1, { kind: 'fail' });
    assert.deepEqual([changed.status, changed.body.data.revision, changed.body.data.values.kind], [200, 2, 'fail']);
    assert.deepEqual(await commentsOf(id), []);
    assert.deepEqual(await runsOf(id), [{ code: 'c-fail', outcome: 'FAILED', error: 'FIELD_READ_ONLY' }]);
  });

  it('refuse the change if they are told to, also in a bulk call, where only that item fails', async () => {
    const [bad, good] = [await create({}), await create({})];
    const refused = await change(bad.id, 1, { kind: 'refuse' });
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'RULE_REFUSED']);
    assert.deepEqual(refused.body.error.details, { rule: 'd-refuse' });
    // Not why: that can contain what only the user of the rule may see.
    assert.match(refused.body.error.message, /^The rule d-refuse could not be carried out, so /);
    const items = [
      { objectId: bad.id, expectedRevision: 1, changes: { kind: 'refuse' } },
      { objectId: good.id, expectedRevision: 1, changes: { kind: 'network' } },
    ];
    const results = await ok('POST', '/bulk', { operation: 'update', items });
    assert.deepEqual(
      results.map(({ status, revision, error }: any) => [status, revision, error?.code]),
      [
        ['FAILED', undefined, 'RULE_REFUSED'],
        ['SUCCEEDED', 2, undefined],
      ],
    );
    assert.deepEqual(await runsOf(bad.id), []);
    assert.equal((await ok('GET', `/objects/${good.id}`)).values.team, 'network');
  });

  it('react to comments, and not to their own', async () => {
    const { id } = await create({});
    await ok('POST', `/objects/${id}/comments`, { body: 'Hidden', visibility: 'internal' });
    assert.equal((await ok('GET', `/objects/${id}`)).revision, 1);
    await ok('POST', `/objects/${id}/comments`, { body: 'Hello', visibility: 'public' });
    const now = await ok('GET', `/objects/${id}`);
    assert.deepEqual([now.revision, now.values.count], [2, 'replied']);
  });

  it('see and do no more than their user', async () => {
    const { id } = await create({});
    await change(id, 1, { secret: 'hush' });
    assert.deepEqual([await commentsOf(id), await runsOf(id)], [[], []]);
  });

  it('end a chain that goes on by creating records, and the log of the service shows it', async () => {
    const refused = await call('POST', '/objects', { typeDefinitionId: 'problem', values: { title: 'again' } });
    const rules = Array.from({ length: 9 }, () => 'g-loop');
    const { code, details } = refused.body.error;
    assert.deepEqual([refused.status, code, details], [409, 'RULE_LOOP', { rules }]);
    assert.deepEqual(await stored(app, `SELECT 1 FROM objects WHERE title = 'again'`), []);
    const noted = logged.filter(({ msg }) => msg === 'change refused because its rules fire each other');
    assert.deepEqual(
      noted.map(({ level, rules: chain }) => [level, chain]),
      [[40, rules]],
    );
  });

  it('do nothing when they are disabled, or their user is archived', async () => {
    const { id } = await create({});
    assert.deepEqual(await commentsOf(id), []);
    assert.equal((await change(id, 1, { kind: 'leaver' })).body.data.values.count, 'left');
    const leaver = `/api/admin/v1/identity/users/${await idOf(app, 'users', 'leaver')}`;
    assert.equal((await app.request('POST', `${leaver}/archive`, { key: admin, body: {} })).status, 200);
    await change(id, 2, { kind: 'x', count: 'x' });
    assert.equal((await change(id, 3, { kind: 'leaver' })).body.data.values.count, 'x');
  });

  it('have one effect for one idempotency key, and the stored answer is the committed record', async () => {
    const body = { typeDefinitionId: 'case', values: { title: 'Once', kind: 'network' } };
    const first = await call('POST', '/objects', body, 'rules-once');
    const again = await call('POST', '/objects', body, 'rules-once');
    assert.deepEqual(again.body.data, first.body.data);
    assert.equal((await commentsOf(first.body.data.id)).length, 1);
  });

  it('have one effect if two changes race', async () => {
    const { id } = await create({});
    const answers = await Promise.all([change(id, 1, { kind: 'network' }), change(id, 1, { kind: 'network' })]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    assert.equal((await commentsOf(id)).length, 1);
    const comment = { body: 'Hello', visibility: 'public' };
    await Promise.all([1, 2, 3].map(() => ok('POST', `/objects/${id}/comments`, comment)));
    const { revision } = await ok('GET', `/objects/${id}`);
    assert.equal(revision, 3, 'the second and third comment find the value set');
  });

  it('leave nothing after a dry run, which shows what they would do', async () => {
    const { id } = await create({});
    const before = await stored(app, 'SELECT count(*)::int AS n FROM rule_runs');
    const { body } = await change(`${id}?dryRun=true`, 1, { kind: 'network' });
    assert.equal(body.data.values.team, 'network');
    assert.deepEqual(
      body.meta.effects.events.filter(({ actor }: any) => actor.via === 'rule').map(({ type }: any) => type),
      ['ObjectUpdated', 'CommentAdded', 'ObjectTransitioned', 'ObjectCreated', 'RelationAdded', 'ObjectUpdated'],
    );
    assert.deepEqual(body.meta.effects.rules, [
      { code: 'a-route', outcome: 'DONE' },
      { code: 'b-follow', outcome: 'DONE' },
    ]);
    const clerk = await app.request('PATCH', `/api/v1/objects/${id}?dryRun=true`, {
      key: (await app.createKey({ login: 'clerk' })).key,
      body: { expectedRevision: 1, changes: { kind: 'network' } },
    });
    assert.deepEqual(clerk.body.meta.effects.rules, [{ code: 'b-follow', outcome: 'DONE' }], 'kind is a hidden field');
    assert.deepEqual(await stored(app, 'SELECT count(*)::int AS n FROM rule_runs'), before);
    assert.deepEqual([(await ok('GET', `/objects/${id}`)).revision, await commentsOf(id)], [1, []]);
  });

  it('notify the people of fields that their user may read, if these may read the record', async () => {
    const person = (login: string) => idOf(app, 'users', login);
    const [chief, blind] = [await person('chief'), await person('blind')];
    const { id } = await create({ owners: [chief, blind], boss: await person('robot') });
    await change(id, 1, { kind: 'notify' });
    await notifyAll(app, testAuthenticator(app));
    const made = 'SELECT user_id AS "userId", kind, event_type AS event FROM notifications WHERE object_id = $1';
    assert.deepEqual(await stored(app, made, [id]), [{ userId: chief, kind: 'rule', event: 'RuleNotified' }]);
    const event = (await ok('GET', `/objects/${id}/history`)).at(-1);
    assert.deepEqual([event.type, event.revision, event.data], ['RuleNotified', null, { rule: 'j-notify' }]);
  });

  it('list what they did, newest first, without records that the reader may not read', async () => {
    const { id } = await create({ kind: 'network', title: '[Sign in](https://evil.example) @chief' });
    const text = 'Sent: \\[Sign in\\](https://evil.example) @\u2060chief [] network';
    assert.deepEqual(await commentsOf(id), [text], 'values are text');
    const runs = await app.request('GET', '/api/admin/v1/rules/a-route/runs?limit=1', { key: admin });
    const [run] = runs.body.data;
    assert.deepEqual([run.objectId, run.outcome, run.eventType, run.chain], [id, 'DONE', 'ObjectCreated', []]);
    assert.deepEqual(
      run.effects.map(({ kind, objectId }: any) => [kind, objectId === id]),
      [
        ['set', true],
        ['comment', true],
        ['transition', true],
        ['create', false],
      ],
    );
    const blind = (await app.createKey({ login: 'blind', scopes: ['admin:manage'] })).key;
    const hidden = await app.request('GET', '/api/admin/v1/rules/a-route/runs?limit=1', { key: blind });
    assert.deepEqual(hidden.body.data, []);
    const clerk = (await app.createKey({ login: 'clerk', scopes: ['admin:manage'] })).key;
    const seen = async (code: string): Promise<number> =>
      (await app.request('GET', `/api/admin/v1/rules/${code}/runs?limit=1`, { key: clerk })).body.data.length;
    assert.deepEqual([await seen('a-route'), await seen('b-follow')], [0, 1], 'kind is a hidden field');
    const tried = (code: string) =>
      app.request('POST', `/api/admin/v1/rules/${code}/try`, { key: clerk, body: { objectId: id } });
    assert.equal((await tried('a-route')).body.error?.code, 'RIGHT_MISSING');
    assert.deepEqual((await tried('b-follow')).body.data.rules, [{ code: 'b-follow', outcome: 'DONE' }]);
    assert.equal((await app.request('GET', '/api/admin/v1/rules/none/runs', { key: admin })).status, 404);
  });

  it('can be tried on a record without a trace, also while they are disabled', async () => {
    const { id } = await create({ kind: 'network' });
    const before = await stored(app, 'SELECT count(*)::int AS n FROM rule_runs');
    const attempt = async (code: string, body: object = {}): Promise<any> =>
      (await app.request('POST', `/api/admin/v1/rules/${code}/try`, { key: admin, body: { objectId: id, ...body } }))
        .body.data;
    const off = await attempt('h-off');
    assert.deepEqual(off.rules, [{ code: 'h-off', outcome: 'DONE' }]);
    assert.deepEqual(
      off.events.map(({ type, actor }: any) => [type, actor.via]),
      [['CommentAdded', 'rule']],
    );
    assert.deepEqual((await attempt('c-fail')).rules, [{ code: 'c-fail', outcome: 'SKIPPED' }]);
    assert.deepEqual(
      (await attempt('a-route')).rules,
      [{ code: 'a-route', outcome: 'FAILED' }],
      'it has left its state',
    );
    assert.deepEqual((await attempt('g-loop')).rules, [{ code: 'g-loop', outcome: 'SKIPPED' }], 'another type');
    assert.deepEqual(await stored(app, 'SELECT count(*)::int AS n FROM rule_runs'), before);
    assert.deepEqual(await commentsOf(id), ['Sent: Printer [] network']);
  });

  it('do not react to an import unless its definition says so', async () => {
    const mapping = [
      { source: 'title', target: 'title' },
      { source: 'kind', target: 'kind' },
    ];
    const values: unknown[] = [];
    for (const rules of [undefined, true]) {
      const code = rules === true ? 'with-rules' : 'without';
      const body = {
        code,
        targetKind: 'object',
        targetTypeId: 'case',
        format: 'CSV',
        mode: 'UPSERT',
        sourceCode: code,
        resolver: { externalIdField: 'ext' },
        mapping,
        ...(rules === undefined ? {} : { rules }),
      };
      const defined = await app.request('POST', '/api/admin/v1/import-definitions', { key: admin, body });
      assert.equal(defined.status, 201, JSON.stringify(defined.body));
      const run = { definitionId: defined.body.data.id, content: `ext,title,kind\n1,${code},network\n`, dryRun: false };
      const done = await app.request('POST', '/api/v1/imports/run', { key, body: run });
      assert.ok(done.status < 300, JSON.stringify(done.body));
      values.push(...(await stored(app, `SELECT "values" ->> 'team' AS team FROM objects WHERE title = $1`, [code])));
    }
    assert.deepEqual(values, [{ team: null }, { team: 'network' }]);
  });
});
