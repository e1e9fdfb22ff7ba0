/** Metrics on pending deliveries. */
import sql from 'sql-template-tag';
import { boundedCount, type DatabaseMetric, secondsSince } from '../../platform/observability/database-metrics.ts';

export const deliveryMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_deliveries_due',
    help: 'Deliveries whose next attempt may begin, counted up to 10,000.',
    sql: (now) => boundedCount(sql`webhook_deliveries WHERE status = 'PENDING' AND due_at <= ${now}`),
  },
  {
    name: 'docket_deliveries_leased',
    help: 'Deliveries that a worker is at, counted up to 10,000.',
    sql: (now) =>
      boundedCount(sql`webhook_deliveries WHERE status = 'PENDING' AND lease IS NOT NULL AND due_at > ${now}`),
  },
  {
    name: 'docket_deliveries_pending',
    help: 'Deliveries that are not finished, those that wait to be repeated included, counted up to 10,000.',
    sql: () => boundedCount(sql`webhook_deliveries WHERE status = 'PENDING'`),
  },
  {
    name: 'docket_delivery_lag_seconds',
    help: 'How long the first delivery that is due has been so, of those counted.',
    sql: (now) =>
      secondsSince(
        now,
        sql`SELECT min(due_at) FROM (SELECT due_at FROM webhook_deliveries
          WHERE status = 'PENDING' AND due_at <= ${now} LIMIT 10000) AS bounded`,
      ),
  },
];
