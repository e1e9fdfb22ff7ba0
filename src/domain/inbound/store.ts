/** SQL on the table `inbound_runs`. */
import { userName } from '../../platform/journal/journal.ts';
import sql, { empty, type Sql } from 'sql-template-tag';
import type { ContractDetail } from '../../lib/fault.ts';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import type { Queryable } from '../../platform/database/pool.ts';

export type RunStatus = 'SUCCEEDED' | 'FAILED';

export interface RunError {
  code: string;
  message: string;
  details: ContractDetail[] | Record<string, unknown>;
}

export interface RunRow {
  id: string;
  integrationId: string;
  at: string;
  command: string;
  status: RunStatus;
  objectId: string | null;
  commentId: string | null;
  ownerId: string | null;
  ownerName: string | null;
  keyId: string | null;
  correlationId: string;
  error: RunError | null;
}

/** Maximum number of calls in a list. */
const SHOWN = 100;

export async function listRuns(
  ctx: ReadContext,
  integrationId: string,
  status: RunStatus | undefined,
): Promise<RunRow[]> {
  return await ctx.query<RunRow>(sql`
    SELECT r.id, r.integration_id AS "integrationId", r.at, r.command, r.status, r.object_id AS "objectId",
      r.comment_id AS "commentId", r.owner_id AS "ownerId",
      ${userName('r.owner_id')} AS "ownerName", r.key_id AS "keyId",
      r.correlation_id AS "correlationId", r.error
    FROM inbound_runs r WHERE r.integration_id = ${integrationId}::uuid
      ${status === undefined ? empty : sql`AND r.status = ${status}`}
    ORDER BY r.at DESC, r.id DESC LIMIT ${SHOWN}::int`);
}

export const insertRun: TableWrite<{
  id: string;
  integration_id: string;
  at: string;
  command: string;
  status: RunStatus;
  object_id: string | null;
  comment_id: string | null;
  owner_id: string | null;
  key_id: string | null;
  correlation_id: string;
  error: RunError | null;
}> = {
  name: 'insert_inbound_runs',
  guard: false,
  records: ({ object_id }) => [object_id],
  sql: (rows: Sql) => sql`
    INSERT INTO inbound_runs (id, integration_id, at, command, status, object_id, comment_id, owner_id, key_id, correlation_id, error)
    SELECT id, integration_id, at, command, status, object_id, comment_id, owner_id, key_id, correlation_id, error
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, integration_id uuid, at timestamptz, command text, status text,
      object_id uuid, comment_id uuid, owner_id uuid, key_id uuid, correlation_id text, error jsonb)`,
};

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
