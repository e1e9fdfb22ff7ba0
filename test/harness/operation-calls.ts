/** A minimal valid call of every operation, who lacks the right to it, and what it must hide, for `access.db.test.ts`. */
import { randomUUID } from 'node:crypto';
import { MODULES } from '../../src/modules.ts';
import { operationsOf } from '../../src/platform/module.ts';
import type { TestApp } from './app.ts';
import { catalogCases, catalogConfiguration } from './operation-calls-catalog.ts';
import { deskCases } from './operation-calls-desk.ts';
import { identityCases } from './operation-calls-identity.ts';
import { inboundCases } from './operation-calls-inbound.ts';
import { importExportCases } from './operation-calls-imports.ts';
import { OperationFixture } from './operation-calls-fixture.ts';
import { KNOWLEDGE, knowledgeCases } from './operation-calls-knowledge.ts';
import { type Call, HIDDEN_FIELD, HIDDEN_VALUE, type Login, type OperationCase } from './operation-calls-case.ts';
import { ACTIONS, idOf, RIGHTS, user } from './small-configuration.ts';

export type { Call, Login, OperationCase } from './operation-calls-case.ts';

export { HIDDEN_VALUE, HIDDEN_FIELD };

/** Whether the operation reads one record that its path names, and needs no other input: `GET /objects/{objectId}/…`. */
export function isRecordRead({ method, path }: { method: string; path: string }): boolean {
  return method === 'GET' && /^\/objects\/\{objectId\}(?:\/[^{}]+)?$/.test(path);
}

export const PASSWORD = 'correct horse battery staple';

export const WORLD = `
types:
  - code: thing
    name: Thing
    category: object
    title: title
    workflow: flow
    fields:
      - { code: title, dataType: string, required: true }
      - { code: shown, dataType: boolean, default: true }
      - { code: picture, dataType: rich-text }
      - { code: ${HIDDEN_FIELD}, dataType: string }
workflows:
  - code: flow
    initial: begun
    states: [{ code: begun, category: open }, { code: ended, category: done }]
    transitions: [{ code: end, from: [begun], to: ended }]
macros: [{ code: prepared, types: [thing], comment: { visibility: public, body: 'On {{ title }}' }, set: { title: Done } }]
rules: [{ code: auto, on: [AttachmentArchived], types: [thing], runAs: full, do: [{ set: { title: Automatic } }] }]
mailboxes: [{ code: box, address: box@example.org, type: thing, enabled: true }]
calendars: [{ code: mondays, timezone: UTC, week: { mon: ['09:00-17:00'] } }]
slaPolicies:
  - code: soon
    type: thing
    calendar: mondays
    targets: [{ duration: PT1H }]
    start: { field: workflowState, operator: equals, value: begun }
    stop: { field: workflowState, operator: equals, value: ended }
relationDefinitions:
  - { code: duplicate-of, sourceTypes: [thing], targetTypes: [thing], cardinality: many-to-one, acyclic: true }
  - { code: near, name: Near, inverseName: Near, sourceTypes: [thing], targetTypes: [thing], cardinality: many-to-many, acyclic: false, active: true }
${catalogConfiguration(HIDDEN_FIELD, HIDDEN_VALUE)}${KNOWLEDGE}
roles:
  - code: everything
    rights: [${RIGHTS}]
    records: [{ type: '*', actions: [${ACTIONS}], fields: { read: '*', write: '*' }, transitions: '*' }]
    assignedTo: { users: [full, archived] }
  - code: partial
    rights: [${RIGHTS.replace('role.assign, ', '')}]
    records:
      - type: thing
        where: { field: shown, operator: equals, value: true }
        actions: [${ACTIONS}]
        fields: { read: [title, shown, picture], write: [title, shown] }
        transitions: '*'
    assignedTo: { users: [partial] }
  - code: reader
    records: [{ type: thing, actions: [read], fields: { read: '*', write: [] } }]
    assignedTo: { users: [reader] }
users:
${['full', 'partial', 'reader', 'nobody', 'archived'].map(user).join('')}`;

/** Signs in and returns the id of the session. */
async function sessionOf(app: TestApp, login: Login): Promise<string> {
  const signedIn = await app.request('POST', '/api/admin/v1/session', { body: { login, password: PASSWORD } });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const { body } = await app.request('GET', '/api/admin/v1/me/sessions', { headers: { cookie } });
  return body.data[0].id;
}

