/** The rows of `operation-calls.ts` that are about the desk of the console. */
import { randomUUID } from 'node:crypto';
import type { OperationCase } from './operation-calls-case.ts';

export interface DeskMaker {
  /** The id of a new record, that `partial` may see or not. */
  record(shown: boolean): Promise<string>;
  /** The id of a new shared queue, that `partial` may see or not. */
  queue(shown: boolean): Promise<string>;
  /** The id of a new shared dashboard, that `partial` may see or not. */
  dashboard(shown: boolean): Promise<string>;
  /** The id of a role. */
  role(): Promise<string>;
}

export function deskCases(make: DeskMaker, { macro }: { macro: () => Promise<string> }): Record<string, OperationCase> {
  const allowed: OperationCase['lacks'] = { login: 'nobody', status: 200 };
  const unshared = missing('config.manage', 'reader');
  const queue = (body: unknown): Pick<OperationCase, 'call' | 'hidden'> => ({
    call: async () => ({ params: { queueId: await make.queue(true) }, body }),
    hidden: {
      seen: async () => ({ params: { queueId: await make.queue(false) }, body }),
      absent: () => ({ params: { queueId: randomUUID() }, body }),
    },
  });
  const dashboard = (body: unknown): Pick<OperationCase, 'call' | 'hidden'> => ({
    call: async () => ({ params: { dashboardId: await make.dashboard(true) }, body }),
    hidden: {
      seen: async () => ({ params: { dashboardId: await make.dashboard(false) }, body }),
      absent: () => ({ params: { dashboardId: randomUUID() }, body }),
    },
  });
  return {
    'desk.objects': {
      call: () => ({ query: '?sort=-updatedAt&pageSize=100' }),
      lacks: allowed,
      names: async (code) => ({ query: `?typeId=thing&sort=${code}` }),
      refusal: 'INVALID_REQUEST',
    },
    'desk.export': {
      call: () => ({ body: fileOf(['number']) }),
      lacks: missing('export.execute', 'nobody'),
      names: async (code) => ({ body: fileOf([code]) }),
      refusal: 'INVALID_REQUEST',
    },
    'desk.fields': {
      call: () => ({}),
      lacks: allowed,
      names: async (code) => ({
        query: `?filter=${encodeURIComponent(JSON.stringify({ field: code, operator: 'is-empty', value: true }))}`,
      }),
      refusal: 'INVALID_FILTER',
    },
    'desk.types': { call: () => ({}), lacks: allowed },
    'desk.permissions': {
      call: async () => ({ params: { objectId: await make.record(true) } }),
      lacks: { login: 'nobody', status: 404, code: 'NOT_FOUND', details: [] },
      hidden: {
        seen: async () => ({ params: { objectId: await make.record(false) } }),
        absent: () => ({ params: { objectId: randomUUID() } }),
      },
    },
    'desk.applyMacro': {
      call: async () => ({ params: { objectId: await make.record(true) }, body: await useOf(macro) }),
      lacks: missing('update', 'reader'),
      hidden: {
        seen: async () => ({ params: { objectId: await make.record(false) }, body: await useOf(macro) }),
        absent: async () => ({ params: { objectId: randomUUID() }, body: await useOf(macro) }),
      },
    },
    'desk.merge': {
      call: async () => ({ params: { objectId: await make.record(true) }, body: await mergeInto(make.record(true)) }),
      lacks: missing('relation.create', 'reader'),
      hidden: {
        seen: async () => ({
          params: { objectId: await make.record(false) },
          body: await mergeInto(make.record(true)),
        }),
        absent: async () => ({ params: { objectId: randomUUID() }, body: await mergeInto(make.record(true)) }),
      },
    },
    'desk.lookup': { call: () => ({ query: '?kind=user&q=p' }), lacks: missing('user.administer', 'nobody') },
    'desk.suggestions': { call: () => ({ query: '?q=p' }), lacks: allowed },
    'desk.labels': {
      call: async () => ({ query: `?ids=${await make.record(true)}` }),
      lacks: allowed,
      hidden: {
        seen: async () => ({ query: `?ids=${await make.record(false)}` }),
        absent: () => ({ query: `?ids=${randomUUID()}` }),
        status: 200,
      },
    },
    'reports.query': {
      call: () => ({ body: report() }),
      lacks: {
        login: 'nobody',
        status: 400,
        code: 'INVALID_REQUEST',
        details: [{ path: '/types/0', code: 'UNKNOWN_TYPE', message: 'There is no such record type.' }],
      },
      hidden: {
        seen: async () => ({ body: { ...report(), filter: withId(await make.record(false)) } }),
        absent: () => ({ body: { ...report(), filter: withId(randomUUID()) } }),
        status: 200,
      },
    },
    'reports.calendars': { call: () => ({}), lacks: allowed },
    'dashboards.list': { call: () => ({}), lacks: allowed },
    'dashboards.create': {
      call: async () => ({
        body: { name: 'Mine', tiles: [], sharedWith: { roles: [await make.role()], groups: [] } },
      }),
      lacks: unshared,
    },
    'dashboards.change': { ...dashboard({ expectedRevision: 1, name: 'Other' }), lacks: unshared },
    'dashboards.delete': { ...dashboard({ expectedRevision: 1 }), lacks: unshared },
    'health.backlog': { call: () => ({}), lacks: missing('config.manage', 'reader') },
    'notifications.watch.set': watch(make),
    'notifications.watch.end': watch(make),
    'notifications.list': { call: () => ({ query: '?unread=true&pageSize=100' }), lacks: allowed },
    'notifications.count': { call: () => ({}), lacks: allowed },
    'notifications.stream': { call: () => ({}), lacks: allowed },
    'notifications.read': { call: () => ({ body: { all: true } }), lacks: allowed },
    'notifications.explain': {
      call: async () => ({ body: { objectId: await make.record(true) } }),
      lacks: { login: 'nobody', status: 404, code: 'NOT_FOUND', details: [] },
      hidden: {
        seen: async () => ({ body: { objectId: await make.record(false) } }),
        absent: () => ({ body: { objectId: randomUUID() } }),
      },
    },
    'notifications.choices.get': { call: () => ({}), lacks: allowed },
    'notifications.choices.set': {
      call: () => ({ body: { watch: { console: true, mail: 'digest' } } }),
      lacks: allowed,
    },
    'notifications.quietHours.get': { call: () => ({}), lacks: allowed },
    'notifications.quietHours.set': { call: () => ({ body: { from: '22:00', to: '07:00' } }), lacks: allowed },
    'desk.queues.built-in': { call: () => ({}), lacks: allowed },
    'desk.queues.stream': { call: () => ({}), lacks: allowed },
    'desk.queues.list': { call: () => ({}), lacks: allowed },
    'desk.queues.create': {
      call: () => ({ body: { name: 'Mine', shared: true, definition: { type: 'thing' } } }),
      lacks: unshared,
    },
    'desk.queues.change': { ...queue({ expectedRevision: 1, name: 'Other' }), lacks: unshared },
    'desk.queues.delete': { ...queue({ expectedRevision: 1 }), lacks: unshared },
  };
}

