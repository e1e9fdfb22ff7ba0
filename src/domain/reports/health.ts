/** Integrity check of the facts of reports. `docket reindex` computes them again. */
import sql from 'sql-template-tag';
import { type Check, rowCheck } from '../../platform/audit/checks.ts';

/** While a rebuild runs, facts of older records may be missing. */
export const reportChecks: readonly Check[] = [
  rowCheck(
    'I11 facts of reports equal their records',
    sql`
      SELECT 'record ' || coalesce(o.id, f.id) AS what FROM objects o FULL JOIN report_facts f ON f.id = o.id
      WHERE NOT EXISTS (SELECT FROM report_rebuild) AND (o.type_id, o.state, o.workflow_state_id, o.created_at)
        IS DISTINCT FROM (f.type_id, f.state, f.workflow_state_id, f.created_at)`,
  ),
];
