/**
 * Rules against privilege escalation: a caller who grants access must have it or be allowed to assign it. They apply to all
 * callers without the right `role.assign`:
 *
 * - Users cannot change their own login, e-mail address, external id or memberships.
 * - A caller can add a member only if they have all access that the membership grants: the roles of the group and of the
 *   groups that contain it, the records that a row condition with `$myGroups`, `$myOrgUnit` or `$myOrgUnits` of a role of the
 *   new member admits, and the audiences. The caller's own membership suffices, and so does a role whose `memberships` name
 *   the group or unit. If the membership grants nothing, neither is needed. Restoring a group or unit and moving a unit grant
 *   access, too.
 * - A caller who could sign in as another user (by setting password, login, e-mail address or external id), or who restores a
 *   user, must have all access of that user.
 *
 * All writes of identity declare with `declareGrant` which access they grant. It is checked under one lock when the rows are
 * written. So concurrent calls, or several changes of one bundle, cannot combine changes that are harmless on their own. This error
 * precedes errors of state: API calls check it before they throw one (`refuseAfterRights`, `requireMayGrant`).
 *
 * A membership of a user that gives no role is plain. If it grants nothing to anybody, it needs no lock (`plainSince`,
 * docs/decisions/0024-plain-memberships-need-no-lock.md).
 */
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../lib/fault.ts';
import { problem } from '../../lib/problem.ts';
import type { Invariant, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { failedGuard } from '../../platform/unit-of-work/transactions.ts';
import { type GrantedAccess, checkGranted, grantsNothing, type MembershipVariable } from './escalation-rules.ts';
import { accessLock } from './store.ts';
import { findOwnRows, loadStandings, type Standing } from './store-members.ts';
import type { Granting } from './store-plain.ts';

export type { GrantedAccess } from './escalation-rules.ts';

const MEMO = 'identity.granted';

/** The access that the transaction grants so far, latest first. A linked list: a failed attempt can return to an earlier link. */
interface Link {
  granted: Partial<GrantedAccess>;
  before: Link | undefined;
}

function grantedSoFar(ctx: ReadContext): GrantedAccess {
  const all: GrantedAccess = { users: [], members: [], places: [], units: [] };
  for (let link = ctx.memo.get(MEMO) as Link | undefined; link !== undefined; link = link.before) {
    all.users.push(...(link.granted.users ?? []));
    all.members.push(...(link.granted.members ?? []));
    all.places.push(...(link.granted.places ?? []));
    all.units.push(...(link.granted.units ?? []));
  }
  return all;
}

async function callerOf(ctx: ReadContext): Promise<Standing> {
  const { userId } = ctx.actor;
  const [standing] = userId === null ? [] : await loadStandings(ctx, [userId]);
  return standing ?? { userId: '', groups: [], unit: null, unitsBelow: [], unitsAbove: [], roles: [], rows: [] };
}

const escalationCheck: Invariant<Standing> = {
  name: 'identity.escalation',
  lock: accessLock(),
  before: callerOf,
  after: async (ctx, caller) => {
    await requireSame(ctx, caller);
    await checkGranted(ctx, grantedSoFar(ctx), caller);
  },
};

/**
 * Plain memberships take no lock (ADR 0024): one of the caller may have changed before the rows were written. The unit is then
 * retried. From here on it holds the row of the versions, for which plain memberships wait, too.
 */
async function requireSame(ctx: ReadContext, { userId, rows }: Standing): Promise<void> {
  if (userId !== '' && !isDeepStrictEqual(await findOwnRows(ctx, userId), rows)) throw failedGuard('caller');
}

/** @throws Fault ROLE_ESCALATION if the user is the caller and the caller may not assign roles */
export function requireNotOwn(ctx: ReadContext, userId: string): void {
  if (ctx.actor.userId !== userId || ctx.actor.has('role.assign')) return;
  throw new Fault('ROLE_ESCALATION', problem('OWN_LOGIN'));
}

function requireNoneToSelf(ctx: ReadContext, { members = [], places = [] }: Partial<GrantedAccess>): void {
  for (const { memberId } of members) requireNotOwn(ctx, memberId);
  for (const { userId } of places) requireNotOwn(ctx, userId);
}

/**
 * Declares which access a change grants. It is checked when the rows of the transaction are written.
 *
 * @throws Fault ROLE_ESCALATION if the caller would grant it to themselves
 */
export function declareGrant(ctx: WriteContext, granted: Partial<GrantedAccess>): void {
  if (ctx.actor.has('role.assign')) return;
  requireNoneToSelf(ctx, granted);
  const link: Link = { granted, before: ctx.memo.get(MEMO) as Link | undefined };
  ctx.memo.set(MEMO, link);
  ctx.verify(escalationCheck);
}

/** A plain membership whose structure version changed so often gets the full check under the lock. */
const MAX_PLAIN_TRIES = 3;

/**
 * The structure version under which a plain membership may be written without the lock; undefined if the full check decides.
 *
 * @param variables those of row conditions that stand for such memberships
 */
export function plainSince(
  ctx: WriteContext,
  facts: Granting & { givesRole?: boolean },
  variables: readonly MembershipVariable[],
): number | undefined {
  if (facts.givesRole === true) return undefined;
  if (!ctx.actor.has('role.assign') && !grantsNothing(ctx.config, facts, variables)) return undefined;
  return unlessContended(ctx, facts.structure);
}

/** The structure version of a plain membership; undefined if it changed too often while the unit ran. */
export function unlessContended(ctx: WriteContext, structure: number): number | undefined {
  return ctx.retries < MAX_PLAIN_TRIES ? structure : undefined;
}

/** Checks against the stored rows whether the caller may grant the access. @throws Fault ROLE_ESCALATION */
export async function requireMayGrant(ctx: ReadContext, granted: Partial<GrantedAccess>): Promise<void> {
  if (ctx.actor.has('role.assign')) return;
  requireNoneToSelf(ctx, granted);
  await checkGranted(ctx, { users: [], members: [], places: [], units: [], ...granted }, await callerOf(ctx));
}

/**
 * Checks the state of what a call changes. The error that the caller may not grant the access comes first, so that check is made
 * before the error is thrown. Without an error it is not made here: it is made when the rows are written.
 *
 * @throws Fault ROLE_ESCALATION, or what `check` throws
 */
export async function refuseAfterRights(
  ctx: WriteContext,
  granted: Partial<GrantedAccess>,
  check: () => void,
): Promise<void> {
  try {
    check();
  } catch (error) {
    await requireMayGrant(ctx, granted);
    throw error;
  }
  ctx.markAuthorized();
}
