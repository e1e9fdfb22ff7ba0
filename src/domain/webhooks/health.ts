/** Integrity checks of deliveries, the checks and repairs of `docket doctor`, and the metrics of deliveries. */
import sql, { type Sql } from 'sql-template-tag';
import { type Check, rowCheck } from '../../platform/audit/checks.ts';
import type { Queryable, QueryOptions, Transaction, Database } from '../../platform/database/pool.ts';
import { DISPATCH, makeDeliveries } from './dispatch.ts';
import { findFailing, findValues } from './store-delivery.ts';
import { PERIOD_LOCK, TAKES } from './store-dispatch.ts';
import { consumerMetrics, isHandled } from '../../platform/journal/consumers.ts';
import type { Clock } from '../../platform/clock.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { sealPurpose } from './signing-secrets.ts';
import { boundedCount, type DatabaseMetric, secondsSince } from '../../platform/observability/database-metrics.ts';

/**
 * Events that a period takes, that are dispatched, and that have no delivery for its subscription, as rows of `j`
 * and `p`. Callers must exclude old events, because their deliveries may have been purged.
 *
 * @param among predicate that selects rows of the journal
 */
function missing(columns: Sql, among: Sql): Sql {
  return sql`SELECT ${columns} FROM webhook_periods p JOIN journal j ON ${TAKES}
    WHERE ${among} AND ${isHandled('j', DISPATCH)}
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

/** Number of newest events checked without `--deep`. */
const LOOKED_AT = 100_000;
const BATCH = 1000;

export interface SecretsExamined {
  /** Number of signing secrets that have a value. */
  secrets: number;
  /** Codes of secrets that the key cannot open. */
  closed: string[];
}

/** Tries to open all signing secrets in use with the master key. Archived secrets and expired values are not checked. */
export async function examineSecrets(
  db: Queryable,
  box: Pick<SecretBox, 'open'> | undefined,
): Promise<SecretsExamined> {
  const values = await findValues(db);
  const closed = new Set<string>();
  for (const { code, secretId, version, sealed } of values) {
    try {
      if (box === undefined) closed.add(code);
      else box.open(sealed, sealPurpose(secretId, version));
    } catch {
      closed.add(code);
    }
  }
  return { secrets: new Set(values.map(({ code }) => code)).size, closed: [...closed] };
}

/** Codes of enabled subscriptions whose last deliveries failed, and events that lack deliveries. */
export async function examineDeliveries(db: Queryable): Promise<{ failing: string[]; missing: Missing }> {
  return { failing: await findFailing(db), missing: await findMissing(db, LOOKED_AT) };
}

/**
 * Makes the deliveries of events that lack them. Existing deliveries are not repeated.
 *
 * @returns how many events lacked some
 */
export async function redispatch(db: Database, clock: Clock): Promise<number> {
  const seqs = await db.transaction('BEGIN', missingSeqs);
  let lacking = 0;
  for (let from = 0; from < seqs.length; from += BATCH) {
    const batch = seqs.slice(from, from + BATCH);
    await db.transaction('BEGIN', async (tx) => {
      const missing = await stillMissing(tx, batch);
      await makeDeliveries(tx, clock, missing);
      lacking += missing.length;
    });
  }
  return lacking;
}

export const deliveryMetrics: readonly DatabaseMetric[] = [
  ...consumerMetrics(DISPATCH, 'docket_dispatch', 'without their webhook deliveries'),
  {
    name: 'docket_deliveries_due',
    help: 'Deliveries whose next attempt is due, counted up to 10,000.',
    sql: (now) => boundedCount(sql`webhook_deliveries WHERE status = 'PENDING' AND due_at <= ${now}`),
  },
  {
    name: 'docket_deliveries_leased',
    help: 'Deliveries with an attempt in progress, counted up to 10,000.',
    sql: (now) =>
      boundedCount(sql`webhook_deliveries WHERE status = 'PENDING' AND lease IS NOT NULL AND due_at > ${now}`),
  },
  {
    name: 'docket_deliveries_pending',
    help: 'Unfinished deliveries, including those that wait for a retry, counted up to 10,000.',
    sql: () => boundedCount(sql`webhook_deliveries WHERE status = 'PENDING'`),
  },
  {
    name: 'docket_delivery_lag_seconds',
    help: 'Time since the oldest counted due delivery was due.',
    sql: (now) =>
      secondsSince(
        now,
        sql`SELECT min(due_at) FROM (SELECT due_at FROM webhook_deliveries
          WHERE status = 'PENDING' AND due_at <= ${now} LIMIT 10000) AS bounded`,
      ),
  },
];
