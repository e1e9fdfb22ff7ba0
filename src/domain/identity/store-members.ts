/** SQL on memberships of groups and units: the rights that a change would give, and the items of the configuration. */
import sql, { empty, type Sql } from 'sql-template-tag';
import { columns, omit, type RowOf } from '../../platform/database/table.ts';
import { tables } from '../../platform/database/tables.ts';
import { deleteFrom, insertInto, update } from '../../platform/unit-of-work/table-writes.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { type Order, type RowWindow, readInOrder } from '../../platform/database/window.ts';
import type { ItemState } from '../../contract/state.ts';
import type { Localized } from '../../contract/schemas.ts';
import { rowVersion } from '../../platform/journal/positions.ts';

export type MemberType = 'user' | 'group';

const MEMBER_COLUMNS = omit(tables.group_members, ['createdAt']);
const ORG_MEMBER_COLUMNS = omit(tables.org_members, ['createdAt']);
export type GroupMember = RowOf<typeof MEMBER_COLUMNS>;
export type OrgMember = RowOf<typeof ORG_MEMBER_COLUMNS>;

/** Memberships in groups, as `m`. */
const MEMBER = columns(MEMBER_COLUMNS, 'm');
export const MEMBERS = sql`SELECT ${MEMBER} FROM group_members m`;
/** Memberships in units, as `m`. */
const ORG_MEMBER = columns(ORG_MEMBER_COLUMNS, 'm');
export const ORG_MEMBERS = sql`SELECT ${ORG_MEMBER} FROM org_members m`;

const OLDEST_FIRST: Order = { by: sql`m.created_at`, byType: 'timestamptz', id: sql`m.id`, idType: 'uuid' };

export interface Candidate {
  group: ItemState | null;
  member: ItemState | null;
  /** Id of the membership if it exists. */
  standing: string | null;
  /** Whether the group is the candidate itself or is inside it, directly or indirectly. */
  closes: boolean;
}

/**
 * Reads, in one statement, the states of a group and of a group that is to be its member, the membership, and whether it would
 * close a cycle. Archived groups count in cycles: they can be restored.
 */
export async function findNesting(ctx: ReadContext, groupId: string, memberId: string): Promise<Candidate> {
  const rows = await ctx.query<Candidate>(sql`
    SELECT (SELECT state FROM groups WHERE id = ${groupId}::uuid) AS "group",
      (SELECT state FROM groups WHERE id = ${memberId}::uuid) AS member,
      (SELECT id FROM group_members WHERE group_id = ${groupId}::uuid AND member_type = 'group'
        AND member_id = ${memberId}::uuid) AS standing,
      EXISTS (
        WITH RECURSIVE up AS (
          SELECT ${groupId}::uuid AS id
          UNION
          SELECT m.group_id FROM up JOIN group_members m ON m.member_type = 'group' AND m.member_id = up.id
        ) SELECT 1 FROM up WHERE id = ${memberId}::uuid) AS closes`);
  return rows[0] ?? { group: null, member: null, standing: null, closes: false };
}

export function groupMemberWindows(
  ctx: ReadContext,
  of: { groupId?: string | undefined; memberId?: string | undefined },
): AsyncGenerator<RowWindow<GroupMember>> {
  const { groupId, memberId } = of;
  const from = sql`group_members m WHERE true
    ${groupId === undefined ? empty : sql`AND m.group_id = ${groupId}::uuid`}
    ${memberId === undefined ? empty : sql`AND m.member_id = ${memberId}::uuid`}`;
  return readInOrder<GroupMember>(ctx, { columns: MEMBER, from }, OLDEST_FIRST);
}

export function orgMemberWindows(
  ctx: ReadContext,
  organizationUnitId: string | undefined,
): AsyncGenerator<RowWindow<OrgMember>> {
  const from = sql`org_members m WHERE true
    ${organizationUnitId === undefined ? empty : sql`AND m.organization_unit_id = ${organizationUnitId}::uuid`}`;
  return readInOrder<OrgMember>(ctx, { columns: ORG_MEMBER, from }, OLDEST_FIRST);
}

export const insertGroupMember = insertInto(tables.group_members, {
  name: 'insert_group_members',
  records: ({ memberId }) => [memberId],
  conflict: sql`(group_id, member_type, member_id) DO NOTHING`,
});

