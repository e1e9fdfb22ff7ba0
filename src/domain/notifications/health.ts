/** Integrity checks and metrics of notifications. */
import sql from 'sql-template-tag';
import { type Check, rowCheck } from '../../platform/audit/checks.ts';
import {
  boundedCount,
  COUNT_BOUND,
  type DatabaseMetric,
  secondsSince,
} from '../../platform/observability/database-metrics.ts';
import { commentMissing } from '../comments/index.ts';
import { recordMissing } from '../objects/index.ts';

export const notificationChecks: readonly Check[] = [
  rowCheck(
    'I4 no notification and no watch without its record or comment',
    sql`SELECT 'notification ' || n.id AS what FROM notifications n
      WHERE ${recordMissing(sql`n.object_id`)} OR (n.comment_id IS NOT NULL AND ${commentMissing(sql`n.comment_id`)})
      UNION ALL SELECT 'watch of ' || w.object_id AS what FROM notification_watchers w
      WHERE ${recordMissing(sql`w.object_id`)}`,
  ),
  rowCheck(
    'I14 notifications are made up to a place that exists',
    sql`SELECT 'place ' || m.place AS what FROM notification_making m
      WHERE m.place > coalesce((SELECT max(place) FROM journal_places), 0)`,
  ),
];

export const notificationMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_notifications_pending',
    help: 'Events whose notifications are not made, counted up to 10,000.',
    sql: () => sql`
      SELECT least(coalesce((SELECT max(place) FROM journal_places), 0) - place, ${COUNT_BOUND}::int) FROM notification_making`,
  },
  {
    name: 'docket_notifications_lag_seconds',
    help: 'Age of the oldest event whose notifications are not made.',
    sql: (now) =>
      secondsSince(
        now,
        sql`SELECT j.at FROM notification_making m JOIN journal_places p ON p.place > m.place JOIN journal j ON j.seq = p.seq
          ORDER BY p.place LIMIT 1`,
      ),
  },
  {
    name: 'docket_notification_mails_due',
    help: 'Mails of notifications that are due and not sent, counted up to 10,000.',
    sql: (now) => boundedCount(sql`notification_mails WHERE due_at <= ${now}`),
  },
];
