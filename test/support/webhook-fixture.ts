/** A fixture with a webhook receiver and helpers to subscribe and to inspect deliveries. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_SCOPE } from '../../src/contract/scopes.ts';
import { startTestApp, type TestAnswer, type TestApp, type TestOptions } from './app.ts';
import { watchAnswers } from './response-check.ts';
import { ACTIONS, bundle, idOf, RIGHTS, stored } from './small-configuration.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/**
 * - boss: all rights. manager: only webhook.manage. limited: reads things of kind `a` without `secret` and without internal
 * comments. nobody: no rights.
 */
export const USERS = ['boss', 'manager', 'limited', 'nobody'] as const;
export type FixtureUser = (typeof USERS)[number];

export const WEBHOOK_CONFIGURATION = `
settings: { defaultLocale: en-US, timezone: Europe/Moscow }
types:
  - code: thing
    name: Thing
    numbering: { prefix: THG, digits: 4 }
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: kind, dataType: enum, default: a, constraints: { options: [{ code: a }, { code: b }] } }
      - { code: secret, dataType: string }
      - { code: owner, dataType: user }
      - { code: amount, dataType: decimal }
  - code: other
    name: Other
    title: title
    fields: [{ code: title, dataType: string, required: true }]
workflows:
  - code: flow
    initial: begun
    states: [{ code: begun, category: open }, { code: ended, category: done }]
    transitions: [{ code: end, from: [begun], to: ended, fields: [{ code: $reason }] }]
calendars: [{ code: office, timezone: UTC, week: { mon: ['09:00-18:00'] } }]
slaPolicies:
  - { code: quick, type: other, calendar: office, targets: [{ duration: PT1H }], start: { field: state, operator: equals, value: ACTIVE }, stop: { field: state, operator: equals, value: ARCHIVED } }
knowledgeBases: [{ code: it, name: IT, visibility: internal, locales: [en-US], sections: [{ code: net, name: Net, parent: null }] }]
relationDefinitions:
  - { code: near, name: Near, inverseName: Near, sourceTypes: [thing], targetTypes: [thing], cardinality: many-to-many }
roles:
  - code: all
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [boss] }
  - code: manager
    rights: [webhook.manage]
    assignedTo: { users: [manager, limited] }
  - code: limited
    records:
      - type: thing
        where: { field: kind, operator: equals, value: a }
        actions: [read, history]
        fields: { read: [title, kind, owner, amount], write: [] }
    assignedTo: { users: [limited] }
users:
${USERS.map((login) => `  - { login: ${login}, displayName: Person ${login}, email: ${login}@example.org }`).join('\n')}
`;

export interface Subscribing {
  code?: string;
  endpoint?: string;
  as?: FixtureUser;
  eventTypes?: string[];
  filters?: unknown;
  retryPolicy?: { maxAttempts?: number; baseDelayMs?: number };
  enabled?: boolean;
}

export interface WebhookFixture {
  app: TestApp;
  receiver: Receiver;
  keys: Record<FixtureUser, string>;
  adminKeys: Record<FixtureUser, string>;
  ids: Record<FixtureUser, string>;
  /** The value of the signing secret `main`. */
  secret: string;
  call(who: FixtureUser, method: string, path: string, body?: unknown): Promise<TestAnswer>;
  admin(who: FixtureUser, method: string, path: string, body?: unknown): Promise<TestAnswer>;
  /** As `call` and `admin`, and the answer's `data`; anything but a success fails the test. */
  ok<T = any>(who: FixtureUser, method: string, path: string, body?: unknown): Promise<T>;
  okAdmin<T = any>(who: FixtureUser, method: string, path: string, body?: unknown): Promise<T>;
  /** A new subscription to the receiver by the boss. */
  subscribe(input?: Subscribing): Promise<{ id: string; code: string }>;
  make(values?: Record<string, unknown>, type?: string): Promise<{ id: string; revision: number }>;
  deliveries(subscriptionId: string): Promise<any[]>;
  /** Waits until all deliveries of the subscription are finished, at least the given number. */
  settled(subscriptionId: string, count?: number): Promise<any[]>;
  rows<Row = any>(statement: string, values?: readonly unknown[]): Promise<Row[]>;
  /** @throws AssertionError when an answer was not as the documents describe it */
  close(): Promise<void>;
}

