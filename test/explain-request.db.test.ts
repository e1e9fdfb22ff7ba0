/** The explanation of requests: its verdict is that of the request, and what it names as missing or granting decides. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { MODULES } from '../src/modules.ts';
import { operationsOf } from '../src/platform/module.ts';
import { ADMIN_SCOPE, SCOPES } from '../src/contract/scopes.ts';
import { FAULTS } from '../src/lib/fault-codes.ts';
import { setPassword } from '../src/domain/access/index.ts';
import { runCommand } from './support/commands.ts';
import { startTestApp, type TestAnswer, type TestApp } from './support/app.ts';
import { watchAnswers } from './support/response-check.ts';
import { operationCases, WORLD } from './support/operation-calls.ts';
import { type Call, type Login, type OperationCase, PASSWORD } from './support/operation-calls-case.ts';
import { ACTIONS, bundle, RIGHTS } from './support/small-configuration.ts';

type Operation = ReturnType<typeof operationsOf>[number];
const LOGINS: Login[] = ['full', 'partial', 'reader', 'nobody'];

interface Explanation {
  status: number;
  code?: string;
  steps: any[];
}

/** A role that a test changes from case to case, and a user who holds no other one. */
const WALKER = `
  - { login: walker, displayName: Walker, email: walker@example.org }
groups: [ { code: walkers, users: [walker] } ]`;

const MINE = { field: 'createdBy', operator: 'equals', value: '$me' };
const EVERY_GRANT = {
  type: '*',
  actions: ACTIONS.split(', '),
  fields: { read: '*', write: '*' },
  transitions: '*',
};

function isExplained({ access, explained }: Operation): boolean {
  return access !== 'open' && explained !== false;
}

/** The rights and grants that the explanation names as missing. */
function missingIn({ steps }: Explanation): { rights: string[]; records: object[] } {
  const rights = steps.filter(({ kind, missing }) => kind === 'right' && missing).map(({ right }) => right);
  const records = steps.flatMap((step) => {
    if (step.kind === 'records' && step.missing) {
      return [{ type: '*', actions: [step.action], fields: { read: [], write: [] }, transitions: [] }];
    }
    if (step.kind !== 'record') return [];
    const missing = (list: any[]): any[] => list.filter((one) => one.missing);
    const fields = (access: string): string[] =>
      missing(step.fields).flatMap((one) => (one.access === access ? [one.field] : []));
    const made = {
      type: step.type,
      actions: missing(step.actions).map(({ action }) => action),
      fields: { read: fields('read'), write: fields('write') },
      transitions: missing(step.transitions).map(({ transition }) => transition),
    };
    return [made.actions, made.fields.read, made.fields.write, made.transitions].some((list) => list.length > 0)
      ? [made]
      : [];
  });
  return { rights, records };
}

/** The rights and grants that the explanation names as giving what was needed. @param ids named by the path */
function grantsIn({ steps }: Explanation, ids: readonly string[]) {
  const rights = new Set<string>();
  const grants = new Set<number>();
  let decisive = false;
  for (const step of steps) {
    if (step.kind === 'right' && step.held) {
      rights.add(step.right);
      decisive ||= step.required;
    }
    if (step.kind !== 'record') continue;
    for (const one of [...step.actions, ...step.fields, ...step.transitions]) {
      for (const index of one.grants) grants.add(index);
    }
    decisive ||= step.object !== null && (step.object.id === null || ids.includes(step.object.id));
  }
  return { rights, grants, decisive };
}

