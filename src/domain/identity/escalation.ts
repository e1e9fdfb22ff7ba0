/**
 * Rules against privilege escalation: a caller who gives access must have it or be allowed to assign it. They apply to all
 * callers without the right `role.assign`:
 *
 * - Users cannot change their own login, e-mail address, external id or memberships.
 * - A caller can give a membership only if they have what it gives. It gives the roles of the group and of the groups around
 *   it, the records that a row condition with `$myGroups`, `$myOrgUnit` or `$myOrgUnits` of a role of the new member admits,
 *   and the audiences. The caller's own membership suffices, and so does a role whose `memberships` name the group or unit. If
 *   the membership gives nothing, neither is needed. Restoring a group or unit and moving a unit give memberships, too.
 * - A caller who could sign in as another user (by setting password, login, e-mail address or external id), or who restores a
 *   user, must hold everything that this user holds.
 *
 * All writes of identity declare with `handOn` what they give. It is checked under one lock when the rows are written. So
 * concurrent calls, or several changes of one bundle, cannot combine changes that are harmless alone. API calls use
 * `requireMayHandOn` before, so that this refusal precedes errors of state.
 */
import { Fault } from '../../lib/fault.ts';
import type { Invariant, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { type Handed, judgeHanded } from './escalation-rules.ts';
import { accessLock } from './store.ts';
import { loadStandings, type Standing } from './store-members.ts';

export type { Handed } from './escalation-rules.ts';

const MEMO = 'identity.handed';

/** What the transaction gives so far, latest first. A linked list: a failed attempt can return to an earlier link. */
interface Link {
  handed: Partial<Handed>;
  before: Link | undefined;
}

function handedOf(ctx: ReadContext): Handed {
  const all: Handed = { people: [], members: [], places: [], units: [] };
  for (let link = ctx.memo.get(MEMO) as Link | undefined; link !== undefined; link = link.before) {
    all.people.push(...(link.handed.people ?? []));
    all.members.push(...(link.handed.members ?? []));
    all.places.push(...(link.handed.places ?? []));
    all.units.push(...(link.handed.units ?? []));
  }
  return all;
}

async function callerOf(ctx: ReadContext): Promise<Standing> {
  const { userId } = ctx.actor;
  const [standing] = userId === null ? [] : await loadStandings(ctx, [userId]);
  return standing ?? { userId: '', groups: [], unit: null, unitsBelow: [], unitsAbove: [], roles: [] };
}

const handingOn: Invariant<Standing> = {
  name: 'identity.handing-on',
  lock: accessLock(),
  before: callerOf,
  after: async (ctx, caller) => await judgeHanded(ctx, handedOf(ctx), caller),
};

/** @throws Fault ROLE_ESCALATION if the user is the caller and the caller may not assign roles */
export function requireNotOwn(ctx: ReadContext, userId: string): void {
  if (ctx.actor.userId !== userId || ctx.actor.has('role.assign')) return;
  throw new Fault(
    'ROLE_ESCALATION',
    'You cannot change your own login, email address, external id or memberships. Ask a user with the right role.assign.',
  );
}

function requireNoneOwn(ctx: ReadContext, { members = [], places = [] }: Partial<Handed>): void {
  for (const { memberId } of members) requireNotOwn(ctx, memberId);
  for (const { userId } of places) requireNotOwn(ctx, userId);
}

/**
 * Declares what a change gives. It is checked when the rows of the transaction are written.
 *
 * @throws Fault ROLE_ESCALATION if the caller would give it to themselves
 */
export function handOn(ctx: WriteContext, handed: Partial<Handed>): void {
  if (ctx.actor.has('role.assign')) return;
  requireNoneOwn(ctx, handed);
  const link: Link = { handed, before: ctx.memo.get(MEMO) as Link | undefined };
  ctx.memo.set(MEMO, link);
  ctx.verify(handingOn);
}

/** @throws Fault ROLE_ESCALATION for what the caller may not give, according to the current rows */
export async function requireMayHandOn(ctx: ReadContext, handed: Partial<Handed>): Promise<void> {
  if (ctx.actor.has('role.assign')) return;
  requireNoneOwn(ctx, handed);
  await judgeHanded(ctx, { people: [], members: [], places: [], units: [], ...handed }, await callerOf(ctx));
}
