/** The variables of the condition language as they stand in this unit (configuration, section 4). */
import type { Variables } from '../../lib/filter.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import { today } from './conditions.ts';
import { registry } from './registry.ts';

export function variables(ctx: ReadContext): Variables {
  return { ...ctx.actor.variables, now: ctx.now, today: today(registry(ctx), ctx.now) };
}
