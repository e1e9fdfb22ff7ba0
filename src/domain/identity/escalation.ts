/**
 * Who hands on access must have it, or may assign it. The rules hold for everybody without the right `role.assign`:
 *
 * - Nobody changes their own login, e-mail address, external id or memberships.
 * - A membership is given only by those who have what it gives: the roles of the group and of the groups around it, the records
 *   that a row condition with `$myGroups`, `$myOrgUnit` or `$myOrgUnits` of a role of the new member admits, and the audiences.
 *   Being a member oneself counts, and so does a role whose `memberships` name the group or unit. Where nothing is given, neither
 *   is needed. Taking an archived group or unit back, and moving a unit, give memberships too.
 * - Whoever could sign in as another user (password, login, e-mail address, external id), or takes them back from the archive,
 *   must be given everything that this user is given.
 *
 * All writes on identity say by `handOn` what they give. It is judged under one lock when the rows are written, so that neither
 * two calls at once nor several changes of one bundle give together what none of them gives alone. Calls ask `requireMayHandOn`
 * before too, so that a refusal comes before faults of state.
 */
import { Fault } from '../../lib/fault.ts';
import type { Invariant, ReadContext, WriteContext } from '../../mechanisms/context.ts';
import { type Handed, judgeHanded } from './escalation-rules.ts';
import { accessLock } from './store.ts';
import { loadStandings, type Standing } from './store-standing.ts';

export type { Handed } from './escalation-rules.ts';

const MEMO = 'identity.handed';

/** What a unit of work gives so far, the last first: a list that an attempt which fails can go back in. */
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

/** @throws Fault ROLE_ESCALATION where the user is the caller, who may not assign roles */
export function requireNotOwn(ctx: ReadContext, userId: string): void {
  if (ctx.actor.userId !== userId || ctx.actor.has('role.assign')) return;
  throw new Fault(
    'ROLE_ESCALATION',
    'Nobody changes their own login, e-mail address, external id or memberships; ask somebody with the right role.assign.',
  );
}

function requireNoneOwn(ctx: ReadContext, { members = [], places = [] }: Partial<Handed>): void {
  for (const { memberId } of members) requireNotOwn(ctx, memberId);
  for (const { userId } of places) requireNotOwn(ctx, userId);
}

/**
 * Says what a change gives; it is judged when the unit's rows are written.
 *
 * @throws Fault ROLE_ESCALATION where the caller would give it to themselves
 */
export function handOn(ctx: WriteContext, handed: Partial<Handed>): void {
  if (ctx.actor.has('role.assign')) return;
  requireNoneOwn(ctx, handed);
  const link: Link = { handed, before: ctx.memo.get(MEMO) as Link | undefined };
  ctx.memo.set(MEMO, link);
  ctx.verify(handingOn);
}

/** @throws Fault ROLE_ESCALATION for what the caller may not give, as the database stands now */
export async function requireMayHandOn(ctx: ReadContext, handed: Partial<Handed>): Promise<void> {
  if (ctx.actor.has('role.assign')) return;
  requireNoneOwn(ctx, handed);
  await judgeHanded(ctx, { people: [], members: [], places: [], units: [], ...handed }, await callerOf(ctx));
}