const missing = (right: string, login: Login = 'nobody'): OperationCase['lacks'] => {
  return { login, status: 403, code: 'RIGHT_MISSING', details: { right } };
};
const NOT_THERE: OperationCase['lacks'] = { login: 'nobody', status: 404, code: 'NOT_FOUND', details: [] };
const ALLOWED: OperationCase['lacks'] = { login: 'nobody', status: 200 };
const FILES = { files: [{ name: 'a.yaml', text: 'settings: { defaultLocale: ru-RU }\n' }] };

/** Every operation by its id. */
export function operationCases(
  app: TestApp,
  keyOfFull: string,
  adminKeyOfFull: string,
): Readonly<Record<string, OperationCase>> {
  const make = new OperationFixture(app, keyOfFull, adminKeyOfFull);
  /** A call on one thing, named by a parameter of the path: visible, hidden or absent. */
  const on = (
    name: string,
    one: (shown: boolean) => Promise<string>,
    body: () => unknown = () => undefined,
  ): Pick<OperationCase, 'call'> & Required<Pick<OperationCase, 'hidden'>> => {
    const call = async (id: string): Promise<Call> => ({ params: { [name]: id }, body: await body() });
    return {
      call: async () => await call(await one(true)),
      hidden: { seen: async () => await call(await one(false)), absent: async () => await call(randomUUID()) },
    };
  };
  const record = (body?: () => unknown) => on('objectId', (shown) => make.record(shown), body);
  const expected = (): unknown => ({ expectedRevision: 1 });
  /** A key of `partial` itself is theirs to manage, one of another owner is not there for them. */
  const key = (own: boolean): Promise<string> =>
    app.createKey({ login: own ? 'partial' : 'full' }).then(({ id }) => id);
  /** Nothing about integrations is hidden from users who manage them: an id of another kind serves as the absent one. */
  const hook = (one: () => Promise<string>, body: () => unknown = () => undefined) => ({
    ...on('id', (shown) => (shown ? one() : make.record(false)), body),
    lacks: missing('webhook.manage'),
  });
  const update = (objectId: string, changes: unknown = { title: 'Other' }): Call => ({
    body: { operation: 'update', items: [{ objectId, expectedRevision: 1, changes }] },
  });
  /** Reads of one record need no row: the declared right says who lacks access. */
  const recordReads = operationsOf(MODULES).filter(isRecordRead);
  const derived = recordReads.map(({ id, right }): [string, OperationCase] => [
    id,
    { ...record(), lacks: right === undefined || right === 'read' ? NOT_THERE : missing(right, 'reader') },
  ]);
  return {
    ...Object.fromEntries(derived),
    'metadata.types': { call: () => ({}), lacks: ALLOWED },
    'metadata.fields': { call: () => ({ params: { typeId: 'thing' } }), lacks: NOT_THERE },
    'search.search': { call: () => ({ query: '?q=thing&pageSize=100' }), lacks: ALLOWED },
    'feed.read': { call: () => ({ query: '?limit=1000&include=object' }), lacks: ALLOWED },
    'objects.list': { call: () => ({ query: '?pageSize=100' }), lacks: ALLOWED },
    'objects.create': {
      call: () => ({ body: { typeDefinitionId: 'thing', values: { title: 'New' } } }),
      lacks: missing('create', 'reader'),
      names: async (code) => ({ body: { typeDefinitionId: 'thing', values: { title: 'New', [code]: 'x' } } }),
    },
    'objects.update': {
      ...record(() => ({ expectedRevision: 1, changes: { title: 'Other' } })),
      lacks: missing('update', 'reader'),
      names: async (code) => ({
        params: { objectId: await make.record(true) },
        body: { expectedRevision: 1, changes: { [code]: 'x' } },
      }),
    },
    'objects.archive': { ...record(expected), lacks: missing('archive', 'reader') },
    'objects.image': {
      call: async () => ({ params: await make.image(true) }),
      lacks: NOT_THERE,
      hidden: {
        seen: async () => ({ params: await make.image(false) }),
        absent: async () => ({ params: { ...(await make.image(true)), objectId: randomUUID() } }),
      },
    },
    'objects.diff': {
      call: async () => ({ params: { objectId: await make.record(true) }, query: '?from=1&to=1' }),
      lacks: missing('history', 'reader'),
      hidden: {
        seen: async () => ({ params: { objectId: await make.record(false) }, query: '?from=1&to=1' }),
        absent: () => ({ params: { objectId: randomUUID() }, query: '?from=1&to=1' }),
      },
    },
    'objects.restore': { ...on('objectId', (shown) => make.archived(shown)), lacks: missing('archive', 'reader') },
    'comments.add': {
      ...record(() => ({ body: 'A', visibility: 'public' })),
      lacks: missing('comment.create', 'reader'),
    },
    'comments.edit': {
      ...on(
        'commentId',
        (shown) => make.comment(shown),
        () => ({ expectedRevision: 1, body: 'B' }),
      ),
      lacks: missing('comment.edit', 'reader'),
    },
    'comments.archive': {
      ...on('commentId', (shown) => make.comment(shown), expected),
      lacks: missing('comment.edit', 'reader'),
    },
    'attachments.add': {
      ...record(() => ({ filename: 'a.txt', contentBase64: 'eA==' })),
      lacks: missing('attachment.add', 'reader'),
    },
    'attachments.content': { ...on('attachmentId', (shown) => make.file(shown)), lacks: NOT_THERE },
    'attachments.archive': {
      ...on('attachmentId', (shown) => make.file(shown), expected),
      lacks: missing('attachment.delete', 'reader'),
    },
    'relations.definitions': {
      call: () => ({}),
      lacks: ALLOWED,
      hidden: {
        seen: async () => ({ query: `?sourceObjectId=${await make.record(false)}` }),
        absent: () => ({ query: `?sourceObjectId=${randomUUID()}` }),
      },
    },
    'relations.add': { ...record(() => make.near()), lacks: missing('relation.create', 'reader') },
    'relations.archive': {
      ...on('relationId', (shown) => make.relation(shown), expected),
      lacks: missing('relation.delete', 'reader'),
    },
    'workflow.transition': { ...record(() => make.transition()), lacks: missing('transition', 'reader') },
    'bulk.run': {
      call: async () => update(await make.record(true)),
      lacks: { login: 'reader', status: 200 },
      hidden: {
        seen: async () => update(await make.record(false)),
        absent: () => update(randomUUID()),
        status: 200,
      },
    },
    ...inboundCases(make),
    ...identityCases(app, (method, path, body) => make.send(method, path, body)),
    ...catalogCases(app),
    ...deskCases(make, { macro: () => idOf(app, 'config_items', 'prepared') }),
    ...knowledgeCases(app, (method, path, body) => make.send(method, path, body)),
    'webhooks.list': { call: () => ({}), lacks: missing('webhook.manage') },
    'webhooks.create': {
      call: async () => ({ body: await make.subscription(true) }),
      lacks: missing('webhook.manage'),
    },
    'webhooks.change': hook(
      () => make.subscribed(false),
      () => ({ endpoint: 'https://1.1.1.1/other' }),
    ),
    'webhooks.enable': hook(() => make.subscribed(false)),
    'webhooks.disable': hook(() => make.subscribed(true)),
    'webhooks.archive': hook(() => make.subscribed(true)),
    'webhooks.restore': hook(() => make.subscribed(false, true)),
    'webhooks.deliveries': { call: () => ({}), lacks: missing('webhook.manage') },
    'webhooks.delivery': hook(() => make.failed()),
    'webhooks.retry': hook(() => make.failed()),
    'webhooks.test': hook(
      () => make.subscribed(false, false, 'https://receiver.invalid/hook'),
      () => ({}),
    ),
    'secrets.list': { call: () => ({}), lacks: missing('webhook.manage') },
    'secrets.create': { call: () => ({ body: { code: `s-${randomUUID()}` } }), lacks: missing('webhook.manage') },
    'secrets.rotate': {
      call: async () => ({ params: { code: await make.secret() }, body: { overlap: 'PT1H' } }),
      lacks: missing('webhook.manage'),
    },
    'sla.history': { ...on('instanceId', (shown) => make.instance(shown)), lacks: NOT_THERE },
    'sla.command': {
      call: async () => ({ params: { instanceId: await make.instance(true), command: 'pause' }, body: {} }),
      lacks: missing('sla.control', 'reader'),
      hidden: {
        seen: async () => ({ params: { instanceId: await make.instance(false), command: 'pause' } }),
        absent: () => ({ params: { instanceId: randomUUID(), command: 'pause' } }),
      },
    },
    'sla.explanation': { ...on('instanceId', (shown) => make.instance(shown)), lacks: NOT_THERE },
    'sla.try': {
      call: () => ({ body: { openedAt: '2026-11-23T09:00:00.000Z', policy: 'soon' } }),
      lacks: missing('config.manage'),
    },
    'sla.preview': {
      call: () => ({ body: { calendar: 'mondays', from: '2026-11-23', days: 7 } }),
      lacks: missing('config.manage'),
    },
    ...importExportCases((method, path, body) => make.send(method, path, body)),
    'keys.list': { call: () => ({}), lacks: missing('key.manage') },
    'keys.create': {
      call: () => ({ body: { owner: 'partial', name: 'n', scopes: ['objects:read'] } }),
      lacks: missing('key.manage'),
    },
    'keys.revoke': { ...on('id', key), lacks: missing('key.manage') },
    'keys.rotate': { ...on('id', key, () => ({})), lacks: missing('key.manage') },
    'session.create': {
      call: () => ({ body: { login: 'partial', password: PASSWORD } }),
      lacks: { login: 'nobody', status: 201 },
      open: true,
    },
    'session.ways': { call: () => ({}), lacks: ALLOWED, open: true },
    'config.schema': { call: () => ({}), lacks: ALLOWED, open: true },
    'session.get': { call: () => ({}), lacks: ALLOWED },
    'session.delete': { call: () => ({}), lacks: ALLOWED },
    'me.get': { call: () => ({}), lacks: ALLOWED },
    'me.change': { call: () => ({ body: { timezone: 'Europe/Moscow' } }), lacks: ALLOWED },
    'me.changePassword': {
      call: () => ({ body: { oldPassword: PASSWORD, newPassword: PASSWORD } }),
      lacks: ALLOWED,
    },
    'me.sessions': { call: () => ({}), lacks: ALLOWED },
    // Ending a session of another user does nothing, like ending one that never existed.
    'me.endSession': {
      call: () => ({ params: { id: randomUUID() } }),
      lacks: ALLOWED,
      hidden: {
        seen: async () => ({ params: { id: await sessionOf(app, 'full') } }),
        absent: () => ({ params: { id: randomUUID() } }),
        status: 200,
      },
    },
    'me.endOtherSessions': { call: () => ({}), lacks: ALLOWED },
    'audit.list': { call: () => ({}), lacks: missing('audit.read') },
    'access.explanation': {
      call: async () => ({ query: `?userId=${await idOf(app, 'users', 'full')}&objectId=${await make.record(true)}` }),
      lacks: missing('role.assign'),
      assigns: true,
    },
    'access.explainRequest': {
      call: async () => {
        const path = `/api/v1/objects/${await make.record(true)}`;
        return { body: { user: 'partial', method: 'GET', path } };
      },
      lacks: missing('role.assign'),
      assigns: true,
    },
    'rules.graph': { call: () => ({}), lacks: missing('config.manage') },
    'rules.preview': {
      call: () => ({
        body: {
          rule: {
            code: 'tried',
            on: ['ObjectCreated'],
            types: ['thing'],
            runAs: 'full',
            do: [{ set: { title: 'Tried' } }],
          },
        },
      }),
      lacks: missing('config.manage'),
      assigns: true,
    },
    'rules.runs': { call: () => ({ params: { code: 'auto' } }), lacks: missing('config.manage') },
    'rules.try': {
      call: async () => ({ params: { code: 'auto' }, body: { objectId: await make.record(true) } }),
      lacks: missing('config.manage'),
      hidden: {
        seen: async () => ({ params: { code: 'auto' }, body: { objectId: await make.record(false) } }),
        absent: () => ({ params: { code: 'auto' }, body: { objectId: randomUUID() } }),
      },
    },
    'config.list': { call: () => ({ params: { section: 'types' } }), lacks: missing('config.manage') },
    'config.item': {
      call: () => ({ params: { section: 'types', code: 'thing' } }),
      lacks: missing('config.manage'),
    },
    'config.plan': { call: () => ({ body: FILES }), lacks: missing('config.manage') },
    'config.apply': { call: () => ({ body: FILES }), lacks: missing('config.manage') },
    'config.export': { call: () => ({}), lacks: missing('config.manage') },
    'config.versions': { call: () => ({}), lacks: missing('config.manage') },
    'config.version': { call: () => ({ params: { version: '1' } }), lacks: missing('config.manage') },
    'config.diff': { call: () => ({ query: '?from=1&to=2' }), lacks: missing('config.manage') },
  };
}
