/** Queries of the import screens. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, type BodyOf, call } from '../../api/client.ts';
import type { imports } from '../../api/types.ts';
import type { Language } from '../../i18n/language.ts';

export type Definition = AnswerOf<typeof imports.listDefinitions>[number];
export type NewDefinition = BodyOf<typeof imports.createDefinition>;
export type Run = AnswerOf<typeof imports.getRun>;
export type RunSummary = AnswerOf<typeof imports.listRuns>['rows'][number];
export type Preview = AnswerOf<typeof imports.preview>;
export type RowStatus = 'CREATED' | 'UPDATED' | 'SKIPPED' | 'FAILED';
export type TargetKind = 'object' | 'user' | 'group' | 'organization';
export type Mode = 'UPSERT' | 'CREATE_ONLY' | 'UPDATE_ONLY';
export type Format = 'CSV' | 'JSON';

/** The sample of the definition that was created last: its page shows the preview of this file. */
export const lastSample: { definitionId?: string; file?: File } = {};

export const definitionsKey = ['imports', 'definitions'] as const;
export const runsKey = ['imports', 'runs'] as const;

export const definitionsQuery = queryOptions({
  queryKey: definitionsKey,
  queryFn: ({ signal }) => call<typeof imports.listDefinitions>('GET', '/import-definitions', { signal }),
});

/** Reloads while the run continues, or while `watched`. */
export const runQuery = (id: string, watched = false) =>
  queryOptions({
    queryKey: [...runsKey, id],
    queryFn: ({ signal }) => call<typeof imports.getRun>('GET', `/import-runs/${id}`, { signal }),
    refetchInterval: (query) => (watched || query.state.data?.state === 'RUNNING' ? 2000 : false),
  });

/** The name of a configuration item, a text or texts by locale; its code if it has no name. */
export function nameOf({ name, code }: { name: unknown; code: string }, language: Language): string {
  if (typeof name === 'string') return name;
  const texts = (name ?? {}) as Record<string, string>;
  return texts[language] ?? texts['ru-RU'] ?? Object.values(texts)[0] ?? code;
}
