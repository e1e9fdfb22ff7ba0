import { listPageOf } from '../../contract/paging.ts';
import { type EventFilter, getHistory } from './history.ts';
import * as contract from './contract.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { diffRevisions, getObjectAsOf } from './as-of.ts';
import { archiveObject, createObject, restoreObject, updateObject } from './commands.ts';
import {
  type ContentParts,
  readImage,
  getObject,
  getSchema,
  listObjects,
  replayObject,
  type WordMatch,
} from './queries.ts';
import { objectById } from './store.ts';

/** `filters` hide events of other modules' items; `matches` searches by words. */
export function objectRoutes(
  filters: readonly EventFilter[],
  content: ContentParts,
  matches: WordMatch,
): BoundOperation[] {
  return [
    bind(contract.listObjects, (ctx, { query }) => listObjects(ctx, query, matches)),
    bind(
      contract.createObject,
      (ctx, { body }) => createObject(ctx, body, { isWhole: true }),
      replayObject,
      objectById,
    ),
    bind(contract.getObject, (ctx, { params: { objectId }, query }) =>
      query.revision === undefined && query.at === undefined
        ? getObject(ctx, objectId)
        : getObjectAsOf(ctx, objectId, query),
    ),
    bind(contract.diffRevisions, (ctx, { params, query }) => diffRevisions(ctx, params.objectId, query)),
    bind(contract.updateObject, (ctx, { params, body }) => updateObject(ctx, { ...params, ...body })),
    bind(contract.archiveObject, (ctx, { params, body }) => archiveObject(ctx, { ...params, ...body })),
    bind(contract.getHistory, (ctx, { params, query }) => getHistory(ctx, params.objectId, filters, listPageOf(query))),
    bind(contract.getObjectSchema, (ctx, { params }) => getSchema(ctx, params.objectId)),
    bind(contract.readImage, (runner, { params }, request) => readImage(runner, content, params, request)),
    bind(contract.restoreObject, (ctx, { params }) => restoreObject(ctx, params.objectId)),
  ];
}
