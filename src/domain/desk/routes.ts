import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { getBacklog, getLabels, getPermissions, listTypes, lookUp } from './queries.ts';
import * as contract from './contract.ts';
import type { WordMatch } from '../objects/index.ts';
import { listBuiltInQueues } from './built-in.ts';
import { listDeskObjects } from './list.ts';
import { changeQueue, createQueue, deleteQueue, listQueues } from './queues.ts';

/** `matches` finds records by words. */
export function deskRoutes(matches: WordMatch): BoundOperation[] {
  return [
    bind(contract.listDeskObjects, (runner, { query }) => listDeskObjects(runner, query, matches)),
    bind(contract.listDeskTypes, (ctx) => listTypes(ctx)),
    bind(contract.getPermissions, (ctx, { params }) => getPermissions(ctx, params.objectId)),
    bind(contract.lookUp, (ctx, { query }) => lookUp(ctx, query)),
    bind(contract.getLabels, (ctx, { query }) => getLabels(ctx, query.ids)),
    bind(contract.getBacklog, (ctx) => getBacklog(ctx)),
    bind(contract.listQueues, (ctx) => listQueues(ctx)),
    bind(contract.listBuiltInQueues, (runner) => listBuiltInQueues(runner)),
    bind(contract.createQueue, (ctx, { body }) => createQueue(ctx, body)),
    bind(contract.changeQueue, (ctx, { params, body }) => changeQueue(ctx, params.queueId, body)),
    bind(contract.deleteQueue, (ctx, { params, body }) => deleteQueue(ctx, params.queueId, body.expectedRevision)),
  ];
}
