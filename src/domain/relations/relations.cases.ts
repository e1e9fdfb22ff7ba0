/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { ALLOWED, missing } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

export const cases: ModuleCases = {
  world: `
relationDefinitions:
  - { code: duplicate-of, sourceTypes: [thing], targetTypes: [thing], cardinality: many-to-one, acyclic: true }
  - { code: near, name: Near, inverseName: Near, sourceTypes: [thing], targetTypes: [thing], cardinality: many-to-many, acyclic: false, active: true }
`,
  of: (make) => {
    const near = async (): Promise<{ definitionId: string; targetObjectId: string }> => {
      const [definition] = await make.send('GET', '/relation-definitions');
      return { definitionId: definition.id, targetObjectId: await make.record(true) };
    };
    const relation = async (shown: boolean): Promise<string> =>
      (await make.send('POST', `/objects/${await make.record(shown)}/relations`, await near())).relation.id;
    return {
      'relations.definitions': {
        call: () => ({}),
        lacks: ALLOWED,
        hidden: {
          seen: async () => ({ query: `?sourceObjectId=${await make.record(false)}` }),
          absent: () => ({ query: `?sourceObjectId=${randomUUID()}` }),
        },
      },
      'relations.add': { ...make.onRecord(() => near()), lacks: missing('relation.create', 'reader') },
      'relations.archive': {
        ...make.on('relationId', (shown) => relation(shown), make.expected),
        lacks: missing('relation.delete', 'reader'),
      },
    };
  },
};
