/** Sorted lists of the console: every order, hidden values, pages, SLA figures and filters (`GET /desk/objects`). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { readEvents, type TestEvents } from '../../../test/support/event-stream.ts';
import { watchAnswers } from '../../../test/support/response-check.ts';
import { ManualClock, HOUR, MINUTE } from '../../../test/support/sla-fixture.ts';
import { ACTIONS, bundle, idOf } from '../../../test/support/small-configuration.ts';
import { readXlsx } from '../../../test/support/xlsx.ts';

const NOW = '2026-11-23T08:00:00.000Z';
const ALWAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => `${day}: ['00:00-24:00']`).join(', ');

/** - chief reads all. reader reads `amount` only of their own records, and never `hush`. */
const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC, searchExactTotal: 6 }
types:
  - code: incident
    name: Incident
    title: title
    numbering: { prefix: INC, digits: 4 }
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, search: { filter: true } }
      - { code: priority, dataType: enum, search: { filter: true }, constraints: { options: [{ code: urgent }, { code: high }, { code: low }] } }
      - { code: amount, dataType: decimal, search: { filter: true } }
      - { code: assignee, dataType: user, search: { filter: true } }
      - { code: assignmentGroup, dataType: group, search: { filter: true } }
      - { code: tags, dataType: string, multiple: true }
      - { code: hush, dataType: string }
  - { code: errand, fields: [] }
workflows:
  - code: flow
    name: Flow
    initial: new
    states:
      - { code: done, name: Done, category: done }
      - { code: wait, name: Waiting, category: waiting }
      - { code: new, name: New, category: open }
    transitions:
      - { code: to-wait, name: Wait, from: '*', to: wait }
      - { code: to-done, name: Done, from: '*', to: done }
calendars:
  - { code: office, timezone: UTC, week: { mon: ['09:00-17:00'], tue: ['09:00-17:00'] } }
  - { code: always, timezone: UTC, week: { ${ALWAYS} } }
slaPolicies:
  - code: fix
    name: Fix
    type: incident
    calendar: always
    targets: [{ when: { field: priority, operator: equals, value: urgent }, duration: PT1H }, { when: { field: priority, operator: equals, value: high }, duration: PT4H }]
    start: { field: workflowState, operator: equals, value: new }
    pause: { field: workflowState, operator: equals, value: wait }
    stop: { field: workflowState, operator: equals, value: done }
    warnAt: [50]
  - code: office-fix
    name: Office fix
    type: incident
    calendar: office
    targets: [{ when: { field: priority, operator: equals, value: low }, duration: PT2H }]
    start: { field: workflowState, operator: equals, value: new }
    stop: { field: workflowState, operator: equals, value: done }
roles:
  - code: chief
    name: Chief
    rights: [config.manage, key.manage]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief, anna] }
  - code: exporter
    name: Exporter
    rights: [export.execute]
    assignedTo: { users: [chief, reader] }
  - code: reader
    name: Reader
    records:
      - { type: incident, actions: [read], fields: { read: [title, priority] } }
      - { type: incident, where: { field: priority, operator: equals, value: high }, actions: [read], fields: { read: [amount] } }
    assignedTo: { users: [reader] }
  - code: firefighter
    name: Firefighter
    records: [{ type: incident, where: { field: priority, operator: equals, value: urgent }, actions: [read], fields: { read: '*' } }]
    assignedTo: { users: [zoe] }
  - { code: outsider, records: [{ type: errand, actions: [read] }], assignedTo: { users: [outsider] } }
groups: [{ code: net, name: Network, users: [anna] }, { code: apps, name: Applications }]
users:
  - { login: chief, displayName: Chief }
  - { login: reader, displayName: Reader }
  - { login: zoe, displayName: Анна }
  - { login: anna, displayName: Яна }
  - { login: outsider, displayName: Outsider }`;

let app: TestApp;
let undocumented: readonly unknown[];
const clock = new ManualClock(NOW);
const keys: Record<string, string> = {};
const ids: Record<string, string> = {};

async function call(who: string, path: string): Promise<any> {
  return await app.request('GET', `/api/admin/v1${path}`, { key: keys[who] as string });
}

/** The stream of counts, from another process of the service by default. */
async function follow(key: string, url: string): Promise<TestEvents> {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/api/admin/v1/desk/queues/stream`, { headers });
  assert.equal(response.status, 200);
  return readEvents(response);
}

