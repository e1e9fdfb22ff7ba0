/** A change that fires as many rules as one call may, with as many actions as a rule may have. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { ACTIONS, bundle } from '../../../test/harness/small-configuration.ts';
import { MOST_FIRINGS } from './rules.ts';

const ACTIONS_EACH = 20;
const rules = Array.from({ length: MOST_FIRINGS }, (_one, at) => ({
  code: `rule-${at}`,
  types: ['case'],
  on: ['ObjectCreated'],
  runAs: 'chief',
  do: Array.from({ length: ACTIONS_EACH }, (_action, part) =>
    part === 0 ? { comment: { visibility: 'public', body: `{{ title }} ${at}` } } : { set: { note: `${at} ${part}` } },
  ),
}));
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types: [{ code: case, title: title, fields: [ { code: title, dataType: string }, { code: note, dataType: string } ] }]
roles: [{ code: chief, rights: [config.manage, role.assign], records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' } }], assignedTo: { users: [chief] } }]
users: [ { login: chief } ]`;

describe('a change that fires a hundred rules', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    await app.apply([{ name: 'rules.yaml', text: JSON.stringify({ rules }) }]);
    await app.app.versions.refresh();
    key = (await app.createKey({ login: 'chief' })).key;
  });
  after(() => app.close());

  it('lets other requests run in between', async () => {
    const start = process.cpuUsage();
    const spentMs = (since: NodeJS.CpuUsage): number => {
      const { user, system } = process.cpuUsage(since);
      return (user + system) / 1000;
    };
    let longest = 0;
    let isOver = false;
    let last = start;
    const tick = (): void => {
      longest = Math.max(longest, spentMs(last));
      last = process.cpuUsage();
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    const body = { typeDefinitionId: 'case', values: { title: 'Printer' } };
    const made = await app.request('POST', '/api/v1/objects', { key, body });
    isOver = true;
    const total = spentMs(start);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body.data.values.note, '99 19');
    const { body: said } = await app.request('GET', `/api/v1/objects/${made.body.data.id}/comments`, { key });
    assert.equal(said.data.length, MOST_FIRINGS);
    assert.ok(longest < total / 2, `${longest} of ${total} ms of processor time in one turn of the event loop`);
  });
});
