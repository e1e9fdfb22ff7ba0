import { listPageOf } from '../../contract/paging.ts';
import { getHistory, historyFilters } from './history.ts';
import * as contract from './contract.ts';
import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { diffRevisions, getObjectAsOf } from './as-of.ts';
import { archiveObject, createObject, restoreObject, updateObject } from './commands.ts';
import { readImage, getObject, getSchema, listObjects, replayObject, wordMatch } from './queries.ts';
import { objectById } from './store.ts';

export const objectRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bindWith(
    contract.listObjects,
    (service) =>
      (ctx, { query }) =>
        listObjects(ctx, query, service.get(wordMatch)),
  ),
  bind(contract.createObject, (ctx, { body }) => createObject(ctx, body, { isWhole: true }), replayObject, objectById),
  bind(contract.getObject, (ctx, { params: { objectId }, query }) =>
    query.revision === undefined && query.at === undefined
      ? getObject(ctx, objectId)
      : getObjectAsOf(ctx, objectId, query),
  ),
  bind(contract.diffRevisions, (ctx, { params, query }) => diffRevisions(ctx, params.objectId, query)),
  bind(contract.updateObject, (ctx, { params, body }) => updateObject(ctx, { ...params, ...body })),
  bind(contract.archiveObject, (ctx, { params, body }) => archiveObject(ctx, { ...params, ...body })),
  bindWith(contract.getHistory, ({ modules }) => {
    const filters = historyFilters.of(modules);
    return (ctx, { params, query }) => getHistory(ctx, params.objectId, filters, listPageOf(query));
  }),
  bind(contract.getObjectSchema, (ctx, { params }) => getSchema(ctx, params.objectId)),
  bindWith(
    contract.readImage,
    (service) =>
      (runner, { params }, request) =>
        readImage(runner, service, params, request),
  ),
  bind(contract.restoreObject, (ctx, { params }) => restoreObject(ctx, params.objectId)),
];
