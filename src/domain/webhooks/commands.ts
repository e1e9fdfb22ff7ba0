/**
 * Writes of subscriptions and deliveries (docs/spec/webhooks-and-inbound.md#subscriptions,
 * docs/spec/configuration.md#administration-api). A subscription is a configuration item. Each write is one change of this
 * item, made under the lock for changes of the configuration.
 */
import { isActive, type ItemState } from '../../contract/state.ts';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import {
  collectErrors,
  type ConnectionItem,
  type ConnectionStep,
  loadConnection,
  planConnectionChange,
  requireNewCode,
  requireNotArchived,
  requirePrincipal,
  storedSecretUses,
  switchConnection,
} from '../../configuration/connections.ts';
import type { Change, StoredItem } from '../../configuration/section.ts';
import { loadItems } from '../../configuration/store.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import type { AddressCheck } from '../../platform/outbound/outbound.ts';
import { findType, registry } from '../metadata/index.ts';
import type { CompiledWebhook, WebhookDefinition } from './rules.ts';
import { checkAddress, compile, loadNames, normalise, withCodes } from './item.ts';
import {
  type DeliveryAnswer,
  deliveryAnswer,
  KIND,
  RIGHT,
  type SubscriptionAnswer,
  subscriptionAnswer,
} from './queries.ts';
import { findDelivery, retryDelivery, listValues } from './store.ts';

export interface SubscriptionInput {
  endpoint: string;
  secretRef: string;
  executionPrincipalId: string;
  eventTypes: string[];
  filters?: { types?: string[]; condition?: unknown };
  retryPolicy?: { maxAttempts?: number; baseDelayMs?: number };
}

export interface NewSubscription extends SubscriptionInput {
  code: string;
  enabled?: boolean;
}

type Item = ConnectionItem<WebhookDefinition, CompiledWebhook>;

/** Builds the item that a call asks for. @throws Fault INVALID_REQUEST with every error */
async function itemOf(
  ctx: WriteContext,
  code: string,
  input: SubscriptionInput & { enabled: boolean },
  refused: ReadonlyMap<string, string>,
): Promise<Item> {
  const { report, done } = collectErrors();
  const secrets = (await loadItems(ctx, 'signingSecrets')).filter(isActive);
  const names = await loadNames(
    ctx,
    secrets.map((secret) => secret.code),
    [input.executionPrincipalId, input.filters?.condition],
  );
  const login = names.code('users', input.executionPrincipalId);
  if (login === undefined || !names.active('users', input.executionPrincipalId)) {
    report(['executionPrincipalId'], problem('NO_ACTIVE_USER'));
  }
  const types = (input.filters?.types ?? []).map((idOrCode, index) => {
    const type = findType(registry(ctx), idOrCode);
    if (type !== undefined && names.view.has('types', type.code)) return type.code;
    report(['filters', 'types', index], problem('NO_TYPE'));
    return idOrCode;
  });
  const secret = secrets.find((one) => one.code === input.secretRef);
  if (secret === undefined) report(['secretRef'], problem('NO_SECRET'));
  else if ((await storedSecretUses(ctx)).passwords.has(secret.code)) {
    report(['secretRef'], problem('SECRET_IS_PASSWORD'));
  } else if (input.enabled && (await listValues(ctx, [secret.id])).length === 0) {
    report(['secretRef'], problem('SECRET_HAS_NO_VALUE'));
  }
  checkAddress(input.endpoint, refused, report);
  const given = input.filters?.condition;
  const definition = normalise({
    code,
    endpoint: input.endpoint,
    secretRef: input.secretRef,
    executionPrincipal: login ?? '',
    eventTypes: input.eventTypes as never,
    filters: {
      types: [...new Set(types)],
      ...(given === undefined ? {} : { condition: withCodes(given, names, types) as never }),
    },
    retryPolicy: input.retryPolicy ?? {},
    enabled: input.enabled,
  });
  const whole = compile(definition, names.view, report);
  done();
  return { definition, compiled: whole };
}

/** Plans one change of the item with its entry in the audit log. */
function plan(
  ctx: WriteContext,
  action: Change['action'],
  stored: StoredItem | undefined,
  { id, code, state, item }: { id: string; code: string; state: ItemState; item: Item },
): SubscriptionAnswer {
  planConnectionChange(ctx, KIND, { action, stored, id, code, state }, item);
  return subscriptionAnswer(ctx, { id, state, compiled: item.compiled });
}

/**
 * Creates a subscription, enabled unless `enabled` is false. It receives events from now on; nothing is sent to the endpoint.
 *
 * @throws Fault RIGHT_MISSING, ALREADY_EXISTS with `{field: 'code'}`, INVALID_REQUEST
 */
export async function createSubscription(
  ctx: WriteContext,
  input: NewSubscription,
  outbound: AddressCheck,
): Promise<SubscriptionAnswer> {
  ctx.actor.require(RIGHT);
  requirePrincipal(ctx, input.executionPrincipalId);
  ctx.markAuthorized();
  const refused = await outbound.refusals([input.endpoint]);
  const { code } = input;
  await requireNewCode(ctx, KIND, code);
  const item = await itemOf(ctx, code, { ...input, enabled: input.enabled ?? true }, refused);
  return plan(ctx, 'create', undefined, { id: ctx.newId(), code, state: 'ACTIVE', item });
}

