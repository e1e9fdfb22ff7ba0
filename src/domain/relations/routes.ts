import { bind, type Binding } from '../../platform/module.ts';
import { chosenWindow } from '../../contract/paging.ts';
import { addRelation, removeRelation } from './commands.ts';
import * as contract from './contract.ts';
import { listDefinitions, listRelations, replayRelation } from './queries.ts';

export const relationRoutes: readonly Binding[] = [
  bind(contract.listRelations, (ctx, { params, query }) =>
    listRelations(ctx, params.objectId, query.direction ?? 'outgoing', chosenWindow(query)),
  ),
  bind(contract.listDefinitions, (ctx, { query }) => listDefinitions(ctx, query.sourceObjectId)),
  bind(contract.addRelation, (ctx, { params, body }) => addRelation(ctx, { ...params, ...body }), replayRelation),
  bind(contract.removeRelation, (ctx, { params, body }) => removeRelation(ctx, { ...params, ...body })),
];
