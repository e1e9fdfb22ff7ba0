/** Who may manage a subscription, by the user with whose rights it reads. */
import type { WriteContext } from '../../mechanisms/context.ts';

/**
 * Nobody reads with more rights than they could give themselves: the subscription runs as the caller, or the caller may assign
 * roles.
 *
 * @throws Fault RIGHT_MISSING
 */
export function requirePrincipal(ctx: WriteContext, principalId: string | null): void {
  if (principalId === null || principalId !== ctx.actor.userId) ctx.actor.require('role.assign');
}