/** Deletes a membership; with `id`, only if it is still the same one. */
export const deleteGroupMember = deleteFrom(tables.group_members, {
  name: 'delete_group_members',
  records: ({ memberId }) => [memberId],
  key: ['groupId', 'memberType', 'memberId'],
  given: { id: 'uuid' },
  where: sql`t.id = coalesce(r.id, t.id)`,
});

export const insertOrgMember = insertInto(tables.org_members, {
  name: 'insert_org_members',
  records: ({ userId }) => [userId],
  conflict: sql`(user_id) DO NOTHING`,
});

/** What must still be stored: the unit that the user is in, and, if it is known, the membership. */
const EXPECTED_PLACE = {
  key: ['userId'],
  given: { id: 'uuid', expected: 'uuid' },
  where: sql`t.organization_unit_id = r.expected AND t.id = coalesce(r.id, t.id)`,
} as const;

export const moveOrgMember = update(tables.org_members, {
  name: 'move_org_members',
  records: ({ userId }) => [userId],
  set: ['organizationUnitId'],
  ...EXPECTED_PLACE,
});

export const deleteOrgMember = deleteFrom(tables.org_members, {
  name: 'delete_org_members',
  records: ({ userId }) => [userId],
  ...EXPECTED_PLACE,
});

/**
 * Rows `id`. A single id is a parameter of its own: the statement is then planned once. The plan of a statement with an array
 * depends on its length and is made again for each call, which costs several times as much as to run it.
 */
function idRows(ids: readonly string[]): Sql {
  return ids.length === 1 ? sql`SELECT ${ids[0]}::uuid AS id` : sql`SELECT unnest(${[...ids]}::uuid[]) AS id`;
}

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
  /** The rows of the user's own memberships, in their versions. */
  rows: string[];
}

/** The rows of a user's own memberships. Each change of one makes it another version. */
function ownRows(id: Sql): Sql {
  return sql`ARRAY(
    SELECT concat_ws(' ', m.id, ${rowVersion('m')}) FROM group_members m WHERE m.member_type = 'user' AND m.member_id = ${id}
    UNION ALL
    SELECT concat_ws(' ', m.id, ${rowVersion('m')}) FROM org_members m WHERE m.user_id = ${id} ORDER BY 1)`;
}

/** The rows of the user's own memberships now. @see Standing.rows */
export async function findOwnRows(ctx: ReadContext, userId: string): Promise<string[]> {
  const [row] = await ctx.query<{ rows: string[] }>(sql`SELECT ${ownRows(sql`${userId}::uuid`)} AS rows`);
  return row?.rows ?? [];
}

export async function loadStandings(ctx: ReadContext, userIds: readonly string[]): Promise<Standing[]> {
  if (userIds.length === 0) return [];
  return await ctx.query<Standing>(sql`
    WITH RECURSIVE asked AS (${idRows(userIds)}), held AS (
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
      coalesce((SELECT array_agg(r.id::text) FROM roles r WHERE r.person = u.id), '{}') AS roles,
      ${ownRows(sql`u.id`)} AS rows
    FROM asked u`);
}

interface Pair {
  start: string;
  id: string;
}

/** Each group with itself and the active groups that contain it, directly or indirectly, and the roles assigned to each of these. */
export async function groupsAround(
  ctx: ReadContext,
  groupIds: readonly string[],
): Promise<(Pair & { roles: string[] })[]> {
  return await ctx.query(sql`
    WITH RECURSIVE around AS (
      SELECT id AS start, id FROM (${idRows(groupIds)}) AS asked
      UNION
      SELECT a.start, m.group_id FROM around a JOIN group_members m ON m.member_type = 'group' AND m.member_id = a.id
        JOIN groups g ON g.id = m.group_id AND g.state = 'ACTIVE'
    ) SELECT start, id, ARRAY(SELECT r.role_id::text FROM role_assignments r
      WHERE r.member_type = 'group' AND r.member_id = around.id) AS roles FROM around`);
}

/** Each group with its users and those of the active groups inside it. */
export async function usersInside(ctx: ReadContext, groupIds: readonly string[]): Promise<Pair[]> {
  return await ctx.query<Pair>(sql`
    WITH RECURSIVE inside AS (
      SELECT id AS start, id FROM (${idRows(groupIds)}) AS asked
      UNION
      SELECT i.start, m.member_id FROM inside i JOIN group_members m ON m.member_type = 'group' AND m.group_id = i.id
        JOIN groups g ON g.id = m.member_id AND g.state = 'ACTIVE'
    ) SELECT DISTINCT i.start, m.member_id AS id FROM inside i JOIN group_members m ON m.member_type = 'user' AND m.group_id = i.id`);
}