async function counts(events: TestEvents): Promise<Record<string, number> | undefined> {
  const next = await events.next(20_000);
  assert.equal(next?.event, 'queues');
  return Object.fromEntries(JSON.parse(next.data).map((queue: any) => [queue.code, queue.count]));
}

async function list(who: string, query: string): Promise<any> {
  const { status, body } = await call(who, `/desk/objects?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}

/** The titles of the list, in order. */
async function titles(query: string, who = 'chief'): Promise<string> {
  return (await list(who, query)).rows.map((row: { title: string }) => row.title).join(' ');
}

async function post(path: string, body: unknown, key = 'work'): Promise<any> {
  const answer = await app.request('POST', path, { key: keys[key] as string, body });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body.data;
}

async function make(title: string, values: Record<string, unknown>): Promise<void> {
  const body = { typeDefinitionId: 'incident', values: { title, ...values } };
  ids[title] = (await post('/api/v1/objects', body)).id;
  clock.pass(MINUTE);
}

async function move(title: string, transition: string): Promise<void> {
  const answer = await app.request('GET', `/api/v1/objects/${ids[title]}/workflow`, { key: keys['work'] as string });
  const { state, transitions } = answer.body.data;
  const { id } = transitions.find((one: { code: string }) => one.code === transition);
  const body = { transitionId: id, expectedRevision: 1, expectedStateId: state.id };
  await post(`/api/v1/objects/${ids[title]}/transitions`, body);
}

describe('sorted lists', () => {
  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD), clock });
    undocumented = watchAnswers(app);
    keys['work'] = (await app.createKey({ login: 'chief' })).key;
    for (const login of ['chief', 'reader', 'anna', 'zoe', 'outsider']) {
      keys[login] = (await app.createKey({ login, scopes: ['admin:manage'] })).key;
    }
    const [anna, zoe] = [await idOf(app, 'users', 'anna'), await idOf(app, 'users', 'zoe')];
    const [net, apps] = [await idOf(app, 'groups', 'net'), await idOf(app, 'groups', 'apps')];
    await make('a', { priority: 'low', amount: '10', assignee: anna, assignmentGroup: net, hush: 'x' });
    await make('B', { priority: 'urgent', amount: '9', assignee: zoe, assignmentGroup: apps });
    await make('c', { priority: 'high', amount: '7' });
    await make('D', { priority: 'high', amount: '8', tags: ['t'] });
    await make('e', { amount: '1' });
    await move('D', 'to-wait');
    await move('e', 'to-done');
  });
  after(async () => {
    await app.close();
    assert.deepEqual(undocumented.slice(0, 3), []);
  });

  it('sorts by fields: options by place, people and groups by name, empty values last', async () => {
    const of = (sort: string) => titles(`typeId=incident&sort=${sort}`);
    assert.equal(await of('priority'), 'B c D a e');
    assert.equal(await of('-priority'), 'a D c B e');
    assert.equal(await of('amount'), 'e c D B a');
    assert.equal(await of('-amount'), 'a B D c e');
    assert.equal(await of('title'), 'a B c D e', 'case does not count');
    assert.equal(await of('assignee'), 'B a c D e');
    assert.equal(await of('-assignee'), 'a B e D c');
    assert.equal(await of('assignmentGroup'), 'B a c D e');
  });

  it('sorts by system fields, with and without a type', async () => {
    assert.equal(await titles(''), 'e D c B a');
    for (const scope of ['', 'typeId=incident&']) {
      assert.equal(await titles(`${scope}sort=createdAt`), 'a B c D e');
      assert.equal(await titles(`${scope}sort=-number`), 'e D c B a');
      assert.equal(await titles(`${scope}sort=title`), 'a B c D e');
      assert.equal(await titles(`${scope}sort=workflowState`), 'a B c D e');
      assert.equal(await titles(`${scope}sort=-workflowState`), 'e D c B a');
      assert.equal(await titles(`${scope}sort=typeCode`), 'a B c D e');
      assert.equal(await titles(`${scope}sort=createdBy`), 'a B c D e');
    }
    assert.equal(await titles('sort=updatedAt'), 'a B c D e');
  });

  it('pages without gaps or repeats in every order', async () => {
    for (const sort of [
      'priority',
      '-priority',
      'assignee',
      '-updatedAt',
      'sla.dueAt',
      '-sla.dueAt',
      'sla.remaining',
    ]) {
      const whole = await titles(`typeId=incident&sort=${sort}`);
      for (const size of [1, 2, 3]) {
        const pages = [];
        for (let page = 1; page <= Math.ceil(5 / size); page += 1) {
          pages.push(await titles(`typeId=incident&sort=${sort}&pageSize=${size}&page=${page}`));
        }
        assert.equal(pages.join(' '), whole, `${sort} by ${size}`);
      }
    }
  });

  it('does not sort by what the caller may not read', async () => {
    const bodies = [];
    for (const code of ['hush', 'nothing']) {
      const { status, body } = await call('reader', `/desk/objects?typeId=incident&sort=${code}`);
      bodies.push([status, body.error.code, body.error.details]);
    }
    assert.deepEqual(bodies[0], bodies[1]);
    assert.deepEqual(bodies[0]?.slice(0, 2), [400, 'INVALID_REQUEST']);
    // The amounts of B, a and e are hidden: they are sorted as missing values, by id.
    assert.equal(await titles('typeId=incident&sort=amount', 'reader'), 'c D a B e');
    assert.equal(await titles('typeId=incident&sort=-amount', 'reader'), 'D c e B a');
    const tags = await call('chief', '/desk/objects?typeId=incident&sort=tags');
    assert.deepEqual([tags.status, tags.body.error.details[0].code], [400, 'NOT_SORTABLE']);
    const objects = await app.request('GET', '/api/v1/objects?sort=title', { key: keys['work'] as string });
    assert.equal(objects.status, 400, 'GET /objects takes no sort');
  });

  it('filters by condition, words and state, and counts exactly up to the bound', async () => {
    const filter = encodeURIComponent(JSON.stringify({ field: 'priority', operator: 'equals', value: 'high' }));
    const { rows, total, totalExact } = await list('chief', `typeId=incident&sort=amount&filter=${filter}`);
    assert.deepEqual([rows.map((row: any) => row.title).join(' '), total, totalExact], ['c D', 2, true]);
    assert.equal(await titles('typeId=incident&state=wait'), 'D');
    assert.equal(await titles('state=ARCHIVED'), '');
    const { total: all, totalExact: exact } = await list('chief', 'pageSize=1');
    assert.deepEqual([all, exact], [5, true]);
    const words = await list('chief', 'q=INC0002&sort=title');
    assert.deepEqual([words.rows.map((row: any) => row.title), words.total], [['B'], 1]);
    const unknown = await call('chief', '/desk/objects?filter=%7B%22field%22%3A%22nope%22%7D');
    assert.equal(unknown.body.error.code, 'INVALID_FILTER');
  });

  it('returns SLA figures, and the names of people and groups', async () => {
    const { rows, names } = await list('chief', 'typeId=incident&sort=title');
    const [a, b, c, d, e] = rows;
    assert.deepEqual([a.assignee.name, a.group.name, a.requester, c.assignee], ['Яна', 'Network', null, null]);
    assert.deepEqual(names.map((one: { name: string }) => one.name).sort(), ['Applications', 'Network', 'Анна', 'Яна']);
    assert.deepEqual(
      [b.sla.policyName, b.sla.dueAt, b.sla.remainingMs],
      ['Fix', '2026-11-23T09:01:00.000Z', 56 * MINUTE],
    );
    assert.deepEqual([b.sla.workingTime, a.sla.workingTime, a.sla.remainingMs], [false, true, 2 * HOUR]);
    assert.deepEqual([d.sla.paused, d.sla.dueAt, d.sla.breached, d.sla.remainingMs], [true, null, false, 238 * MINUTE]);
    assert.equal(e.sla, null);
    const [shown] = (await list('reader', 'typeId=incident&sort=title')).rows;
    assert.deepEqual([shown.assignee, shown.values.assignee], [null, undefined], 'names follow the rights on fields');
  });

  it('writes files with names, SLA columns and real numbers and times', async () => {
    const columns = (...codes: string[]) => codes.map((code) => ({ code, name: `=${code}` }));
    const words = { yes: 'Да', no: 'Нет' };
    const base = { title: 'Мои заявки', timeZone: 'Europe/Moscow', words, typeId: 'incident', sort: 'title' };
    const file = (who: string, more: object) =>
      app.request('POST', '/api/admin/v1/desk/objects/file', { key: keys[who] as string, body: { ...base, ...more } });
    const shown = ['number', 'title', 'workflowState', 'priority', 'amount', 'assignee', 'assignmentGroup', 'tags'];
    const times = ['sla.dueAt', 'sla.remaining', 'sla.breached', 'createdAt', 'createdBy'];
    const csv = await file('chief', { format: 'CSV', columns: columns(...shown, ...times, 'type') });
    assert.equal(csv.headers.get('content-disposition')?.includes("filename*=UTF-8''%D0%9C%D0%BE%D0%B8%20"), true);
    const lines = (csv.body as string).split('\r\n');
    assert.equal(lines[0], [...shown, ...times, 'type'].map((code) => `'=${code}`).join(','));
    assert.equal(
      lines[2],
      'INC0002,B,New,urgent,9,Анна,Applications,,2026-11-23 12:01:00,0.93,Нет,2026-11-23 11:01:00,Chief,Incident',
    );
    assert.equal(lines.length, 7);
    const filter = JSON.stringify({ field: 'priority', operator: 'equals', value: 'urgent' });
    const some = columns('title', 'amount', 'sla.dueAt', 'sla.remaining');
    const xlsx = await fetch(`${app.url}/api/admin/v1/desk/objects/file`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${keys['chief']}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...base, filter, format: 'XLSX', columns: some }),
    });
    const { name, header, rows } = readXlsx(new Uint8Array(await xlsx.arrayBuffer()));
    assert.deepEqual([name, header], ['Мои заявки', ['=title', '=amount', '=sla.dueAt', '=sla.remaining']]);
    const due = Date.parse('2026-11-23T12:01:00Z') / 86_400_000 + 25_569;
    assert.deepEqual(rows, [['B', { number: 9, style: 0 }, { number: due, style: 3 }, { number: 0.93, style: 0 }]]);
    // `reader` may export and reads `amount` only of their own records.
    const own = await file('reader', { format: 'CSV', columns: columns('title', 'amount') });
    assert.deepEqual((own.body as string).split('\r\n').slice(1, 5), ['a,', 'B,', 'c,7', 'D,8']);
    const refused = await Promise.all(
      ['hush', 'nothing'].map((code) => file('reader', { format: 'CSV', columns: columns(code) })),
    );
    for (const { status, body } of refused) {
      assert.deepEqual(
        [status, body.error.details[0].path, body.error.details[0].code],
        [400, '/columns/0/code', 'UNKNOWN_FIELD'],
      );
    }
    const sort = await file('chief', { format: 'CSV', columns: columns('title'), sort: 'nothing' });
    assert.equal(sort.body.error.details[0].path, '/sort');
    const zone = await file('chief', { format: 'CSV', columns: columns('title'), timeZone: 'Mars/Base' });
    assert.equal(zone.body.error.details[0].path, '/timeZone');
    assert.equal((await file('anna', { format: 'CSV', columns: columns('title') })).body.error.code, 'RIGHT_MISSING');
  });

  it('counts the built-in queues', async () => {
    const counts = async (who: string): Promise<Record<string, number>> => {
      const { body } = await call(who, '/desk/queues/built-in');
      return Object.fromEntries(body.data.map((queue: any) => [queue.code, queue.count]));
    };
    assert.deepEqual(await counts('anna'), {
      mine: 1,
      unassigned: 0,
      'my-groups': 1,
      overdue: 0,
      waiting: 1,
      closed: 1,
    });
    assert.deepEqual(await counts('reader'), { overdue: 0, waiting: 1, closed: 1 }, 'hidden fields make no queue');
  });

  it('sorts and filters by SLA', async () => {
    assert.equal(await titles('typeId=incident&sort=sla.dueAt'), 'B a c D e');
    assert.equal(await titles('typeId=incident&sort=-sla.dueAt'), 'c a B e D');
    assert.equal(await titles('typeId=incident&sort=sla.remaining'), 'B a c D e');
    assert.equal(await titles('sla=1h'), 'B');
    assert.equal(await titles('sla=today'), 'c B a');
    assert.equal(await titles('sla=overdue'), '');
    clock.pass(HOUR);
    assert.equal(await titles('sla=overdue'), 'B');
    const [late] = (await list('chief', 'sla=overdue')).rows;
    assert.deepEqual([late.sla.breached, late.sla.remainingMs], [true, -4 * MINUTE]);
  });

  it('lists the records that a report counted by the time of being done and by SLA policy', async () => {
    for (const who of ['chief', 'reader']) {
      for (const group of ['doneAt.day', 'slaPolicy']) {
        const query = { types: ['incident'], measures: ['count'], groupBy: [group], timeZone: 'UTC' };
        const { rows } = await post('/api/admin/v1/reports/query', query, who);
        assert.ok(rows.length > (who === 'chief' ? 1 : 0), `${who} ${group}`);
        for (const {
          group: [value],
          values: [count],
        } of rows) {
          const day = (days: number): string => new Date(Date.parse(value) + days * 24 * HOUR).toISOString();
          const within = (): string => (value === null ? '-' : `${day(0)}..${day(1)}`);
          const chosen = group === 'slaPolicy' ? `slaPolicy=${value ?? '-'}` : `done=${within()}`;
          assert.equal((await list(who, `typeId=incident&${chosen}`)).total, count, `${who} ${chosen}`);
        }
      }
    }
    assert.equal(await titles('typeId=incident&done=2026-11-01T00:00:00Z..&slaPolicy=-'), 'e');
    for (const wrong of ['done=2026-13-01T00:00:00Z..', 'done=..2026-02-31', 'slaPolicy=nothing']) {
      assert.equal((await call('chief', `/desk/objects?${wrong}`)).status, 400, wrong);
    }
    const [hidden, none] = await Promise.all(
      ['fix', 'nothing'].map((policy) => call('outsider', `/desk/objects?slaPolicy=${policy}`)),
    );
    assert.equal(hidden.status, 400, 'policies of types that cannot be read are hidden');
    assert.deepEqual(hidden.body.error, none.body.error);
  });

  it('sends counts that changed for the caller, after changes in another process', async () => {
    const other = await startTestApp({ on: app, clock });
    const [anna, zoe] = [
      await follow(keys['anna'] as string, other.url),
      await follow(keys['zoe'] as string, other.url),
    ];
    const before = await counts(anna);
    const { body } = await call('anna', '/desk/queues/built-in');
    assert.deepEqual(before, Object.fromEntries(body.data.map((queue: any) => [queue.code, queue.count])));
    const seen = await counts(zoe);
    await make('hidden from zoe', { priority: 'low', assignee: await idOf(app, 'users', 'anna') });
    assert.equal((await counts(anna))?.['mine'], 2);
    assert.equal(await zoe.next(2500), undefined, 'a change of a hidden record sends nothing');
    await make('urgent', { priority: 'urgent' });
    await move('urgent', 'to-wait');
    assert.deepEqual(await counts(zoe), { ...seen, waiting: (seen?.['waiting'] ?? 0) + 1 });
    // Streams end when the process stops.
    await other.close();
    await Promise.all([anna.ended, zoe.ended]);
  });

  it('ends streams of revoked keys, and limits their number', async () => {
    const { id, key } = await app.createKey({ login: 'chief', scopes: ['admin:manage'] });
    const streams = [];
    for (let open = 0; open < 8; open++) streams.push(await follow(key, app.url));
    const ninth = await app.request('GET', '/api/admin/v1/desk/queues/stream', { key });
    assert.deepEqual([ninth.status, ninth.body.error.code], [429, 'RATE_LIMITED']);
    for (const stream of streams) assert.equal((await stream.next(20_000))?.event, 'queues');
    await post(`/api/admin/v1/keys/${id}/revoke`, undefined, 'chief');
    await Promise.all(streams.map((stream) => stream.ended));
  });
});
