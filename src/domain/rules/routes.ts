import { type BoundOperation, bind, type EffectsOf } from '../../platform/unit-of-work/binding.ts';
import * as contract from './contract.ts';
import * as previews from './contract-preview.ts';
import { ruleGraph } from './graph.ts';
import { previewRule, type PreviewParts } from './preview.ts';
import { listRuns, tryRule } from './queries.ts';

/** @param effectsOf computes what a dry run would have done */
export function ruleRoutes(parts: PreviewParts, effectsOf: EffectsOf): BoundOperation[] {
  const { actorOf } = parts;
  return [
    bind(contract.listRuns, (ctx, { params, query }) => listRuns(ctx, { ...params, ...query }, parts.filters)),
    bind(contract.tryRule, (runner, { params, body }, request) =>
      tryRule(runner, { actorOf, effectsOf }, { ...params, ...body }, request),
    ),
    bind(previews.previewRule, (ctx, { body: { rule, days = previews.DAYS } }) =>
      previewRule(ctx, { rule, days }, parts),
    ),
    bind(previews.ruleGraph, (ctx) => ruleGraph(ctx)),
  ];
}
