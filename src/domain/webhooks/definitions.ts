/**
 * Stored subscriptions: the shape of the bundle with every default filled in, and its compiled form with ids (configuration,
 * section 3). Statuses of deliveries.
 */
import type { Condition } from '../../lib/filter.ts';

export interface WebhookDefinition {
  code: string;
  endpoint: string;
  secretRef: string;
  /** Login of the executor; the compiled form has `executionPrincipalId`. */
  executionPrincipal: string;
  eventTypes: string[];
  /** Type codes (none: all types) and a condition on the record. */
  filters: { types: string[]; condition?: Condition };
  retryPolicy: { maxAttempts: number; baseDelayMs: number };
  enabled: boolean;
}

/** The compiled form. Its condition contains ids instead of logins and codes. */
export interface CompiledWebhook extends WebhookDefinition {
  executionPrincipalId: string | null;
}

export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'SKIPPED'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
/** Statuses of a delivery that has no further attempt. */
export const FINISHED = ['DELIVERED', 'FAILED', 'SKIPPED'] as const satisfies readonly DeliveryStatus[];
