/** Integrity checks and metrics of notifications. */
import sql from 'sql-template-tag';
import { type Check, rowCheck } from '../../platform/audit/checks.ts';
import { consumerMetrics } from '../../platform/journal/consumers.ts';
import { boundedCount, type DatabaseMetric } from '../../platform/observability/database-metrics.ts';
import { commentMissing } from '../comments/index.ts';
import { recordMissing } from '../objects/index.ts';
import { NOTIFICATIONS } from './store-make.ts';

export const notificationChecks: readonly Check[] = [
  rowCheck(
    'I4 no notification and no watch without its record or comment',
    sql`SELECT 'notification ' || n.id AS what FROM notifications n
      WHERE ${recordMissing(sql`n.object_id`)} OR (n.comment_id IS NOT NULL AND ${commentMissing(sql`n.comment_id`)})
      UNION ALL SELECT 'watch of ' || w.object_id AS what FROM notification_watchers w
      WHERE ${recordMissing(sql`w.object_id`)}`,
  ),
];

export const notificationMetrics: readonly DatabaseMetric[] = [
  ...consumerMetrics(NOTIFICATIONS, 'docket_notifications', 'whose notifications are not made'),
  {
    name: 'docket_notification_mails_due',
    help: 'Mails of notifications that are due and not sent, counted up to 10,000.',
    sql: (now) => boundedCount(sql`notification_mails WHERE due_at <= ${now}`),
  },
];
