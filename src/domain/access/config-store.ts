/** SQL for the role assignments of the configuration bundle. */
import sql, { type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';

export interface StoredAssignment {
  roleId: string;
  /** Login of a user or code of a group. */
  name: string;
  kind: 'user' | 'group';
}

export async function loadAssignments(ctx: ReadContext): Promise<StoredAssignment[]> {
  return await ctx.query<StoredAssignment>(sql`
    SELECT a.role_id AS "roleId", a.member_type AS kind, coalesce(u.login, g.code) AS name
    FROM role_assignments a LEFT JOIN users u ON a.member_type = 'user' AND u.id = a.member_id
      LEFT JOIN groups g ON a.member_type = 'group' AND g.id = a.member_id
    WHERE u.id IS NOT NULL OR g.id IS NOT NULL`);
}

interface AssignmentRow {
  role_id: string;
  member_type: 'user' | 'group';
  member_id: string;
}

const COLUMNS = sql`(role_id uuid, member_type text, member_id uuid)`;

export const insertAssignment: TableWrite<AssignmentRow> = {
  name: 'bundle_insert_assignments',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO role_assignments (role_id, member_type, member_id)
    SELECT role_id, member_type, member_id FROM jsonb_to_recordset(${rows}) AS r ${COLUMNS}
    ON CONFLICT (role_id, member_type, member_id) DO NOTHING`,
};

export const dropAssignment: TableWrite<AssignmentRow> = {
  name: 'bundle_drop_assignments',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM role_assignments a USING jsonb_to_recordset(${rows}) AS r ${COLUMNS}
    WHERE a.role_id = r.role_id AND a.member_type = r.member_type AND a.member_id = r.member_id`,
};