/** Locks the configuration and returns the stored subscription. @throws Fault RIGHT_MISSING, NOT_FOUND */
function hold(ctx: WriteContext, id: string): Promise<{ stored: StoredItem; item: Item }> {
  return loadConnection<WebhookDefinition, CompiledWebhook>(ctx, KIND, id);
}

/**
 * Changes a disabled subscription. Absent properties stay unchanged.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, CONNECTION_ARCHIVED, CONNECTION_ENABLED, INVALID_REQUEST
 */
export async function changeSubscription(
  ctx: WriteContext,
  id: string,
  changes: Partial<SubscriptionInput>,
  outbound: AddressCheck,
): Promise<SubscriptionAnswer> {
  ctx.actor.require(RIGHT);
  const refused = await outbound.refusals(changes.endpoint === undefined ? [] : [changes.endpoint]);
  const { stored, item } = await hold(ctx, id);
  const { compiled } = item;
  requirePrincipal(ctx, compiled.executionPrincipalId);
  requirePrincipal(ctx, changes.executionPrincipalId ?? compiled.executionPrincipalId);
  ctx.markAuthorized();
  requireNotArchived(KIND, stored);
  if (compiled.enabled)
    throw new Fault('CONNECTION_ENABLED', 'The subscription is enabled. Disable it before you change it.');
  const { endpoint, secretRef, eventTypes, filters } = compiled;
  const before = {
    endpoint,
    secretRef,
    eventTypes,
    filters,
    executionPrincipalId: compiled.executionPrincipalId ?? '',
  };
  const retryPolicy = { ...compiled.retryPolicy, ...changes.retryPolicy };
  const next = await itemOf(ctx, stored.code, { ...before, ...changes, retryPolicy, enabled: false }, refused);
  return plan(ctx, 'change', stored, { id, code: stored.code, state: 'ACTIVE', item: next });
}

/**
 * Enables, disables or archives a subscription. An enabled one receives events from now on. Of a disabled one, pending
 * deliveries wait and running attempts continue.
 *
 * @throws Fault as `switchConnection`; INVALID_REQUEST if the secret of a subscription to enable has no value
 */
export async function switchSubscription(
  ctx: WriteContext,
  id: string,
  step: ConnectionStep,
): Promise<SubscriptionAnswer> {
  const requireSecret = async ({ secretRef }: CompiledWebhook): Promise<void> => {
    const secret = (await loadItems(ctx, 'signingSecrets')).find(({ code }) => code === secretRef);
    const usable = isActive(secret) && (await listValues(ctx, [secret.id])).length > 0;
    const { report, done } = collectErrors();
    if (!usable) report(['secretRef'], problem('SECRET_HAS_NO_VALUE'));
    done();
  };
  return subscriptionAnswer(
    ctx,
    await switchConnection<WebhookDefinition, CompiledWebhook>(ctx, KIND, id, step, requireSecret),
  );
}

/** Restores an archived subscription, disabled. @throws Fault RIGHT_MISSING, NOT_FOUND, INVALID_REQUEST */
export async function restoreSubscription(ctx: WriteContext, id: string): Promise<SubscriptionAnswer> {
  const { stored, item } = await hold(ctx, id);
  requirePrincipal(ctx, item.compiled.executionPrincipalId);
  ctx.markAuthorized();
  if (isActive(stored)) return subscriptionAnswer(ctx, { id, state: 'ACTIVE', compiled: item.compiled });
  // Its references may be gone, so it is validated like a new one.
  const { endpoint, secretRef, eventTypes, filters, retryPolicy } = item.compiled;
  const before = { endpoint, secretRef, eventTypes, filters, retryPolicy };
  const executionPrincipalId = item.compiled.executionPrincipalId ?? '';
  const next = await itemOf(ctx, stored.code, { ...before, executionPrincipalId, enabled: false }, new Map());
  return plan(ctx, 'restore', stored, { id, code: stored.code, state: 'ACTIVE', item: next });
}

/**
 * Schedules one more attempt of a failed delivery, due now.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, CONNECTION_ARCHIVED, STATE_CONFLICT if the delivery has not failed or its
 *   subscription is disabled
 */
export async function retry(ctx: WriteContext, id: string): Promise<DeliveryAnswer> {
  ctx.actor.require(RIGHT);
  const row = await findDelivery(ctx, id);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such delivery.');
  ctx.markAuthorized();
  const stored = (await loadItems(ctx, KIND.section)).find((item) => item.id === row.subscriptionId);
  if (stored === undefined) throw new Error(`delivery ${id} is of no subscription`);
  requireNotArchived(KIND, stored);
  if (row.status !== 'FAILED') {
    throw new Fault('STATE_CONFLICT', problem('DELIVERY_NOT_FAILED'), {
      status: row.status,
    });
  }
  if (!(stored.definition as WebhookDefinition).enabled) {
    throw new Fault('STATE_CONFLICT', problem('SUBSCRIPTION_DISABLED'), { enabled: false });
  }
  ctx.plan(retryDelivery, { id, dueAt: ctx.now });
  ctx.emit({ type: 'WebhookDeliveryRetried', subject: `webhook-delivery:${id}` });
  const next = { status: 'PENDING', maxAttempts: row.attemptCount + 1, dueAt: ctx.now, finishedAt: null } as const;
  return await deliveryAnswer(ctx, { ...row, ...next, leased: false, error: null });
}
