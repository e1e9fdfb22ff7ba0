/** What rules do does not depend on their codes: order, causes, and the record that each of them judges (docs/spec/rules.md). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { ACTIONS, bundle } from '../../../test/support/small-configuration.ts';

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: case
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string }
      - { code: step, dataType: string }
      - { code: team, dataType: string }
      - { code: log, dataType: string }
workflows:
  - { code: flow, initial: new, states: [{ code: new, category: open }, { code: work, category: open }], transitions: [{ code: take, from: [new], to: work }] }
roles:
  - { code: chief, rights: [config.manage, role.assign], records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }], assignedTo: { users: [chief, robot] } }
users: [{ login: chief }, { login: robot }]`;

const is = (field: string, value: string): object => ({ field, operator: 'equals', value });
const rule = (code: string, when: object, actions: object[], more: object = {}): Record<string, unknown> => ({
  code,
  on: ['ObjectUpdated'],
  types: ['case'],
  runAs: 'robot',
  when,
  do: actions,
  ...more,
});

describe('rules under any codes', () => {
  let app: TestApp;
  let key: string;
  let admin: string;
  /** Codes of the rules of the test before, which the next one removes. */
  let old: string[] = [];

  async function call(method: string, path: string, body?: unknown): Promise<any> {
    const isAdmin = path.startsWith('/api/admin');
    return await app.request(method, isAdmin ? path : `/api/v1${path}`, {
      key: isAdmin ? admin : key,
      ...(body === undefined ? {} : { body }),
    });
  }
  const files = (rules: readonly object[]) => [{ name: 'rules.yaml', text: JSON.stringify({ rules }) }];
  /** Puts these rules in the place of those of the test before. */
  async function use(rules: readonly Record<string, unknown>[]): Promise<void> {
    const codes = rules.map(({ code }) => code as string);
    const gone = old.filter((code) => !codes.includes(code));
    await app.apply(
      files([
        ...gone.map((code) => rule(code, is('step', 'x'), [{ set: { log: 'x' } }], { enabled: false })),
        ...rules,
      ]),
    );
    old = [...new Set([...old, ...codes])];
    await app.app.versions.refresh();
  }
  const create = async (): Promise<string> =>
    (await call('POST', '/objects', { typeDefinitionId: 'case', values: { title: 'Printer' } })).body.data.id;
  const change = (id: string, changes: object, query = ''): Promise<any> =>
    call('PATCH', `/objects/${id}${query}`, { expectedRevision: 1, changes });
  const historyOf = async (id: string): Promise<any[]> => (await call('GET', `/objects/${id}/history`)).body.data;

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD) });
    key = (await app.createKey({ login: 'chief' })).key;
    admin = (await app.createKey({ login: 'chief', scopes: ['admin:manage'] })).key;
  });
  after(() => app.close());

  const LONG = 14;
  /** Each rule fires the next one. @param codeOf the place of a rule */
  const chain = (length: number, codeOf: (at: number) => string): Record<string, unknown>[] =>
    Array.from({ length }, (_, at) => rule(codeOf(at), is('step', `${at}`), [{ set: { step: `${at + 1}` } }]));
  const rising = (at: number): string => `r${String(at).padStart(2, '0')}`;
  const falling = (at: number): string => rising(LONG - at);

  it('end a chain of fourteen rules after eight, whether their codes rise or fall', async () => {
    for (const codeOf of [rising, falling]) {
      await use(chain(LONG, codeOf));
      const id = await create();
      const refused = await change(id, { step: '0' });
      const rules = Array.from({ length: 9 }, (_, at) => codeOf(at));
      assert.deepEqual(
        [refused.status, refused.body.error?.code, refused.body.error?.details],
        [409, 'RULE_LOOP', { rules }],
      );
      assert.equal((await historyOf(id)).length, 1);
    }
  });

  it('run a chain of eight to its end, and log what led to each, whether their codes rise or fall', async () => {
    for (const codeOf of [rising, falling]) {
      await use(chain(8, codeOf));
      const id = await create();
      assert.equal((await change(id, { step: '0' })).body.data.values.step, '8');
      const codes = (await historyOf(id)).flatMap(({ data }) => data?.rule ?? []);
      const expected = Array.from({ length: 8 }, (_, at) => codeOf(at));
      assert.deepEqual(codes, expected);
      const runs = await call('GET', `/api/admin/v1/rules/${codeOf(7)}/runs?limit=1`);
      assert.deepEqual(runs.body.data[0].chain, expected.slice(0, 7));
    }
  });

  it('compare with the record before the event, not with what an earlier rule of the same event did', async () => {
    // The first clears what the second waits for, and sets it again by another event.
    const rules = (first: string, second: string): Record<string, unknown>[] => [
      rule(first, is('step', 'go'), [{ set: { team: 'network' } }], { order: -1 }),
      rule(
        second,
        {
          logic: 'AND',
          conditions: [is('team', 'network'), { field: 'changed', operator: 'contains', value: 'step' }],
        },
        [{ set: { log: 'seen' } }],
      ),
    ];
    for (const [first, second] of [
      ['a-set', 'b-see'],
      ['b-set', 'a-see'],
    ] as const) {
      await use(rules(first, second));
      const changed = await change(await create(), { step: 'go' });
      const { team, log } = changed.body.data.values;
      assert.deepEqual([team, log], ['network', undefined], 'the event that changed step left no team');
    }
  });

  it('fire once on a value that was set and taken away again in the same call', async () => {
    const rules = (codes: readonly string[]): Record<string, unknown>[] => [
      rule(codes[0] as string, is('step', 'go'), [{ set: { team: 'x' } }, { set: { team: null } }], { order: 1 }),
      rule(codes[1] as string, is('team', 'x'), [{ set: { log: 'seen' } }], { order: 2 }),
    ];
    for (const codes of [
      ['a1', 'a2'],
      ['a2', 'a1'],
    ]) {
      await use(rules(codes));
      const { team, log } = (await change(await create(), { step: 'go' })).body.data.values;
      assert.deepEqual([team, log], [undefined, 'seen'], 'an event left the record with it');
    }
  });

  it('act on the record as it is: a transition that another rule made is not available again', async () => {
    await use([
      rule('z-first', is('step', 'go'), [{ transition: 'take' }], { order: -1 }),
      rule('a-second', { logic: 'AND', conditions: [is('step', 'go'), is('workflowState', 'new')] }, [
        { transition: 'take' },
      ]),
    ]);
    const id = await create();
    assert.equal((await change(id, { step: 'go' }, '?dryRun=true')).body.meta.effects.rules.length, 2);
    await change(id, { step: 'go' });
    const runs = await call('GET', '/api/admin/v1/rules/a-second/runs?limit=1');
    assert.deepEqual(
      [runs.body.data[0].objectId, runs.body.data[0].outcome, runs.body.data[0].error.code],
      [id, 'FAILED', 'TRANSITION_NOT_AVAILABLE'],
    );
  });

  it('see who changed the record with the event, and before it', async () => {
    const byRobot = { field: 'updatedBy', operator: 'equals', value: 'robot' };
    await use([
      rule('a-set', is('step', 'go'), [{ set: { team: 'network' } }]),
      rule('b-robot', byRobot, [{ set: { log: 'robot' } }]),
    ]);
    const changed = await change(await create(), { step: 'go' });
    assert.equal(changed.body.data.values.log, 'robot', 'became true with the second event');
    const runs = await call('GET', '/api/admin/v1/rules/b-robot/runs?limit=1');
    assert.deepEqual(runs.body.data[0].chain, ['a-set']);
  });

  it('show their order in the plan, in the map and in the export', async () => {
    const go = is('step', 'go');
    const rules = [rule('a', go, [{ set: { log: 'a' } }], { order: 20 }), rule('b', go, [{ set: { log: 'b' } }])];
    await use([...rules, rule('c', go, [{ set: { log: 'c' } }], { order: -5 })]);
    const { body } = await call('GET', '/api/admin/v1/rules/graph');
    assert.deepEqual(
      body.data.flatMap(({ code, order, enabled }: any) => (enabled ? [[code, order]] : [])),
      [
        ['c', -5],
        ['b', 0],
        ['a', 20],
      ],
    );
    const planned = await call('POST', '/api/admin/v1/config/plan', {
      files: files([rule('a', go, [{ set: { log: 'a' } }], { order: -20 })]),
    });
    const row = planned.body.data.find(({ action }: any) => action !== 'leave');
    assert.deepEqual(
      [row.code, row.notes.map(({ message }: any) => message)],
      ['a', ['rules on the same event run in this order: a → c → …']],
    );
    assert.match(JSON.stringify(planned.body.data), /"order"/);
  });
});
