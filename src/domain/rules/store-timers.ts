/** SQL on the table `rule_timers`. */
import sql, { type Sql } from 'sql-template-tag';
import { dueTimers, nextTimer, type TimerTable } from '../../platform/jobs/timers.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { forgetRebuilds } from '../../platform/jobs/rebuilds.ts';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import { CONFIG_VERSION } from '../../platform/unit-of-work/snapshot.ts';

const TIMERS: TimerTable = { name: 'rule_timers', alias: 't', due: 'due_at', pending: sql`t.due_at IS NOT NULL` };

/** A timer with the column names of the table. */
export interface TimerRow {
  rule_id: string;
  object_id: string;
  since: string;
  due_at: string | null;
  rule_version: number;
  calendar_version: number | null;
}

const ROW = sql`rule_id uuid, object_id uuid, since timestamptz, due_at timestamptz, rule_version integer,
  calendar_version integer`;

/** Sets timers, also those that fired. Rows are written in the order of the key, so that units cannot wait for each other. */
export const setTimer: TableWrite<TimerRow> = {
  name: 'set_rule_timers',
  guard: false,
  records: ({ object_id }) => [object_id],
  sql: (rows: Sql) => sql`
    INSERT INTO rule_timers AS t (rule_id, object_id, since, due_at, rule_version, calendar_version)
    SELECT rule_id, object_id, since, due_at, rule_version, calendar_version
    FROM jsonb_to_recordset(${rows}) AS r (${ROW}) ORDER BY object_id, rule_id
    ON CONFLICT (object_id, rule_id) DO UPDATE SET since = EXCLUDED.since, due_at = EXCLUDED.due_at,
      rule_version = EXCLUDED.rule_version, calendar_version = EXCLUDED.calendar_version`,
};

export const dropTimer: TableWrite<Pick<TimerRow, 'rule_id' | 'object_id'>> = {
  name: 'drop_rule_timers',
  guard: false,
  records: ({ object_id }) => [object_id],
  sql: (rows: Sql) => sql`
    DELETE FROM rule_timers t USING jsonb_to_recordset(${rows}) AS r (rule_id uuid, object_id uuid)
    WHERE t.object_id = r.object_id AND t.rule_id = r.rule_id`,
};

/** Takes a due timer: requires that it is as it was read. `next` is what it becomes. */
export const takeTimer: TableWrite<TimerRow & { read_since: string; read_due_at: string }> = {
  name: 'take_rule_timer',
  guard: true,
  records: ({ object_id }) => [object_id],
  sql: (rows: Sql) => sql`
    UPDATE rule_timers t SET since = r.since, due_at = r.due_at, rule_version = r.rule_version,
      calendar_version = r.calendar_version
    FROM jsonb_to_recordset(${rows}) AS r (${ROW}, read_since timestamptz, read_due_at timestamptz)
    WHERE t.object_id = r.object_id AND t.rule_id = r.rule_id AND t.since = r.read_since AND t.due_at = r.read_due_at
    RETURNING 1`,
};

/** The pending timer; undefined if there is none. */
export async function findTimer(
  ctx: ReadContext,
  { ruleId, objectId }: { ruleId: string; objectId: string },
): Promise<(TimerRow & { due_at: string }) | undefined> {
  const rows = await ctx.query<TimerRow & { due_at: string }>(sql`
    SELECT * FROM rule_timers t
    WHERE t.object_id = ${objectId}::uuid AND t.rule_id = ${ruleId}::uuid AND t.due_at IS NOT NULL`);
  return rows[0];
}

/** A time-based rule as it is now. */
export interface TimedInForce {
  rule_id: string;
  rule_version: number;
  /** Null without a calendar. */
  calendar_version: number | null;
}

function inForceRows(inForce: readonly TimedInForce[]): Sql {
  return sql`jsonb_to_recordset(${JSON.stringify(inForce)}::jsonb) AS f (rule_id uuid, rule_version integer,
    calendar_version integer)`;
}

/**
 * The oldest due timers, in a random order: other processes read the same ones. Without those of rules that are newer than the
 * configuration of this process: it would take them without firing.
 */
export async function listDue(
  ctx: ReadContext,
  inForce: readonly TimedInForce[],
  limit: number,
): Promise<{ ruleId: string; objectId: string }[]> {
  const known = sql`JOIN ${inForceRows(inForce)} ON f.rule_id = t.rule_id AND f.rule_version >= t.rule_version`;
  const due = dueTimers(TIMERS, sql`t.rule_id AS "ruleId", t.object_id AS "objectId"`, ctx.now, limit, known);
  return await ctx.query(sql`SELECT * FROM (${due}) AS due ORDER BY random()`);
}

