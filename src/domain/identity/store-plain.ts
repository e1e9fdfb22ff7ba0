/**
 * What must be known of a membership of a user to decide whether it is plain and whether it grants anything
 * (docs/decisions/0024-plain-memberships-need-no-lock.md). Each look-up is one statement, so its facts belong to the structure
 * version that it returns. Concurrent requests share the statements.
 */
import sql, { raw, type Sql } from 'sql-template-tag';
import type { ItemState } from '../../contract/state.ts';
import { byId, type Lookup } from '../../platform/database/lookups.ts';
import { CONFIG_VERSION, STRUCTURE_VERSION } from '../../platform/unit-of-work/snapshot.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { activeArticleNames } from '../knowledge/index.ts';
import { MEMBERS, type GroupMember, ORG_MEMBERS, type OrgMember } from './store-members.ts';

/** The versions under which facts were read. */
interface FactVersions {
  structure: number;
  config: number;
}

/** What a membership of a user could grant. */
export interface Granting extends FactVersions {
  /** The group and the groups that contain it, or the unit and the units above it; also archived ones, which grant nothing. */
  around: string[];
  /**
   * The roles that the user holds, active or not, also by archived groups; null if the user is in too many groups to find them
   * quickly.
   */
  heldRoles: string[] | null;
  /** Whether the audience of an active article names one of `around` and not everyone. */
  inArticles: boolean;
}

interface MembershipFacts extends Granting {
  group: ItemState | null;
  member: ItemState | null;
  /** Id of the membership if it exists. */
  standing: string | null;
  /** Whether a role, active or not, is assigned to one of `around`. */
  givesRole: boolean;
}

interface PlaceFacts extends Granting {
  unit: ItemState | null;
  user: ItemState | null;
  standing: OrgMember | null;
}

/** Users in more groups are rare. Their memberships get the full check. */
const MAX_GROUPS = 100;

const VERSIONS = sql`${STRUCTURE_VERSION} AS structure, ${CONFIG_VERSION} AS config`;

/** Rows `id`: the group and the groups that contain it, directly or indirectly. */
function groupsAround(groupId: Sql): Sql {
  return sql`
    WITH RECURSIVE around AS (
      SELECT ${groupId} AS id
      UNION
      SELECT m.group_id FROM around a JOIN group_members m ON m.member_type = 'group' AND m.member_id = a.id
    ) SELECT id FROM around`;
}

function givesRole(groupIds: Sql): Sql {
  return sql`EXISTS (SELECT FROM role_assignments r WHERE r.member_type = 'group' AND r.member_id = ANY (${groupIds}))`;
}

function heldRoles(userId: Sql): Sql {
  const most = raw(String(MAX_GROUPS));
  return sql`CASE WHEN (SELECT count(*) FROM (
      SELECT FROM group_members m WHERE m.member_type = 'user' AND m.member_id = ${userId} LIMIT ${most} + 1) AS n) <= ${most}
    THEN ARRAY(
      WITH RECURSIVE held AS (
        SELECT m.group_id AS id FROM group_members m WHERE m.member_type = 'user' AND m.member_id = ${userId}
        UNION
        SELECT m.group_id FROM held h JOIN group_members m ON m.member_type = 'group' AND m.member_id = h.id
      )
      SELECT r.role_id::text FROM role_assignments r WHERE r.member_type = 'user' AND r.member_id = ${userId}
      UNION
      SELECT r.role_id::text FROM held h JOIN role_assignments r ON r.member_type = 'group' AND r.member_id = h.id
    ) END`;
}

// A key is named once in each look-up: it is one parameter.
const membershipFacts: Lookup<MembershipFacts, { groupId: string; memberId: string }> = {
  key: { groupId: 'uuid', memberId: 'uuid' },
  sql: ({ groupId, memberId }) => sql`
    SELECT ${VERSIONS}, a.ids::text[] AS around, ${givesRole(sql`a.ids`)} AS "givesRole",
      ${activeArticleNames(sql`a.ids`)} AS "inArticles", ${heldRoles(sql`q.member_id`)} AS "heldRoles",
      (SELECT state FROM groups WHERE id = q.group_id) AS "group",
      (SELECT state FROM users WHERE id = q.member_id) AS member,
      (SELECT m.id FROM group_members m
        WHERE m.group_id = q.group_id AND m.member_type = 'user' AND m.member_id = q.member_id) AS standing
    FROM (SELECT ${groupId} AS group_id, ${memberId} AS member_id) AS q
      CROSS JOIN LATERAL (SELECT ARRAY(${groupsAround(sql`q.group_id`)}) AS ids OFFSET 0) AS a`,
};

/** The states of a group and a user, the membership, and what it could grant. */
export async function findMembershipFacts(
  ctx: ReadContext,
  groupId: string,
  memberId: string,
): Promise<MembershipFacts> {
  return required(await ctx.find(membershipFacts, { groupId, memberId }));
}

const placeFacts: Lookup<PlaceFacts, { unitId: string; userId: string }> = {
  key: { unitId: 'uuid', userId: 'uuid' },
  sql: ({ unitId, userId }) => sql`
    SELECT ${VERSIONS}, a.ids::text[] AS around, ${activeArticleNames(sql`a.ids`)} AS "inArticles",
      ${heldRoles(sql`q.user_id`)} AS "heldRoles",
      (SELECT state FROM org_units WHERE id = q.unit_id) AS unit,
      (SELECT state FROM users WHERE id = q.user_id) AS "user",
      (SELECT to_jsonb(s) FROM (${ORG_MEMBERS} WHERE m.user_id = q.user_id) AS s) AS standing
    FROM (SELECT ${unitId} AS unit_id, ${userId} AS user_id) AS q
      CROSS JOIN LATERAL (SELECT ARRAY(
        WITH RECURSIVE above AS (
          SELECT o.id, o.parent_id FROM org_units o WHERE o.id = q.unit_id
          UNION
          SELECT o.id, o.parent_id FROM above a JOIN org_units o ON o.id = a.parent_id
        ) SELECT id FROM above) AS ids OFFSET 0) AS a`,
};

/** The states of a unit and a user, the unit that the user is in, and what the place could grant. */
export async function findPlaceFacts(ctx: ReadContext, unitId: string, userId: string): Promise<PlaceFacts> {
  return required(await ctx.find(placeFacts, { unitId, userId }));
}

type StoredMember = GroupMember & FactVersions & { givesRole: boolean };

const memberFacts = byId<StoredMember>(
  (id) => sql`
    SELECT m.*, ${VERSIONS}, ${givesRole(sql`ARRAY(${groupsAround(sql`m."groupId"`)})`)} AS "givesRole"
    FROM (${MEMBERS} WHERE m.id = ${id}) AS m`,
);

/** A membership in a group, and whether it gives a role. */
export async function findMemberFacts(ctx: ReadContext, id: string): Promise<StoredMember | undefined> {
  return await ctx.find(memberFacts, { id });
}

type StoredPlace = OrgMember & FactVersions;

const orgMemberFacts = byId<StoredPlace>(
  (id) => sql`SELECT m.*, ${VERSIONS} FROM (${ORG_MEMBERS} WHERE m.id = ${id}) AS m`,
);

/** A membership in a unit. */
export async function findOrgMemberFacts(ctx: ReadContext, id: string): Promise<StoredPlace | undefined> {
  return await ctx.find(orgMemberFacts, { id });
}

function required<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('the look-up returned no row');
  return row;
}
