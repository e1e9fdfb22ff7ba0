/** Writes of groups, of their members, and of the memberships in organisation units. */
import { Fault } from '../../lib/fault.ts';
import type { Localized } from '../../contract/schemas.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { writeGroup, join, leave, place } from './changes.ts';
import { plainSince, refuseAfterRights, requireMayGrant, unlessContended } from './escalation.ts';
import {
  nameKey,
  codeOf,
  differences,
  exists,
  Validation,
  requireActive,
  requireArchived,
  stale,
  unknown,
} from './rules.ts';
import { type GroupAnswer, groupAnswer } from './queries.ts';
import { findGroup, type GroupRow, takenCodes, accessLock } from './store.ts';
import { findNesting, type GroupMember, type MemberType, type OrgMember } from './store-members.ts';
import { findMemberFacts, findMembershipFacts, findOrgMemberFacts, findPlaceFacts } from './store-plain.ts';

export interface NewGroup {
  code: string;
  name: string;
  groupId?: string | undefined;
}

export interface GroupChange {
  groupId: string;
  expectedRevision: number;
  /** Absent: unchanged. A plain text replaces the texts of all locales. */
  name?: Localized | undefined;
}

/**
 * Creates a group without members (docs/spec/identity.md).
 *
 * @throws Fault RIGHT_MISSING, INVALID_VALUES, ALREADY_EXISTS with `{field}` (groupId or code)
 */
export async function createGroup(ctx: WriteContext, input: NewGroup): Promise<GroupAnswer> {
  ctx.actor.require('user.administer');
  ctx.markAuthorized();
  const validation = new Validation();
  const row: GroupRow = {
    id: input.groupId ?? ctx.newId(),
    code: codeOf(validation, input.code),
    name: validation.line('name', input.name),
    state: 'ACTIVE',
    revision: 1,
    createdAt: ctx.now,
    updatedAt: ctx.now,
  };
  validation.throwIfInvalid();
  const taken = await takenCodes(ctx, 'groups', row.id, nameKey(row.code));
  if (taken.id) throw exists('groupId', 'ID_TAKEN');
  if (taken.code) throw exists('code', 'CODE_TAKEN');
  writeGroup(ctx, undefined, row);
  return groupAnswer(ctx, row);
}

async function requireGroup(ctx: WriteContext, id: string): Promise<GroupRow> {
  ctx.actor.require('user.administer');
  const row = await findGroup(ctx, id);
  if (row === undefined) throw new Fault('NOT_FOUND', 'There is no such group.');
  return row;
}

/**
 * Changes a group if it still has the revision that the caller saw. The code cannot be changed: the configuration refers to
 * groups by it.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, REVISION_CONFLICT, INVALID_VALUES
 */
export async function updateGroup(ctx: WriteContext, input: GroupChange): Promise<GroupAnswer> {
  const row = await requireGroup(ctx, input.groupId);
  ctx.markAuthorized();
  requireActive('group', row.state);
  if (row.revision !== input.expectedRevision) throw stale('group');
  const validation = new Validation();
  const changes = differences(row, { name: validation.name('name', input.name) });
  validation.throwIfInvalid();
  if (Object.keys(changes).length === 0) return groupAnswer(ctx, row);
  return groupAnswer(ctx, write(ctx, row, { name: changes['name']?.[1] as Localized }));
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND, ARCHIVED, REVISION_CONFLICT, LAST_ADMINISTRATOR */
export async function archiveGroup(ctx: WriteContext, id: string, expectedRevision?: number): Promise<GroupAnswer> {
  const row = await requireGroup(ctx, id);
  ctx.markAuthorized();
  requireActive('group', row.state);
  if (expectedRevision !== undefined && expectedRevision !== row.revision) throw stale('group');
  return groupAnswer(ctx, write(ctx, row, { state: 'ARCHIVED' }));
}

/**
 * Restores an archived group with its members. They get its roles again, so the checks are those of new memberships.
 *
 * @throws Fault RIGHT_MISSING, NOT_FOUND, ROLE_ESCALATION, STATE_CONFLICT if it is not archived, REVISION_CONFLICT
 */
export async function restoreGroup(ctx: WriteContext, id: string, expectedRevision?: number): Promise<GroupAnswer> {
  const row = await requireGroup(ctx, id);
  await requireMayGrant(ctx, { members: [{ groupId: id, memberId: id, memberType: 'group' }] });
  ctx.markAuthorized();
  requireArchived(row.state);
  if (expectedRevision !== undefined && expectedRevision !== row.revision) throw stale('group');
  return groupAnswer(ctx, write(ctx, row, { state: 'ACTIVE' }));
}

function write(ctx: WriteContext, row: GroupRow, change: Partial<GroupRow>): GroupRow {
  const next: GroupRow = { ...row, ...change, revision: row.revision + 1, updatedAt: ctx.now };
  writeGroup(ctx, row, next);
  return next;
}

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
  const { groupId, memberId } = input;
  if (input.memberType === 'group') return await nestGroup(ctx, groupId, memberId);
  const facts = await findMembershipFacts(ctx, groupId, memberId);
  const { group, member, standing } = facts;
  if (group === null) throw unknown('groupId', 'group');
  if (member === null) throw unknown('memberId', 'user');
  const membership = { groupId, memberId, memberType: 'user' } as const;
  if (standing !== null) return { id: standing, ...membership };
  await refuseAfterRights(ctx, { members: [membership] }, () => {
    requireActive('group', group);
    requireActive('member', member);
  });
  return { id: join(ctx, membership, plainSince(ctx, facts, ['$myGroups'])), ...membership };
}