function watch(make: DeskMaker): OperationCase {
  return {
    call: async () => ({ params: { objectId: await make.record(true) } }),
    lacks: { login: 'nobody', status: 404, code: 'NOT_FOUND', details: [] },
    hidden: {
      seen: async () => ({ params: { objectId: await make.record(false) } }),
      absent: () => ({ params: { objectId: randomUUID() } }),
    },
  };
}

async function useOf(macro: () => Promise<string>): Promise<unknown> {
  return { macroId: await macro(), expectedRevision: 1 };
}

async function mergeInto(target: Promise<string>): Promise<unknown> {
  return { expectedRevision: 1, targetObjectId: await target, close: false };
}

function report(): Record<string, unknown> {
  return { types: ['thing'], measures: ['count', 'timeToDone.p50', 'slaMet'], groupBy: ['createdAt.day'] };
}

function withId(id: string): unknown {
  return { field: 'id', operator: 'equals', value: id };
}

/** The question how a change of a record by the user with every right is decided. */
export const explained = (record: string, changes: object, expectedRevision = 2) => {
  const body = { expectedRevision, changes };
  const request = { user: 'full', method: 'PATCH', path: `/api/v1/objects/${record}`, body };
  return { name: 'a change', body: request, status: 200 };
};

/** All records of the type `thing` as a file. */
export function fileOf(codes: readonly string[], format = 'CSV'): object {
  const columns = codes.map((code) => ({ code, name: code }));
  const words = { yes: 'yes', no: 'no' };
  return { format, title: 'List', typeId: 'thing', columns, timeZone: 'UTC', words };
}

function missing(right: string, login: OperationCase['lacks']['login']): OperationCase['lacks'] {
  return { login, status: 403, code: 'RIGHT_MISSING', details: { right } };
}
