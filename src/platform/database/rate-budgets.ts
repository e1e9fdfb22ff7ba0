/** Request budgets shared by all processes: table `rate_budgets`. `http/rate-shared.ts` uses them. */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { Queryable } from './pool.ts';

/** One process's report and request for a caller. */
export interface Settlement {
  callerId: string;
  /** Requests admitted on credit since the last settlement. */
  spent: number;
  /** Milliseconds from now until these requests are covered by the refilled budget; null if there are none. */
  spentFor: number | null;
  /** Granted requests that are no longer needed. */
  returned: number;
  /** Requests wanted in advance. */
  wanted: number;
}

export interface Settled {
  callerId: string;
  granted: number;
  /**
   * Milliseconds from the settlement until the whole budget is available again, if the granted requests are used; negative if
   * it already is.
   */
  fullIn: number;
}

const WINDOW_MS = 60_000;

/** Settles for many callers at once; `db` may be the transaction of a unit. `interval`: milliseconds in which one request becomes available again. */
export async function settleBudgets(
  db: { query<Row>(statement: Sql): Promise<Row[]> },
  interval: number,
  settlements: readonly Settlement[],
): Promise<Settled[]> {
  const rows = JSON.stringify(
    settlements.map((one) => ({
      caller_id: one.callerId,
      spent: one.spent,
      spent_for: one.spentFor,
      returned: one.returned,
      wanted: one.wanted,
    })),
  );
  // Sorted, so that processes that settle for the same callers lock rows in the same order.
  const found = await db.query<{ caller_id: string; granted: number; full_in: number }>(sql`
    WITH clock AS MATERIALIZED (SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now),
    asked AS (
      SELECT r.caller_id, r.spent, r.returned, r.wanted, c.now, c.now + r.spent_for AS spent_until
      FROM jsonb_to_recordset(${rows}::jsonb) AS r (caller_id text, spent int, spent_for float8, returned int, wanted int)
        CROSS JOIN clock c
      ORDER BY r.caller_id)
    INSERT INTO rate_budgets AS b (caller_id, full_at, at, spent, returned, spent_until, wanted, granted)
    SELECT a.caller_id, n.full_at, a.now, a.spent, a.returned, a.spent_until, a.wanted, n.granted
    FROM asked a CROSS JOIN LATERAL (${next(raw('0::float8'), 'a', 'now', interval)}) n
    ON CONFLICT (caller_id) DO UPDATE SET at = excluded.at, spent = excluded.spent, returned = excluded.returned,
      spent_until = excluded.spent_until, wanted = excluded.wanted,
      (full_at, granted) = (${next(raw('b.full_at'), 'excluded', 'at', interval)})
    RETURNING b.caller_id, b.granted, b.full_at - b.at AS full_in`);
  return found.map((row) => ({ callerId: row.caller_id, granted: row.granted, fullIn: row.full_in }));
}

/**
 * The budget after a settlement. After the clock was set back, it is closed for at most two windows. Requests count from the
 * time they were admitted, not from now: a late report must not penalise the caller.
 */
function next(fullAt: Sql, asked: string, now: string, interval: number): Sql {
  const row = raw(asked);
  const at = raw(`${asked}.${now}`);
  return sql`SELECT CASE WHEN g.granted > 0 THEN greatest(s.full_at, ${at}) + g.granted * ${interval}::float8
        ELSE s.full_at END AS full_at, g.granted
    FROM (SELECT greatest(least(${fullAt}, ${at} + ${2 * WINDOW_MS}::float8) + ${row}.spent * ${interval}::float8,
        ${row}.spent_until) - ${row}.returned * ${interval}::float8 AS full_at) s
      CROSS JOIN LATERAL (SELECT least(${row}.wanted,
        greatest(0, floor((${at} + ${WINDOW_MS}::float8 - greatest(s.full_at, ${at})) / ${interval}::float8 + 1e-6)))::int
        AS granted) g`;
}

/** Deletes full budgets, at most 5000 per call. @returns how many */
export async function purgeBudgets(db: Queryable): Promise<number> {
  const rows = await db.query<{ one: number }>(sql`
    DELETE FROM rate_budgets WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM rate_budgets WHERE full_at < extract(epoch FROM now()) * 1000 - 60000 LIMIT 5000)) RETURNING 1 AS one`);
  return rows.length;
}
