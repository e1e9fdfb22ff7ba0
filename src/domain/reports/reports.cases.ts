/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { ALLOWED, HIDDEN_FIELD, MINIMAL, missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';
import { idOf } from '../../../test/support/small-configuration.ts';

function report(): Record<string, unknown> {
  return { types: ['thing'], measures: ['count', 'timeToDone.p50', 'slaMet'], groupBy: ['createdAt.day'] };
}

function withId(id: string): unknown {
  return { field: 'id', operator: 'equals', value: id };
}

/** A dashboard with as many tiles as it may have, each with many conditions and values. */
function wideDashboard(): object {
  const values = Array.from({ length: 200 }, (_, index) => `number ${index}`);
  const conditions = Array.from({ length: 20 }, () => ({ field: 'number', operator: 'in', value: values }));
  const query = { types: ['thing'], measures: ['count'], filter: { logic: 'OR', conditions } };
  return {
    name: 'Wide',
    tiles: Array.from({ length: 24 }, () => ({ kind: 'number', title: 'Wide', width: 1, query })),
  };
}

export const cases: ModuleCases = {
  of: (make) => {
    const unshared = missing('config.manage', 'reader');
    /** A dashboard shared with the roles of `partial` and `reader`; one that they may not see names a field that is hidden from them. */
    const dashboard = async (shown: boolean): Promise<string> => {
      const query = { types: ['thing'], measures: ['count'], groupBy: [shown ? 'shown' : HIDDEN_FIELD] };
      const tile = { kind: 'table', title: 'Things', width: 1, query };
      const roles = [await role(), await idOf(make.app, 'config_items', 'reader')];
      const body = { name: 'A dashboard', tiles: [tile], sharedWith: { roles, groups: [] } };
      return (await make.admin('POST', '/dashboards', body)).id;
    };
    const role = (): Promise<string> => idOf(make.app, 'config_items', 'partial');
    return {
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
        large: MINIMAL,
      },
      'reports.calendars': { call: () => ({}), lacks: ALLOWED },
      'dashboards.list': {
        call: () => ({}),
        lacks: ALLOWED,
        large: () => [{ name: 'dashboards with wide filters', status: 200 }],
      },
      'dashboards.create': {
        call: async () => ({
          body: { name: 'Mine', tiles: [], sharedWith: { roles: [await role()], groups: [] } },
        }),
        lacks: unshared,
        large: () => [{ name: 'tiles with wide filters', body: wideDashboard(), status: 201 }],
      },
      'dashboards.change': {
        ...make.on('dashboardId', dashboard, () => ({ expectedRevision: 1, name: 'Other' })),
        lacks: unshared,
        large: MINIMAL,
      },
      'dashboards.delete': { ...make.on('dashboardId', dashboard, make.expected), lacks: unshared },
    };
  },
};
