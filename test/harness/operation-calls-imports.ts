/** The calls of imports and exports; see `operation-calls.ts`. */
import { randomUUID } from 'node:crypto';
import type { OperationCase } from './operation-calls-case.ts';

type Send = (method: string, path: string, body?: unknown) => Promise<any>;

const missing = (right: string): OperationCase['lacks'] => {
  return { login: 'nobody', status: 403, code: 'RIGHT_MISSING', details: { right } };
};

/** Users who may read runs can read all of them. */
const NO_RUN: NonNullable<OperationCase['hidden']> = {
  seen: async () => ({ params: { runId: randomUUID() } }),
  absent: () => ({ params: { runId: randomUUID() } }),
};

export function importExportCases(send: Send): Record<string, OperationCase> {
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
    const { id } = await send('POST', '/import-definitions', definition());
    return { definitionId: id, content: 'ext,title\n1,A\n' };
  };
  const run = async (): Promise<string> =>
    (await send('POST', '/imports/run', { ...(await content()), dryRun: false })).id;
  return {
    'imports.define': {
      call: () => ({ body: definition() }),
      lacks: missing('import.manage'),
      names: async (code) => ({ body: definition(code) }),
      refusal: 'INVALID_REQUEST',
    },
    'imports.definitions': { call: () => ({}), lacks: missing('import.manage') },
    'imports.run': {
      call: async () => ({ body: { ...(await content()), dryRun: false } }),
      lacks: missing('import.execute'),
    },
    'imports.get': {
      call: async () => ({ params: { runId: await run() } }),
      hidden: NO_RUN,
      lacks: missing('import.manage'),
    },
    'imports.list': { call: () => ({}), lacks: missing('import.manage') },
    'imports.preview': { call: async () => ({ body: await content() }), lacks: missing('import.execute') },
    'imports.undo': {
      call: async () => ({ params: { runId: await run() } }),
      hidden: NO_RUN,
      lacks: missing('import.manage'),
    },
    'exports.create': {
      call: () => ({ body: { typeDefinitionId: 'thing', format: 'JSON' } }),
      lacks: missing('export.execute'),
      names: async (code) => ({
        body: {
          typeDefinitionId: 'thing',
          format: 'JSON',
          query: { filter: { field: code, operator: 'equals', value: 'x' } },
        },
      }),
      refusal: 'INVALID_FILTER',
    },
  };
}
