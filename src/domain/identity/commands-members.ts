/**
 * Memberships of groups and organisation units. A lock for writers prevents cycles. Unique indexes prevent duplicate
 * memberships. A user moves only from the unit that the caller expects.
 */
import { Fault } from '../../lib/fault.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { join, leave, place } from './changes.ts';
import { requireMayHandOn } from './escalation.ts';
import { requireActive, unknown } from './rules.ts';
import { accessLock } from './store.ts';
import {
  findGroupMember,
  findMembership,
  findOrgMember,
  findPlace,
  type GroupMember,
  type MemberType,
  type OrgMember,
} from './store-members.ts';

/**
 * Makes a user or a group a member of a group (docs/spec/identity.md). An existing membership is returned
 * unchanged.
 *
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST (no such group or member), ROLE_ESCALATION, ARCHIVED, GROUP_CYCLE
 */
export async function addGroupMember(
  ctx: WriteContext,
  input: { groupId: string; memberId: string; memberType?: MemberType | undefined },
): Promise<GroupMember> {
  ctx.actor.require('user.administer');
  const memberType = input.memberType ?? 'user';
  const { groupId, memberId } = input;
  // From here on no concurrent transaction can put a group into another.
  if (memberType === 'group') await ctx.lock(accessLock());
  const { group, member, standing, closes } = await findMembership(ctx, { groupId, memberId, memberType });
  if (group === null) throw unknown('groupId', 'group');
  if (member === null) throw unknown('memberId', memberType);
  if (standing !== null) return { id: standing, groupId, memberId, memberType };
  await requireMayHandOn(ctx, { members: [{ groupId, memberId, memberType }] });
  ctx.markAuthorized();
  requireActive('group', group);
  requireActive('member', member);
  if (closes) {
    throw new Fault('GROUP_CYCLE', 'The group would be inside of itself; take it out of the other one first.');
  }
  const id = join(ctx, { groupId, memberId, memberType });
  return { id, groupId, memberId, memberType };
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND, ROLE_ESCALATION, LAST_ADMINISTRATOR */
export async function removeGroupMember(ctx: WriteContext, id: string): Promise<GroupMember> {
  ctx.actor.require('user.administer');
  const membership = await findGroupMember(ctx, id);
  if (membership === undefined) throw new Fault('NOT_FOUND', 'There is no such membership.');
  leave(ctx, membership, id);
  return membership;
}

function elsewhere(): Fault {
  return new Fault(
    'ORG_UNIT_CONFLICT',
    'The user is not in the unit that you expected; read where they are, and decide whether to move them.',
  );
}

/**
 * Puts a user into a unit, or moves them from the unit that the caller expects (docs/spec/identity.md). If
 * the user is in the unit already, nothing changes.
 *
 * @param input `expectedOrganizationUnitId`: the unit to move from; absent or null: the user must be in none
 * @throws Fault RIGHT_MISSING, INVALID_REQUEST (no such unit or user), ROLE_ESCALATION, ARCHIVED, ORG_UNIT_CONFLICT
 */
export async function setOrgMember(
  ctx: WriteContext,
  input: { organizationUnitId: string; userId: string; expectedOrganizationUnitId?: string | null | undefined },
): Promise<OrgMember> {
  ctx.actor.require('user.administer');
  const { organizationUnitId, userId } = input;
  const { unit, user, standing } = await findPlace(ctx, organizationUnitId, userId);
  if (unit === null) throw unknown('organizationUnitId', 'organisation unit');
  if (user === null) throw unknown('userId', 'user');
  if (standing?.organizationUnitId === organizationUnitId) return standing;
  await requireMayHandOn(ctx, { places: [{ userId, unitId: organizationUnitId }] });
  ctx.markAuthorized();
  requireActive('organisation unit', unit);
  requireActive('user', user);
  if ((standing?.organizationUnitId ?? null) !== (input.expectedOrganizationUnitId ?? null)) throw elsewhere();
  const from = standing?.organizationUnitId ?? null;
  const id = place(ctx, { userId, from, to: organizationUnitId }, standing?.id) ?? '';
  return { id, organizationUnitId, userId };
}

/**
 * Removes a user from their unit.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ROLE_ESCALATION, ORG_UNIT_CONFLICT if they are no longer in the expected unit
 */
export async function removeOrgMember(
  ctx: WriteContext,
  id: string,
  expectedOrganizationUnitId?: string,
): Promise<OrgMember> {
  ctx.actor.require('user.administer');
  const membership = await findOrgMember(ctx, id);
  if (membership === undefined) throw new Fault('NOT_FOUND', 'There is no such membership.');
  const from = membership.organizationUnitId;
  if (expectedOrganizationUnitId !== undefined && expectedOrganizationUnitId !== from) throw elsewhere();
  place(ctx, { userId: membership.userId, from, to: null }, id);
  return membership;
}
