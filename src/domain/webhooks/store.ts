/** SQL on the periods of subscriptions, on deliveries for administration, and on signing secrets. Subscriptions are configuration items. */
import sql, { empty, type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from './rules.ts';

/** Ends the current period of the subscription. A trigger of the table sets `until_seq`. */
export const closePeriod: TableWrite<{ subscription_id: string; at: string }> = {
  name: 'close_webhook_period',
  guard: false,
  sql: (rows: Sql) => sql`
    UPDATE webhook_periods p SET until_at = greatest(p.from_at, r.at)
    FROM jsonb_to_recordset(${rows}) AS r (subscription_id uuid, at timestamptz)
    WHERE p.subscription_id = r.subscription_id AND p.until_seq IS NULL`,
};

/**
 * Starts a period: the subscription takes events of these types on records of these types, delivered with this retry policy. If
 * a period ends in the same transaction, the trigger starts this one with the same number.
 */
export const openPeriod: TableWrite<{
  id: string;
  subscription_id: string;
  at: string;
  event_types: readonly string[];
  /** Codes of record types; empty means all. */
  types: readonly string[];
  max_attempts: number;
  base_delay_ms: number;
}> = {
  name: 'open_webhook_period',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO webhook_periods (id, subscription_id, from_at, event_types, types, max_attempts, base_delay_ms)
    SELECT id, subscription_id, at, event_types, types, max_attempts, base_delay_ms
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, subscription_id uuid, at timestamptz, event_types text[], types text[],
      max_attempts integer, base_delay_ms integer)`,
};

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

export interface AttemptRow {
  number: number;
  at: string;
  /** Null if there was no response. */
  status: number | null;
  durationMs: number;
  bodyExcerpt: string | null;
  error: string | null;
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

export interface DeliveryRow {
  id: string;
  subscriptionId: string;
  eventId: string;
  eventType: string;
  objectId: string | null;
  status: DeliveryStatus;
  attemptCount: number;
  maxAttempts: number;
  createdAt: string;
  dueAt: string;
  leased: boolean;
  finishedAt: string | null;
  error: string | null;
  /** In the order of the attempts. */
  attempts: AttemptRow[];
}

const DELIVERY = sql`d.id, d.subscription_id AS "subscriptionId", d.event_id AS "eventId", d.event_type AS "eventType",
  d.object_id AS "objectId", d.status, d.attempt_count AS "attemptCount", d.max_attempts AS "maxAttempts",
  d.created_at AS "createdAt", d.due_at AS "dueAt", d.lease IS NOT NULL AS leased, d.finished_at AS "finishedAt", d.error,
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
export const retryDelivery: TableWrite<{ id: string; at: string }> = {
  name: 'retry_webhook_delivery',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE webhook_deliveries d SET status = 'PENDING', max_attempts = d.attempt_count + 1, due_at = r.at, lease = NULL,
      finished_at = NULL, error = NULL
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, at timestamptz)
    WHERE d.id = r.id AND d.status = 'FAILED' AND EXISTS (
      SELECT 1 FROM webhook_periods p WHERE p.subscription_id = d.subscription_id AND p.until_seq IS NULL) RETURNING 1`,
};

export interface SecretValueRow {
  secretId: string;
  version: number;
  createdAt: string;
  /** Null for the current value. */
  expiresAt: string | null;
}

/** Current and overlapping values of the secrets, newest first, without their content. */
export async function listValues(ctx: ReadContext, secretIds: readonly string[]): Promise<SecretValueRow[]> {
  return await ctx.query<SecretValueRow>(sql`
    SELECT secret_id AS "secretId", version, created_at AS "createdAt", expires_at AS "expiresAt"
    FROM signing_secret_values
    WHERE secret_id = ANY(${[...secretIds]}::uuid[]) AND (expires_at IS NULL OR expires_at > ${ctx.now}::timestamptz)
    ORDER BY secret_id, version DESC`);
}

export const insertValue: TableWrite<{ secret_id: string; version: number; sealed: string; at: string }> = {
  name: 'insert_secret_value',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO signing_secret_values (secret_id, version, sealed, created_at)
    SELECT secret_id, version, decode(sealed, 'hex'), at
    FROM jsonb_to_recordset(${rows}) AS r (secret_id uuid, version integer, sealed text, at timestamptz)
    ON CONFLICT (secret_id, version) DO NOTHING RETURNING 1`,
};

/**
 * Sets the end of validity of the replaced value, if there is an overlap. `dropValues` deletes all values that are no longer
 * valid.
 */
export const replaceValues: TableWrite<{ secret_id: string; current: number; until: string | null }> = {
  name: 'replace_secret_values',
  guard: false,
  sql: (rows: Sql) => sql`
    UPDATE signing_secret_values v SET expires_at = r.until
    FROM jsonb_to_recordset(${rows}) AS r (secret_id uuid, current integer, until timestamptz)
    WHERE v.secret_id = r.secret_id AND v.version = r.current AND r.until IS NOT NULL`,
};

export const dropValues: TableWrite<{ secret_id: string; below: number }> = {
  name: 'drop_secret_values',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM signing_secret_values v USING jsonb_to_recordset(${rows}) AS r (secret_id uuid, below integer)
    WHERE v.secret_id = r.secret_id AND v.version < r.below`,
};
