import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import type { Actor } from '../../platform/unit-of-work/context.ts';
import { requestItem } from './commands.ts';
import * as contract from './contract.ts';
import { getCatalog, getService, listServices, replayRequest } from './queries.ts';

/** @param actorOf returns the actor of an ACTIVE user, undefined for all other ids */
export function catalogRoutes(actorOf: (userId: string) => Promise<Actor | undefined>): BoundOperation[] {
  return [
    bind(contract.listServices, (ctx, { query }) => listServices(ctx, query.locale)),
    bind(contract.getService, (ctx, { params, query }) => getService(ctx, params.serviceId, query.locale)),
    bind(contract.getCatalog, (ctx, { query }) => getCatalog(ctx, query.locale)),
    bind(
      contract.requestItem,
      (ctx, { params, body }) => requestItem(ctx, { ...params, ...body }, actorOf),
      (ctx, data) => replayRequest(ctx, data, actorOf),
    ),
  ];
}
