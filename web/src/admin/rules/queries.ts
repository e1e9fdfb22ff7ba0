/** Queries of the screens of rules. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, call } from '../../api/client.ts';
import type { rulePreview, rules } from '../../api/types.ts';

export type RuleInGraph = AnswerOf<typeof rulePreview.ruleGraph>[number];
export type Preview = AnswerOf<typeof rulePreview.previewRule>;
export type Run = AnswerOf<typeof rules.listRuns>[number];

// The key begins like those of the configuration, so that an apply invalidates it.
export const graphQuery = queryOptions({
  queryKey: ['config', 'rule-graph'],
  queryFn: ({ signal }) => call<typeof rulePreview.ruleGraph>('GET', '/rules/graph', { signal }),
  staleTime: 30_000,
});

export const runsQuery = (code: string, limit: number) =>
  queryOptions({
    queryKey: ['rule-runs', code, limit],
    queryFn: ({ signal }) =>
      call<typeof rules.listRuns>('GET', `/rules/${encodeURIComponent(code)}/runs`, { query: { limit }, signal }),
  });
