/** A fixture for SLA: policies on incidents with a manual clock. */
import assert from 'node:assert/strict';
import { dueTimeUpdater, fireDue } from '../../src/domain/sla/jobs.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { startTestApp, type TestAnswer, type TestApp } from './app.ts';
import { watchAnswers } from './response-check.ts';
import { ACTIONS, bundle, idOf, stored, user } from './small-configuration.ts';

/**
 * - chief: everything. agent: the work, without `sla.control`. looker: reads incidents that are not secret, and may command.
 * - stranger: nothing at all.
 */
export const USERS = ['chief', 'agent', 'looker', 'stranger'] as const;
export type FixtureUser = (typeof USERS)[number];

const CALENDARS = `
calendars:
  - code: office
    name: Office
    timezone: Europe/Berlin
    week: { mon: ['09:00-17:00'], tue: ['09:00-17:00'], wed: ['09:00-17:00'], thu: ['09:00-17:00'], fri: ['09:00-17:00'] }
    exceptions:
      - { date: '2026-12-25', name: { en-US: Christmas Day }, hours: [] }
      - { date: '2026-12-24', name: Christmas Eve, hours: ['09:00-12:00'] }
  - { code: always, timezone: UTC, week: { ${['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => `${day}: ['00:00-24:00']`).join(', ')} } }
  - { code: never, timezone: UTC, week: {} }`;

const POLICIES = `
slaPolicies:
  - code: resolution
    name: { en-US: Resolution, ru-RU: Решение }
    type: incident
    calendar: office
    targets: [{ when: { field: priority, operator: equals, value: p1 }, duration: PT4H }, { duration: PT16H }]
    start: { field: workflowState, operator: in, value: [new, work] }
    pause: { field: workflowState, operator: equals, value: wait }
    stop: { field: workflowState, operator: equals, value: done }
    warnAt: [50, 90]
  - code: response
    type: incident
    calendar: always
    targets: [{ duration: PT1H }]
    start: { field: assignee, operator: is-empty, value: true }
    stop: { field: assignee, operator: is-empty, value: false }`;

export const CONFIGURED = `${CALENDARS}\n${POLICIES}\n`;

const WORLD = `
settings: { defaultLocale: en-US, timezone: UTC }
types:
  - code: incident
    name: Incident
    title: title
    numbering: { prefix: INC, digits: 4 }
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: priority, dataType: enum, default: p3, constraints: { options: [{ code: p1 }, { code: p2 }, { code: p3 }] } }
      - { code: assignee, dataType: user }
      - { code: secret, dataType: boolean }
      - { code: note, dataType: string }
  - { code: plain, name: Plain, fields: [{ code: note, dataType: string }] }
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
      - { code: to-new, name: New, from: '*', to: new }
      - { code: to-work, name: Work, from: '*', to: work }
      - { code: to-wait, name: Wait, from: '*', to: wait }
      - { code: to-done, name: Done, from: '*', to: done, fields: [{ code: priority }] }
${CONFIGURED}
roles:
  - code: chief
    name: Chief
    rights: [config.manage, role.assign, sla.control, import.manage, import.execute]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [chief] }
  - code: agent
    name: Agent
    records: [{ type: incident, actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [agent] }
  - code: looker
    name: Looker
    rights: [sla.control]
    records:
      - { type: incident, where: { field: secret, operator: is-empty, value: true }, actions: [read, history], fields: { read: [title] } }
    assignedTo: { users: [looker] }
users:
${USERS.map(user).join('')}`;

/** A clock that only advances when it is moved. */
export class ManualClock implements Clock {
  #at: number;

  constructor(at: string) {
    this.#at = Date.parse(at);
  }

  now(): number {
    return this.#at;
  }

  /** To an instant, which may lie in the past. */
  set(at: string): void {
    this.#at = Date.parse(at);
  }

  pass(ms: number): void {
    this.#at += ms;
  }

