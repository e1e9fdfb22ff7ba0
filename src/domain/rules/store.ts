/** SQL on the table `rule_runs`. */
import { columns, omit, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { insertInto } from '../../platform/unit-of-work/table-writes.ts';
import sql, { type Sql } from 'sql-template-tag';
import { shownData } from '../../platform/journal/journal.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { HistoryRow } from '../objects/index.ts';

export const insertRun = insertInto(tables.rule_runs, {
  name: 'insert_rule_runs',
  guard: false,
  records: ({ objectId }) => [objectId],
});

const RUN = omit(tables.rule_runs, ['ruleId']);
export type RunRow = RowOf<typeof RUN>;

/** Runs of a rule that are kept and shown. */
export const RUNS_KEPT = 1000;

/** The runs of a rule on records for which `visible` holds, newest first. */
export async function listRuns(ctx: ReadContext, ruleId: string, visible: Sql, limit: number): Promise<RunRow[]> {
  return await ctx.query<RunRow>(sql`
    SELECT ${columns(RUN, 'r')} FROM rule_runs r WHERE r.rule_id = ${ruleId}::uuid AND ${visible}
    ORDER BY r.at DESC, r.id DESC LIMIT ${limit}::int`);
}

/** Id of a run → the events of its kind in its unit of work, without changes. Those of time-based rules have none. */
export async function listRunEvents(
  ctx: ReadContext,
  runs: readonly RunRow[],
): Promise<ReadonlyMap<string, HistoryRow[]>> {
  if (runs.length === 0) return new Map();
  const rows = await ctx.query<HistoryRow & { run: string }>(sql`
    SELECT r.id AS run, j.id, j.type, j.at, j.actor_id AS "actorId", NULL AS "actorName", j.via, j.revision, NULL AS changes,
      ${shownData('j')} AS data
    FROM rule_runs r JOIN journal j ON j.object_id = r.object_id AND j.at = r.at AND j.type = r.event_type
      AND j.correlation_id = r.correlation_id
    WHERE r.id = ANY(${runs.map(({ id }) => id)}::uuid[])`);
  return Map.groupBy(rows, ({ run }) => run);
}

const BATCH = 5000;

/** Deletes all but the newest runs of each rule, in bounded batches. @returns whether there may be more to delete */
export async function purgeRuleRuns(db: Queryable): Promise<boolean> {
  const rows = await db.query<{ removed: number }>(sql`
    WITH edge AS (
      SELECT i.rule_id, e.at, e.id FROM (SELECT DISTINCT rule_id FROM rule_runs) i,
        LATERAL (SELECT r.at, r.id FROM rule_runs r WHERE r.rule_id = i.rule_id
          ORDER BY r.at DESC, r.id DESC OFFSET ${RUNS_KEPT}::int LIMIT 1) e
    ), gone AS (
      DELETE FROM rule_runs WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM edge e JOIN rule_runs r ON r.rule_id = e.rule_id AND (r.at, r.id) <= (e.at, e.id)
        LIMIT ${BATCH}::int)) RETURNING 1
    ) SELECT count(*) AS removed FROM gone`);
  return (rows[0]?.removed ?? 0) >= BATCH;
}