describe('the explanation of a request', () => {
  let app: TestApp;
  let admin: string;
  let undocumented: string[];
  let table: ReturnType<typeof operationCases>;
  const keys = new Map<string, { id: string; key: string }>();
  const call = async (method: string, path: string, body?: unknown, key = admin): Promise<TestAnswer> =>
    await app.request(method, `/api/admin/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
  const ok = async (method: string, path: string, body?: unknown): Promise<any> => {
    const answer = await call(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body.data;
  };
  const explain = async (about: object): Promise<Explanation> => await ok('POST', '/access/explain-request', about);
  const keyOf = async (login: string, scopes: readonly string[]): Promise<{ id: string; key: string }> => {
    const name = `${login} ${scopes.join()}`;
    const known = keys.get(name) ?? (await app.createKey({ login, scopes: [...scopes] }));
    keys.set(name, known);
    return known;
  };
  const pathOf = (operation: Operation, one: Call): string =>
    operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => one.params?.[name] ?? `{${name}}`) + (one.query ?? '');

  /** Gives the walker this role and no other. */
  const role = async (rights: readonly string[], records: readonly object[]): Promise<void> => {
    const one = { code: 'walk', rights: [...new Set(rights)], records, assignedTo: { users: ['walker'] } };
    await ok('POST', '/config/apply', { files: bundle(JSON.stringify({ roles: [one] })) });
  };

  before(async () => {
    app = await startTestApp({ bundle: bundle(WORLD + WALKER) });
    undocumented = watchAnswers(app);
    for (const login of LOGINS) {
      await app.app.work.write(app.app.system(), (ctx) => setPassword(ctx, login, PASSWORD));
    }
    admin = (await keyOf('full', [ADMIN_SCOPE])).key;
    table = operationCases(app, (await keyOf('full', SCOPES)).key, admin);
  });
  after(() => app.close());

  it('has the status and code of the real answer, for every operation and user', async () => {
    let refused = 0;
    for (const operation of operationsOf(MODULES)) {
      const row = table[operation.id];
      if (row === undefined || !isExplained(operation)) continue;
      for (const login of LOGINS) {
        const isPublic = operation.access !== 'console';
        const { id, key } = await keyOf(login, isPublic ? SCOPES : [ADMIN_SCOPE]);
        const one = await row.call();
        const path = `${isPublic ? '/api/v1' : '/api/admin/v1'}${pathOf(operation, one)}`;
        const body = one.body === undefined ? {} : { body: one.body };
        const explained = await explain({ keyId: id, method: operation.method, path, ...body });
        const real = await app.request(operation.method, path, { key, ...body });
        const code = real.status < 300 ? undefined : real.body.error.code;
        const what = `${operation.id} as ${login}: ${JSON.stringify(explained).slice(0, 2000)}`;
        assert.deepEqual([explained.status, explained.code], [real.status, code], what);
        if (real.status < 400) assert.ok(!JSON.stringify(explained).includes('"missing":true'), what);
        else refused++;
      }
    }
    assert.ok(refused > 150, `${refused} refusals`);
  });

  it('names what is missing and what grants: granting and withdrawing it reverses the answer', async () => {
    const subset = <T>(...all: T[]) => fc.subarray(all);
    const fields = fc.constantFrom<unknown>('*', ['title', 'shown', 'picture'], ['title'], []);
    const grant = fc.record({
      type: fc.constant('thing'),
      where: fc.option(fc.constantFrom({ field: 'shown', operator: 'equals', value: true }, MINE), { nil: undefined }),
      actions: subset(...ACTIONS.split(', ')),
      fields: fc.record({ read: fields, write: fields }),
      transitions: fc.constantFrom<unknown>('*', []),
    });
    const explained = new Map(
      operationsOf(MODULES).flatMap((one) => (isExplained(one) ? [[one.id, one] as const] : [])),
    );
    const generated = fc.record({
      id: fc.constantFrom(...explained.keys()),
      rights: subset(...RIGHTS.split(', ')),
      records: fc.array(grant, { maxLength: 2 }),
    });
    const seen = { granted: 0, withdrawn: 0, other: 0 };
    const property = fc.asyncProperty(generated, async ({ id, rights, records }) => {
      const operation = explained.get(id) as Operation;
      const isPublic = operation.access !== 'console';
      const { key } = await keyOf('walker', isPublic ? SCOPES : [ADMIN_SCOPE]);
      const one = await (table[operation.id] as OperationCase).call();
      const path = `${isPublic ? '/api/v1' : '/api/admin/v1'}${pathOf(operation, one)}`;
      const body = one.body === undefined ? {} : { body: one.body };
      await role(rights, records);
      const said = await explain({ user: 'walker', method: operation.method, path, ...body });
      const what = `${operation.id}: ${JSON.stringify({ rights, records, said })}`;
      const real = (): Promise<TestAnswer> => app.request(operation.method, path, { key, ...body });
      const needed = said.status >= 400 ? missingIn(said) : undefined;
      if (needed === undefined) {
        const named = grantsIn(said, Object.values(one.params ?? {}));
        if (!named.decisive) return;
        seen.withdrawn++;
        const left = records.filter((_, index) => !named.grants.has(index));
        await role(
          rights.filter((right) => !named.rights.has(right)),
          left,
        );
      } else if (needed.rights.length + needed.records.length > 0) {
        seen.granted++;
        await role([...rights, ...needed.rights], [...records, ...needed.records]);
      } else {
        seen.other++;
        await role(RIGHTS.split(', '), [EVERY_GRANT]);
      }
      const reversed = needed !== undefined && needed.rights.length + needed.records.length > 0;
      const { status, body: answer } = await real();
      assert.equal(status < 400, reversed, `${what} ${JSON.stringify(answer)}`);
    });
    // Requests are generated until each kind of answer was seen often enough.
    let numRuns = Number(process.env['DOCKET_TEST_EXPLAIN_RUNS'] ?? 30);
    for (let rounds = 0; rounds < 20 && (seen.granted < 6 || seen.withdrawn < 4); rounds++) {
      await fc.assert(property, { numRuns });
      numRuns = 5;
    }
    assert.ok(seen.granted > 5 && seen.withdrawn > 3, JSON.stringify(seen));
  });

  it('shows conditions with the values that decided, and hides what the asking user may not read', async () => {
    const where = { field: 'hushField', operator: 'equals', value: 'canary' };
    const grant = { type: 'thing', where, actions: ['read'], fields: { read: ['title'], write: ['title'] } };
    await role(['role.assign'], [grant]);
    const values = { title: 'A thing', hushField: 'canary' };
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'thing', values });
    const request = {
      method: 'PATCH',
      path: `/api/v1/objects/${id}`,
      body: { expectedRevision: 7, changes: { title: 'B' } },
    };
    const { status, code, steps } = await explain({ user: 'walker', ...request });
    assert.deepEqual([status, code], [403, 'RIGHT_MISSING']);
    const record = steps.find(({ kind }) => kind === 'record');
    const condition = {
      field: 'hushField',
      operator: 'equals',
      value: 'canary',
      actual: 'canary',
      hidden: false,
      holds: true,
    };
    assert.deepEqual(record.grants[0].conditions, [condition]);
    assert.deepEqual(
      record.actions.map((one: any) => [one.action, one.held, one.missing]),
      [
        ['read', true, false],
        ['update', false, true],
      ],
    );
    const others = steps.filter(({ kind }) => ['state', 'revision'].includes(kind));
    assert.deepEqual(others, [
      { kind: 'state', state: 'ACTIVE', passed: true },
      { kind: 'revision', expected: 7, current: 1, passed: false },
    ]);
    const walker = (await keyOf('walker', [ADMIN_SCOPE])).key;
    const asked = await call('POST', '/access/explain-request', { user: 'full', ...request }, walker);
    assert.equal(asked.status, 200, JSON.stringify(asked.body));
    const own = await call('POST', '/access/explain-request', { user: 'walker', ...request }, walker);
    const seen = own.body.data.steps.find(({ kind }: any) => kind === 'record');
    assert.equal(JSON.stringify(own.body).includes('canary'), false);
    assert.deepEqual(seen.grants[0].where, null);
    assert.deepEqual([seen.grants[0].whereHidden, seen.grants[0].conditions[0].field], [true, 'hushField']);
    // The history tells who asked; nothing else was stored.
    const { rows } = await ok('GET', '/audit?type=RequestExplained&pageSize=1');
    assert.deepEqual([rows[0].data.operation, rows[0].data.status], ['objects.update', 403]);
    assert.equal((await ok('GET', `/objects/${id}`)).revision, 1);
  });

  it('shows what variables stood for, and only their names where the field is hidden', async () => {
    const leaf = (field: string, operator: string, value: unknown) => ({ field, operator, value });
    const where = {
      logic: 'OR',
      conditions: [
        leaf('createdBy', 'in', ['$me']),
        leaf('createdAt', 'after', '$now-P7D'),
        leaf('hushField', 'equals', 'x'),
      ],
    };
    await role(['role.assign'], [{ type: 'thing', where, actions: ['read'], fields: { read: ['title'], write: [] } }]);
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'thing', values: { title: 'A thing' } });
    const { steps } = await explain({ user: 'walker', method: 'GET', path: `/api/v1/objects/${id}` });
    const [mine, recent, plain] = steps.find(({ kind }) => kind === 'record').grants[0].conditions;
    assert.deepEqual(
      mine.variables.map(({ variable, values, more }: any) => [variable, values.map(({ code }: any) => code), more]),
      [['$me', ['walker'], 0]],
    );
    assert.equal(recent.variables[0].variable, '$now-P7D');
    assert.ok(Date.parse(recent.variables[0].values[0].value) < Date.now());
    assert.equal(Object.hasOwn(plain, 'variables'), false);
  });

  it('shows the groups and units that variables stood for', async () => {
    const type = `types: [ { code: team-case, title: title, fields: [ { code: title, dataType: string }, { code: team, dataType: group }, { code: unit, dataType: org-unit } ] } ]`;
    const units = `orgUnits: [ { code: desk, name: Desk }, { code: corner, name: Corner, parent: desk } ]\nusers: [ { login: walker, displayName: Walker, email: walker@example.org, orgUnit: desk } ]`;
    await ok('POST', '/config/apply', { files: [type, units].map((text, n) => ({ name: `${n}.yaml`, text })) });
    const leaf = (field: string, value: unknown) => ({ field, operator: 'in', value });
    const where = { logic: 'OR', conditions: [leaf('team', ['$myGroups']), leaf('unit', ['$myOrgUnits'])] };
    const grant = { type: 'team-case', where, actions: ['read'], fields: { read: '*', write: [] } };
    await role(['role.assign'], [grant]);
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'team-case', values: { title: 'A case' } });
    const { steps } = await explain({ user: 'walker', method: 'GET', path: `/api/v1/objects/${id}` });
    const { conditions } = steps.find(({ kind }) => kind === 'record').grants[0];
    const shown = conditions.flatMap(({ variables }: any) =>
      variables.map(({ variable, values }: any) => [variable, values.map(({ code }: any) => code).sort()]),
    );
    assert.deepEqual(shown, [
      ['$myGroups', ['walkers']],
      ['$myOrgUnits', ['corner', 'desk']],
    ]);
  });

  it('has no verdict that tells a value of a record that the asking user may not read', async () => {
    await role(['role.assign'], []);
    const values = { title: 'A thing', shown: true };
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'thing', values });
    const walker = (await keyOf('walker', [ADMIN_SCOPE])).key;
    const ask = async (about: object): Promise<Explanation> => {
      const answer = await call('POST', '/access/explain-request', { user: 'partial', ...about }, walker);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.data;
    };
    const list = await ask({ method: 'GET', path: '/api/v1/objects' });
    assert.deepEqual(
      list.steps.filter(({ kind, object }) => kind === 'record' && object !== null),
      [],
    );
    const hasVerdict = ({ passed, leaves, conditions = [] }: any): boolean =>
      [passed, leaves, ...conditions.map(({ holds }: any) => holds)].some((one) => typeof one === 'boolean');
    const path = `/api/v1/objects/${id}`;
    const patched = await ask({ method: 'PATCH', path, body: { expectedRevision: 7, changes: { title: 'B' } } });
    const { transitions, state } = await ok('GET', `/objects/${id}/workflow`);
    const body = { transitionId: transitions[0].id, expectedRevision: 1, expectedStateId: state.id };
    const moved = await ask({ method: 'POST', path: `${path}/transitions`, body });
    for (const { steps } of [patched, moved]) {
      const record = steps.find(({ kind }) => kind === 'record');
      const [grant] = record.grants;
      assert.deepEqual([record.object, grant.where, grant.whereHidden], [{ id, number: null }, null, true]);
      assert.deepEqual([grant.holds, grant.conditions[0].field, hasVerdict(grant)], [true, 'shown', false]);
      const others = steps.filter(({ kind }) => ['state', 'revision', 'workflow'].includes(kind));
      assert.ok(others.length >= 2 && !others.some(hasVerdict), JSON.stringify(others));
    }
    const refusal = patched.steps.at(-1);
    assert.deepEqual([refusal.code, refusal.message], ['REVISION_CONFLICT', FAULTS.REVISION_CONFLICT.meaning]);
  });

  it('explains transitions, scopes, archived users and keys, and refuses what cannot be dry-run', async () => {
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'thing', values: { title: 'A thing' } });
    const { transitions, state } = await ok('GET', `/objects/${id}/workflow`);
    const path = `/api/v1/objects/${id}/transitions`;
    const body = { transitionId: transitions[0].id, expectedRevision: 1, expectedStateId: state.id };
    const moved = await explain({ user: 'full', method: 'POST', path, body });
    assert.deepEqual(
      moved.steps.find(({ kind }) => kind === 'workflow'),
      { kind: 'workflow', transition: 'end', state: 'begun', leaves: true, conditions: [], passed: true },
    );
    const { id: keyId } = await app.createKey({ login: 'reader', scopes: ['kb:read'] });
    const scoped = await explain({ keyId, method: 'POST', path, body });
    const missing = scoped.steps.flatMap((step) => (step.missing === true ? [step.scope] : []));
    assert.deepEqual([scoped.code, missing.length], ['SCOPE_MISSING', 1]);
    assert.ok(missingIn(scoped).records.length > 0, 'the action is missing too');
    await ok('POST', `/keys/${keyId}/revoke`);
    assert.deepEqual((await explain({ keyId, method: 'GET', path: '/api/v1/objects' })).steps, [
      { kind: 'caller', login: 'reader', accepted: false },
    ]);
    assert.equal((await explain({ user: 'full', method: 'GET', path: '/api/v1/nothing' })).status, 404);
    assert.equal((await explain({ user: 'full', method: 'PUT', path: '/api/v1/objects' })).status, 405);
    for (const about of [
      { user: 'full', method: 'POST', path: '/api/admin/v1/me/password', body: {} },
      { user: 'full', method: 'POST', path: '/api/admin/v1/session', body: {} },
      { user: 'full', keyId, method: 'GET', path: '/api/v1/objects' },
    ]) {
      assert.equal((await call('POST', '/access/explain-request', about)).status, 400);
    }
    const nobody = { user: 'no-such-login', method: 'GET', path: '/api/v1/objects' };
    assert.equal((await call('POST', '/access/explain-request', nobody)).status, 404);
  });

  it('is a command of docket, here and for a service elsewhere', async () => {
    const { id } = await ok('POST', '/objects', { typeDefinitionId: 'thing', values: { title: 'A thing' } });
    const body = JSON.stringify({ expectedRevision: 1, changes: { title: 'Other' } });
    const args = ['why', '--as', 'reader', 'patch', `/api/v1/objects/${id}`, body];
    const remote = await runCommand(['--url', app.url, ...args], { DOCKET_KEY: admin });
    assert.match(remote.out, /^403 RIGHT_MISSING\nuser reader: active\nrecord thing /);
    assert.match(remote.out, /^ {2}action read: allowed by reader\n {2}action update: MISSING$/m);
    const local = await runCommand(args, { DATABASE_URL: app.databaseUrl });
    assert.equal(local.out, remote.out, local.err);
    const wrong = await runCommand(['--url', app.url, 'why', '--as', 'x', 'LOOK', '/x'], { DOCKET_KEY: admin });
    assert.equal(wrong.code, 2);
  });

  it('answers as the OpenAPI document describes', () => {
    assert.deepEqual(undocumented.slice(0, 3), []);
  });
});
