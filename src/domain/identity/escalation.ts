/**
 * Nobody hands on more rights than they have: who becomes a member of a group gets the roles of that group and of all groups
 * around it, so whoever makes them a member must hold these roles or be free to assign roles (decisions, "Identity").
 */
import { Fault } from '../../lib/fault.ts';
import type { WriteContext } from '../../mechanisms/context.ts';
import { rolesBeyond } from './store-members.ts';

/** @throws Fault ROLE_ESCALATION */
export async function requireNoEscalation(ctx: WriteContext, groupId: string): Promise<void> {
  if (ctx.actor.has('role.assign')) return;
  const beyond = await rolesBeyond(ctx, groupId, ctx.actor.userId);
  if (beyond.length === 0) return;
  // Roles that were taken out of force hand nothing on.
  const active = new Set(ctx.config.items('roles').flatMap((role) => (role.state === 'ACTIVE' ? [role.id] : [])));
  if (beyond.some((role) => active.has(role))) {
    throw new Fault(
      'ROLE_ESCALATION',
      'Members of this group hold roles that you neither hold nor may assign; ask somebody with the right role.assign.',
    );
  }
}
