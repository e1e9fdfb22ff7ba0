/** What readers of the log of rules, and users of rules, learn of comments, relations, titles and times that they may not see. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { type CallAs, callsOf } from '../../../test/support/callers.ts';
import { ACTIONS, bundle } from '../../../test/support/small-configuration.ts';

/** The clerk may see neither internal comments nor the title and the time of a case. */
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    title: name
    fields:
      - { code: name, dataType: string, required: true }
      - { code: kind, dataType: string }
      - { code: count, dataType: string }
      - { code: planned, dataType: datetime }
  - { code: note, title: name, fields: [ { code: name, dataType: string } ] }
relationDefinitions: [ { code: about, sourceTypes: [case], targetTypes: [note] } ]
rules:
  - { code: adds-note, on: [ObjectCreated], types: [case], runAs: robot, when: { field: kind, operator: equals, value: noted }, do: [ { create: { type: note, relation: about, values: { name: '{{ title }}' } } } ] }
  - { code: related, on: [RelationAdded], types: [case], runAs: robot, do: [ { set: { count: related } } ] }
  - { code: related-clerk, on: [RelationAdded], types: [case], runAs: clerk, do: [ { set: { kind: related } } ] }
  - { code: internal, on: [CommentAdded], types: [case], runAs: robot, when: { field: comment.visibility, operator: equals, value: internal }, do: [ { set: { count: noted } } ] }
  - { code: of-clerk, on: [CommentAdded], types: [case], runAs: clerk, do: [ { set: { kind: said } } ] }
  - { code: title, on: [ObjectUpdated], types: [case], runAs: robot, when: { field: title, operator: equals, value: hush }, do: [ { set: { count: hushed } } ] }
  - { code: after-title, on: [ObjectUpdated], types: [case], runAs: robot, when: { field: count, operator: equals, value: hushed }, do: [ { set: { kind: quiet } } ] }
  - { code: planned, types: [case], runAs: robot, after: { duration: PT1H, since: planned }, do: [ { set: { count: late } } ] }
roles:
  - { code: robot, records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }], assignedTo: { users: [robot] } }
  - { code: clerk, rights: [config.manage], records: [{ type: case, actions: [read, update, history], fields: { read: [kind, count], write: [kind] } }], assignedTo: { users: [clerk] } }
  - { code: chief, rights: [config.manage, role.assign], records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }], assignedTo: { users: [chief] } }
users: [ { login: robot }, { login: clerk }, { login: chief } ]`;

describe('rules hide', () => {
  let app: TestApp;
  let ok: CallAs<'chief' | 'clerk'>;

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    ok = await callsOf(app, ['chief', 'clerk']);
  });
  after(() => app.close());

  const create = (values: object): Promise<any> =>
    ok('chief', 'POST', '/api/v1/objects', { typeDefinitionId: 'case', values });
  const valuesOf = async (id: string): Promise<any> => (await ok('chief', 'GET', `/api/v1/objects/${id}`)).values;
  const say = (id: string, visibility: string): Promise<any> =>
    ok('chief', 'POST', `/api/v1/objects/${id}/comments`, { body: 'A word', visibility });
  const runs = (who: 'chief' | 'clerk', code: string): Promise<any[]> =>
    ok(who, 'GET', `/api/admin/v1/rules/${code}/runs`);

  it('that a comment happened from readers and from their own user who may not see it', async () => {
    const { id } = await create({ name: 'Talk' });
    await say(id, 'internal');
    const { count, kind } = await valuesOf(id);
    assert.deepEqual([count, kind], ['noted', undefined], 'the rule of the clerk did not fire');
    assert.deepEqual([(await runs('chief', 'internal')).length, (await runs('clerk', 'internal')).length], [1, 0]);
    await say(id, 'public');
    assert.equal((await valuesOf(id)).kind, 'said');
    assert.equal((await runs('clerk', 'of-clerk')).length, 1);
  });

  it('what a hidden title contains, whatever its code, also as a part of a chain', async () => {
    const { id } = await create({ name: 'loud' });
    await ok('chief', 'PATCH', `/api/v1/objects/${id}`, { expectedRevision: 1, changes: { name: 'hush' } });
    assert.equal((await valuesOf(id)).kind, 'quiet');
    assert.deepEqual([(await runs('chief', 'title')).length, (await runs('clerk', 'title')).length], [1, 0]);
    const chains = async (who: 'chief' | 'clerk') => (await runs(who, 'after-title')).map(({ chain }) => chain);
    assert.deepEqual([await chains('chief'), await chains('clerk')], [[['title']], [[]]]);
  });

  it('a relation to a record that their own user may not read', async () => {
    const { id } = await create({ name: 'Relate', kind: 'noted' });
    const { count, kind } = await valuesOf(id);
    assert.deepEqual([count, kind], ['related', 'noted']);
    assert.deepEqual([(await runs('chief', 'related')).length, (await runs('clerk', 'related')).length], [1, 0]);
  });

  it('the time from which a rule counts', async () => {
    const { id: objectId } = await create({ name: 'Visit', planned: '2026-01-01T00:00:00.000Z' });
    const path = '/api/admin/v1/rules/planned/try';
    assert.equal((await ok('chief', 'POST', path, { objectId })).rules[0].outcome, 'DONE');
    const { key } = await app.createKey({ login: 'clerk', scopes: ['admin:manage'] });
    const tried = await app.request('POST', path, { key, body: { objectId } });
    assert.equal(tried.body.error?.code, 'RIGHT_MISSING');
  });
});
