import { type BoundOperation, bind, type EffectsOf } from '../../platform/unit-of-work/binding.ts';
import * as contract from './contract.ts';
import type { ActorOf } from './reaction.ts';
import { listRuns, tryRule } from './queries.ts';

/** @param effectsOf computes what a dry run would have done */
export function ruleRoutes(actorOf: ActorOf, effectsOf: EffectsOf): BoundOperation[] {
  return [
    bind(contract.listRuns, (ctx, { params, query }) => listRuns(ctx, params.code, query.limit)),
    bind(contract.tryRule, (runner, { params, body }, request) =>
      tryRule(runner, { actorOf, effectsOf }, { ...params, ...body }, request),
    ),
  ];
}
