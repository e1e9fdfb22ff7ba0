/** Rows of people, groups and units as the configuration bundle reads and writes them. */
import sql, { type Sql } from 'sql-template-tag';
import type { Localized } from '../../mechanisms/config-schemas.ts';
import type { ItemState } from '../../mechanisms/config-section.ts';
import type { ReadContext, TableWrite } from '../../mechanisms/context.ts';

export interface StoredUser {
  id: string;
  login: string;
  displayName: string;
  email: string | null;
  locale: string | null;
  timezone: string | null;
  employeeId: string | null;
  externalId: string | null;
  orgUnit: string | null;
  state: ItemState;
  revision: number;
}

export async function loadUsers(ctx: ReadContext): Promise<StoredUser[]> {
  return await ctx.query<StoredUser>(sql`
    SELECT u.id, u.login, u.display_name AS "displayName", u.email, u.locale, u.timezone, u.employee_id AS "employeeId",
      u.external_id AS "externalId", o.code AS "orgUnit", u.state, u.revision
    FROM users u LEFT JOIN org_members m ON m.user_id = u.id LEFT JOIN org_units o ON o.id = m.organization_unit_id
    ORDER BY u.login_key`);
}

export interface StoredGroup {
  id: string;
  code: string;
  name: Localized;
  state: ItemState;
  revision: number;
  users: string[];
  groups: string[];
}

export async function loadGroups(ctx: ReadContext): Promise<StoredGroup[]> {
  return await ctx.query<StoredGroup>(sql`
    SELECT g.id, g.code, g.name, g.state, g.revision,
      coalesce((SELECT jsonb_agg(u.login) FROM group_members m JOIN users u ON u.id = m.member_id
        WHERE m.group_id = g.id AND m.member_type = 'user'), '[]') AS users,
      coalesce((SELECT jsonb_agg(i.code) FROM group_members m JOIN groups i ON i.id = m.member_id
        WHERE m.group_id = g.id AND m.member_type = 'group'), '[]') AS groups
    FROM groups g ORDER BY g.code_key`);
}

export interface StoredUnit {
  id: string;
  code: string;
  name: Localized;
  parent: string | null;
  manager: string | null;
  location: string | null;
  state: ItemState;
  revision: number;
}

export async function loadUnits(ctx: ReadContext): Promise<StoredUnit[]> {
  return await ctx.query<StoredUnit>(sql`
    SELECT o.id, o.code, o.name, p.code AS parent, u.login AS manager, o.location, o.state, o.revision
    FROM org_units o LEFT JOIN org_units p ON p.id = o.parent_id LEFT JOIN users u ON u.id = o.manager_user_id
    ORDER BY o.code_key`);
}

/** A user has one unit: a second one takes the place of the first. */
export const setOrgMember: TableWrite<{ id: string; organization_unit_id: string; user_id: string; at: string }> = {
  name: 'bundle_set_org_members',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO org_members (id, organization_unit_id, user_id, created_at)
    SELECT id, organization_unit_id, user_id, at
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, organization_unit_id uuid, user_id uuid, at timestamptz)
    ON CONFLICT (user_id) DO UPDATE SET organization_unit_id = excluded.organization_unit_id RETURNING 1`,
};

export const dropOrgMember: TableWrite<{ user_id: string }> = {
  name: 'bundle_drop_org_members',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM org_members m USING jsonb_to_recordset(${rows}) AS r (user_id uuid) WHERE m.user_id = r.user_id`,
};

interface MemberRow {
  group_id: string;
  member_type: 'user' | 'group';
  member_id: string;
}

export const insertGroupMember: TableWrite<MemberRow & { id: string; at: string }> = {
  name: 'bundle_insert_group_members',
  guard: false,
  sql: (rows: Sql) => sql`
    INSERT INTO group_members (id, group_id, member_type, member_id, created_at)
    SELECT id, group_id, member_type, member_id, at
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, group_id uuid, member_type text, member_id uuid, at timestamptz)
    ON CONFLICT (group_id, member_type, member_id) DO NOTHING`,
};

export const dropGroupMember: TableWrite<MemberRow> = {
  name: 'bundle_drop_group_members',
  guard: false,
  sql: (rows: Sql) => sql`
    DELETE FROM group_members m USING jsonb_to_recordset(${rows}) AS r (group_id uuid, member_type text, member_id uuid)
    WHERE m.group_id = r.group_id AND m.member_type = r.member_type AND m.member_id = r.member_id`,
};
