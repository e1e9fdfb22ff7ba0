/**
 * The only writes of users, groups, organisation units and memberships; API calls, imports and the configuration bundle all use
 * them. Each function checks the right, declares the access that the change grants (`escalation.ts`), plans the row guarded by
 * the revision that was read, and emits the event.
 */
import { isActive, isArchived, type ItemState } from '../../contract/state.ts';
import * as store from './store.ts';
import * as members from './store-members.ts';
import type { PlannedEvent, WriteContext } from '../../platform/unit-of-work/context.ts';
import { declareGrant, requireNotOwn } from './escalation.ts';
import { nameKey, differences } from './rules.ts';

/** The columns of a user that are written here. The membership in a unit is written by `place`. */
export type UserState = Omit<store.UserRow, 'organizationUnitId' | 'createdAt' | 'updatedAt'>;
export type GroupState = Omit<store.GroupRow, 'createdAt' | 'updatedAt'>;
export type UnitState = Omit<store.UnitRow, 'createdAt' | 'updatedAt'>;

type Changes = Record<string, [unknown, unknown]>;

/** Properties that identify a user at sign-in: a caller who sets one could sign in as that user. */
export const SIGN_IN_BY = ['login', 'email', 'externalId'] as const;

interface Kind<State> {
  /** Prefix of the types of events, for example `UserCreated`. */
  name: 'User' | 'Group' | 'OrgUnit';
  subject: string;
  /** The properties whose changes are part of the event. */
  recorded: readonly (keyof State & string)[];
  code(state: State): Record<string, unknown>;
  /** Additional data of the event `…Archived`, for its subscribers. */
  archived?(state: State): Record<string, unknown>;
}

const USER: Kind<UserState> = {
  name: 'User',
  subject: 'user',
  recorded: ['login', 'displayName', 'email', 'locale', 'timezone', 'employeeId', 'externalId'],
  code: ({ login }) => ({ login }),
  archived: ({ id }) => ({ userId: id }),
};
const GROUP: Kind<GroupState> = {
  name: 'Group',
  subject: 'group',
  recorded: ['code', 'name'],
  code: ({ code }) => ({ code }),
};
const UNIT: Kind<UnitState> = {
  name: 'OrgUnit',
  subject: 'orgUnit',
  recorded: ['code', 'name', 'parentId', 'managerUserId', 'location'],
  code: ({ code }) => ({ code }),
};

function changesOf<State extends object>(kind: Kind<State>, before: State, after: State): Changes {
  const next = Object.fromEntries(kind.recorded.map((property) => [property, after[property]]));
  return differences(before, next as Partial<State>);
}

/** Emits the events of the change: created, changed, archived or restored. */
function emitChange<State extends { id: string; state: ItemState }>(
  ctx: WriteContext,
  kind: Kind<State>,
  before: State | undefined,
  after: State,
  made: Record<string, unknown>,
): void {
  const event = (
    what: 'Created' | 'Changed' | 'Archived' | 'Restored',
    data: Record<string, unknown>,
  ): PlannedEvent => ({
    type: `${kind.name}${what}`,
    subject: `${kind.subject}:${after.id}`,
    data: { ...kind.code(after), ...data },
  });
  if (before === undefined) {
    ctx.emit(event('Created', made));
    return;
  }
  const changes = changesOf(kind, before, after);
  if (Object.keys(changes).length > 0) ctx.emit(event('Changed', { changes }));
  if (before.state === after.state) return;
  ctx.emit(isArchived(after) ? event('Archived', kind.archived?.(after) ?? {}) : event('Restored', {}));
}

function isRestored(before: { state: ItemState } | undefined, after: { state: ItemState }): boolean {
  return isArchived(before) && isActive(after);
}

/** Properties that users may change of themselves without a right (docs/spec/access.md#own-account). */
const OWN_PROPERTIES: ReadonlySet<string> = new Set(['displayName', 'locale', 'timezone']);

function isOwnProfile(ctx: WriteContext, before: UserState | undefined, after: UserState): boolean {
  if (before === undefined || after.id !== ctx.actor.userId || before.state !== after.state) return false;
  return Object.keys(changesOf(USER, before, after)).every((property) => OWN_PROPERTIES.has(property));
}

/** @throws Fault RIGHT_MISSING, ROLE_ESCALATION */
export function writeUser(ctx: WriteContext, before: UserState | undefined, after: UserState): void {
  if (!isOwnProfile(ctx, before, after)) ctx.actor.require('user.administer');
  if (before !== undefined) {
    const changes = changesOf(USER, before, after);
    const signsIn = SIGN_IN_BY.some((property) => Object.hasOwn(changes, property));
    if (signsIn) requireNotOwn(ctx, after.id);
    if (signsIn || isRestored(before, after)) declareGrant(ctx, { users: [after.id] });
  }
  const { login, email } = after;
  const keys = { loginKey: nameKey(login), emailKey: email === null ? null : nameKey(email) };
  const row = { ...after, ...keys, updatedAt: ctx.now, updatedBy: ctx.actor.userId };
  if (before === undefined) ctx.plan(store.insertUser, row);
  else ctx.plan(store.updateUser, { ...row, revision: before.revision + 1 });
  emitChange(ctx, USER, before, after, { displayName: after.displayName });
  // The names of users are cached until the rights version changes.
  if (before !== undefined) ctx.invalidate('rights');
}

