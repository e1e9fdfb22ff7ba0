/** Metrics on pending deliveries. */
import sql from 'sql-template-tag';
import { boundedCount, type DatabaseMetric, secondsSince } from '../../platform/observability/database-metrics.ts';

export const deliveryMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_deliveries_due',
    help: 'Deliveries whose next attempt is due, counted up to 10,000.',
    sql: (now) => boundedCount(sql`webhook_deliveries WHERE status = 'PENDING' AND due_at <= ${now}`),
  },
  {
    name: 'docket_deliveries_leased',
    help: 'Deliveries with an attempt in progress, counted up to 10,000.',
    sql: (now) =>
      boundedCount(sql`webhook_deliveries WHERE status = 'PENDING' AND lease IS NOT NULL AND due_at > ${now}`),
  },
  {
    name: 'docket_deliveries_pending',
    help: 'Unfinished deliveries, including those that wait for a retry, counted up to 10,000.',
    sql: () => boundedCount(sql`webhook_deliveries WHERE status = 'PENDING'`),
  },
  {
    name: 'docket_delivery_lag_seconds',
    help: 'Time since the oldest counted due delivery was due.',
    sql: (now) =>
      secondsSince(
        now,
        sql`SELECT min(due_at) FROM (SELECT due_at FROM webhook_deliveries
          WHERE status = 'PENDING' AND due_at <= ${now} LIMIT 10000) AS bounded`,
      ),
  },
];
