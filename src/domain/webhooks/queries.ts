/** Reads of subscriptions and deliveries. All require the right `webhook.manage`. */
import { isActive, type ItemState } from '../../contract/state.ts';
import { Fault, faultAt } from '../../lib/fault.ts';
import type { ConnectionKind } from '../../configuration/connections.ts';
import { loadItems } from '../../configuration/store.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { registry } from '../metadata/index.ts';
import { visibleIds } from '../objects/index.ts';
import { write } from './item.ts';
import { type CompiledWebhook, DELIVERY_STATUSES, type DeliveryStatus } from './rules.ts';
import { type AttemptRow, type DeliveryRow, findDelivery, listDeliveries as listRows } from './store.ts';

export const RIGHT = 'webhook.manage';
export const KIND: ConnectionKind = { section: 'webhooks', right: RIGHT, noun: 'subscription', write };
/** Number of deliveries listed, for one subscription or for all (docs/spec/webhooks-and-inbound.md#deliveries). */
const SHOWN = 100;

export interface SubscriptionAnswer {
  id: string;
  code: string;
  endpoint: string;
  secretRef: string;
  executionPrincipalId: string;
  eventTypes: string[];
  filters: { types?: string[]; condition?: unknown };
  retryPolicy: { maxAttempts: number; baseDelayMs: number };
  enabled: boolean;
  state: ItemState;
}

export function subscriptionAnswer(
  ctx: ReadContext,
  { id, state, compiled }: { id: string; state: ItemState; compiled: CompiledWebhook },
): SubscriptionAnswer {
  const { code, endpoint, secretRef, executionPrincipalId, eventTypes, retryPolicy } = compiled;
  const { types, condition } = compiled.filters;
  return {
    id,
    code,
    endpoint,
    secretRef,
    executionPrincipalId: executionPrincipalId ?? '',
    eventTypes,
    filters: {
      ...(types.length === 0 ? {} : { types: types.map((type) => registry(ctx).byCode.get(type)?.id ?? type) }),
      ...(condition === undefined ? {} : { condition }),
    },
    retryPolicy,
    enabled: compiled.enabled && isActive({ state }),
    state,
  };
}

/** Subscriptions by code. Archived ones are included, so that they can be restored. @throws Fault RIGHT_MISSING */
export async function listSubscriptions(ctx: ReadContext): Promise<SubscriptionAnswer[]> {
  ctx.actor.require(RIGHT);
  return (await loadItems(ctx, 'webhooks')).map(({ id, state, compiled }) =>
    subscriptionAnswer(ctx, { id, state, compiled: compiled as CompiledWebhook }),
  );
}

export interface ResponseAnswer {
  status: number;
  durationMs: number;
  bodyExcerpt: string;
}

interface AttemptAnswer {
  number: number;
  at: string;
  response?: ResponseAnswer;
  error?: string;
}

export interface DeliveryAnswer {
  id: string;
  subscriptionId: string;
  eventId: string;
  eventType: string;
  objectId: string | null;
  status: DeliveryRow['status'];
  attemptCount: number;
  maxAttempts: number;
  createdAt: string;
  nextAttemptAt?: string;
  finishedAt?: string;
  response?: ResponseAnswer;
  error?: string;
  attempts: AttemptAnswer[];
}

function responseOf(attempt: AttemptRow | undefined, readable: boolean): { response?: ResponseAnswer } {
  if (attempt === undefined || attempt.status === null) return {};
  const { status, durationMs, bodyExcerpt } = attempt;
  return { response: { status, durationMs, bodyExcerpt: readable ? (bodyExcerpt ?? '') : '' } };
}

function errorOf(error: string | null | undefined): { error?: string } {
  return error === null || error === undefined ? {} : { error };
}

/** What the caller may see of deliveries, besides their status and times. */
interface DeliveryVisibility {
  /** A response may repeat the request. Only the executor, and callers who could act as the executor, may read its body. */
  excerpt(subscriptionId: string): boolean;
  /** The id of a record is hidden if the caller may not read the record now. */
  object(id: string): boolean;
}

async function sightOf(ctx: ReadContext, rows: readonly DeliveryRow[]): Promise<DeliveryVisibility> {
  const objects = await visibleIds(
    ctx,
    rows.flatMap(({ objectId }) => objectId ?? []),
  );
  return { excerpt: await excerptReaders(ctx), object: (id) => objects.has(id) };
}

/** Whose responses the caller may read: tells it for the id of a subscription. */
export async function excerptReaders(ctx: ReadContext): Promise<(subscriptionId: string) => boolean> {
  if (ctx.actor.has('role.assign')) return () => true;
  const own = new Set(
    (await loadItems(ctx, 'webhooks')).flatMap(({ id, compiled }) =>
      (compiled as CompiledWebhook).executionPrincipalId === ctx.actor.userId ? [id] : [],
    ),
  );
  return (subscriptionId) => own.has(subscriptionId);
}

function answer(row: DeliveryRow, sight: DeliveryVisibility): DeliveryAnswer {
  const readable = sight.excerpt(row.subscriptionId);
  const { id, subscriptionId, eventId, eventType, objectId, status, attemptCount, maxAttempts, createdAt } = row;
  const last = row.attempts.at(-1);
  return {
    id,
    subscriptionId,
    eventId,
    eventType,
    objectId: objectId !== null && sight.object(objectId) ? objectId : null,
    status,
    attemptCount,
    maxAttempts,
    createdAt,
    // During an attempt the time of the next one is unknown.
    ...(status === 'PENDING' && !row.leased ? { nextAttemptAt: row.dueAt } : {}),
    ...(row.finishedAt === null ? {} : { finishedAt: row.finishedAt }),
    ...responseOf(last, readable),
    ...errorOf(row.error ?? last?.error),
    attempts: row.attempts.map((attempt) => ({
      number: attempt.number,
      at: attempt.at,
      ...responseOf(attempt, readable),
      ...errorOf(attempt.error),
    })),
  };
}

export async function deliveryAnswer(ctx: ReadContext, row: DeliveryRow): Promise<DeliveryAnswer> {
  return answer(row, await sightOf(ctx, [row]));
}

/** @throws Fault INVALID_REQUEST for an unknown status */
function statusesOf(list: string | undefined): readonly DeliveryStatus[] {
  if (list === undefined) return DELIVERY_STATUSES;
  const named = [...new Set(list.split(','))];
  const known = DELIVERY_STATUSES.filter((status) => named.includes(status));
  if (known.length < named.length) {
    throw faultAt('INVALID_REQUEST', 'query.status', 'DELIVERY_STATUS', { known: DELIVERY_STATUSES });
  }
  return known;
}

/**
 * The last 100 deliveries, those of the newest events first.
 *
 * @param filter by subscription and by statuses separated by commas; an absent member does not filter
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST
 */
export async function listDeliveries(
  ctx: ReadContext,
  filter: { subscriptionId?: string; status?: string },
): Promise<DeliveryAnswer[]> {
  ctx.actor.require(RIGHT);
  const statuses = statusesOf(filter.status);
  const rows = await listRows(ctx, filter.subscriptionId, statuses, SHOWN);
  const sight = await sightOf(ctx, rows);
  return rows.map((row) => answer(row, sight));
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND */
export async function getDelivery(ctx: ReadContext, id: string): Promise<DeliveryAnswer> {
  ctx.actor.require(RIGHT);
  const row = await findDelivery(ctx, id);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such delivery.');
  return await deliveryAnswer(ctx, row);
}
