/** A change that fires as many rules as one call may, with as many actions as a rule may have; and a thousand rules in one bundle. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { ACTIONS, bundle } from '../../../test/support/small-configuration.ts';
import { MAX_FIRINGS } from './rules.ts';

const ACTIONS_EACH = 20;
const rules = Array.from({ length: MAX_FIRINGS }, (_one, at) => ({
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

/** Measures processor time: of all that this process does, and of the longest turn of its event loop. */
function measureTurns(): { end(): { longest: number; total: number } } {
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
  return {
    end: () => {
      isOver = true;
      return { longest, total: spentMs(start) };
    },
  };
}

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
    const measured = measureTurns();
    const body = { typeDefinitionId: 'case', values: { title: 'Printer' } };
    const made = await app.request('POST', '/api/v1/objects', { key, body });
    const { longest, total } = measured.end();
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body.data.values.note, '99 19');
    const { body: said } = await app.request('GET', `/api/v1/objects/${made.body.data.id}/comments`, { key });
    assert.equal(said.data.length, MAX_FIRINGS);
    assert.ok(longest < total / 2, `${longest} of ${total} ms of processor time in one turn of the event loop`);
  });

  it('is refused with one rule more', async () => {
    const one = { ...rules[0], code: 'rule-one-more', do: [{ set: { note: 'one more' } }] };
    await app.apply([{ name: 'rules.yaml', text: JSON.stringify({ rules: [one] }) }]);
    const body = { typeDefinitionId: 'case', values: { title: 'Scanner' } };
    const refused = await app.request('POST', '/api/v1/objects', { key, body });
    assert.deepEqual([refused.status, refused.body.error?.code], [409, 'RULE_LOOP']);
    const { body: listed } = await app.request('GET', '/api/v1/objects?typeId=case', { key });
    assert.deepEqual(
      listed.data.rows.map(({ title }: { title: string }) => title),
      ['Printer'],
    );
  });
});

const THOUSAND = 1000;
/** Rules of which each fires on one value. @param field that their conditions name */
const thousand = (field: string): string =>
  JSON.stringify({
    rules: Array.from({ length: THOUSAND }, (_one, at) => ({
      code: `rule-${at}`,
      types: ['case'],
      on: ['ObjectCreated'],
      when: { logic: 'AND', conditions: [{ field, operator: 'equals', value: `value ${at}` }] },
      runAs: 'chief',
      do: [{ set: { note: `by ${at}` } }],
    })),
  });

describe('a bundle of a thousand rules', () => {
  let app: TestApp;
  let key: string;
  let admin: string;
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    key = (await app.createKey({ login: 'chief' })).key;
    admin = (await app.createKey({ login: 'chief', scopes: ['admin:manage'] })).key;
  });
  after(() => app.close());

  const send = async (operation: 'plan' | 'apply', text: string) =>
    await app.request('POST', `/api/admin/v1/config/${operation}`, {
      key: admin,
      body: { files: [{ name: 'rules.yaml', text }] },
    });

  it('is refused with the place of each error', async () => {
    for (const operation of ['plan', 'apply'] as const) {
      const { status, body } = await send(operation, thousand('wrong'));
      assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST']);
      const { message, details } = body.error as {
        message: string;
        details: { at: string; code: string; message: string }[];
      };
      assert.match(message, /^The bundle has 1000 problems\. .* The details list the first 200\.$/);
      assert.deepEqual(
        details.map(({ at, code, message: said }) => `${at} ${code} ${said}`),
        Array.from(
          { length: 200 },
          (_, at) => `rules[${at}].when.conditions[0].field UNKNOWN_FIELD There is no field wrong here.`,
        ),
      );
    }
  });

  it('is planned and applied in short turns, and changes nothing the second time', async (t) => {
    for (const [operation, expected] of [
      ['plan', 'create'],
      ['apply', 'create'],
      ['plan', 'leave'],
      ['apply', 'leave'],
    ] as const) {
      const measured = measureTurns();
      const { status, body } = await send(operation, thousand('title'));
      const { longest, total } = measured.end();
      t.diagnostic(
        `${operation}: ${Math.round(longest)} of ${Math.round(total)} ms of processor time in the longest turn`,
      );
      assert.equal(status, 200, JSON.stringify(body).slice(0, 500));
      const actions = (body.data as { section: string; action: string }[])
        .filter(({ section }) => section === 'rules')
        .map(({ action }) => action);
      assert.deepEqual([actions.length, [...new Set(actions)]], [THOUSAND, [expected]]);
      assert.ok(longest < total / 2, `${longest} of ${total} ms`);
    }
  });

  it('runs those that match', async () => {
    const body = { typeDefinitionId: 'case', values: { title: 'value 567' } };
    const made = await app.request('POST', '/api/v1/objects', { key, body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body.data.values.note, 'by 567');
  });
});
