/** Subscriptions and deliveries as stored: the bundle's shape with every default filled in, and the same with ids (configuration, section 3). */
import type { Condition } from '../../lib/filter.ts';

export interface WebhookDefinition {
  code: string;
  endpoint: string;
  secretRef: string;
  /** Login; compiled `executionPrincipalId`. */
  executionPrincipal: string;
  eventTypes: string[];
  /** Codes of types (none: all) and a condition on the record. */
  filters: { types: string[]; condition?: Condition };
  retryPolicy: { maxAttempts: number; baseDelayMs: number };
  enabled: boolean;
}

/** Its condition has ids in place of logins and codes. */
export interface CompiledWebhook extends WebhookDefinition {
  executionPrincipalId: string | null;
}

export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'SKIPPED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
/** What a delivery that gets no further attempt may be. */
export const FINISHED = ['DELIVERED', 'FAILED', 'SKIPPED'] as const satisfies readonly DeliveryStatus[];
