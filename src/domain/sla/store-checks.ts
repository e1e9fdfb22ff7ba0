/** Consistency checks of SLA instances. */
import sql from 'sql-template-tag';
import { type Check, rowCheck } from '../../platform/audit/checks.ts';
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
