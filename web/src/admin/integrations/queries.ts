/** Queries of the integration screens. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, type BodyOf, call } from '../../api/client.ts';
import type { inbound } from '../../api/types.ts';

export type Integration = AnswerOf<typeof inbound.listIntegrations>[number];
export type NewIntegration = BodyOf<typeof inbound.createIntegration>;
export type Call = AnswerOf<typeof inbound.listRuns>[number];
export type Command = 'object.create' | 'object.update' | 'comment.add';

export const integrationsKey = ['integrations', 'list'] as const;

export const integrationsQuery = queryOptions({
  queryKey: integrationsKey,
  queryFn: ({ signal }) => call<typeof inbound.listIntegrations>('GET', '/integrations', { signal }),
});

export const callsQuery = (id: string) =>
  queryOptions({
    queryKey: ['integrations', 'calls', id],
    queryFn: ({ signal }) => call<typeof inbound.listRuns>('GET', `/integrations/${id}/runs`, { signal }),
    refetchInterval: 10_000,
  });