async function nestGroup(ctx: WriteContext, groupId: string, memberId: string): Promise<GroupMember> {
  // From here on no concurrent transaction can put a group into another.
  await ctx.lock(accessLock());
  const { group, member, standing, closes } = await findNesting(ctx, groupId, memberId);
  if (group === null) throw unknown('groupId', 'group');
  if (member === null) throw unknown('memberId', 'group');
  const membership = { groupId, memberId, memberType: 'group' } as const;
  if (standing !== null) return { id: standing, ...membership };
  await refuseAfterRights(ctx, { members: [membership] }, () => {
    requireActive('group', group);
    requireActive('member', member);
    if (closes) {
      throw new Fault('GROUP_CYCLE', 'This membership would create a cycle. Remove the other membership first.');
    }
  });
  return { id: join(ctx, membership), ...membership };
}

/** @throws Fault RIGHT_MISSING, NOT_FOUND, ROLE_ESCALATION, LAST_ADMINISTRATOR */
export async function removeGroupMember(ctx: WriteContext, id: string): Promise<GroupMember> {
  ctx.actor.require('user.administer');
  const found = await findMemberFacts(ctx, id);
  if (found === undefined) throw new Fault('NOT_FOUND', 'There is no such membership.');
  const { groupId, memberId, memberType, givesRole, structure } = found;
  const membership = { id, groupId, memberId, memberType };
  leave(ctx, membership, id, memberType === 'user' && !givesRole ? unlessContended(ctx, structure) : undefined);
  return membership;
}

function elsewhere(): Fault {
  return new Fault(
    'ORG_UNIT_CONFLICT',
    "The user is in another unit than expectedOrganizationUnitId. Read the user's unit again before you move the user.",
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
  const facts = await findPlaceFacts(ctx, organizationUnitId, userId);
  const { unit, user, standing } = facts;
  if (unit === null) throw unknown('organizationUnitId', 'unit');
  if (user === null) throw unknown('userId', 'user');
  if (standing?.organizationUnitId === organizationUnitId) return standing;
  await refuseAfterRights(ctx, { places: [{ userId, unitId: organizationUnitId }] }, () => {
    requireActive('organisation unit', unit);
    requireActive('user', user);
    if ((standing?.organizationUnitId ?? null) !== (input.expectedOrganizationUnitId ?? null)) throw elsewhere();
  });
  const from = standing?.organizationUnitId ?? null;
  const plain = plainSince(ctx, facts, ['$myOrgUnit', '$myOrgUnits']);
  const id = place(ctx, { userId, from, to: organizationUnitId, plain }, standing?.id) ?? '';
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
  const found = await findOrgMemberFacts(ctx, id);
  if (found === undefined) throw new Fault('NOT_FOUND', 'There is no such membership.');
  const { organizationUnitId: from, userId, structure } = found;
  if (expectedOrganizationUnitId !== undefined && expectedOrganizationUnitId !== from) throw elsewhere();
  place(ctx, { userId, from, to: null, plain: unlessContended(ctx, structure) }, id);
  return { id, organizationUnitId: from, userId };
}
