import { bind, type Binding } from '../../platform/module.ts';
import { listPageOf } from '../../contract/paging.ts';
import { getHistory, historyFilters } from './history.ts';
import * as contract from './contract.ts';
import { diffRevisions, getObjectAsOf } from './as-of.ts';
import { archiveObject, createObject, restoreObject, updateObject } from './commands.ts';
import { readImage, getObject, getSchema, listObjects, replayObject, wordMatch } from './queries.ts';
import { objectById } from './store.ts';

export const objectRoutes: readonly Binding[] = [
  bind(contract.listObjects, (ctx, { query }, _request, service) => listObjects(ctx, query, service.get(wordMatch))),
  bind(contract.createObject, (ctx, { body }) => createObject(ctx, body, { isWhole: true }), replayObject, objectById),
  bind(contract.getObject, (ctx, { params: { objectId }, query }) =>
    query.revision === undefined && query.at === undefined
      ? getObject(ctx, objectId)
      : getObjectAsOf(ctx, objectId, query),
  ),
  bind(contract.diffRevisions, (ctx, { params, query }) => diffRevisions(ctx, params.objectId, query)),
  bind(contract.updateObject, (ctx, { params, body }) => updateObject(ctx, { ...params, ...body })),
  bind(contract.archiveObject, (ctx, { params, body }) => archiveObject(ctx, { ...params, ...body })),
  bind(contract.getHistory, (ctx, { params, query }, _request, { modules }) =>
    getHistory(ctx, params.objectId, historyFilters.of(modules), listPageOf(query)),
  ),
  bind(contract.getObjectSchema, (ctx, { params }) => getSchema(ctx, params.objectId)),
  bind(contract.readImage, (runner, { params }, request, service) => readImage(runner, service, params, request)),
  bind(contract.restoreObject, (ctx, { params }) => restoreObject(ctx, params.objectId)),
];
