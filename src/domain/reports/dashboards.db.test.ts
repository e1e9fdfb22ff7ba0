/** Dashboards over HTTP: own and shared ones, those of the configuration, and what each caller sees of them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import sql from 'sql-template-tag';
import type { TestAnswer } from '../../../test/support/app.ts';
import {
  type FixtureUser,
  type RecordFixture,
  startRecordFixture,
  USERS,
} from '../../../test/support/record-fixture.ts';

let fixture: RecordFixture;
let keys: Record<FixtureUser, string>;
let agentRole: string;

const send = (who: FixtureUser, method: string, path: string, body?: unknown): Promise<TestAnswer> =>
  fixture.app.request(method, `/api/admin/v1${path}`, { key: keys[who], ...(body === undefined ? {} : { body }) });

async function ok(who: FixtureUser, method: string, path: string, body?: unknown): Promise<any> {
  const answer = await send(who, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

function refused(answer: TestAnswer, status: number, code: string, places?: string[]): void {
  assert.deepEqual([answer.status, answer.body.error?.code], [status, code], JSON.stringify(answer.body));
  if (places === undefined) return;
  assert.deepEqual(
    answer.body.error.details.map((one: { path: string; code: string }) => `${one.path} ${one.code}`),
    places,
  );
}

const query = (more: object = {}) => ({ types: ['case'], measures: ['count'], ...more });
const tile = (kind = 'number', more: object = {}) => ({ kind, title: 'Cases', width: 1, query: query(more) });
const own = (more: object = {}) => ({ name: 'Mine', tiles: [tile()], ...more });
const names = async (who: FixtureUser): Promise<string[]> =>
  (await ok(who, 'GET', '/dashboards')).map(({ name }: { name: string }) => name);

describe('dashboards', () => {
  before(async () => {
    fixture = await startRecordFixture();
    const made = USERS.map(
      async (login) => [login, (await fixture.app.createKey({ login, scopes: ['admin:manage'] })).key] as const,
    );
    keys = Object.fromEntries(await Promise.all(made)) as Record<FixtureUser, string>;
    const roles = await ok('chief', 'GET', '/config/roles');
    agentRole = roles.find(({ code }: { code: string }) => code === 'agent').id;
  });
  after(() => fixture.close());

  it('keeps dashboards private to their owners and changes them by revision', async () => {
    const made = await ok('agent', 'POST', '/dashboards', own({ name: ' Mine ' }));
    assert.deepEqual(
      [made.name, made.code, made.shared, made.mayChange, made.revision],
      ['Mine', null, false, true, 1],
    );
    assert.deepEqual(made.tiles, own().tiles);
    assert.ok(!(await names('chief')).includes('Mine'));
    const path = `/dashboards/${made.id}`;
    refused(await send('chief', 'PATCH', path, { expectedRevision: 1, name: 'x' }), 404, 'NOT_FOUND');
    const both = await Promise.all(
      ['One', 'Two'].map((name) => send('agent', 'PATCH', path, { expectedRevision: 1, name })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    refused(await send('agent', 'DELETE', path, { expectedRevision: 1 }), 409, 'REVISION_CONFLICT');
    await ok('agent', 'DELETE', path, { expectedRevision: 2 });
    assert.deepEqual(await names('agent'), []);
  });

  it('shares dashboards with roles by right, and hides those that name something unreadable', async () => {
    const sharedWith = { roles: [agentRole], groups: [] };
    refused(await send('agent', 'POST', '/dashboards', own({ sharedWith })), 403, 'RIGHT_MISSING');
    const shared = await ok('chief', 'POST', '/dashboards', own({ name: 'Shared', sharedWith }));
    await ok(
      'chief',
      'POST',
      '/dashboards',
      own({ name: 'Secret', tiles: [tile('table', { groupBy: ['secret'] })], sharedWith }),
    );
    assert.deepEqual(await names('agent'), ['Shared']);
    assert.deepEqual(await names('viewer'), []);
    assert.deepEqual(await names('chief'), ['Secret', 'Shared']);
    const [seen] = await ok('agent', 'GET', '/dashboards');
    assert.deepEqual([seen.mayChange, seen.sharedWith, seen.owner.displayName], [false, null, 'Person chief']);
    const path = `/dashboards/${shared.id}`;
    refused(await send('agent', 'PATCH', path, { expectedRevision: 1, name: 'x' }), 403, 'RIGHT_MISSING');
    refused(await send('viewer', 'DELETE', path, { expectedRevision: 1 }), 404, 'NOT_FOUND');
    await ok('chief', 'PATCH', path, { expectedRevision: 1, sharedWith: { roles: [], groups: [] } });
    assert.deepEqual(await names('agent'), []);
    for (const key of ['roles', 'groups']) {
      const nobody = { roles: [], groups: [], [key]: [randomUUID()] };
      const answer = await send('chief', 'POST', '/dashboards', own({ sharedWith: nobody }));
      refused(answer, 400, 'INVALID_REQUEST', [`/sharedWith/${key}/0 UNKNOWN_REFERENCE`]);
    }
  });

  it('lists own dashboards, however many of others the caller may not read', async () => {
    const secret = own({ name: 'A secret', tiles: [tile('table', { groupBy: ['secret'] })] });
    const sharedWith = { roles: [agentRole], groups: [] };
    const first = await ok('chief', 'POST', '/dashboards', { ...secret, sharedWith });
    await fixture.app.db.query(sql`INSERT INTO report_dashboards
      SELECT (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid()))).*
      FROM report_dashboards d, generate_series(1, 250) WHERE d.id = ${first.id}`);
    const mine = await ok('agent', 'POST', '/dashboards', own({ name: 'Z' }));
    const shared = await ok('chief', 'POST', '/dashboards', own({ name: 'Y', sharedWith }));
    const listed = new Set((await ok('agent', 'GET', '/dashboards')).map(({ id }: { id: string }) => id));
    assert.ok(listed.has(mine.id) && listed.has(shared.id) && !listed.has(first.id));
    await fixture.app.db.query(sql`DELETE FROM report_dashboards WHERE name IN ('A secret', 'Z', 'Y')`);
  });

  it('checks tiles like report queries', async () => {
    const places = async (one: object): Promise<string[]> => {
      const answer = await send('agent', 'POST', '/dashboards', own({ tiles: [tile(), one] }));
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      return answer.body.error.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);
    };
    const cases: readonly [object, string][] = [
      [tile('table', { types: ['ghost'] }), '/tiles/1/query/types/0 UNKNOWN_TYPE'],
      [tile('table', { groupBy: ['secret'] }), '/tiles/1/query/groupBy/0 UNKNOWN_FIELD'],
      [tile('table', { groupBy: ['ghost'] }), '/tiles/1/query/groupBy/0 UNKNOWN_FIELD'],
      [
        tile('table', { filter: { field: 'secret', operator: 'is-empty', value: true } }),
        '/tiles/1/query/filter/field UNKNOWN_FIELD',
      ],
      [tile('number', { groupBy: ['kind'] }), '/tiles/1/query/groupBy NOT_ALLOWED'],
      [tile('bars'), '/tiles/1/query REQUIRED'],
      [tile('area', { groupBy: ['kind'] }), '/tiles/1/query/groupBy/0 NOT_ALLOWED'],
      [
        tile('bars', { groupBy: ['kind', 'workflowState'], measures: ['count', 'reopened'] }),
        '/tiles/1/query/measures TOO_MANY',
      ],
      [tile('table', { period: { to: '9999-12-31' } }), '/tiles/1/query/period/to WRONG_FORMAT'],
      [tile('table', { timeZone: 'Mars/Base' }), '/tiles/1/query/timeZone UNKNOWN_TIME_ZONE'],
    ];
    for (const [one, expected] of cases) assert.deepEqual(await places(one), [expected]);
  });

  it('lists dashboards of the configuration without tiles that the caller may not read', async () => {
    const text = `
dashboards:
  - code: desk
    name: { ru-RU: Поддержка, en-US: Desk }
    sharedWith: { roles: [agent] }
    tiles:
      - { kind: number, title: Mine, query: { types: [case], measures: [count], filter: { field: kind, operator: equals, value: a } } }
      - { kind: table, title: Secret, query: { types: [case], measures: [count], groupBy: [secret] } }
`;
    await fixture.app.apply([{ name: 'dashboards.yaml', text }]);
    const [seen] = await ok('agent', 'GET', '/dashboards');
    assert.deepEqual([seen.code, seen.name, seen.mayChange, seen.owner], ['desk', 'Desk', false, null]);
    assert.deepEqual(
      seen.tiles.map(({ title, width }: { title: string; width: number }) => [title, width]),
      [['Mine', 1]],
    );
    assert.deepEqual(await names('stranger'), []);
    const chief = (await ok('chief', 'GET', '/dashboards')).find(({ code }: { code: unknown }) => code === 'desk');
    assert.equal(chief.tiles.length, 2);
    for (const one of chief.tiles) await ok('chief', 'POST', '/reports/query', one.query);
    refused(await send('chief', 'PATCH', `/dashboards/${chief.id}`, { expectedRevision: 1 }), 404, 'NOT_FOUND');
  });

  it('gives the names of values that the configuration defines', async () => {
    await fixture.make({ kind: 'a' });
    const { names: found } = await ok('chief', 'POST', '/reports/query', query({ groupBy: ['workflowState', 'kind'] }));
    assert.deepEqual(found, [{ new: 'New' }, { a: 'a' }]);
  });

  it('counts SLA instances in the groups of their policies', async () => {
    const text = `
calendars: [{ code: always, timezone: UTC, week: { mon: ['00:00-24:00'], tue: ['00:00-24:00'], wed: ['00:00-24:00'], thu: ['00:00-24:00'], fri: ['00:00-24:00'], sat: ['00:00-24:00'], sun: ['00:00-24:00'] } }]
slaPolicies:
  - { code: kept, name: Kept, type: case, calendar: always, targets: [{ duration: PT1H }], start: { field: kind, operator: equals, value: b }, stop: { field: kind, operator: equals, value: a } }
  - { code: open, name: Open, type: case, calendar: always, targets: [{ duration: PT1H }], start: { field: kind, operator: equals, value: b }, stop: { field: title, operator: equals, value: never } }
`;
    await fixture.app.apply([{ name: 'sla.yaml', text }]);
    const made = await fixture.make({ kind: 'b' });
    await fixture.ok('chief', 'PATCH', `/objects/${made.id}`, { expectedRevision: 1, changes: { kind: 'a' } });
    const filter = { field: 'id', operator: 'equals', value: made.id };
    const body = query({ groupBy: ['slaPolicy'], measures: ['count', 'slaMet'], filter });
    const { rows, names: found } = await ok('chief', 'POST', '/reports/query', body);
    assert.deepEqual(rows, [
      { group: ['kept'], values: [1, 1] },
      { group: ['open'], values: [1, null] },
    ]);
    assert.deepEqual(found, [{ kept: 'Kept', open: 'Open' }]);
  });
});
