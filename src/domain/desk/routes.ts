import { bind, type Binding, ServicePart } from '../../platform/module.ts';
import { suggestions } from '../search/index.ts';
import { getBacklog, getLabels, getPermissions, listSuggestions, listTypes } from './queries.ts';
import { lookUp } from './choices.ts';
import * as contract from './contract.ts';
import { listFields as fieldsOperation } from './contract-fields.ts';
import { exportDeskObjects as exportOperation } from './contract-file.ts';
import * as onRecord from './contract-record.ts';
import { wordMatch } from '../objects/index.ts';
import { listBuiltInQueues } from './built-in.ts';
import { exportDeskObjects } from './file.ts';
import { listDeskObjects } from './list.ts';
import { LiveCounts } from './live-counts.ts';
import { applyMacro, listMacros } from './macros.ts';
import { mergeObject, offerMerge } from './merge.ts';
import { changeQueue, createQueue, deleteQueue, listQueues } from './queues.ts';
import { getRequester, listMentionable } from './record-people.ts';
import { listFields } from './shared-fields.ts';

const liveCounts = new ServicePart('live counts of queues', ({ changes }) => new LiveCounts(changes));

export const deskRoutes: readonly Binding[] = [
  bind(contract.listDeskObjects, (runner, { query }, _request, service) =>
    listDeskObjects(runner, query, service.get(wordMatch)),
  ),
  bind(exportOperation, (runner, { body }, _request, service) =>
    exportDeskObjects(runner, body, service.freshCaller, service.get(wordMatch)),
  ),
  bind(fieldsOperation, async (ctx, { query }) => listFields(ctx, query)),
  bind(contract.listDeskTypes, (ctx) => listTypes(ctx)),
  bind(contract.getPermissions, (ctx, { params }) => getPermissions(ctx, params.objectId)),
  bind(onRecord.listMacros, (ctx, { params }) => listMacros(ctx, params.objectId)),
  bind(onRecord.applyMacro, (ctx, { params, body }) => applyMacro(ctx, { ...params, ...body })),
  bind(onRecord.offerMerge, (ctx, { params }) => offerMerge(ctx, params.objectId)),
  bind(onRecord.mergeObject, (ctx, { params, body }) => mergeObject(ctx, { ...params, ...body })),
  bind(onRecord.getRequester, (ctx, { params }) => getRequester(ctx, params.objectId)),
  bind(onRecord.listMentionable, (runner, { params, query }, _request, { actorOf }) =>
    listMentionable(runner, { ...params, ...query }, actorOf),
  ),
  bind(contract.lookUp, (ctx, { query }, _request, { actorOf }) => lookUp(ctx, query, actorOf)),
  bind(onRecord.listSuggestions, (ctx, { query }, _request, service) =>
    listSuggestions(ctx, query.q, service.get(suggestions)),
  ),
  bind(contract.getLabels, (ctx, { query }) => getLabels(ctx, query.ids)),
  bind(contract.getBacklog, (ctx) => getBacklog(ctx)),
  bind(contract.listQueues, (ctx) => listQueues(ctx)),
  bind(contract.listBuiltInQueues, (runner) => listBuiltInQueues(runner)),
  bind(contract.streamQueues, async ({ work }, _input, _request, { get }) => get(liveCounts).stream(work)),
  bind(contract.createQueue, (ctx, { body }) => createQueue(ctx, body)),
  bind(contract.changeQueue, (ctx, { params, body }) => changeQueue(ctx, params.queueId, body)),
  bind(contract.deleteQueue, (ctx, { params, body }) => deleteQueue(ctx, params.queueId, body.expectedRevision)),
];
