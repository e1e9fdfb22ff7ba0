/** Lists show each record as a read of it does, whether their rows are made by the statement or one by one. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { ACTIONS, bundle, idOf, user } from '../../../test/support/small-configuration.ts';
import { JsonText } from '../../lib/json.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import { actorFor } from '../access/actor.ts';
import { loadUser } from '../access/store.ts';
import { listObjects } from './queries.ts';

const USERS = ['chief', 'clerk', 'titles', 'mixed', 'pair', 'both'];

const world = (more = ''): string => `
types:
  - code: plain
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string }
      - { code: kind, dataType: enum, constraints: { options: [{ code: a }, { code: b }] } }
      - { code: amount, dataType: decimal }
      - { code: count, dataType: integer }
      - { code: secret, dataType: string }
      - { code: body, dataType: rich-text }
      - { code: many, dataType: string, multiple: true }
      ${more}
  - { code: free, title: title, fields: [{ code: title, dataType: string }, { code: any, dataType: json }] }
  - { code: other, title: title, fields: [{ code: title, dataType: string }, { code: kind, dataType: string }] }
workflows:
  - code: flow
    initial: new
    states: [{ code: new, name: { en-US: New, ru-RU: Новая }, category: open }, { code: done, category: done }]
    transitions: [{ code: close, from: [new], to: done }]
roles:
  - code: chief
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: clerk
    records:
      - { type: plain, where: { field: secret, operator: not-equals, value: gone }, actions: [read], fields: { read: [title, kind, amount, count, body, many] } }
      - { type: free, actions: [read], fields: { read: [any] } }
    assignedTo: { users: [clerk] }
  - code: titles
    records: [{ type: plain, actions: [read], fields: { read: [kind] } }]
    assignedTo: { users: [titles] }
  - code: mixed
    records:
      - { type: plain, where: { field: kind, operator: equals, value: a }, actions: [read], fields: { read: '*' } }
      - { type: plain, actions: [read], fields: { read: [title, kind] } }
    assignedTo: { users: [mixed] }
  - code: pair
    records:
      - { type: plain, actions: [read], fields: { read: [kind] } }
      - { type: other, actions: [read], fields: { read: [title] } }
    assignedTo: { users: [pair] }
  - code: both
    records:
      - { type: plain, actions: [read], fields: { read: [title, kind] } }
      - { type: other, actions: [read], fields: { read: '*' } }
    assignedTo: { users: [both] }
users:
${USERS.map(user).join('')}`;

const PLAIN = [
  { title: 'Ünïcode "quoted"  \\ end', kind: 'a', amount: '10.50', count: 9007199254740991, secret: 'hidden word' },
  {
    title: 'Заявка',
    kind: 'b',
    secret: 'hidden word',
    body: '<h2>One</h2><p>"two" \u2028 three</p>',
    many: ['x', '"values":{}'],
  },
  { title: null, kind: 'a', count: 0 },
  { title: 'gone for the clerk', secret: 'gone' },
];

describe('a page of records', () => {
  let app: TestApp;
  let keys: Record<string, string>;

  const ask = async (who: string, path: string) => {
    const { status, body } = await app.request('GET', `/api/v1${path}`, { key: keys[who] ?? '' });
    assert.equal(status, 200, JSON.stringify(body));
    return body.data;
  };
  const callerOf = async (login: string): Promise<Caller> => {
    const row = (await loadUser(app.db, await idOf(app, 'users', login))) ?? assert.fail();
    const config = app.app.versions.current();
    return { ...app.app.system(), actor: actorFor(row, config), config };
  };
  const listed = (caller: Caller, typeId?: string): Promise<JsonText | object> => {
    const query = { ...(typeId === undefined ? {} : { typeId }), page: 1, pageSize: 25 };
    return app.app.work.read(caller, (ctx) => listObjects(ctx, query, async () => []));
  };

  before(async () => {
    app = await startTestApp({ bundle: bundle(world()) });
    const made = USERS.map(async (login) => [login, (await app.createKey({ login })).key] as const);
    keys = Object.fromEntries(await Promise.all(made));
    for (const values of PLAIN) await create('plain', values);
    for (const any of [1e21, { a: [1.5, -0.25] }, null]) await create('free', { title: 'free', any });
    await create('other', { title: 'other', kind: 'shown' });
  });
  after(() => app.close());

  async function create(typeDefinitionId: string, values: object): Promise<{ id: string }> {
    const body = { typeDefinitionId, values };
    const answer = await app.request('POST', '/api/v1/objects', { key: keys['chief'] ?? '', body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.data;
  }

  it('shows what reads of its records show, to each caller', async () => {
    for (const [who, plain, free] of [
      ['chief', 4, 3],
      ['clerk', 3, 3],
      ['titles', 4, undefined],
      ['mixed', 4, undefined],
    ] as const) {
      for (const [type, count] of [
        ['plain', plain],
        ['free', free],
      ] as const) {
        if (count === undefined) continue;
        const all = await ask(who, `/objects?typeId=${type}`);
        assert.equal(all.rows.length, count, `${who} ${type}`);
        for (const row of all.rows) assert.deepEqual(row, await ask(who, `/objects/${row.id}`));
        const pages = [
          await ask(who, `/objects?typeId=${type}&pageSize=2`),
          await ask(who, `/objects?typeId=${type}&pageSize=2&page=2`),
        ];
        assert.deepEqual(
          pages.flatMap(({ rows }) => rows),
          all.rows,
        );
        assert.deepEqual(
          pages.map(({ page, pageSize, hasMore }) => ({ page, pageSize, hasMore })),
          [
            { page: 1, pageSize: 2, hasMore: true },
            { page: 2, pageSize: 2, hasMore: false },
          ],
        );
      }
    }
  });

  it('is text where all records show the same fields', async () => {
    for (const [who, type, isText] of [
      ['chief', 'plain', true],
      ['clerk', 'plain', true],
      ['titles', 'plain', true],
      ['mixed', 'plain', false],
      ['chief', 'free', false],
    ] as const) {
      const page = await listed(await callerOf(who), type);
      assert.equal(page instanceof JsonText, isText, `${who} ${type}`);
      assert.equal(JSON.stringify(page).includes('hidden word'), ['chief', 'mixed'].includes(who) && type === 'plain');
    }
  });

  it('of several types is text where no field is hidden in one of them and shown in another', async () => {
    for (const [who, count, isText] of [
      ['chief', 8, false],
      ['titles', 4, true],
      ['pair', 5, false],
      ['both', 5, true],
    ] as const) {
      const { rows } = await ask(who, '/objects');
      assert.equal(rows.length, count, who);
      for (const row of rows) assert.deepEqual(row, await ask(who, `/objects/${row.id}`));
      assert.equal((await listed(await callerOf(who))) instanceof JsonText, isText, who);
    }
  });

  it('is sent in parts if it is long', async () => {
    const long = 'word '.repeat(19_000);
    for (let index = 0; index < 6; index++) await create('plain', { title: `long ${index}`, body: `<p>${long}</p>` });
    const { rows } = await ask('clerk', '/objects?typeId=plain&pageSize=6');
    for (const row of rows) assert.deepEqual(row, await ask('clerk', `/objects/${row.id}`));
    assert.ok(!((await listed(await callerOf('clerk'), 'plain')) instanceof JsonText));
  });

  it('shows no field that is newer than the configuration of this process', async () => {
    const old = await callerOf('titles');
    await app.apply(bundle(world('- { code: later, dataType: string }')));
    const { id } = await create('plain', { title: 'later', kind: 'b', later: 'unseen' });
    const text = JSON.stringify(await listed(old, 'plain'));
    assert.ok(text.includes(id) && !text.includes('unseen'), text);
    assert.ok(!JSON.stringify(await listed(await callerOf('titles'), 'plain')).includes('unseen'));
    assert.ok(JSON.stringify(await listed(await callerOf('chief'), 'plain')).includes('unseen'));
  });
});
