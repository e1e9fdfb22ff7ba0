/** Calls of the operations for the tests over all modules (docs/how-to/write-a-module.md#the-cases). */
import { randomUUID } from 'node:crypto';
import { MINIMAL, missing, type Seeded } from '../../../test/support/operation-calls-case.ts';
import type { ModuleCases } from '../../../test/support/operation-calls-fixture.ts';

async function largeDefinition(seen: Seeded, format: 'CSV' | 'JSON'): Promise<string> {
  const { id } = await seen.send('POST', '/import-definitions', {
    code: `large-${randomUUID()}`,
    targetKind: 'object',
    targetTypeId: 'thing',
    format,
    mode: 'UPSERT',
    sourceCode: 'there',
    resolver: { externalIdField: 'ext' },
    mapping: [{ source: 'title', target: 'title' }],
  });
  return id;
}

export const cases: ModuleCases = {
  of: (make) => {
    let made = 0;
    const definition = (target = 'title'): object => {
      made++;
      return {
        code: `import-${made}`,
        targetKind: 'object',
        targetTypeId: 'thing',
        format: 'CSV',
        mode: 'UPSERT',
        sourceCode: 'there',
        resolver: { externalIdField: 'ext' },
        mapping: [{ source: 'title', target }],
      };
    };
    const content = async (): Promise<{ definitionId: string; content: string }> => {
      const { id } = await make.send('POST', '/import-definitions', definition());
      return { definitionId: id, content: 'ext,title\n1,A\n' };
    };
    const run = async (): Promise<string> =>
      (await make.send('POST', '/imports/run', { ...(await content()), dryRun: false })).id;
    return {
      'imports.define': {
        call: () => ({ body: definition() }),
        lacks: missing('import.manage'),
        names: async (code) => ({ body: definition(code) }),
        refusal: 'INVALID_REQUEST',
        large: MINIMAL,
      },
      'imports.definitions': { call: () => ({}), lacks: missing('import.manage') },
      'imports.run': {
        call: async () => ({ body: { ...(await content()), dryRun: false } }),
        lacks: missing('import.execute'),
        large: async (seen) => [
          {
            name: 'CSV of many rows',
            body: {
              definitionId: await largeDefinition(seen, 'CSV'),
              content: `ext,title\n${Array.from({ length: 1000 }, (_, index) => `${index},Row ${index}\n`).join('')}`,
              dryRun: false,
            },
            status: 201,
          },
          {
            name: 'JSON of broken rows',
            body: {
              definitionId: await largeDefinition(seen, 'JSON'),
              content: `[${'{"a":'.repeat(1_000_000)}`,
              dryRun: false,
            },
            status: 400,
            code: 'INVALID_REQUEST',
          },
          {
            name: 'CSV with an open quote',
            body: {
              definitionId: await largeDefinition(seen, 'CSV'),
              content: `ext,title\n"${'x'.repeat(9_000_000)}`,
              dryRun: false,
            },
            status: 400,
            code: 'INVALID_REQUEST',
          },
        ],
      },
      'imports.get': {
        call: async () => ({ params: { runId: await run() } }),
        hidden: make.hidesNothing('runId'),
        lacks: missing('import.manage'),
      },
      'imports.list': { call: () => ({}), lacks: missing('import.manage') },
      'imports.preview': {
        call: async () => ({ body: await content() }),
        lacks: missing('import.execute'),
        large: async (seen) => [
          {
            name: 'CSV of many rows',
            body: {
              definitionId: await largeDefinition(seen, 'CSV'),
              content: `ext,title\n${Array.from({ length: 60_000 }, (_, index) => `${index},Row ${index}\n`).join('')}`,
              limit: 100,
            },
            status: 200,
          },
        ],
      },
      'imports.undo': {
        call: async () => ({ params: { runId: await run() } }),
        hidden: make.hidesNothing('runId'),
        lacks: missing('import.manage'),
      },
    };
  },
};
