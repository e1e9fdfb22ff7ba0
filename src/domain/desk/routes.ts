import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import type { Suggest } from '../search/index.ts';
import { getBacklog, getLabels, getPermissions, listSuggestions, listTypes } from './queries.ts';
import { lookUp } from './choices.ts';
import * as contract from './contract.ts';
import { listFields as fieldsOperation } from './contract-fields.ts';
import { exportDeskObjects as exportOperation } from './contract-file.ts';
import * as onRecord from './contract-record.ts';
import type { Changes } from '../../platform/unit-of-work/changes.ts';
import type { Actor } from '../../platform/unit-of-work/context.ts';
import type { WordMatch } from '../objects/index.ts';
import { listBuiltInQueues } from './built-in.ts';
import { exportDeskObjects, type FreshCaller } from './file.ts';
import { listDeskObjects } from './list.ts';
import { LiveCounts } from './live-counts.ts';
import { applyMacro, listMacros } from './macros.ts';
import { mergeObject, offerMerge } from './merge.ts';
import { changeQueue, createQueue, deleteQueue, listQueues } from './queues.ts';
import { getRequester, listMentionable } from './record-people.ts';
import { listFields } from './shared-fields.ts';

/**
 * @param matches finds records by words
 * @param suggest finds records while a user types
 * @param actorOf the rights of an ACTIVE user; undefined for all others
 * @param freshCaller returns the same caller with the current rights
 * @param changes tells that changes were committed
 */
export function deskRoutes(
  matches: WordMatch,
  suggest: Suggest,
  actorOf: (userId: string) => Promise<Actor | undefined>,
  freshCaller: FreshCaller,
  changes: Pick<Changes, 'listen'>,
): BoundOperation[] {
  const counts = new LiveCounts(changes);
  return [
    bind(contract.listDeskObjects, (runner, { query }) => listDeskObjects(runner, query, matches)),
    bind(exportOperation, (runner, { body }) => exportDeskObjects(runner, body, freshCaller, matches)),
    bind(fieldsOperation, async (ctx, { query }) => listFields(ctx, query)),
    bind(contract.listDeskTypes, (ctx) => listTypes(ctx)),
    bind(contract.getPermissions, (ctx, { params }) => getPermissions(ctx, params.objectId)),
    bind(onRecord.listMacros, (ctx, { params }) => listMacros(ctx, params.objectId)),
    bind(onRecord.applyMacro, (ctx, { params, body }) => applyMacro(ctx, { ...params, ...body })),
    bind(onRecord.offerMerge, (ctx, { params }) => offerMerge(ctx, params.objectId)),
    bind(onRecord.mergeObject, (ctx, { params, body }) => mergeObject(ctx, { ...params, ...body })),
    bind(onRecord.getRequester, (ctx, { params }) => getRequester(ctx, params.objectId)),
    bind(onRecord.listMentionable, (runner, { params, query }) =>
      listMentionable(runner, { ...params, ...query }, actorOf),
    ),
    bind(contract.lookUp, (ctx, { query }) => lookUp(ctx, query, actorOf)),
    bind(onRecord.listSuggestions, (ctx, { query }) => listSuggestions(ctx, query.q, suggest)),
    bind(contract.getLabels, (ctx, { query }) => getLabels(ctx, query.ids)),
    bind(contract.getBacklog, (ctx) => getBacklog(ctx)),
    bind(contract.listQueues, (ctx) => listQueues(ctx)),
    bind(contract.listBuiltInQueues, (runner) => listBuiltInQueues(runner)),
    bind(contract.streamQueues, async ({ work }) => counts.stream(work)),
    bind(contract.createQueue, (ctx, { body }) => createQueue(ctx, body)),
    bind(contract.changeQueue, (ctx, { params, body }) => changeQueue(ctx, params.queueId, body)),
    bind(contract.deleteQueue, (ctx, { params, body }) => deleteQueue(ctx, params.queueId, body.expectedRevision)),
  ];
}
