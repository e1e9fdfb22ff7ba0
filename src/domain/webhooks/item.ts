/**
 * A subscription as a configuration item. Bundles and API calls use the same functions to validate, compile and write it
 * (docs/spec/configuration.md).
 */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { Code, ConditionSchema, Login, oneOf } from '../../configuration/schemas.ts';
import type { Change, CompileView, Report } from '../../configuration/section.ts';
import { planItem } from '../../configuration/store.ts';
import { compileSharedCondition, compileTypedCondition, type TypeShape } from '../../configuration/record-types.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import type { CompiledWebhook, WebhookDefinition } from './definitions.ts';
import { WEBHOOK_EVENTS } from '../../contract/events.ts';
import { endpointProblem } from './rules.ts';
import { closePeriod, openPeriod } from './store.ts';

export const WebhookItem = closed({
  code: Code,
  endpoint: Type.String({ minLength: 1, maxLength: 2048 }),
  secretRef: Code,
  executionPrincipal: Login,
  eventTypes: Type.Array(oneOf(WEBHOOK_EVENTS), { minItems: 1, uniqueItems: true }),
  filters: Type.Optional(
    closed({
      types: Type.Optional(Type.Array(Code, { maxItems: 1000, uniqueItems: true })),
      condition: Type.Optional(ConditionSchema),
    }),
  ),
  retryPolicy: Type.Optional(
    closed({
      maxAttempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
      baseDelayMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
    }),
  ),
  enabled: Type.Optional(Type.Boolean()),
});

export type Item = Static<typeof WebhookItem>;

/** The item with every default filled in. */
export function normalise(item: Item): WebhookDefinition {
  const { types = [], condition } = item.filters ?? {};
  return {
    code: item.code,
    endpoint: item.endpoint,
    secretRef: item.secretRef,
    executionPrincipal: item.executionPrincipal,
    eventTypes: item.eventTypes,
    filters: { types, ...(condition === undefined ? {} : { condition: condition as never }) },
    retryPolicy: {
      maxAttempts: item.retryPolicy?.maxAttempts ?? 3,
      baseDelayMs: item.retryPolicy?.baseDelayMs ?? 1000,
    },
    enabled: item.enabled ?? true,
  };
}

/** @param refused URLs to which calls would be refused by their addresses, with the reasons */
export function checkAddress(endpoint: string, refused: ReadonlyMap<string, string>, report: Report): void {
  const reason = refused.get(endpoint);
  if (reason !== undefined) report(['endpoint'], 'ADDRESS_REFUSED', reason);
}

function checkEndpoint(endpoint: string, report: Report): void {
  const problem = endpointProblem(endpoint);
  if (problem !== undefined) report(['endpoint'], 'WRONG_FORMAT', problem);
}

/** Validates the definition and replaces logins and codes by ids. */
export function compile(webhook: WebhookDefinition, view: CompileView, report: Report): CompiledWebhook {
  checkEndpoint(webhook.endpoint, report);
  const { types, condition } = webhook.filters;
  const principal = webhook.executionPrincipal;
  const executionPrincipalId = view.has('users', principal) ? view.id('users', principal) : null;
  if (condition === undefined) return { ...webhook, executionPrincipalId };
  const shapes =
    types.length === 0
      ? [...view.active<TypeShape>('types').values()]
      : types.flatMap((code) => view.get<TypeShape>('types', code) ?? []);
  const compileOn = types.length === 1 ? compileTypedCondition : compileSharedCondition;
  const compiled = compileOn(condition, ['filters', 'condition'], shapes, { view, report });
  return {
    ...webhook,
    filters: { types, ...(compiled === undefined ? {} : { condition: compiled }) },
    executionPrincipalId,
  };
}

/**
 * Writes the item and the period in which it takes events. A change of an enabled subscription ends the current period and
 * starts the next at the same position in the journal: it is disabled, changed and enabled in one transaction.
 */
export function write(ctx: WriteContext, change: Change): void {
  planItem(ctx, change);
  const { enabled, eventTypes, filters, retryPolicy } = change.definition as WebhookDefinition;
  if (change.stored !== undefined) ctx.plan(closePeriod, { subscription_id: change.id, at: ctx.now });
  if (change.state === 'ACTIVE' && enabled) {
    ctx.plan(openPeriod, {
      id: ctx.newId(),
      subscription_id: change.id,
      at: ctx.now,
      event_types: eventTypes,
      types: filters.types,
      max_attempts: retryPolicy.maxAttempts,
      base_delay_ms: retryPolicy.baseDelayMs,
    });
  }
}
