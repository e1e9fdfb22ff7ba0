import { bind, type Binding, dryRunEffects, ServicePart } from '../../platform/module.ts';
import { compileItem } from '../../configuration/engine.ts';
import { bundleSections } from '../../configuration/sections.ts';
import { historyFilters } from '../objects/index.ts';
import * as contract from './contract.ts';
import * as previews from './contract-preview.ts';
import { ruleGraph } from './graph.ts';
import { previewRule, type PreviewParts } from './preview.ts';
import { listRuns, tryRule } from './queries.ts';

const previewParts = new ServicePart<PreviewParts>('previews of rules', ({ actorOf, modules, get }) => ({
  actorOf,
  filters: historyFilters.of(modules),
  compile: (ctx, item) => compileItem(ctx, get(bundleSections), 'rules', item, ['rule']),
}));

export const ruleRoutes: readonly Binding[] = [
  bind(contract.listRuns, (ctx, { params, query }, _request, { modules }) =>
    listRuns(ctx, { ...params, ...query }, historyFilters.of(modules)),
  ),
  bind(contract.tryRule, (runner, { params, body }, request, service) =>
    tryRule(
      runner,
      { actorOf: service.actorOf, effectsOf: service.get(dryRunEffects) },
      { ...params, ...body },
      request,
    ),
  ),
  bind(previews.previewRule, (ctx, { body: { rule, days = previews.DAYS } }, _request, { get }) =>
    previewRule(ctx, { rule, days }, get(previewParts)),
  ),
  bind(previews.ruleGraph, (ctx) => ruleGraph(ctx)),
];
