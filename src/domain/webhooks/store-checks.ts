/** What must hold of deliveries after whatever happened (reliability, 5.1). */
import sql from 'sql-template-tag';
import { type Check, rowCheck, waiting } from '../../mechanisms/checks.ts';

export const webhookChecks: readonly Check[] = [
  // A minute at either end of a period: clocks of processes differ, and a period and an event may be written at once. Older
  // deliveries may have been purged.
  rowCheck(
    'I6 one delivery for each event and subscription that takes it',
    sql`SELECT 'event ' || j.id || ' for subscription ' || p.subscription_id AS what
      FROM webhook_periods p
      JOIN journal j ON j.type = ANY(p.event_types) AND j.at >= p.from_at + interval '1 minute'
        AND (p.until_at IS NULL OR j.at < p.until_at - interval '1 minute') AND j.at > now() - interval '13 days'
      WHERE NOT ${waiting(sql`j.id`)}
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event_id = j.id AND d.subscription_id = p.subscription_id)
      UNION ALL SELECT 'event ' || d.event_id || ' for subscription ' || d.subscription_id FROM webhook_deliveries d
      GROUP BY d.event_id, d.subscription_id HAVING count(*) > 1`,
  ),
  rowCheck(
    'I7 no lease beyond its time, no attempt too many',
    sql`SELECT 'delivery ' || d.id AS what FROM webhook_deliveries d
      WHERE d.attempt_count > d.max_attempts OR (d.lease IS NOT NULL AND d.due_at > now() + interval '10 minutes')
        OR (d.status <> 'PENDING' AND d.lease IS NOT NULL)
        OR d.attempt_count < (SELECT count(*) FROM webhook_attempts a WHERE a.delivery_id = d.id)`,
  ),
];
