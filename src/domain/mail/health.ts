/** Metrics of mail. */
import sql from 'sql-template-tag';
import { boundedCount, type DatabaseMetric, secondsSince } from '../../platform/observability/database-metrics.ts';
import { UNREADABLE } from './store.ts';

export const mailMetrics: readonly DatabaseMetric[] = [
  {
    name: 'docket_mail_listed',
    help: 'Received mails that were not used and wait in the list, counted up to 10,000.',
    sql: () => boundedCount(sql`mail_messages WHERE state = 'LISTED'`),
  },
  {
    name: 'docket_mails_pending',
    help: 'Mails that wait to be sent or tried again, counted up to 10,000.',
    sql: () => boundedCount(sql`mail_outgoing WHERE status = 'PENDING'`),
  },
  {
    name: 'docket_mails_failed',
    help: 'Mails of the last 91 days that were given up, counted up to 10,000.',
    sql: () => boundedCount(sql`mail_outgoing WHERE status = 'FAILED'`),
  },
  {
    name: 'docket_mails_bounced',
    help: 'Mails of the last 91 days that came back as not delivered, counted up to 10,000.',
    sql: () => boundedCount(sql`mail_bounces`),
  },
  {
    name: 'docket_mailbox_unreadable_seconds',
    help: 'Seconds since the first of the unreadable mailboxes failed; 0 if all can be read.',
    sql: (now) => secondsSince(now, sql`SELECT min(r.failing_since) FROM ${UNREADABLE}`),
  },
];