/**
 * Whether one of the users holds one of the roles, directly or by a group. It starts at the groups of the roles: a user can be in
 * thousands of groups, of which few have a role.
 */
export async function holdAny(
  ctx: ReadContext,
  userIds: readonly string[],
  roleIds: readonly string[],
): Promise<boolean> {
  if (userIds.length === 0 || roleIds.length === 0) return false;
  const rows = await ctx.query<{ found: boolean }>(sql`
    WITH RECURSIVE asked AS (${idRows(userIds)}), assigned AS (
      SELECT a.member_type, a.member_id AS id FROM role_assignments a WHERE a.role_id IN (${idRows(roleIds)})
    ), inside AS (
      SELECT g.id FROM assigned a JOIN groups g ON g.id = a.id AND g.state = 'ACTIVE' WHERE a.member_type = 'group'
      UNION
      SELECT g.id FROM inside i JOIN group_members m ON m.group_id = i.id AND m.member_type = 'group'
        JOIN groups g ON g.id = m.member_id AND g.state = 'ACTIVE'
    )
    SELECT EXISTS (SELECT 1 FROM assigned a JOIN asked u ON u.id = a.id WHERE a.member_type = 'user')
      OR EXISTS (SELECT 1 FROM inside i JOIN group_members m ON m.group_id = i.id AND m.member_type = 'user'
        JOIN asked u ON u.id = m.member_id) AS found`);
  return rows[0]?.found === true;
}

/** Each unit with itself and the units above it, up to the first archived one. */
export async function unitsAbove(ctx: ReadContext, unitIds: readonly string[]): Promise<Pair[]> {
  return await ctx.query<Pair>(sql`
    WITH RECURSIVE above AS (
      SELECT o.id AS start, o.id, o.parent_id FROM org_units o WHERE o.id IN (${idRows(unitIds)})
      UNION
      SELECT a.start, o.id, o.parent_id FROM above a JOIN org_units o ON o.id = a.parent_id AND o.state = 'ACTIVE'
    ) SELECT start, id FROM above`);
}

/** Each unit with itself and the active units below it. */
export async function unitsBelow(ctx: ReadContext, unitIds: readonly string[]): Promise<Pair[]> {
  return await ctx.query<Pair>(sql`
    WITH RECURSIVE below AS (
      SELECT id AS start, id FROM (${idRows(unitIds)}) AS asked
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

/** Who changed a row last; null for the service itself. */
interface Changed {
  updatedAt: string;
  updatedBy: string | null;
}

export interface StoredUser extends Changed {
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
      u.external_id AS "externalId", o.code AS "orgUnit", u.state, u.revision,
      u.updated_at AS "updatedAt", u.updated_by AS "updatedBy"
    FROM users u LEFT JOIN org_members m ON m.user_id = u.id LEFT JOIN org_units o ON o.id = m.organization_unit_id
    ORDER BY u.login_key`);
}

export interface StoredGroup extends Changed {
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
    SELECT g.id, g.code, g.name, g.state, g.revision, g.updated_at AS "updatedAt", g.updated_by AS "updatedBy",
      coalesce((SELECT jsonb_agg(u.login) FROM group_members m JOIN users u ON u.id = m.member_id
        WHERE m.group_id = g.id AND m.member_type = 'user'), '[]') AS users,
      coalesce((SELECT jsonb_agg(i.code) FROM group_members m JOIN groups i ON i.id = m.member_id
        WHERE m.group_id = g.id AND m.member_type = 'group'), '[]') AS groups
    FROM groups g ORDER BY g.code_key`);
}

export interface StoredUnit extends Changed {
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
    SELECT o.id, o.code, o.name, p.code AS parent, u.login AS manager, o.location, o.state, o.revision,
      o.updated_at AS "updatedAt", o.updated_by AS "updatedBy"
    FROM org_units o LEFT JOIN org_units p ON p.id = o.parent_id LEFT JOIN users u ON u.id = o.manager_user_id
    ORDER BY o.code_key`);
}