  toString(): string {
    return new Date(this.#at).toISOString();
  }
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

export interface Instance {
  id: string;
  policyId: string;
  policyCode: string;
  status: string;
  revision: number;
  startedAt: string;
  dueAt: string | null;
  pausedAt?: string;
  stoppedAt?: string;
  targetMs: number;
  elapsedMs: number;
  remainingMs: number;
  breached: boolean;
  breachedAt?: string;
  calendarId: string;
  calendarVersion: number;
}

export interface Event {
  type: string;
  at: string;
  actor: { id: string | null; displayName: string; via: string };
  data: Record<string, any>;
}

export interface SlaFixture {
  app: TestApp;
  clock: ManualClock;
  keys: Record<FixtureUser, string>;
  call(who: FixtureUser, method: string, path: string, body?: unknown): Promise<TestAnswer>;
  ok<T = any>(who: FixtureUser, method: string, path: string, body?: unknown): Promise<T>;
  /** A new incident of the chief's. @returns its id */
  make(values?: Record<string, unknown>): Promise<string>;
  change(id: string, changes: Record<string, unknown>): Promise<void>;
  /** Transitions to the state. */
  to(id: string, state: string, values?: Record<string, unknown>): Promise<void>;
  /** The instances of the policy on the record, oldest first. */
  all(id: string, policy?: string): Promise<Instance[]>;
  /** The newest instance of the policy on the record. */
  sla(id: string, policy?: string): Promise<Instance>;
  command(who: FixtureUser, instance: Instance, command: string, body?: unknown): Promise<TestAnswer>;
  events(instance: Pick<Instance, 'id'>): Promise<Event[]>;
  /** Kinds of the instance's events, with the percent of warnings, in order. */
  eventTypes(instance: Pick<Instance, 'id'>): Promise<string[]>;
  /** Does the background work of SLA in the app, until there is nothing to do. */
  work(on?: TestApp): Promise<void>;
  id(code: string): string;
  rows<Row>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  apply(text: string): Promise<void>;
  close(): Promise<void>;
}

export async function startSlaFixture(at: string): Promise<SlaFixture> {
  const clock = new ManualClock(at);
  const app = await startTestApp({ bundle: bundle(WORLD), clock });
  const movers = new Map<TestApp, ReturnType<typeof dueTimeUpdater>>();
  const undocumented = watchAnswers(app);
  const made = USERS.map(async (login) => [login, (await app.createKey({ login })).key] as const);
  const keys = Object.fromEntries(await Promise.all(made)) as Record<FixtureUser, string>;
  const adminKey = (await app.createKey({ login: 'chief', scopes: ['admin:manage'] })).key;
  const nested = await stored<{ code: string; id: string }>(app, 'SELECT code, id FROM config_ids');
  const ids = new Map(nested.map(({ code, id }) => [code, id]));
  for (const code of ['office', 'always', 'never', 'resolution', 'response', 'incident'])
    ids.set(code, await idOf(app, 'config_items', code));
  for (const login of USERS) ids.set(login, await idOf(app, 'users', login));
  const self: SlaFixture = {
    app,
    clock,
    keys,
    call: (who, method, path, body) => {
      const admin = path.startsWith('/api/admin');
      const key = admin && who === 'chief' ? adminKey : keys[who];
      return app.request(method, admin ? path : `/api/v1${path}`, { key, ...(body === undefined ? {} : { body }) });
    },
    ok: async (...args) => {
      const answer = await self.call(...args);
      assert.ok(answer.status < 300, `${args[1]} ${args[2]}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    },
    make: async (values = {}) => {
      const body = { typeDefinitionId: 'incident', values: { title: 'An incident', ...values } };
      return (await self.ok('chief', 'POST', '/objects', body)).id;
    },
    change: async (id, changes) => {
      const { revision } = await self.ok('chief', 'GET', `/objects/${id}`);
      await self.ok('chief', 'PATCH', `/objects/${id}`, { expectedRevision: revision, changes });
    },
    to: async (id, state, values) => {
      const { revision, workflowState } = await self.ok('chief', 'GET', `/objects/${id}`);
      await self.ok('chief', 'POST', `/objects/${id}/transitions`, {
        transitionId: self.id(`to-${state}`),
        expectedRevision: revision,
        expectedStateId: workflowState.id,
        ...(values === undefined ? {} : { values }),
      });
    },
    all: async (id, policy = 'resolution') => {
      const instances = await self.ok<Instance[]>('chief', 'GET', `/objects/${id}/sla`);
      return instances.filter((instance) => instance.policyCode === policy);
    },
    sla: async (id, policy) => (await self.all(id, policy)).at(-1) ?? assert.fail(`no instance of ${policy}`),
    command: (who, instance, command, body) => self.call(who, 'POST', `/sla/${instance.id}/${command}`, body),
    events: (instance) => self.ok('chief', 'GET', `/sla/${instance.id}/history`),
    eventTypes: async (instance) => {
      const events = await self.events(instance);
      return events.map(({ type, data }) => (type === 'SlaWarning' ? `SlaWarning ${data['percent']}` : type));
    },
    work: async (on = app) => {
      const { work, system } = on.app;
      const mover = movers.get(on) ?? dueTimeUpdater();
      movers.set(on, mover);
      while (await fireDue(work, system()));
      while (await mover(work, system(), clock.now()));
    },
    id: (code) => ids.get(code) ?? assert.fail(`nothing is called ${code}`),
    rows: (statement, values) => stored(app, statement, values),
    apply: async (text) => {
      await app.apply(bundle(text));
    },
    close: async () => {
      await app.close();
      assert.deepEqual(undocumented.slice(0, 3), [], 'what answers said that the documents do not describe');
    },
  };
  return self;
}
