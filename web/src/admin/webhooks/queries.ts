/** Queries of the webhook screens. */
import { queryOptions } from '@tanstack/react-query';
import { type AnswerOf, type BodyOf, call } from '../../api/client.ts';
import type { webhooks } from '../../api/types.ts';

export type Subscription = AnswerOf<typeof webhooks.listSubscriptions>[number];
export type Delivery = AnswerOf<typeof webhooks.listDeliveries>[number];
export type Secret = AnswerOf<typeof webhooks.listSecrets>[number];
export type NewSubscription = BodyOf<typeof webhooks.createSubscription>;

export const subscriptionsKey = ['webhooks', 'subscriptions'] as const;
export const deliveriesKey = ['webhooks', 'deliveries'] as const;
export const secretsKey = ['webhooks', 'secrets'] as const;

export const subscriptionsQuery = queryOptions({
  queryKey: subscriptionsKey,
  queryFn: ({ signal }) => call<typeof webhooks.listSubscriptions>('GET', '/webhooks', { signal }),
});

export const deliveriesQuery = (subscriptionId: string | undefined) =>
  queryOptions({
    queryKey: [...deliveriesKey, subscriptionId ?? 'all'],
    queryFn: ({ signal }) =>
      call<typeof webhooks.listDeliveries>('GET', '/webhook-deliveries', { query: { subscriptionId }, signal }),
    refetchInterval: 5000,
  });

export const secretsQuery = queryOptions({
  queryKey: secretsKey,
  queryFn: ({ signal }) => call<typeof webhooks.listSecrets>('GET', '/signing-secrets', { signal }),
});
