/**
 * Access rights over generated roles, users and records: each response is compared with a naive oracle that evaluates all
 * records one by one (docs/spec/access.md#roles-and-rights).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { startTestApp, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';
import {
  type Allowed,
  allowed,
  FIELDS,
  type Field,
  GROUPS,
  LOGINS,
  type Login,
  MEMBERS,
  READ_WRITE,
  type Role,
  role,
  type Values,
  values,
} from './support/rights-oracle.ts';
import { bundle, idOf } from './support/small-configuration.ts';

const ROLES = 6;
const RECORDS = 60;
/** Long version: `npm run test:rights`. */
const RUNS = Number(process.env['DOCKET_TEST_RIGHTS_RUNS'] ?? 4);
const SEED = Number(process.env['DOCKET_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));

const TYPE = {
  code: 'case',
  name: 'Case',
  title: 'title',
  fields: [
    { code: 'title', dataType: 'string' },
    { code: 'kind', dataType: 'enum', constraints: { options: [{ code: 'a' }, { code: 'b' }, { code: 'c' }] } },
    { code: 'size', dataType: 'integer' },
    { code: 'flag', dataType: 'boolean' },
    { code: 'note', dataType: 'text' },
    { code: 'tags', dataType: 'string', multiple: true },
    { code: 'owner', dataType: 'user' },
    { code: 'team', dataType: 'group' },
  ],
};

const roleText = (one: Role, index: number): unknown => ({
  code: `role-${index}`,
  name: `Role ${index}`,
  records: [
    {
      type: 'case',
      ...(one.where === null ? {} : { where: one.where }),
      actions: one.actions,
      fields: { read: one.read, write: one.write },
    },
  ],
  assignedTo: { users: one.users, groups: one.groups },
});

interface Known {
  id: string;
  createdAt: string;
  revision: number;
  values: Values;
}

interface Row {
  id: string;
  title: string | null;
  values: Record<string, unknown>;
}

let app: TestApp;
/** Responses that do not match the OpenAPI document. */
let undocumented: string[];
let master: string;
let keys: Record<Login, string>;
/** Login or group code → id, and back. */
const ids = new Map<string, string>();

const stored = (record: Values): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).map(([field, value]) => [
      field,
      field === 'owner' || field === 'team' ? ids.get(String(value)) : value,
    ]),
  );

function expected(record: Pick<Known, 'values'>, right: Allowed): { values: Record<string, unknown>; title: unknown } {
  const shown = Object.entries(stored(record.values)).filter(([field]) => right.reads(field as Field));
  return { values: Object.fromEntries(shown), title: right.reads('title') ? (record.values.title ?? null) : null };
}

async function makeRecords(all: readonly Values[]): Promise<Known[]> {
  const made: Known[] = [];
  for (const one of all) {
    const body = { typeDefinitionId: 'case', values: stored(one) };
    const answer = await app.request('POST', '/api/v1/objects', { key: master, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    const { id, createdAt } = answer.body.data;
    made.push({ id, createdAt, revision: 1, values: one });
  }
  return made;
}

/** The whole list, page by page. Every page but the last is full, and `hasMore` is correct. */
async function listed(login: Login, pageSize: number, query = ''): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page = 1; ; page++) {
    const { status, body } = await app.request(
      'GET',
      `/api/v1/objects?typeId=case&pageSize=${pageSize}&page=${page}${query}`,
      {
        key: keys[login],
      },
    );
    if (status === 400) return rows;
    rows.push(...body.data.rows);
    if (body.data.rows.length < pageSize || !body.data.hasMore) {
      assert.equal(body.data.hasMore, false);
      return rows;
    }
  }
}

async function checkReads(
  login: Login,
  roles: readonly Role[],
  records: readonly Known[],
  pageSize: number,
): Promise<void> {
  const readable = records
    .filter(({ values: record }) => allowed(roles, login, record).can('read'))
    // Two records of one millisecond are ordered by id (docs/spec/search.md#search).
    .toSorted((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? 1 : -1));
  const mine = new Set(records.map(({ id }) => id));
  const rows = (await listed(login, pageSize)).filter(({ id }) => mine.has(id));
  assert.deepEqual(
    rows.map(({ id }) => id),
    readable.map(({ id }) => id),
    `the list of ${login}, newest first`,
  );
  for (const record of readable) {
    const right = allowed(roles, login, record.values);
    const row = rows.find(({ id }) => id === record.id);
    assert.deepEqual({ values: row?.values, title: row?.title }, expected(record, right), `what ${login} sees`);
  }
  for (const record of records.filter((_, index) => index % 4 === 0)) {
    const right = allowed(roles, login, record.values);
    const path = `/api/v1/objects/${record.id}`;
    const one = await app.request('GET', path, { key: keys[login] });
    const history = await app.request('GET', `${path}/history`, { key: keys[login] });
    const schema = await app.request('GET', `${path}/schema`, { key: keys[login] });
    if (!right.can('read')) {
      for (const answer of [one, history, schema]) assert.equal(answer.status, 404);
      continue;
    }
    assert.deepEqual({ values: one.body.data.values, title: one.body.data.title }, expected(record, right));
    const fields = (schema.body.data.fields as { code: Field; readOnly: boolean }[]).map(({ code, readOnly }) => [
      code,
      readOnly,
    ]);
    assert.deepEqual(
      fields,
      FIELDS.filter(right.reads).map((field) => [field, !right.writes(field)]),
    );
    assert.equal(history.status, right.can('history') ? 200 : 403);
    if (!right.can('history')) continue;
    const seen = (history.body.data as { changes: { field: Field }[] }[]).flatMap(({ changes }) =>
      changes.map(({ field }) => field),
    );
    assert.deepEqual(
      [...new Set(seen)].sort(),
      Object.keys(expected(record, right).values).sort(),
      `the history for ${login}`,
    );
  }
}

