/** A fixture for comments, attachments, relations, workflow and bulk changes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setPassword } from '../../src/domain/access/index.ts';
import { startTestApp, type TestAnswer, type TestApp, type TestOptions } from './app.ts';
import { watchAnswers } from './response-check.ts';
import { ACTIONS, bundle, idOf, stored } from './small-configuration.ts';
import { duringTransaction } from './database.ts';

/**
 * - chief: all rights. agent: ordinary work, without internal comments, `secret` hidden, `grade` read-only, one transition.
 * - viewer: reads cases of kind `a`, nothing else. stranger: no rights.
 */
export const USERS = ['chief', 'agent', 'viewer', 'stranger'] as const;
export type FixtureUser = (typeof USERS)[number];

const AGENT_ACTIONS =
  'read, create, update, archive, history, transition, comment.create, comment.edit, attachment.add, attachment.delete, ' +
  'relation.create, relation.delete';

const CASE_FIELDS = ['title', 'kind', 'count', 'note', 'secret', 'grade', 'assignee', 'day', 'body', 'causes', 'cause'];

const WORLD = `
settings: { defaultLocale: en-US, timezone: Asia/Vladivostok, attachmentMaxBytes: 100000 }
types:
  - code: case
    name: Case
    numbering: { prefix: CASE, digits: 4 }
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true, constraints: { maxLength: 100 } }
      - { code: kind, dataType: enum, constraints: { options: [{ code: a }, { code: b }] }, search: { filter: true } }
      - { code: count, dataType: integer, constraints: { min: 0, max: 1000 } }
      - { code: note, dataType: text }
      - { code: secret, dataType: string }
      - { code: grade, dataType: string }
      - { code: assignee, dataType: user }
      - { code: solution, dataType: text }
      - { code: body, dataType: rich-text }
      - { code: hidden, dataType: rich-text }
      - { code: startedAt, dataType: datetime }
      - { code: day, dataType: date }
      - { code: causes, dataType: reference, multiple: true, constraints: { types: [problem] } }
      - { code: cause, dataType: reference, constraints: { types: [problem] } }
  - code: problem
    name: Problem
    title: title
    fields:
      - { code: title, dataType: string, required: true }
      - { code: kind, dataType: enum, constraints: { options: [{ code: a }, { code: b }] } }
workflows:
  - code: flow
    name: Flow
    initial: new
    states:
      - { code: new, name: New, category: open }
      - { code: work, name: In work, category: open }
      - { code: wait, name: Waiting, category: waiting }
      - { code: done, name: Done, category: done }
    transitions:
      - code: take
        name: Take
        from: [new, wait]
        to: work
        condition: { logic: AND, conditions: [{ field: kind, operator: equals, value: a }, { field: secret, operator: is-empty, value: true }] }
        fields: [{ code: note }, { code: count }]
        set: { startedAt: $now, assignee: $me, day: $today }
      - code: hold
        name: Hold
        from: [work]
        to: wait
        fields: [{ code: $reason, required: true }, { code: grade }, { code: secret }]
      - code: finish
        name: Finish
        from: [work]
        to: done
        fields: [{ code: solution, required: true }, { code: $reason }, { code: $decisionReport, required: true }, { code: secret, required: true }]
        set: { assignee: null, note: $$paid }
      - code: reopen
        name: Reopen
        from: '*'
        to: new
calendars:
  - { code: office, timezone: America/New_York, week: { mon: ['09:00-12:00', '13:00-18:00'], tue: ['09:00-18:00'], sat: ['22:00-24:00'], sun: ['00:00-03:00'] }, exceptions: [{ date: '2026-03-10', hours: [] }] }
relationDefinitions:
  - { code: about, name: Is about, inverseName: Has, sourceTypes: [case], targetTypes: [problem, case], cardinality: many-to-many }
  - { code: caused-by, name: Caused by, inverseName: Causes, sourceTypes: [case], targetTypes: [problem], cardinality: many-to-one, field: causes }
  - { code: held-by, name: Held by, inverseName: Holds, sourceTypes: [case], targetTypes: [problem], field: cause }
  - { code: splits, name: Splits, inverseName: Part of, sourceTypes: [case], targetTypes: [case], cardinality: one-to-many }
  - { code: twin, name: Twin, inverseName: Twin, sourceTypes: [case], targetTypes: [case], cardinality: one-to-one }
  - { code: after, name: After, inverseName: Before, sourceTypes: [case], targetTypes: [case], acyclic: true }
  - { code: over, name: Over, inverseName: Over, sourceTypes: [case], targetTypes: [case], active: false }
catalogs:
  - code: shop
    categories: [{ code: all }]
    items:
      - code: any-case
        category: all
        type: case
        form: [${CASE_FIELDS.map((code) => `{ code: ${code} }`).join(', ')}]
        audience: { everyone: true }
roles:
  - code: chief
    name: Chief
    rights: [config.manage, role.assign, catalog.impersonate, integration.manage, import.manage, import.execute]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: agent
    name: Agent
    rights: [import.execute]
    records:
      - type: case
        actions: [${AGENT_ACTIONS}]
        fields:
          read: [title, kind, count, note, grade, assignee, solution, body, startedAt, day, causes, cause]
          write: [title, kind, count, note, assignee, solution, body, startedAt, day, causes, cause]
        transitions: [take, hold]
      - { type: problem, where: { field: kind, operator: equals, value: a }, actions: [read], fields: { read: '*' } }
    assignedTo: { users: [agent] }
  - code: viewer
    name: Viewer
    rights: [import.execute]
    records:
      - type: case
        where: { field: kind, operator: equals, value: a }
        actions: [read]
        fields: { read: [kind] }
    assignedTo: { users: [viewer] }
users:
${USERS.map((login) => `  - { login: ${login}, displayName: Person ${login}, email: ${login}@example.org }`).join('\n')}
`;

