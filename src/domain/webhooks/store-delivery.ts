/** SQL of delivery. Any number of workers may run it at once. */
import sql from 'sql-template-tag';
import type { Moment } from '../../platform/moments.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { Backlog } from '../../platform/journal/journal.ts';
import { FINISHED } from './rules.ts';
import { newest } from './store.ts';

/** A delivery that this process has leased for an attempt. */
export interface LeasedDelivery {
  id: string;
  subscriptionId: string;
  eventId: string;
  eventType: string;
  objectId: string | null;
  eventAt: string;
  /** The `seq` of the event in the journal. */
  eventSeq: number;
  eventData: Record<string, unknown>;
  attemptCount: number;
  maxAttempts: number;
  baseDelayMs: number;
}

export interface LeaseRequest {
  lease: string;
  now: string;
  until: string;
  /** Maximum number of deliveries, in total and per subscription. */
  total: number;
  each: number;
  /** Subscriptions with another limit than `each`: how many more deliveries they may have in progress. */
  capacities: readonly { id: string; free: number }[];
}

/**
 * Leases due deliveries of enabled subscriptions to one process until the lease ends. No subscription gets more than its share
 * of the total, so that a receiver that hangs does not block the others. Deliveries of a subscription that are due at the same
 * time are ordered by their events.
 */
export async function leaseDeliveries(db: Queryable, request: LeaseRequest): Promise<LeasedDelivery[]> {
  const { lease, now, until, total, each } = request;
  const leased = await db.query<LeasedDelivery>(sql`
    WITH enabled AS (
      SELECT p.subscription_id AS id, least(coalesce(r.free, ${each}::int), greatest(4, ${total}::int / (count(*) OVER ())::int)) AS free
      FROM webhook_periods p
      LEFT JOIN jsonb_to_recordset(${JSON.stringify(request.capacities)}::jsonb) AS r (id uuid, free integer)
        ON r.id = p.subscription_id
      WHERE p.until_seq IS NULL
    ), due AS MATERIALIZED (
      SELECT d.id FROM enabled e CROSS JOIN LATERAL (
        SELECT x.id FROM webhook_deliveries x
        WHERE x.subscription_id = e.id AND x.status = 'PENDING' AND x.due_at <= ${now}::timestamptz
        ORDER BY x.due_at, x.event_seq, x.id LIMIT e.free FOR UPDATE SKIP LOCKED) d
      LIMIT ${total}::int
    )
    UPDATE webhook_deliveries d SET lease = ${lease}::uuid, due_at = ${until}::timestamptz
    FROM due WHERE d.id = due.id
    RETURNING d.id, d.subscription_id AS "subscriptionId", d.event_id AS "eventId", d.event_type AS "eventType",
      d.object_id AS "objectId", d.event_at AS "eventAt", d.event_seq AS "eventSeq", d.event_data AS "eventData",
      d.attempt_count AS "attemptCount", d.max_attempts AS "maxAttempts", d.base_delay_ms AS "baseDelayMs"`);
  return leased.sort((a, b) => a.eventSeq - b.eventSeq);
}

export interface SenderRow {
  id: string;
  version: number;
  compiled: unknown;
  secretId: string | null;
  /** Valid values, newest first, including those in their overlap. */
  secrets: { version: number; sealed: string }[];
}

/** The subscriptions with their current secrets. */
export async function findSenders(db: Queryable, ids: readonly string[], now: string): Promise<SenderRow[]> {
  return await db.query<SenderRow>(sql`
    SELECT w.id, w.version, w.compiled, s.id AS "secretId",
      (SELECT coalesce(jsonb_agg(jsonb_build_object('version', v.version, 'sealed', encode(v.sealed, 'hex'))
          ORDER BY v.version DESC), '[]')
        FROM signing_secret_values v
        WHERE v.secret_id = s.id AND (v.expires_at IS NULL OR v.expires_at > ${now}::timestamptz)) AS secrets
    FROM config_items w
    LEFT JOIN config_items s ON s.section = 'signingSecrets' AND s.code = w.compiled ->> 'secretRef'
    WHERE w.section = 'webhooks' AND w.id = ANY(${[...ids]}::uuid[])`);
}

/** The newest valid value of an active secret. */
export async function findSecret(
  db: Queryable,
  code: string,
): Promise<{ secretId: string; version: number; sealed: Buffer } | undefined> {
  const [row] = await db.query<{ secretId: string; version: number; sealed: Buffer }>(sql`
    SELECT v.secret_id AS "secretId", v.version, v.sealed
    FROM config_items i JOIN signing_secret_values v ON v.secret_id = i.id
    WHERE i.section = 'signingSecrets' AND i.state = 'ACTIVE' AND i.code = ${code} AND v.expires_at IS NULL`);
  return row;
}

/** The result of a leased delivery. */
export interface Finished {
  id: string;
  lease: string;
  status: 'PENDING' | 'DELIVERED' | 'FAILED' | 'SKIPPED';
  /** Whether a request was sent, so that an attempt must be stored. */
  attempted: boolean;
  /** Start of the attempt. */
  at: string;
  /** End of the attempt; for a delivery without an attempt, the time of the decision. */
  ended_at: string;
  due_at: string;
  http_status: number | null;
  duration_ms: number;
  excerpt: string | null;
  error: string | null;
}

