/** Looking with somebody else's eyes: what is done for a person is judged with that person's rights. */
import type { Actor, ReadContext } from './context.ts';

/** The same unit, seen by `actor`: reads and judgements are theirs; nothing can be planned or emitted through it. */
export function seenBy(ctx: ReadContext, actor: Actor): ReadContext {
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
