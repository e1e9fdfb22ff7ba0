/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { MINIMAL, missing, NOT_THERE } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  world: `
calendars: [{ code: mondays, timezone: UTC, week: { mon: ['09:00-17:00'] } }]
slaPolicies:
  - code: soon
    type: thing
    calendar: mondays
    targets: [{ duration: PT1H }]
    start: { field: workflowState, operator: equals, value: begun }
    stop: { field: workflowState, operator: equals, value: ended }
`,
  of: (make) => {
    const instance = async (shown: boolean): Promise<string> => {
      const [one] = await make.send('GET', `/objects/${await make.record(shown)}/sla`);
      return one.id;
    };
    return {
      'sla.history': { ...make.on('instanceId', (shown) => instance(shown)), lacks: NOT_THERE },
      'sla.command': {
        call: async () => ({ params: { instanceId: await instance(true), command: 'pause' }, body: {} }),
        lacks: missing('sla.control', 'reader'),
        hidden: {
          seen: async () => ({ params: { instanceId: await instance(false), command: 'pause' } }),
          absent: () => ({ params: { instanceId: randomUUID(), command: 'pause' } }),
        },
      },
      'sla.explanation': { ...make.on('instanceId', (shown) => instance(shown)), lacks: NOT_THERE },
      'sla.try': {
        call: () => ({ body: { openedAt: '2026-11-23T09:00:00.000Z', policy: 'soon' } }),
        lacks: missing('config.manage'),
        large: MINIMAL,
      },
      'sla.preview': {
        call: () => ({ body: { calendar: 'mondays', from: '2026-11-23', days: 7 } }),
        lacks: missing('config.manage'),
        large: MINIMAL,
      },
    };
  },
};
