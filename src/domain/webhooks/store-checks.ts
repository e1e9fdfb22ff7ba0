/** Consistency checks of deliveries. */
import sql, { type Sql } from 'sql-template-tag';
import { type Check, rowCheck, waiting } from '../../platform/audit/checks.ts';
import type { Queryable, QueryOptions, Transaction } from '../../platform/database/pool.ts';
import { PERIOD_LOCK, TAKES } from './store-delivery.ts';

/**
 * Events that a period takes, that are no longer in the outbox, and that have no delivery for its subscription, as rows of `j`
 * and `p`. Callers must exclude old events, because their deliveries may have been purged.
 *
 * @param among predicate that selects rows of the journal
 */
function missing(columns: Sql, among: Sql): Sql {
  return sql`SELECT ${columns} FROM webhook_periods p JOIN journal j ON ${TAKES}
    WHERE ${among} AND NOT ${waiting(sql`j.id`)}
      AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event_id = j.id AND d.subscription_id = p.subscription_id)`;
}

const KEPT = sql`j.at > now() - interval '13 days'`;

/** Events that lack deliveries: their number, and the codes of the affected subscriptions. */
export interface Missing {
  events: number;
  subscriptions: string[];
}

/** @param newest number of rows at the end of the journal to check */
export async function findMissing(db: Queryable, newest: number): Promise<Missing> {
  const recent = sql`${KEPT} AND j.seq > (SELECT max(seq) FROM journal) - ${newest}::bigint`;
  const [row] = await db.query<Missing>(sql`
    SELECT count(DISTINCT m.id)::int AS events,
      coalesce(array_agg(DISTINCT i.code ORDER BY i.code) FILTER (WHERE i.code IS NOT NULL), '{}') AS subscriptions
    FROM (${missing(sql`j.id, p.subscription_id`, recent)}) m LEFT JOIN config_items i ON i.id = m.subscription_id`);
  return row ?? { events: 0, subscriptions: [] };
}

/** The sequence numbers of events that lack deliveries, in order. Reads the whole journal without a statement timeout. */
export async function missingSeqs(tx: Transaction): Promise<number[]> {
  await tx.query(sql`SELECT set_config('statement_timeout', '0', true)`);
  return await seqsOf(tx, KEPT, { patient: true });
}

/**
 * The sequence numbers among the given ones whose events still lack deliveries. Takes a lock until the transaction ends, which prevents
 * dispatch and concurrent calls of this function.
 */
export async function stillMissing(tx: Transaction, among: readonly number[]): Promise<number[]> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(${PERIOD_LOCK}::bigint)`);
  return await seqsOf(tx, sql`j.seq = ANY(${[...among]}::bigint[])`);
}

async function seqsOf(tx: Transaction, among: Sql, options?: QueryOptions): Promise<number[]> {
  const rows = await tx.query<{ seq: number }>(
    sql`SELECT DISTINCT m.seq FROM (${missing(sql`j.seq`, among)}) m ORDER BY m.seq`,
    options,
  );
  return rows.map(({ seq }) => seq);
}

export const webhookChecks: readonly Check[] = [
  rowCheck(
    'I6 one delivery for each event and subscription that takes it',
    sql`${missing(sql`'event ' || j.id || ' for subscription ' || p.subscription_id AS what`, KEPT)}
      UNION ALL SELECT 'event ' || d.event_id || ' for subscription ' || d.subscription_id FROM webhook_deliveries d
      GROUP BY d.event_id, d.subscription_id HAVING count(*) > 1`,
  ),
  rowCheck(
    'I7 no lease beyond its time, no attempt too many',
    sql`SELECT 'delivery ' || d.id AS what FROM webhook_deliveries d
      WHERE d.attempt_count > d.max_attempts OR (d.lease IS NOT NULL AND d.due_at > now() + interval '10 minutes')
        OR (d.status <> 'PENDING' AND d.lease IS NOT NULL)
        OR d.attempt_count < (SELECT count(*) FROM webhook_attempts a WHERE a.delivery_id = d.id)`,
  ),
];
