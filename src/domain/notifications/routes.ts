import { bindWith, people, type UnboundOperation } from '../../platform/module.ts';
import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { historyFilters } from '../objects/index.ts';
import * as commands from './commands.ts';
import * as contract from './contract.ts';
import { explainNotifications } from './explain.ts';
import { LiveNotifications } from './live.ts';
import { countNotifications, listNotifications } from './queries.ts';

export const notificationRoutes: readonly (BoundOperation | UnboundOperation)[] = [
  bind(contract.getWatch, (ctx, { params }) => commands.getWatch(ctx, params.objectId)),
  bind(contract.setWatch, (ctx, { params }) => commands.setWatch(ctx, params.objectId, true)),
  bind(contract.endWatch, (ctx, { params }) => commands.setWatch(ctx, params.objectId, false)),
  bind(contract.listNotifications, (ctx, { query }) => listNotifications(ctx, query)),
  bind(contract.countNotifications, (ctx) => countNotifications(ctx)),
  bindWith(contract.streamNotifications, ({ changes }) => {
    const live = new LiveNotifications(changes);
    return async (runner) => live.stream(runner);
  }),
  bind(contract.readNotifications, (ctx, { body }) => commands.readNotifications(ctx, body)),
  bindWith(contract.explainNotifications, (service) => {
    const { actorsOf, modules } = service;
    const systemActor = ({ config }: Pick<ReadContext, 'config'>) => service.get(people).systemCaller(config).actor;
    const parts = { actorsOf, systemActor, filters: historyFilters.of(modules) };
    return (ctx, { body }) => explainNotifications(ctx, body, parts);
  }),
  bind(contract.getChoices, (ctx) => commands.getChoices(ctx)),
  bind(contract.setChoices, (ctx, { body }) => commands.setChoices(ctx, body)),
  bind(contract.getQuietHours, (ctx) => commands.getQuietHours(ctx)),
  bind(contract.setQuietHours, (ctx, { body }) => commands.setQuietHours(ctx, body)),
];
