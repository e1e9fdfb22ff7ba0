/** Whether the caller may manage a subscription, given its executor. */
import type { WriteContext } from '../../platform/unit-of-work/context.ts';

/**
 * A subscription must not read with more rights than the caller could obtain. Either it runs as the caller, or the caller may
 * assign roles.
 *
 * @throws Fault RIGHT_MISSING
 */
export function requirePrincipal(ctx: WriteContext, principalId: string | null): void {
  if (principalId === null || principalId !== ctx.actor.userId) ctx.actor.require('role.assign');
}
