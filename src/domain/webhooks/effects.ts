/** The subscriptions that would receive the events of a dry run. */
import type { Effects } from '../../contract/effects.ts';
import { isActive } from '../../contract/state.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { EventOnRecord } from '../objects/index.ts';
import { isMessage } from './payload.ts';
import type { CompiledWebhook } from './rules.ts';

/**
 * Matches by event type and record type only.
 *
 * @param scopes of the key; null if no scopes are needed
 */
export function deliveryEffects(
  ctx: ReadContext,
  events: readonly EventOnRecord[],
  scopes: ReadonlySet<string> | null,
): Effects['webhooks'] {
  if (scopes?.has('webhooks:manage') === false || !ctx.actor.has('webhook.manage')) return [];
  const hooks = ctx.config.items('webhooks').filter((item) => isActive(item));
  return events.flatMap(({ type, record, stored }) =>
    hooks.flatMap(({ id, compiled }) => {
      const { enabled, eventTypes, filters } = compiled as CompiledWebhook;
      const types: readonly string[] = filters.types;
      const takes = types.length === 0 || (record !== undefined && types.includes(record.type.code));
      const isMessageOfRule = isMessage({ eventType: type }) && stored?.['connection'] === id;
      const matches = enabled && (isMessageOfRule || ((eventTypes as readonly string[]).includes(type) && takes));
      return matches ? { subscriptionId: id, eventType: type } : [];
    }),
  );
}
