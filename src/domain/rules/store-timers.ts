/** SQL on the table `rule_timers`. */
import { columns } from '../../platform/database/table.ts';
import { type RuleTimersRow, tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import sql, { type Sql } from 'sql-template-tag';
import { dueTimers, nextTimer, type TimerTable } from '../../platform/jobs/timers.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { forgetRebuilds } from '../../platform/jobs/rebuilds.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { CONFIG_VERSION } from '../../platform/unit-of-work/snapshot.ts';

const TIMERS: TimerTable = { name: 'rule_timers', alias: 't', due: 'due_at', pending: sql`t.due_at IS NOT NULL` };

const COLUMNS = columns(tables.rule_timers, 't');
export type TimerRow = RuleTimersRow;
export type PendingTimer = TimerRow & { dueAt: string };

const ORDER = sql`r."objectId", r."ruleId"`;
const MOVED = ['since', 'dueAt', 'ruleVersion', 'calendarVersion'] as const;

/** Sets timers, also those that fired. Rows are written in the order of the key, so that units cannot wait for each other. */
export const setTimer = insertInto(tables.rule_timers, {
  name: 'set_rule_timers',
  guard: false,
  records: ({ objectId }) => [objectId],
  order: ORDER,
  conflict: 'replace',
});

export const dropTimer = deleteFrom(tables.rule_timers, {
  name: 'drop_rule_timers',
  guard: false,
  records: ({ objectId }) => [objectId],
});

/** Takes a due timer: requires that it is as it was read. */
export const takeTimer = update(tables.rule_timers, {
  name: 'take_rule_timer',
  records: ({ objectId }) => [objectId],
  set: MOVED,
  given: { readSince: 'timestamptz', readDueAt: 'timestamptz' },
  where: sql`t.since = r."readSince" AND t.due_at = r."readDueAt"`,
});

/** The pending timer; undefined if there is none. */
export async function findTimer(
  ctx: ReadContext,
  { ruleId, objectId }: { ruleId: string; objectId: string },
): Promise<PendingTimer | undefined> {
  const rows = await ctx.query<PendingTimer>(sql`
    SELECT ${COLUMNS} FROM rule_timers t
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
): Promise<PendingTimer[]> {
  return await ctx.query(sql`
    SELECT ${COLUMNS} FROM rule_timers t JOIN ${inForceRows(inForce)} ON f.rule_id = t.rule_id
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
export const armTimer = insertInto(tables.rule_timers, {
  name: 'arm_rule_timers',
  guard: false,
  given: { isPast: 'boolean' },
  where: sql`NOT r."isPast" OR EXISTS (SELECT FROM rule_timers x
    WHERE x.object_id = r."objectId" AND x.rule_id = r."ruleId" AND x.due_at IS NOT NULL)`,
  order: ORDER,
  conflict: sql`(object_id, rule_id) DO UPDATE SET since = EXCLUDED.since, due_at = EXCLUDED.due_at,
      rule_version = EXCLUDED.rule_version, calendar_version = EXCLUDED.calendar_version
    WHERE t.due_at IS NOT NULL OR t.since <> EXCLUDED.since`,
});

/** Timers as they were read. One that was armed again meanwhile is already correct. */
const UNCHANGED = {
  guard: false,
  given: { readSince: 'timestamptz' },
  where: sql`t.since = r."readSince" AND t.due_at IS NOT NULL`,
  ordered: true,
} as const;

/** Moves pending timers that were computed again without a change of their records. */
export const moveTimer = update(tables.rule_timers, { name: 'move_rule_timers', set: MOVED, ...UNCHANGED });

/** Drops pending timers of records on which their rule cannot fire any more. */
export const dropStaleTimer = deleteFrom(tables.rule_timers, { name: 'drop_stale_rule_timers', ...UNCHANGED });

const ARMING = 'rule-timers/';

/** The rebuild that arms the rule on existing records, with the version of the rule. */
export function armingOf(ruleId: string): string {
  return `${ARMING}${ruleId}`;
}

export const ruleMoment = nextTimer(TIMERS, 'rule-timers');