export interface WebhookFixtureOptions
  extends Pick<TestOptions, 'clock' | 'deliveries' | 'outbound' | 'tracer' | 'log'> {
  /** Without background work, which a test then starts itself. */
  idle?: boolean;
}

export async function startWebhookFixture(options: WebhookFixtureOptions = {}): Promise<WebhookFixture> {
  const receiver = await startReceiver();
  const { clock, deliveries } = options;
  const app = await startTestApp({
    bundle: bundle(WEBHOOK_CONFIGURATION),
    outbound: { allowPrivate: true, ca: receiver.ca, ...options.outbound },
    ...(clock === undefined ? {} : { clock }),
    ...(deliveries === undefined ? {} : { deliveries }),
    ...(options.tracer === undefined ? {} : { tracer: options.tracer }),
    ...(options.log === undefined ? {} : { log: options.log }),
  });
  const undocumented = watchAnswers(app);
  const each = async <T>(make: (login: FixtureUser) => Promise<T>): Promise<Record<FixtureUser, T>> =>
    Object.fromEntries(await Promise.all(USERS.map(async (login) => [login, await make(login)]))) as Record<
      FixtureUser,
      T
    >;
  const keys = await each(async (login) => (await app.createKey({ login })).key);
  const adminKeys = await each(async (login) => (await app.createKey({ login, scopes: [ADMIN_SCOPE] })).key);
  const ids = await each((login) => idOf(app, 'users', login));
  const send = (key: string, method: string, path: string, body: unknown): Promise<TestAnswer> =>
    app.request(method, path, { key, ...(body === undefined ? {} : { body }) });
  let count = 0;
  const data = (answer: TestAnswer, what: string): any => {
    assert.ok(answer.status < 300, `${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const self: WebhookFixture = {
    app,
    receiver,
    keys,
    adminKeys,
    ids,
    secret: '',
    call: (who, method, path, body) => send(keys[who], method, `/api/v1${path}`, body),
    admin: (who, method, path, body) => send(adminKeys[who], method, `/api/admin/v1${path}`, body),
    ok: async (who, method, path, body) => data(await self.call(who, method, path, body), `${method} ${path}`),
    okAdmin: async (who, method, path, body) => data(await self.admin(who, method, path, body), `${method} ${path}`),
    subscribe: async (input = {}) => {
      const { as = 'boss', ...rest } = input;
      const code = input.code ?? `hook-${++count}`;
      const { id } = await self.ok('boss', 'POST', '/webhooks', {
        endpoint: receiver.url,
        secretRef: 'main',
        eventTypes: ['ObjectCreated'],
        executionPrincipalId: ids[as],
        ...rest,
        code,
      });
      return { id, code };
    },
    make: async (values = {}, type = 'thing') => {
      const body = { typeDefinitionId: type, values: { title: 'A thing', ...values } };
      const { id, revision } = await self.ok('boss', 'POST', '/objects', body);
      return { id, revision };
    },
    deliveries: (subscriptionId) => self.ok('boss', 'GET', `/webhook-deliveries?subscriptionId=${subscriptionId}`),
    settled: async (subscriptionId, least = 1) => {
      const until = performance.now() + 60_000;
      for (;;) {
        const rows = await self.deliveries(subscriptionId);
        if (rows.length >= least && rows.every(({ status }) => status !== 'PENDING')) return rows;
        assert.ok(performance.now() < until, `not settled: ${JSON.stringify(rows).slice(0, 2000)}`);
        await sleep(10);
      }
    },
    rows: (statement, values) => stored(app, statement, values),
    close: async () => {
      await app.close();
      await receiver.close();
      assert.deepEqual(undocumented.slice(0, 3), [], 'what answers said that the documents do not describe');
    },
  };
  self.secret = (await self.okAdmin('boss', 'POST', '/signing-secrets', { code: 'main' })).secret;
  if (options.idle !== true) app.app.startWorker();
  return self;
}
