/** Integrity checks of imports, and metrics of running imports. */
import sql from 'sql-template-tag';
import { type Check, rowCheck } from '../../platform/audit/checks.ts';
import { boundedCount, type DatabaseMetric, secondsSince } from '../../platform/observability/database-metrics.ts';
import { recordMissing } from '../objects/index.ts';

export const importChecks: readonly Check[] = [
  rowCheck(
    'I4 no external id of a record that is not there',
    sql`SELECT 'external id ' || e.external_id || ' of ' || e.source_code AS what FROM external_ids e
      WHERE e.target_kind = 'object' AND ${recordMissing(sql`e.target_id`)}`,
  ),
  rowCheck(
    'I4 no more rows of an import than it has, and as many as it counts',
    sql`SELECT 'import run ' || r.id AS what FROM import_runs r LEFT JOIN (
        SELECT w.run_id, count(*) AS rows, count(*) FILTER (WHERE w.status IN ('CREATED', 'UPDATED')) AS succeeded,
          count(*) FILTER (WHERE w.status = 'FAILED') AS failed
        FROM import_rows w GROUP BY w.run_id) w ON w.run_id = r.id
      WHERE w.rows > r.total OR (r.state = 'FINISHED' AND r.succeeded + r.failed + r.skipped <> r.total)
        OR (NOT r.dry_run AND r.state = 'FINISHED' AND (w.succeeded > r.succeeded OR w.failed > r.failed))`,
  ),
];

export const importMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_imports_running',
    help: 'Unfinished imports, including interrupted ones, counted up to 10,000.',
    sql: () => boundedCount(sql`import_runs WHERE state = 'RUNNING'`),
  },
  {
    name: 'docket_imports_idle_seconds',
    help: 'Time since the most recently active unfinished import wrote a row.',
    sql: (now) => secondsSince(now, sql`SELECT max(touched_at) FROM import_runs WHERE state = 'RUNNING'`),
  },
];
