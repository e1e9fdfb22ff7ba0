/** SQL on the table `inbound_runs`. */
import { columns } from '../../platform/database/table.ts';
import { type InboundRunsRow, tables } from '../../platform/database/tables.ts';
import { insertInto } from '../../platform/unit-of-work/table-writes.ts';
import { userName } from '../../platform/journal/journal.ts';
import sql, { empty } from 'sql-template-tag';
import type { ContractDetail } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';

export type RunStatus = 'SUCCEEDED' | 'FAILED';

export interface RunError {
  code: string;
  message: string;
  details: ContractDetail[] | Record<string, unknown>;
}

export interface RunRow extends InboundRunsRow {
  ownerName: string | null;
}

/** Maximum number of calls in a list. */
const SHOWN = 100;

export async function listRuns(
  ctx: ReadContext,
  integrationId: string,
  status: RunStatus | undefined,
): Promise<RunRow[]> {
  return await ctx.query<RunRow>(sql`
    SELECT ${columns(tables.inbound_runs, 'r')}, ${userName('r.owner_id')} AS "ownerName"
    FROM inbound_runs r WHERE r.integration_id = ${integrationId}::uuid
      ${status === undefined ? empty : sql`AND r.status = ${status}`}
    ORDER BY r.at DESC, r.id DESC LIMIT ${SHOWN}::int`);
}

export const insertRun = insertInto(tables.inbound_runs, {
  name: 'insert_inbound_runs',
  guard: false,
  records: ({ objectId }) => [objectId],
});

const BATCH = 5000;

/**
 * Deletes runs older than `before`, and all but the newest `kept` runs of each integration, in bounded batches.
 *
 * @returns whether there may be more to delete
 */
export async function purgeRuns(db: Queryable, before: string, kept: number): Promise<boolean> {
  const rows = await db.query<{ removed: number }>(sql`
    WITH edge AS (
      SELECT i.integration_id, e.at, e.id FROM (SELECT DISTINCT integration_id FROM inbound_runs) i,
        LATERAL (SELECT r.at, r.id FROM inbound_runs r WHERE r.integration_id = i.integration_id
          ORDER BY r.at DESC, r.id DESC OFFSET ${kept}::int LIMIT 1) e
    ), gone AS (
      DELETE FROM inbound_runs WHERE ctid = ANY (ARRAY(
        (SELECT r.ctid FROM inbound_runs r WHERE r.at < ${before}::timestamptz LIMIT ${BATCH}::int)
        UNION
        (SELECT r.ctid FROM edge e JOIN inbound_runs r ON r.integration_id = e.integration_id AND (r.at, r.id) <= (e.at, e.id)
          LIMIT ${BATCH}::int))) RETURNING 1
    ) SELECT count(*) AS removed FROM gone`);
  return (rows[0]?.removed ?? 0) >= BATCH;
}
