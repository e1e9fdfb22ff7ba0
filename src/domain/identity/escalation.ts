/**
 * Nobody hands on more rights than they have: who becomes a member of a group gets the roles of that group and of all groups
 * around it, so whoever makes them a member must hold these roles or be free to assign roles (decisions, "Identity").
 */
import { Fault } from '../../lib/fault.ts';
import type { WriteContext } from '../../mechanisms/context.ts';
import { rolesBeyond, rolesOfBeyond } from './store-members.ts';

/** @throws Fault ROLE_ESCALATION */
export async function requireNoEscalation(ctx: WriteContext, groupId: string): Promise<void> {
  if (ctx.actor.has('role.assign')) return;
  requireNoneInForce(
    ctx,
    await rolesBeyond(ctx, groupId, ctx.actor.userId),
    'Members of this group hold roles that you neither hold nor may assign; ask somebody with the right role.assign.',
  );
}

/**
 * Whoever is signed in by a provider is known by e-mail address or external id: to set another person's is to be able to come
 * in as them.
 *
 * @throws Fault ROLE_ESCALATION
 */
export async function requireNoImpersonation(ctx: WriteContext, personId: string): Promise<void> {
  if (ctx.actor.has('role.assign') || ctx.actor.userId === personId) return;
  requireNoneInForce(
    ctx,
    await rolesOfBeyond(ctx, personId, ctx.actor.userId),
    'This person holds roles that you neither hold nor may assign; ask somebody with the right role.assign.',
  );
}

function requireNoneInForce(ctx: WriteContext, beyond: readonly string[], message: string): void {
  if (beyond.length === 0) return;
  // Roles that were taken out of force hand nothing on.
  const active = new Set(ctx.config.items('roles').flatMap((role) => (role.state === 'ACTIVE' ? [role.id] : [])));
  if (beyond.some((role) => active.has(role))) throw new Fault('ROLE_ESCALATION', message);
}
