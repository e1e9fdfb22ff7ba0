import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import { requestItem } from './commands.ts';
import * as contract from './contract.ts';
import { getCatalog, getService, listServices, replayRequest } from './queries.ts';

export const catalogRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bind(contract.listServices, (ctx, { query }) => listServices(ctx, query.locale)),
  bind(contract.getService, (ctx, { params, query }) => getService(ctx, params.serviceId, query.locale)),
  bind(contract.getCatalog, (ctx, { query }) => getCatalog(ctx, query.locale)),
  bindWith(
    contract.requestItem,
    ({ actorOf }) =>
      (ctx, { params, body }) =>
        requestItem(ctx, { ...params, ...body }, actorOf),
    ({ actorOf }) =>
      (ctx, data) =>
        replayRequest(ctx, data, actorOf),
  ),
];