/** Pending timers that were computed with older versions of their rule or its calendar. */
export async function listStale(
  ctx: ReadContext,
  inForce: readonly TimedInForce[],
  limit: number,
): Promise<(TimerRow & { due_at: string })[]> {
  return await ctx.query(sql`
    SELECT t.* FROM rule_timers t JOIN ${inForceRows(inForce)} ON f.rule_id = t.rule_id
    WHERE t.due_at IS NOT NULL AND (t.rule_version < f.rule_version
      OR t.calendar_version IS DISTINCT FROM f.calendar_version AND t.rule_version = f.rule_version)
    LIMIT ${limit}::int`);
}

/**
 * Deletes timers of rules that no longer exist, in bounded batches. Deletes nothing if there is a newer
 * configuration, whose rules would be missing here.
 *
 * @param rules ids of all time-based rules in the configuration with this version
 * @returns whether there may be more
 */
export async function purgeTimers(db: Queryable, rules: readonly string[], configVersion: number): Promise<boolean> {
  const isNewest = sql`${CONFIG_VERSION} = ${configVersion}::bigint`;
  await forgetRebuilds(db, ARMING, rules.map(armingOf), isNewest);
  const rows = await db.query<{ removed: number }>(sql`
    WITH gone AS (
      DELETE FROM rule_timers WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM rule_timers t WHERE t.rule_id <> ALL (${[...rules]}::uuid[]) AND ${isNewest}
        LIMIT ${BATCH}::int)) RETURNING 1
    ) SELECT count(*) AS removed FROM gone`);
  return (rows[0]?.removed ?? 0) >= BATCH;
}

const BATCH = 5000;

/**
 * Arms a rule on records without a change of them. A timer that fired stays so, unless its time counts from another moment. A
 * moment in the past (`is_past`) moves a pending timer, and makes no new one.
 */
export const armTimer: TableWrite<TimerRow & { is_past: boolean }> = {
  name: 'arm_rule_timers',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO rule_timers AS t (rule_id, object_id, since, due_at, rule_version, calendar_version)
    SELECT r.rule_id, r.object_id, r.since, r.due_at, r.rule_version, r.calendar_version
    FROM jsonb_to_recordset(${rows}) AS r (${ROW}, is_past boolean)
    WHERE NOT r.is_past OR EXISTS (SELECT FROM rule_timers x
      WHERE x.object_id = r.object_id AND x.rule_id = r.rule_id AND x.due_at IS NOT NULL)
    ORDER BY r.object_id, r.rule_id
    ON CONFLICT (object_id, rule_id) DO UPDATE SET since = EXCLUDED.since, due_at = EXCLUDED.due_at,
      rule_version = EXCLUDED.rule_version, calendar_version = EXCLUDED.calendar_version
    WHERE t.due_at IS NOT NULL OR t.since <> EXCLUDED.since`,
};

/** Pending timers as they were read, locked in the order of the key. One that was armed again meanwhile is already correct. */
function unchanged(rows: Sql): Sql {
  return sql`(SELECT r.* FROM jsonb_to_recordset(${rows}) AS r (${ROW}, read_since timestamptz)
    JOIN rule_timers l ON l.object_id = r.object_id AND l.rule_id = r.rule_id
    WHERE l.since = r.read_since AND l.due_at IS NOT NULL ORDER BY l.object_id, l.rule_id FOR UPDATE OF l) AS r`;
}

/** Moves pending timers that were computed again without a change of their records. */
export const moveTimer: TableWrite<TimerRow & { read_since: string }> = {
  name: 'move_rule_timers',
  guard: false,
  sql: (rows: Sql) => sql`
    UPDATE rule_timers t SET since = r.since, due_at = r.due_at, rule_version = r.rule_version,
      calendar_version = r.calendar_version
    FROM ${unchanged(rows)} WHERE t.object_id = r.object_id AND t.rule_id = r.rule_id`,
};

/** Drops pending timers of records on which their rule cannot fire any more. */
export const dropStaleTimer: TableWrite<Pick<TimerRow, 'rule_id' | 'object_id'> & { read_since: string }> = {
  name: 'drop_stale_rule_timers',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM rule_timers t USING ${unchanged(rows)} WHERE t.object_id = r.object_id AND t.rule_id = r.rule_id`,
};

const ARMING = 'rule-timers/';

/** The rebuild that arms the rule on existing records, with the version of the rule. */
export function armingOf(ruleId: string): string {
  return `${ARMING}${ruleId}`;
}

export const ruleMoment = nextTimer(TIMERS, 'rule-timers');