/** Stores results and attempts. A result is ignored if the process no longer holds the lease. */
export async function finishDeliveries(db: Queryable, rows: readonly Finished[]): Promise<void> {
  await db.query(sql`
    WITH r AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r (id uuid, lease uuid, status text,
        attempted boolean, at timestamptz, ended_at timestamptz, due_at timestamptz, http_status integer, duration_ms integer,
        excerpt text, error text)
    ), done AS (
      UPDATE webhook_deliveries d SET status = r.status, attempt_count = d.attempt_count + r.attempted::int, lease = NULL,
        due_at = r.due_at, finished_at = CASE WHEN r.status <> 'PENDING' THEN r.ended_at END,
        error = CASE WHEN r.status <> 'PENDING' THEN r.error END
      FROM r WHERE d.id = r.id AND d.lease = r.lease AND d.status = 'PENDING'
      RETURNING d.id, d.attempt_count
    )
    INSERT INTO webhook_attempts (delivery_id, number, at, status, duration_ms, body_excerpt, error)
    SELECT r.id, done.attempt_count, r.at, r.http_status, r.duration_ms, r.excerpt, r.error
    FROM done JOIN r ON r.id = done.id WHERE r.attempted`);
}

/** Deletes up to `limit` deliveries that were finished before `before`, except the last 100 of each subscription. */
export async function purgeDeliveries(db: Queryable, before: string, limit: number): Promise<number> {
  const rows = await db.query<{ n: number }>(sql`
    WITH kept AS (
      SELECT s.id, (SELECT x.event_seq FROM ${newest(sql`s.id`, 100)} AS x
        ORDER BY x.event_seq DESC OFFSET 99 LIMIT 1) AS oldest
      FROM config_items s WHERE s.section = 'webhooks'
    ), gone AS (
      DELETE FROM webhook_deliveries WHERE id IN (
        SELECT d.id FROM kept k JOIN webhook_deliveries d
          ON d.subscription_id = k.id AND d.status = ANY(${FINISHED}::text[]) AND d.event_seq < k.oldest
        WHERE d.finished_at < ${before}::timestamptz LIMIT ${limit}::int FOR UPDATE OF d SKIP LOCKED)
      RETURNING id
    ), attempts AS (DELETE FROM webhook_attempts a USING gone WHERE a.delivery_id = gone.id)
    SELECT count(*)::int AS n FROM gone`);
  return rows[0]?.n ?? 0;
}

/** Codes of enabled subscriptions whose last three finished deliveries all failed. */
export async function findFailing(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ code: string }>(sql`
    SELECT i.code FROM webhook_periods p JOIN config_items i ON i.id = p.subscription_id
    WHERE p.until_seq IS NULL AND (
      SELECT count(*) FILTER (WHERE d.status = 'FAILED') = 3 FROM (
        SELECT x.status FROM ${newest(sql`p.subscription_id`, 3, FINISHED)} AS x ORDER BY x.event_seq DESC LIMIT 3) d)
    ORDER BY i.code`);
  return rows.map(({ code }) => code);
}

/** Number of pending deliveries that are due and that are not due yet, each counted up to a limit. */
export async function deliveryBacklog(db: Queryable, now: string, limit: number): Promise<Backlog & { later: number }> {
  const rows = await db.query<Backlog & { later: number }>(sql`
    SELECT count(*) FILTER (WHERE due)::int AS waiting, count(*) FILTER (WHERE NOT due)::int AS later,
      min(due_at) FILTER (WHERE due) AS "oldestAt"
    FROM (
      (SELECT due_at, true AS due FROM webhook_deliveries
        WHERE status = 'PENDING' AND due_at <= ${now}::timestamptz LIMIT ${limit}::int)
      UNION ALL
      (SELECT due_at, false FROM webhook_deliveries
        WHERE status = 'PENDING' AND due_at > ${now}::timestamptz LIMIT ${limit}::int)) d`);
  return rows[0] ?? { waiting: 0, oldestAt: null, later: 0 };
}

/** Valid values of active signing secrets, including those in their overlap, with the codes of their secrets. */
export async function findValues(
  db: Queryable,
): Promise<{ code: string; secretId: string; version: number; sealed: Buffer }[]> {
  return await db.query(sql`
    SELECT i.code, v.secret_id AS "secretId", v.version, v.sealed
    FROM signing_secret_values v JOIN config_items i ON i.id = v.secret_id
    WHERE i.state = 'ACTIVE' AND (v.expires_at IS NULL OR v.expires_at > now()) ORDER BY i.code, v.version`);
}

export const deliveryMoment: Moment = {
  task: 'deliveries',
  next: (since) => sql`(SELECT min(d.due_at) FROM config_items s CROSS JOIN LATERAL (
    SELECT due_at FROM webhook_deliveries d WHERE d.subscription_id = s.id AND d.status = 'PENDING' AND d.due_at > ${since}::timestamptz
    ORDER BY due_at LIMIT 1) AS d WHERE s.section = 'webhooks')`,
};
