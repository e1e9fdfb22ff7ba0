/** The backlog of background work, for administrators. */
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { outboxBacklog } from '../../platform/audit/journal.ts';
import { timerBacklog } from '../sla/index.ts';
import { deliveryBacklog } from '../webhooks/index.ts';

/** Counting stops here: an exact number of a larger backlog is not needed, and the count must stay cheap. */
const LIMIT = 10_000;

/** @throws Fault RIGHT_MISSING */
export async function getBacklog(ctx: ReadContext): Promise<unknown> {
  ctx.actor.require('config.manage');
  return {
    limit: LIMIT,
    outbox: await outboxBacklog(ctx, LIMIT),
    deliveries: await deliveryBacklog(ctx, ctx.now, LIMIT),
    timers: await timerBacklog(ctx, ctx.now, LIMIT),
  };
}
