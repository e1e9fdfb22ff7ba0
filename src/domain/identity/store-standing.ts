/** SQL on the effect of memberships: the groups, units and roles of users, and the users whom a change of the trees affects. */
import sql from 'sql-template-tag';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';

/** What rights depend on: all direct and indirect memberships of a user, and the roles that they hold. */
export interface Standing {
  userId: string;
  /** Active groups, including those that contain another group of the user. */
  groups: string[];
  unit: string | null;
  /** The unit and all active units below it. */
  unitsBelow: string[];
  /** The unit and all units above it, up to the first archived one. */
  unitsAbove: string[];
  /** Roles, active or not. */
  roles: string[];
}

export async function loadStandings(ctx: ReadContext, userIds: readonly string[]): Promise<Standing[]> {
  if (userIds.length === 0) return [];
  return await ctx.query<Standing>(sql`
    WITH RECURSIVE asked AS (SELECT unnest(${[...userIds]}::uuid[]) AS id), held AS (
      SELECT m.member_id AS person, m.group_id AS id FROM asked u JOIN group_members m ON m.member_type = 'user' AND m.member_id = u.id
        JOIN groups g ON g.id = m.group_id AND g.state = 'ACTIVE'
      UNION
      SELECT h.person, m.group_id FROM held h JOIN group_members m ON m.member_type = 'group' AND m.member_id = h.id
        JOIN groups g ON g.id = m.group_id AND g.state = 'ACTIVE'
    ), below AS (
      SELECT m.user_id AS person, m.organization_unit_id AS id FROM asked u JOIN org_members m ON m.user_id = u.id
      UNION
      SELECT b.person, o.id FROM below b JOIN org_units o ON o.parent_id = b.id AND o.state = 'ACTIVE'
    ), above AS (
      SELECT m.user_id AS person, o.id, o.parent_id FROM asked u JOIN org_members m ON m.user_id = u.id
        JOIN org_units o ON o.id = m.organization_unit_id AND o.state = 'ACTIVE'
      UNION
      SELECT a.person, o.id, o.parent_id FROM above a JOIN org_units o ON o.id = a.parent_id AND o.state = 'ACTIVE'
    ), roles AS (
      SELECT a.member_id AS person, a.role_id AS id FROM asked u JOIN role_assignments a ON a.member_type = 'user' AND a.member_id = u.id
      UNION
      SELECT h.person, a.role_id FROM held h JOIN role_assignments a ON a.member_type = 'group' AND a.member_id = h.id
    )
    SELECT u.id AS "userId",
      coalesce((SELECT array_agg(h.id::text) FROM held h WHERE h.person = u.id), '{}') AS groups,
      (SELECT m.organization_unit_id FROM org_members m WHERE m.user_id = u.id) AS unit,
      coalesce((SELECT array_agg(b.id::text) FROM below b WHERE b.person = u.id), '{}') AS "unitsBelow",
      coalesce((SELECT array_agg(a.id::text) FROM above a WHERE a.person = u.id), '{}') AS "unitsAbove",
      coalesce((SELECT array_agg(r.id::text) FROM roles r WHERE r.person = u.id), '{}') AS roles
    FROM asked u`);
}

interface Pair {
  start: string;
  id: string;
}

/** Each group with itself and the active groups that contain it, directly or indirectly. */
export async function groupsAround(ctx: ReadContext, groupIds: readonly string[]): Promise<Pair[]> {
  return await ctx.query<Pair>(sql`
    WITH RECURSIVE around AS (
      SELECT id AS start, id FROM unnest(${[...groupIds]}::uuid[]) AS asked (id)
      UNION
      SELECT a.start, m.group_id FROM around a JOIN group_members m ON m.member_type = 'group' AND m.member_id = a.id
        JOIN groups g ON g.id = m.group_id AND g.state = 'ACTIVE'
    ) SELECT start, id FROM around`);
}

/** Each group with its users and those of the active groups inside it. */
export async function usersInside(ctx: ReadContext, groupIds: readonly string[]): Promise<Pair[]> {
  return await ctx.query<Pair>(sql`
    WITH RECURSIVE inside AS (
      SELECT id AS start, id FROM unnest(${[...groupIds]}::uuid[]) AS asked (id)
      UNION
      SELECT i.start, m.member_id FROM inside i JOIN group_members m ON m.member_type = 'group' AND m.group_id = i.id
        JOIN groups g ON g.id = m.member_id AND g.state = 'ACTIVE'
    ) SELECT DISTINCT i.start, m.member_id AS id FROM inside i JOIN group_members m ON m.member_type = 'user' AND m.group_id = i.id`);
}

/** Each group with the roles that are assigned to it directly. */
export async function rolesOfGroups(ctx: ReadContext, groupIds: readonly string[]): Promise<Pair[]> {
  return await ctx.query<Pair>(sql`
    SELECT member_id AS start, role_id AS id FROM role_assignments
    WHERE member_type = 'group' AND member_id = ANY(${[...groupIds]}::uuid[])`);
}

/** The roles that at least one of the users holds, directly or by a group. */
export async function rolesOfUsers(ctx: ReadContext, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return [];
  const rows = await ctx.query<{ id: string }>(sql`
    WITH RECURSIVE asked AS (SELECT unnest(${[...userIds]}::uuid[]) AS id), held AS (
      SELECT DISTINCT g.id FROM asked u JOIN group_members m ON m.member_type = 'user' AND m.member_id = u.id
        JOIN groups g ON g.id = m.group_id AND g.state = 'ACTIVE'
      UNION
      SELECT g.id FROM held h JOIN group_members m ON m.member_type = 'group' AND m.member_id = h.id
        JOIN groups g ON g.id = m.group_id AND g.state = 'ACTIVE'
    )
    SELECT a.role_id AS id FROM role_assignments a JOIN asked u ON a.member_type = 'user' AND a.member_id = u.id
    UNION
    SELECT a.role_id FROM role_assignments a JOIN held h ON a.member_type = 'group' AND a.member_id = h.id`);
  return rows.map(({ id }) => id);
}

/** Each unit with itself and the units above it, up to the first archived one. */
export async function unitsAbove(ctx: ReadContext, unitIds: readonly string[]): Promise<Pair[]> {
  return await ctx.query<Pair>(sql`
    WITH RECURSIVE above AS (
      SELECT o.id AS start, o.id, o.parent_id FROM org_units o WHERE o.id = ANY(${[...unitIds]}::uuid[])
      UNION
      SELECT a.start, o.id, o.parent_id FROM above a JOIN org_units o ON o.id = a.parent_id AND o.state = 'ACTIVE'
    ) SELECT start, id FROM above`);
}

/** Each unit with itself and the active units below it. */
export async function unitsBelow(ctx: ReadContext, unitIds: readonly string[]): Promise<Pair[]> {
  return await ctx.query<Pair>(sql`
    WITH RECURSIVE below AS (
      SELECT id AS start, id FROM unnest(${[...unitIds]}::uuid[]) AS asked (id)
      UNION
      SELECT b.start, o.id FROM below b JOIN org_units o ON o.parent_id = b.id AND o.state = 'ACTIVE'
    ) SELECT start, id FROM below`);
}

/** The direct members of the units. */
export async function usersOfUnits(ctx: ReadContext, unitIds: readonly string[]): Promise<string[]> {
  const rows = await ctx.query<{ id: string }>(sql`
    SELECT user_id AS id FROM org_members WHERE organization_unit_id = ANY(${[...unitIds]}::uuid[])`);
  return rows.map(({ id }) => id);
}
