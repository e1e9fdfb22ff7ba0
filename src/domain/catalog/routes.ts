import { bind, type Binding } from '../../platform/module.ts';
import { requestItem } from './commands.ts';
import * as contract from './contract.ts';
import { getCatalog, getService, listServices, replayRequest } from './queries.ts';

export const catalogRoutes: readonly Binding[] = [
  bind(contract.listServices, (ctx, { query }) => listServices(ctx, query.locale)),
  bind(contract.getService, (ctx, { params, query }) => getService(ctx, params.serviceId, query.locale)),
  bind(contract.getCatalog, (ctx, { query }) => getCatalog(ctx, query.locale)),
  bind(
    contract.requestItem,
    (ctx, { params, body }, _request, { actorOf }) => requestItem(ctx, { ...params, ...body }, actorOf),
    (ctx, data, _item, { actorOf }) => replayRequest(ctx, data, actorOf),
  ),
];
