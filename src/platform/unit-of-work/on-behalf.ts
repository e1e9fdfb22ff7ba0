/** Contexts evaluated with another user's rights. */
import type { Actor, ReadContext } from './context.ts';

/** The same unit with `actor`'s rights, for reads and checks. It cannot plan rows or emit events. */
export function contextOnBehalfOf(ctx: ReadContext, actor: Actor): ReadContext {
  return {
    actor,
    now: ctx.now,
    via: ctx.via,
    keyId: ctx.keyId,
    correlationId: ctx.correlationId,
    config: ctx.config,
    memo: ctx.memo,
    query: (statement, options) => ctx.query(statement, options),
    newId: () => ctx.newId(),
  };
}
