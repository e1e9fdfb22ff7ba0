/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { type Call, MINIMAL, missing, type OperationCase } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  of: (make) => {
    const lacks = missing('integration.manage');
    const partial = async (): Promise<string> => {
      const users = (await make.send('GET', '/identity/users')) as { id: string; login: string }[];
      return users.find(({ login }) => login === 'partial')?.id ?? '';
    };
    const fresh = async (enabled: boolean): Promise<object> => ({
      code: `i-${randomUUID()}`,
      type: 'inbound-webhook',
      executionPrincipalId: await partial(),
      enabled,
      config: { command: 'object.create', typeDefinitionId: 'thing', mapping: [{ source: 'name', target: 'title' }] },
    });
    const made = async (enabled = false): Promise<string> =>
      (await make.send('POST', '/integrations', await fresh(enabled))).id;
    const on = (body?: unknown): OperationCase => ({
      call: async () => ({ params: { id: await made() }, body }),
      lacks,
      hidden: make.hidesNothing('id', body),
    });
    const changing = async (objectId: string): Promise<Call> => {
      const config = {
        command: 'object.update',
        mapping: ['objectId', 'expectedRevision', 'title'].map((name) => ({ source: name, target: name })),
      };
      const { id } = await make.send('POST', '/integrations', { ...(await fresh(true)), config });
      return { params: { integrationId: id }, body: { objectId, expectedRevision: 1, title: 'x' } };
    };
    return {
      'integrations.list': { call: async () => ({}), lacks },
      'integrations.create': { call: async () => ({ body: await fresh(false) }), lacks, large: MINIMAL },
      'integrations.change': {
        ...on({
          config: { command: 'object.create', typeDefinitionId: 'thing', mapping: [{ source: 'x', target: 'title' }] },
        }),
        large: MINIMAL,
      },
      'integrations.enable': on(),
      'integrations.disable': on(),
      'integrations.archive': on(),
      'integrations.restore': on(),
      'integrations.runs': on(),
      'integrations.try': { ...on({ body: { name: 'x' } }), large: MINIMAL },
      'inbound.run': {
        call: async () => ({ params: { integrationId: await made(true) }, body: { name: 'x' } }),
        lacks: { login: 'reader', status: 403, code: 'RIGHT_MISSING', details: { right: 'create' } },
        hidden: {
          seen: async () => await changing(await make.record(false)),
          absent: async () => await changing(randomUUID()),
        },
        large: MINIMAL,
      },
    };
  },
};
