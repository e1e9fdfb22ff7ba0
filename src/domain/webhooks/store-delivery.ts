/** SQL of delivery. Any number of workers may run it at once. */
import sql from 'sql-template-tag';
import type { Moment } from '../../platform/moments.ts';
import {
  claimRows,
  type ClaimRequest,
  dueRows,
  finishRows,
  purgeRows,
  type QueueTable,
  type Result,
} from '../../platform/jobs/queue.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { Backlog } from '../../platform/journal/journal.ts';
import { FINISHED } from './rules.ts';
import { newest } from './store.ts';

/** A delivery that this process has leased for an attempt. */
export interface LeasedDelivery {
  id: string;
  lease: string;
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

const DELIVERIES: QueueTable = {
  name: 'webhook_deliveries',
  due: 'due_at',
  claim: 'lease',
  order: sql`x.due_at, x.event_seq, x.id`,
};

/**
 * Leases due deliveries of enabled subscriptions to one process until the lease ends. No subscription gets more than its share
 * of the total, so that a receiver that hangs does not block the others. Deliveries of a subscription that are due at the same
 * time are ordered by their events.
 */
export async function leaseDeliveries(
  db: Queryable,
  { lease, now, until, total, each, capacities }: ClaimRequest & { lease: string },
): Promise<LeasedDelivery[]> {
  const ids = sql`SELECT d.id FROM (
      SELECT p.subscription_id AS id, least(coalesce(r.free, ${each}::int), greatest(4, ${total}::int / (count(*) OVER ())::int)) AS free
      FROM webhook_periods p
      LEFT JOIN jsonb_to_recordset(${JSON.stringify(capacities)}::jsonb) AS r (id uuid, free integer) ON r.id = p.subscription_id
      WHERE p.until_seq IS NULL
    ) AS e CROSS JOIN LATERAL (${dueRows(DELIVERIES, sql`x.subscription_id = e.id`, now, sql`e.free`)}) AS d
    LIMIT ${total}::int`;
  const leased = await db.query<LeasedDelivery>(sql`
    ${claimRows(DELIVERIES, ids, sql`${lease}::uuid`, until)}
    SELECT id, lease, subscription_id AS "subscriptionId", event_id AS "eventId", event_type AS "eventType", object_id AS "objectId",
      event_at AS "eventAt", event_seq AS "eventSeq", event_data AS "eventData", attempt_count AS "attemptCount",
      max_attempts AS "maxAttempts", base_delay_ms AS "baseDelayMs" FROM claimed`);
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

/** The result of a leased delivery. Without an attempt, `ended_at` is the time of the decision. */
export interface Finished extends Result {
  lease: string;
  status: 'PENDING' | 'DELIVERED' | 'FAILED' | 'SKIPPED';
  /** Whether a request was sent, so that an attempt must be stored. */
  attempted: boolean;
  /** Start of the attempt. */
  at: string;
  http_status: number | null;
  duration_ms: number;
  excerpt: string | null;
}

/** Stores results and attempts. A result is ignored if the process no longer holds the lease. */
export async function finishDeliveries(db: Queryable, rows: readonly Finished[]): Promise<void> {
  const more = sql`, attempted boolean, at timestamptz, http_status integer, duration_ms integer, excerpt text`;
  const set = sql`attempt_count = d.attempt_count + r.attempted::int, lease = NULL,
    error = CASE WHEN r.status <> 'PENDING' THEN r.error END`;
  await db.query(sql`
    ${finishRows(DELIVERIES, rows, more, set)}
    INSERT INTO webhook_attempts (delivery_id, number, at, status, duration_ms, body_excerpt, error)
    SELECT r.id, done.attempt_count, r.at, r.http_status, r.duration_ms, r.excerpt, r.error
    FROM done JOIN r ON r.id = done.id WHERE r.attempted`);
}

/** Deletes up to `limit` deliveries that were finished before `before`, except the last 100 of each subscription. */
export async function purgeDeliveries(db: Queryable, before: string, limit: number): Promise<number> {
  const rows = sql`SELECT d.ctid FROM kept k JOIN webhook_deliveries d
      ON d.subscription_id = k.id AND d.status = ANY(${FINISHED}::text[]) AND d.event_seq < k.oldest
    WHERE d.finished_at < ${before}::timestamptz LIMIT ${limit}::int`;
  const [row] = await db.query<{ n: number }>(sql`
    WITH kept AS (
      SELECT s.id, (SELECT x.event_seq FROM ${newest(sql`s.id`, 100)} AS x
        ORDER BY x.event_seq DESC OFFSET 99 LIMIT 1) AS oldest
      FROM config_items s WHERE s.section = 'webhooks'
    ), gone AS (${purgeRows(DELIVERIES, rows, before)}
    ), attempts AS (DELETE FROM webhook_attempts a USING gone WHERE a.delivery_id = gone.id)
    SELECT count(*)::int AS n FROM gone`);
  return row?.n ?? 0;
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
