/** Consistency checks of SLA instances, and metrics on the delay of their timers. */
import sql from 'sql-template-tag';
import { type Check, rowCheck } from '../../platform/audit/checks.ts';
import { boundedCount, type DatabaseMetric, secondsSince } from '../../platform/observability/database-metrics.ts';
import { recordMissing } from '../objects/index.ts';

export const slaChecks: readonly Check[] = [
  rowCheck(
    'I4 no SLA instance without its record',
    sql`SELECT 'instance ' || i.id AS what FROM sla_instances i WHERE ${recordMissing(sql`i.object_id`)}`,
  ),
  rowCheck(
    'I4 one running SLA instance of a record and policy at most',
    sql`SELECT 'record ' || i.object_id AS what FROM sla_instances i WHERE i.status <> 'STOPPED'
      GROUP BY i.object_id, i.policy_id HAVING count(*) > 1`,
  ),
];

export const timerMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_sla_timers_due',
    help: 'SLA timers that are due, counted up to 10,000.',
    sql: (now) => boundedCount(sql`sla_instances WHERE status <> 'STOPPED' AND next_at <= ${now}`),
  },
  {
    name: 'docket_sla_timer_lag_seconds',
    help: 'Time since the oldest due SLA timer was due.',
    sql: (now) =>
      secondsSince(
        now,
        sql`SELECT next_at FROM sla_instances WHERE status <> 'STOPPED' AND next_at <= ${now} ORDER BY next_at LIMIT 1`,
      ),
  },
];