export interface Made {
  id: string;
  revision: number;
  stateId: string;
}

export interface CallOptions {
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

export interface RecordFixture {
  app: TestApp;
  keys: Record<FixtureUser, string>;
  /** Calls below `/api/v1` as the person. */
  call(who: FixtureUser, method: string, path: string, body?: unknown, options?: CallOptions): Promise<TestAnswer>;
  /** As `call`, and the answer's `data`; anything but a success fails the test. */
  ok<T = any>(who: FixtureUser, method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>;
  /** A new record of the chief's. */
  make(values?: Record<string, unknown>, type?: 'case' | 'problem'): Promise<Made>;
  archive(made: Made): Promise<void>;
  /** Id of a transition or a state of the workflow, of a relation definition or of a catalogue item, by code. */
  id(code: string): string;
  /** Id of the person. */
  person(who: FixtureUser): Promise<string>;
  rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  /** @throws AssertionError when an answer was not as the documents describe it */
  close(): Promise<void>;
}

/** A password of the chief's, for the administration interface. */
export const PASSWORD = 'correct horse battery staple';

export async function startRecordFixture(options: Omit<TestOptions, 'bundle'> = {}): Promise<RecordFixture> {
  const app = await startTestApp({ ...options, bundle: bundle(WORLD) });
  const undocumented = watchAnswers(app);
  const made = USERS.map(async (login) => [login, (await app.createKey({ login })).key] as const);
  const keys = Object.fromEntries(await Promise.all(made)) as Record<FixtureUser, string>;
  await app.app.work.write(app.app.system(), (ctx) => setPassword(ctx, 'chief', PASSWORD));
  const nested = await stored<{ code: string; id: string }>(app, 'SELECT code, id FROM config_ids');
  const ids = new Map(nested.map(({ code, id }) => [code, id]));
  for (const code of ['about', 'caused-by', 'held-by', 'splits', 'twin', 'after', 'over']) {
    ids.set(code, await idOf(app, 'config_items', code));
  }
  const self: RecordFixture = {
    app,
    keys,
    call: (who, method, path, body, extra = {}) =>
      app.request(method, `/api/v1${path}`, { key: keys[who], ...(body === undefined ? {} : { body }), ...extra }),
    ok: async (...args) => {
      const answer = await self.call(...args);
      assert.ok(answer.status < 300, `${args[1]} ${args[2]}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    },
    make: async (values = {}, type = 'case') => {
      const body = { typeDefinitionId: type, values: { title: 'A record', kind: 'a', ...values } };
      const { id, revision, workflowState } = await self.ok('chief', 'POST', '/objects', body);
      return { id, revision, stateId: workflowState?.id ?? randomUUID() };
    },
    archive: async (record) => {
      const { revision } = await self.ok('chief', 'GET', `/objects/${record.id}`);
      await self.ok('chief', 'DELETE', `/objects/${record.id}`, { expectedRevision: revision });
    },
    id: (code) => ids.get(code) ?? assert.fail(`nothing is called ${code}`),
    person: (who) => idOf(app, 'users', who),
    rows: (statement, values) => stored(app, statement, values),
    close: async () => {
      await app.close();
      assert.deepEqual(undocumented.slice(0, 3), [], 'what answers said that the documents do not describe');
    },
  };
  return self;
}

/** The answer is this refusal. */
export function assertRejected(answer: TestAnswer, status: number, code: string, what = ''): void {
  const said = `${what} ${answer.status} ${JSON.stringify(answer.body)}`;
  assert.equal(answer.status, status, said);
  assert.equal(answer.body.error.code, code, said);
}

/** Both answers are word for word the same, the correlation id apart. */
export function assertSameError(one: TestAnswer, other: TestAnswer): void {
  assert.deepEqual({ status: one.status, error: one.body.error }, { status: other.status, error: other.body.error });
}

/** How often each outcome came: the status, with the code of a refusal. */
export function countOutcomes(answers: readonly TestAnswer[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status < 300 ? String(status) : `${status} ${body.error.code}`;
    found[name] = (found[name] ?? 0) + 1;
  }
  return found;
}

/** Runs `fn` the given number of times concurrently. */
export function concurrently<T>(count: number, fn: (turn: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, turn) => fn(turn)));
}

/**
 * Sends `call` while another transaction holds an uncommitted change of the record. Commits it when `waiters` statements wait
 * for it, and returns the response: the call must respect the change.
 */
export async function duringUncommittedChange<T = TestAnswer>(
  fixture: Pick<RecordFixture, 'app'>,
  statement: string,
  values: unknown[],
  call: () => Promise<T>,
  waiters = 1,
): Promise<T> {
  return await duringTransaction(fixture.app.db, async (client) => {
    await client.query(statement, values);
    const answer = call();
    const waits = async (): Promise<boolean> => {
      const found = await stored<{ n: number }>(
        fixture.app,
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return (found[0]?.n ?? 0) >= waiters;
    };
    for (let tries = 0; tries < 500 && !(await waits()); tries++)
      await new Promise((resolve) => setTimeout(resolve, 2));
    await client.query('COMMIT');
    return await answer;
  });
}
