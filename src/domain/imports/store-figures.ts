/** Metrics of running imports. */
import sql from 'sql-template-tag';
import { boundedCount, type DatabaseMetric, secondsSince } from '../../platform/observability/database-metrics.ts';

export const importMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_imports_running',
    help: 'Imports that began and did not end, interrupted ones included, counted up to 10,000.',
    sql: () => boundedCount(sql`import_runs WHERE state = 'RUNNING'`),
  },
  {
    name: 'docket_imports_silent_seconds',
    help: 'How long ago the import under way that was at work last wrote a row.',
    sql: (now) => secondsSince(now, sql`SELECT max(touched_at) FROM import_runs WHERE state = 'RUNNING'`),
  },
];
