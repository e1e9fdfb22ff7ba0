/** Integrity checks of groups and units. */
import sql from 'sql-template-tag';
import { type Check, rowCheck } from '../../platform/audit/checks.ts';

export const identityChecks: readonly Check[] = [
  rowCheck(
    'I9 no group is in itself, near or far',
    sql`WITH RECURSIVE walk AS (
        SELECT m.group_id AS start, m.member_id AS at FROM group_members m WHERE m.member_type = 'group'
        UNION SELECT w.start, m.member_id FROM walk w
        JOIN group_members m ON m.group_id = w.at AND m.member_type = 'group' WHERE w.at <> w.start)
      SELECT 'group ' || g.code AS what FROM walk w JOIN groups g ON g.id = w.start WHERE w.at = w.start`,
  ),
  rowCheck(
    'I9 no unit is below itself',
    sql`WITH RECURSIVE walk AS (
        SELECT u.id AS start, u.parent_id AS at FROM org_units u WHERE u.parent_id IS NOT NULL
        UNION SELECT w.start, u.parent_id FROM walk w JOIN org_units u ON u.id = w.at
        WHERE u.parent_id IS NOT NULL AND w.at <> w.start)
      SELECT 'unit ' || u.code AS what FROM walk w JOIN org_units u ON u.id = w.start WHERE w.at = w.start`,
  ),
  rowCheck(
    'I9 a user is in at most one unit',
    sql`SELECT 'user ' || m.user_id AS what FROM org_members m GROUP BY m.user_id HAVING count(*) > 1`,
  ),
];
