/** SQL that loads users, groups and units for the configuration bundle. */
import sql from 'sql-template-tag';
import type { Localized } from '../../configuration/schemas.ts';
import type { ItemState } from '../../configuration/section.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

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
