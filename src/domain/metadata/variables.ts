/** The values of the condition language's variables in this unit of work (docs/spec/search.md#condition-language). */
import type { Variables } from '../../lib/filter.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { today } from './conditions.ts';
import { registry } from './registry.ts';

export function variables(ctx: ReadContext): Variables {
  return { ...ctx.actor.variables, now: ctx.now, today: today(registry(ctx), ctx.now) };
}
