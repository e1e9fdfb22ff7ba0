/** SQL on the periods of subscriptions, on deliveries for administration, and on signing secrets. Subscriptions are configuration items. */
import { columns, omit, type RowOf } from '../../platform/database/table.ts';
import { type WebhookAttemptsRow, tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { empty, type Sql } from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from './rules.ts';

/** Ends the current period of the subscription. A trigger of the table sets `until_seq`. */
export const closePeriod = update(tables.webhook_periods, {
  name: 'close_webhook_period',
  guard: false,
  key: ['subscriptionId'],
  given: { at: 'timestamptz' },
  also: { untilAt: sql`greatest(t.from_at, r.at)` },
  where: sql`t.until_seq IS NULL`,
});

/**
 * Starts a period: the subscription takes events of these types on records of these types, delivered with this retry policy. If
 * a period ends in the same transaction, the trigger starts this one with the same number.
 */
export const openPeriod = insertInto(tables.webhook_periods, {
  name: 'open_webhook_period',
  guard: false,
  set: { fromSeq: sql`NULL` },
  defaults: ['untilAt', 'untilSeq'],
});

/** Section, id and code of users, groups and units, including archived ones. */
export async function findNames(
  ctx: ReadContext,
  ids: readonly string[],
): Promise<{ section: string; id: string; code: string; active: boolean }[]> {
  const list = [...ids];
  return await ctx.query(sql`
    SELECT 'users' AS section, id, login AS code, state = 'ACTIVE' AS active FROM users WHERE id = ANY(${list}::uuid[])
    UNION ALL SELECT 'groups', id, code, state = 'ACTIVE' FROM groups WHERE id = ANY(${list}::uuid[])
    UNION ALL SELECT 'orgUnits', id, code, state = 'ACTIVE' FROM org_units WHERE id = ANY(${list}::uuid[])`);
}

/**
 * The newest deliveries of each status, as an item for FROM. Reads `limit` rows per status from the end of an index,
 * independently of the number of deliveries.
 *
 * @param subscriptionId absent: all subscriptions
 */
export function newest(
  subscriptionId: Sql | undefined,
  limit: number,
  statuses: readonly DeliveryStatus[] = DELIVERY_STATUSES,
): Sql {
  const of = subscriptionId === undefined ? empty : sql`AND y.subscription_id = ${subscriptionId}`;
  return sql`(SELECT z.* FROM unnest(${[...statuses]}::text[]) AS wanted (status) CROSS JOIN LATERAL (
    SELECT y.* FROM webhook_deliveries y WHERE y.status = wanted.status ${of}
    ORDER BY y.event_seq DESC, y.id DESC LIMIT ${limit}::int) AS z)`;
}

/** An attempt; `status` is null if there was no response. */
export type AttemptRow = Omit<WebhookAttemptsRow, 'deliveryId'>;

const DELIVERY_COLUMNS = omit(tables.webhook_deliveries, ['eventAt', 'eventData', 'eventSeq', 'baseDelayMs', 'lease']);

export interface DeliveryRow extends RowOf<typeof DELIVERY_COLUMNS> {
  leased: boolean;
  /** In the order of the attempts. */
  attempts: AttemptRow[];
}

const DELIVERY = sql`${columns(DELIVERY_COLUMNS, 'd')}, d.lease IS NOT NULL AS leased,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('number', a.number, 'status', a.status, 'durationMs', a.duration_ms,
      'at', to_char(a.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'bodyExcerpt', a.body_excerpt,
      'error', a.error) ORDER BY a.number), '[]')
    FROM webhook_attempts a WHERE a.delivery_id = d.id) AS attempts`;

/** Deliveries of the newest events first, by the events' positions in the journal. */
export async function listDeliveries(
  ctx: ReadContext,
  subscriptionId: string | undefined,
  statuses: readonly DeliveryStatus[],
  limit: number,
): Promise<DeliveryRow[]> {
  const of = subscriptionId === undefined ? undefined : sql`${subscriptionId}::uuid`;
  return await ctx.query<DeliveryRow>(sql`
    SELECT ${DELIVERY} FROM (SELECT x.* FROM ${newest(of, limit, statuses)} AS x
      ORDER BY x.event_seq DESC, x.id DESC LIMIT ${limit}::int) AS d
    ORDER BY d.event_seq DESC, d.id DESC`);
}

export async function findDelivery(ctx: ReadContext, id: string): Promise<DeliveryRow | undefined> {
  const rows = await ctx.query<DeliveryRow>(sql`SELECT ${DELIVERY} FROM webhook_deliveries d WHERE d.id = ${id}::uuid`);
  return rows[0];
}

/**
 * Allows one more attempt of a failed delivery, if its subscription is enabled. On a concurrent retry, the unit of work is
 * retried.
 */
export const retryDelivery = update(tables.webhook_deliveries, {
  name: 'retry_webhook_delivery',
  set: ['dueAt'],
  also: {
    status: sql`'PENDING'`,
    maxAttempts: sql`t.attempt_count + 1`,
    lease: sql`NULL`,
    finishedAt: sql`NULL`,
    error: sql`NULL`,
  },
  where: sql`t.status = 'FAILED' AND EXISTS (
    SELECT 1 FROM webhook_periods p WHERE p.subscription_id = t.subscription_id AND p.until_seq IS NULL)`,
});

const SECRET_VALUE = omit(tables.signing_secret_values, ['sealed']);
/** `expiresAt` is null for the current value. */
export type SecretValueRow = RowOf<typeof SECRET_VALUE>;

/** Current and overlapping values of the secrets, newest first, without their content. */
export async function listValues(ctx: ReadContext, secretIds: readonly string[]): Promise<SecretValueRow[]> {
  return await ctx.query<SecretValueRow>(sql`
    SELECT ${columns(SECRET_VALUE, 'v')} FROM signing_secret_values v
    WHERE secret_id = ANY(${[...secretIds]}::uuid[]) AND (expires_at IS NULL OR expires_at > ${ctx.now}::timestamptz)
    ORDER BY secret_id, version DESC`);
}

export const insertValue = insertInto(tables.signing_secret_values, {
  name: 'insert_secret_value',
  defaults: ['expiresAt'],
  conflict: sql`(secret_id, version) DO NOTHING`,
});

/**
 * Sets the end of validity of the replaced value, if there is an overlap. `dropValues` deletes all values that are no longer
 * valid.
 */
export const replaceValues = update(tables.signing_secret_values, {
  name: 'replace_secret_values',
  guard: false,
  set: ['expiresAt'],
  where: sql`r."expiresAt" IS NOT NULL`,
});

export const dropValues = deleteFrom(tables.signing_secret_values, {
  name: 'drop_secret_values',
  guard: false,
  key: ['secretId'],
  given: { below: 'integer' },
  where: sql`t.version < r.below`,
});
