import { compileItem } from '../../configuration/engine.ts';
import { bundleSections } from '../../configuration/sections.ts';
import { bindWith, dryRunEffects, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { historyFilters } from '../objects/index.ts';
import * as contract from './contract.ts';
import * as previews from './contract-preview.ts';
import { ruleGraph } from './graph.ts';
import { previewRule, type PreviewParts } from './preview.ts';
import { listRuns, tryRule } from './queries.ts';

export const ruleRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bindWith(contract.listRuns, ({ modules }) => {
    const filters = historyFilters.of(modules);
    return (ctx, { params, query }) => listRuns(ctx, { ...params, ...query }, filters);
  }),
  bindWith(
    contract.tryRule,
    (service) =>
      (runner, { params, body }, request) =>
        tryRule(
          runner,
          { actorOf: service.actorOf, effectsOf: service.get(dryRunEffects) },
          { ...params, ...body },
          request,
        ),
  ),
  bindWith(previews.previewRule, (service) => {
    const parts: PreviewParts = {
      actorOf: service.actorOf,
      filters: historyFilters.of(service.modules),
      compile: (ctx, item) => compileItem(ctx, service.get(bundleSections), 'rules', item, ['rule']),
    };
    return (ctx, { body: { rule, days = previews.DAYS } }) => previewRule(ctx, { rule, days }, parts);
  }),
  bind(previews.ruleGraph, (ctx) => ruleGraph(ctx)),
];
