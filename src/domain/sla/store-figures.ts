/** Metrics on the delay of SLA timers. */
import sql from 'sql-template-tag';
import { boundedCount, type DatabaseMetric, secondsSince } from '../../platform/observability/database-metrics.ts';

export const timerMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_sla_timers_due',
    help: 'Timers of service levels whose time has come, counted up to 10,000.',
    sql: (now) => boundedCount(sql`sla_instances WHERE status <> 'STOPPED' AND next_at <= ${now}`),
  },
  {
    name: 'docket_sla_timer_lag_seconds',
    help: 'How late the first timer of a service level is.',
    sql: (now) =>
      secondsSince(
        now,
        sql`SELECT next_at FROM sla_instances WHERE status <> 'STOPPED' AND next_at <= ${now} ORDER BY next_at LIMIT 1`,
      ),
  },
];
