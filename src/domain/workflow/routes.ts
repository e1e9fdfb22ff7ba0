import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { transitionObject } from './commands.ts';
import * as contract from './contract.ts';
import { getWorkflow } from './queries.ts';

export const workflowRoutes: BoundOperation[] = [
  bind(contract.getWorkflow, (ctx, { params }) => getWorkflow(ctx, params.objectId)),
  bind(contract.transitionObject, (ctx, { params, body }) => transitionObject(ctx, { ...params, ...body })),
];