/** @throws Fault RIGHT_MISSING, ROLE_ESCALATION */
export function writeGroup(ctx: WriteContext, before: GroupState | undefined, after: GroupState): void {
  ctx.actor.require('user.administer');
  const { id, code, name } = after;
  if (isRestored(before, after)) declareGrant(ctx, { members: [{ groupId: id, memberId: id, memberType: 'group' }] });
  const row = { ...after, codeKey: nameKey(code), updatedAt: ctx.now, updatedBy: ctx.actor.userId };
  if (before === undefined) ctx.plan(store.insertGroup, row);
  else ctx.plan(store.updateGroup, { ...row, revision: before.revision + 1 });
  emitChange(ctx, GROUP, before, after, { name });
  if (before !== undefined) ctx.invalidate('rights');
}

/** @throws Fault RIGHT_MISSING, ROLE_ESCALATION */
export function writeUnit(ctx: WriteContext, before: UnitState | undefined, after: UnitState): void {
  ctx.actor.require('user.administer');
  const { id: unitId, parentId, code } = after;
  const restored = isRestored(before, after);
  if (before !== undefined && (restored || parentId !== before.parentId)) {
    declareGrant(ctx, { units: [{ unitId, parentId, formerParentId: before.parentId, restored }] });
  }
  const row = { ...after, codeKey: nameKey(code), updatedAt: ctx.now, updatedBy: ctx.actor.userId };
  if (before === undefined) ctx.plan(store.insertUnit, row);
  else ctx.plan(store.updateUnit, { ...row, revision: before.revision + 1 });
  emitChange(ctx, UNIT, before, after, { name: after.name });
  // Row conditions with `$myOrgUnits` cover the units below the user's unit.
  if (before !== undefined || parentId !== null) ctx.invalidate('rights');
}

export type Membership = Omit<members.GroupMember, 'id'>;

/** Invalidates the rights that a membership changes: those of its user if it is plain. */
function invalidateRights(ctx: WriteContext, userId: string, plain: number | undefined): void {
  if (plain === undefined) ctx.invalidate('rights');
  else ctx.invalidateMember(userId, plain);
}

/**
 * Makes a user or a group a member of a group.
 *
 * @param plain the structure version under which the membership needs no lock (`plainSince`)
 * @returns the id of the membership
 * @throws Fault RIGHT_MISSING, ROLE_ESCALATION
 */
export function join(ctx: WriteContext, membership: Membership, plain?: number): string {
  ctx.actor.require('user.administer');
  const { groupId, memberId, memberType } = membership;
  if (plain === undefined) declareGrant(ctx, { members: [membership] });
  else requireNotOwn(ctx, memberId);
  const id = ctx.newId();
  ctx.plan(members.insertGroupMember, { ...membership, id, createdAt: ctx.now });
  const data = { membershipId: id, memberId, memberType };
  ctx.emit({ type: 'GroupMemberAdded', subject: `group:${groupId}`, data });
  invalidateRights(ctx, memberId, plain);
  return id;
}

/**
 * Removes a member from a group.
 *
 * @param plain the structure version under which the membership is one of a user and gives no role: nobody loses a role then
 * @throws Fault RIGHT_MISSING, ROLE_ESCALATION
 */
export function leave(ctx: WriteContext, membership: Membership, id?: string, plain?: number): void {
  ctx.actor.require('user.administer');
  const { groupId, memberId, memberType } = membership;
  requireNotOwn(ctx, memberId);
  ctx.plan(members.deleteGroupMember, { ...membership, id: id ?? null });
  const data = { ...(id === undefined ? {} : { membershipId: id }), memberId, memberType };
  ctx.emit({ type: 'GroupMemberRemoved', subject: `group:${groupId}`, data });
  invalidateRights(ctx, memberId, plain);
}

/**
 * Puts a user into a unit, moves them from the unit that the caller expects, or removes them from it.
 *
 * @param place `from` and `to`: ids of units, null for none; `plain`: the structure version under which the change needs no
 *   lock (`plainSince`)
 * @returns the id of the membership, if it is known
 * @throws Fault RIGHT_MISSING, ROLE_ESCALATION
 */
export function place(
  ctx: WriteContext,
  { userId, from, to, plain }: { userId: string; from: string | null; to: string | null; plain?: number | undefined },
  standing?: string,
): string | undefined {
  ctx.actor.require('user.administer');
  requireNotOwn(ctx, userId);
  const id = standing ?? (from === null ? ctx.newId() : undefined);
  const known = id === undefined ? {} : { membershipId: id };
  const subject = `user:${userId}`;
  invalidateRights(ctx, userId, plain);
  if (to === null) {
    if (from !== null) ctx.plan(members.deleteOrgMember, { id: standing ?? null, userId, expected: from });
    ctx.emit({ type: 'OrgMemberRemoved', subject, data: { ...known, from } });
    return id;
  }
  if (plain === undefined) declareGrant(ctx, { places: [{ userId, unitId: to }] });
  if (from !== null) {
    ctx.plan(members.moveOrgMember, { id: standing ?? null, userId, expected: from, organizationUnitId: to });
  } else if (id !== undefined) {
    ctx.plan(members.insertOrgMember, { id, organizationUnitId: to, userId, createdAt: ctx.now });
  }
  ctx.emit({ type: 'OrgMemberSet', subject, data: { ...known, from, to } });
  return id;
}
