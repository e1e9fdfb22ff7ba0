/** SQL on memberships of groups and units. */
import sql, { empty, type Sql } from 'sql-template-tag';
import type { ReadContext, TableWrite } from '../../platform/unit-of-work/context.ts';
import type { State } from './store.ts';

export type MemberType = 'user' | 'group';

export interface GroupMember {
  id: string;
  groupId: string;
  memberId: string;
  memberType: MemberType;
}

export interface OrgMember {
  id: string;
  organizationUnitId: string;
  userId: string;
}

const MEMBERS = sql`SELECT m.id, m.group_id AS "groupId", m.member_id AS "memberId", m.member_type AS "memberType" FROM group_members m`;
const ORG_MEMBERS = sql`SELECT m.id, m.organization_unit_id AS "organizationUnitId", m.user_id AS "userId" FROM org_members m`;

export interface Candidate {
  group: State | null;
  member: State | null;
  /** Id of the membership if it exists. */
  standing: string | null;
  /** Whether the group is the candidate itself or is inside it, directly or indirectly. */
  closes: boolean;
}

/**
 * Reads, in one statement, the states of a group and a candidate, the membership, and whether it would close a cycle. Archived
 * groups count in cycles: they can be restored.
 */
export async function findMembership(
  ctx: ReadContext,
  { groupId, memberId, memberType }: Omit<GroupMember, 'id'>,
): Promise<Candidate> {
  const members = memberType === 'user' ? sql`users` : sql`groups`;
  const closes = sql`EXISTS (
    WITH RECURSIVE up AS (
      SELECT ${groupId}::uuid AS id
      UNION
      SELECT m.group_id FROM up JOIN group_members m ON m.member_type = 'group' AND m.member_id = up.id
    ) SELECT 1 FROM up WHERE id = ${memberId}::uuid)`;
  const rows = await ctx.query<Candidate>(sql`
    SELECT (SELECT state FROM groups WHERE id = ${groupId}::uuid) AS "group",
      (SELECT state FROM ${members} WHERE id = ${memberId}::uuid) AS member,
      (SELECT id FROM group_members WHERE group_id = ${groupId}::uuid AND member_type = ${memberType}
        AND member_id = ${memberId}::uuid) AS standing,
      ${memberType === 'group' ? closes : sql`false`} AS closes`);
  return rows[0] ?? { group: null, member: null, standing: null, closes: false };
}

export async function findGroupMember(ctx: ReadContext, id: string): Promise<GroupMember | undefined> {
  return (await ctx.query<GroupMember>(sql`${MEMBERS} WHERE m.id = ${id}::uuid`))[0];
}

export async function listGroupMembers(
  ctx: ReadContext,
  of: { groupId?: string | undefined; memberId?: string | undefined },
): Promise<GroupMember[]> {
  const { groupId, memberId } = of;
  return await ctx.query<GroupMember>(sql`${MEMBERS} WHERE true
    ${groupId === undefined ? empty : sql`AND m.group_id = ${groupId}::uuid`}
    ${memberId === undefined ? empty : sql`AND m.member_id = ${memberId}::uuid`} ORDER BY m.created_at, m.id`);
}

export async function findOrgMember(ctx: ReadContext, id: string): Promise<OrgMember | undefined> {
  return (await ctx.query<OrgMember>(sql`${ORG_MEMBERS} WHERE m.id = ${id}::uuid`))[0];
}

export async function listOrgMembers(ctx: ReadContext, organizationUnitId: string | undefined): Promise<OrgMember[]> {
  return await ctx.query<OrgMember>(sql`${ORG_MEMBERS}
    ${organizationUnitId === undefined ? empty : sql`WHERE m.organization_unit_id = ${organizationUnitId}::uuid`}
    ORDER BY m.created_at, m.id`);
}

/** Reads, in one statement, the states of a unit and a user and the user's current membership. */
export async function findPlace(
  ctx: ReadContext,
  unitId: string,
  userId: string,
): Promise<{ unit: State | null; user: State | null; standing: OrgMember | null }> {
  const rows = await ctx.query<{ unit: State | null; user: State | null; standing: OrgMember | null }>(sql`
    SELECT (SELECT state FROM org_units WHERE id = ${unitId}::uuid) AS unit,
      (SELECT state FROM users WHERE id = ${userId}::uuid) AS "user",
      (SELECT to_jsonb(s) FROM (${ORG_MEMBERS} WHERE m.user_id = ${userId}::uuid) s) AS standing`);
  return rows[0] ?? { unit: null, user: null, standing: null };
}

const GROUP_MEMBER = sql`(id uuid, group_id uuid, member_type text, member_id uuid, at timestamptz)`;

interface MemberWrite {
  id: string;
  group_id: string;
  member_type: MemberType;
  member_id: string;
  at: string;
}

export const insertGroupMember: TableWrite<MemberWrite> = {
  name: 'insert_group_members',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO group_members (id, group_id, member_type, member_id, created_at)
    SELECT id, group_id, member_type, member_id, at FROM jsonb_to_recordset(${rows}) AS r ${GROUP_MEMBER}
    ON CONFLICT (group_id, member_type, member_id) DO NOTHING RETURNING 1`,
};

export const deleteGroupMember: TableWrite<Omit<MemberWrite, 'id' | 'at'>> = {
  name: 'delete_group_members',
  guard: true,
  sql: (rows: Sql) => sql`
    DELETE FROM group_members m USING jsonb_to_recordset(${rows}) AS r (group_id uuid, member_type text, member_id uuid)
    WHERE m.group_id = r.group_id AND m.member_type = r.member_type AND m.member_id = r.member_id RETURNING 1`,
};

export const insertOrgMember: TableWrite<{ id: string; organization_unit_id: string; user_id: string; at: string }> = {
  name: 'insert_org_members',
  guard: true,
  sql: (rows: Sql) => sql`
    INSERT INTO org_members (id, organization_unit_id, user_id, created_at)
    SELECT id, organization_unit_id, user_id, at
    FROM jsonb_to_recordset(${rows}) AS r (id uuid, organization_unit_id uuid, user_id uuid, at timestamptz)
    ON CONFLICT (user_id) DO NOTHING RETURNING 1`,
};

/** Moves a user only from the expected unit. */
export const moveOrgMember: TableWrite<{ user_id: string; organization_unit_id: string; expected: string }> = {
  name: 'move_org_members',
  guard: true,
  sql: (rows: Sql) => sql`
    UPDATE org_members m SET organization_unit_id = r.organization_unit_id
    FROM jsonb_to_recordset(${rows}) AS r (user_id uuid, organization_unit_id uuid, expected uuid)
    WHERE m.user_id = r.user_id AND m.organization_unit_id = r.expected RETURNING 1`,
};

export const deleteOrgMember: TableWrite<{ user_id: string; expected: string }> = {
  name: 'delete_org_members',
  guard: true,
  sql: (rows: Sql) => sql`
    DELETE FROM org_members m USING jsonb_to_recordset(${rows}) AS r (user_id uuid, expected uuid)
    WHERE m.user_id = r.user_id AND m.organization_unit_id = r.expected RETURNING 1`,
};
