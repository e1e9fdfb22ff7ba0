/** SQL on the table `calendar_versions`: one row for each version of a calendar that an apply wrote. */
import sql, { type Sql } from 'sql-template-tag';
import type { TableWrite } from '../../platform/unit-of-work/context.ts';

export const insertCalendarVersion: TableWrite<{
  calendar_id: string;
  version: number;
  compiled: unknown;
  at: string;
}> = {
  name: 'insert_calendar_versions',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO calendar_versions (calendar_id, version, compiled, created_at)
    SELECT calendar_id, version, compiled, at
    FROM jsonb_to_recordset(${rows}) AS r (calendar_id uuid, version integer, compiled jsonb, at timestamptz)
    ON CONFLICT (calendar_id, version) DO NOTHING RETURNING 1`,
};
