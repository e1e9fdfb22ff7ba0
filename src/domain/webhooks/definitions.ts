/** Subscriptions as stored: the bundle's shape with every default filled in, and the same with ids (configuration, section 3). */
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
