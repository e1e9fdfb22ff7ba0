/** Metrics of the search index. */
import sql from 'sql-template-tag';
import { boundedCount, type DatabaseMetric } from '../../platform/observability/database-metrics.ts';

export const searchMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_search_rebuilding',
    help: '1 while the search index is being rebuilt.',
    sql: () => sql`SELECT count(*) FROM search_rebuild`,
  },
  {
    name: 'docket_search_rebuilt_rows',
    help: 'Rows written by the running rebuild.',
    sql: () => sql`SELECT done FROM search_rebuild`,
  },
  {
    name: 'docket_search_pending_words',
    help: 'Index rows whose words are not in the typo dictionary yet, counted up to 10,000.',
    sql: () => boundedCount(sql`search_pending_words`),
  },
];
