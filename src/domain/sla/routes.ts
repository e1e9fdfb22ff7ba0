import { bind, type Binding } from '../../platform/module.ts';
import { commandSla } from './commands.ts';
import * as contract from './contract.ts';
import { explainSla, listSla, slaHistory } from './queries.ts';
import { previewCalendar, tryPolicy } from './try-out.ts';

export const slaRoutes: readonly Binding[] = [
  bind(contract.listSla, (ctx, { params }) => listSla(ctx, params.objectId)),
  bind(contract.slaHistory, (ctx, { params }) => slaHistory(ctx, params.instanceId)),
  bind(contract.commandSla, (ctx, { params, body }) => commandSla(ctx, { ...params, ...body })),
  bind(contract.explainSla, (ctx, { params }) => explainSla(ctx, params.instanceId)),
  bind(contract.tryPolicy, (ctx, { body }) => tryPolicy(ctx, body)),
  bind(contract.previewCalendar, (ctx, { body }) => previewCalendar(ctx, body)),
];