/** Tries one change and returns the expected result: rights on the record before, in the order of checks. */
async function checkWrite(login: Login, roles: readonly Role[], record: Known, field: Field): Promise<void> {
  const right = allowed(roles, login, record.values);
  const change = { size: 5, flag: true, note: 'ель', kind: 'b', title: 'xyz', tags: ['w'], owner: 'eve', team: 'red' }[
    field
  ];
  const next = { ...record.values, [field]: change };
  const answer = await app.request('PATCH', `/api/v1/objects/${record.id}`, {
    key: keys[login],
    body: { expectedRevision: record.revision, changes: { [field]: stored(next)[field] } },
  });
  const same = JSON.stringify(record.values[field]) === JSON.stringify(change);
  const status = !right.can('read')
    ? 404
    : !right.can('update')
      ? 403
      : right.writes(field)
        ? 200
        : right.reads(field)
          ? 403
          : 400;
  assert.equal(answer.status, status, `${login} sets ${field}: ${JSON.stringify(answer.body)}`);
  if (status === 403) assert.equal(answer.body.error.code, right.can('update') ? 'FIELD_READ_ONLY' : 'RIGHT_MISSING');
  if (status !== 200) return;
  record.values = next;
  if (!same) record.revision++;
  assert.equal(answer.body.data.revision, record.revision);
  const afterwards = allowed(roles, login, next);
  const shown = afterwards.can('read') ? expected(record, afterwards) : { values: {}, title: null };
  assert.deepEqual(
    { values: answer.body.data.values, title: answer.body.data.title },
    shown,
    'the answer has the rights after it',
  );
}

async function checkCreate(login: Login, roles: readonly Role[], record: Values): Promise<void> {
  const right = allowed(roles, login, record);
  const body = { typeDefinitionId: 'case', values: stored(record) };
  const answer = await app.request('POST', '/api/v1/objects', { key: keys[login], body });
  const fields = Object.keys(record) as Field[];
  const could = right.can('create') && fields.every((field) => right.writes(field));
  if (could) assert.equal(answer.status, 201, JSON.stringify(answer.body));
  else assert.ok([400, 403].includes(answer.status), JSON.stringify(answer.body));
  if (answer.status !== 201) return;
  const shown = right.can('read') ? expected({ values: record }, right).values : {};
  assert.deepEqual(answer.body.data.values, shown);
}

describe('rights', () => {
  before(async () => {
    const groups = [
      { code: 'red', name: 'Red', users: MEMBERS.red },
      { code: 'blue', name: 'Blue', users: MEMBERS.blue, groups: ['navy'] },
      { code: 'navy', name: 'Navy', users: MEMBERS.navy },
    ];
    const users = [...LOGINS, 'master'].map((login) => ({ login, displayName: login, email: `${login}@example.org` }));
    const all: Role = { where: null, actions: READ_WRITE, read: '*', write: '*', users: [], groups: [] };
    const keeper = { ...(roleText(all, 0) as object), code: 'keeper', assignedTo: { users: ['master'] } };
    app = await startTestApp({ bundle: bundle(JSON.stringify({ types: [TYPE], groups, users, roles: [keeper] })) });
    undocumented = watchAnswers(app);
    master = (await app.createKey({ login: 'master' })).key;
    keys = Object.fromEntries(
      await Promise.all(LOGINS.map(async (login) => [login, (await app.createKey({ login })).key] as const)),
    ) as Record<Login, string>;
    for (const login of LOGINS) ids.set(login, await idOf(app, 'users', login));
    for (const group of GROUPS) ids.set(group, await idOf(app, 'groups', group));
  });
  after(() => app.close());

  it('match for each user an oracle that evaluates all records', async () => {
    const fixture = fc.record({
      roles: fc.array(role, { minLength: ROLES, maxLength: ROLES }),
      records: fc.array(values, { minLength: RECORDS, maxLength: RECORDS }),
      fresh: fc.array(values, { minLength: 4, maxLength: 4 }),
    });
    let run = 0;
    const property = fc.asyncProperty(fixture, async ({ roles, records, fresh }) => {
      // Assignments are only ever added to, so each run has roles of its own and those of the run before lose their grants.
      const before = Array.from({ length: ROLES }, (_, index) => ({
        code: `role-${(run - 1) * ROLES + index}`,
        name: 'Gone',
        records: [],
      }));
      const now = roles.map((one, index) => roleText(one, run * ROLES + index));
      await app.apply(bundle(JSON.stringify({ roles: [...(run === 0 ? [] : before), ...now] })));
      run++;
      const known = await makeRecords(records);
      for (const login of LOGINS) await checkReads(login, roles, known, 7);
      for (const [index, record] of known.entries()) {
        const login = LOGINS[index % LOGINS.length] as Login;
        await checkWrite(login, roles, record, FIELDS[(index * 5) % FIELDS.length] as Field);
      }
      for (const login of LOGINS) {
        await checkReads(login, roles, known, 100);
        for (const one of fresh) await checkCreate(login, roles, one);
      }
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });
  });

  it('respond only as the OpenAPI documents describe', () => {
    assert.deepEqual(undocumented.slice(0, 3), []);
  });
});
