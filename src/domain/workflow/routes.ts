import { bind, type Binding } from '../../platform/module.ts';
import { transitionObject } from './commands.ts';
import * as contract from './contract.ts';
import { getWorkflow } from './queries.ts';

export const workflowRoutes: readonly Binding[] = [
  bind(contract.getWorkflow, (ctx, { params }) => getWorkflow(ctx, params.objectId)),
  bind(contract.transitionObject, (ctx, { params, body }) => transitionObject(ctx, { ...params, ...body })),
];
