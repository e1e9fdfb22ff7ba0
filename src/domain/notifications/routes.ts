import { bind, type Binding, ServicePart, people } from '../../platform/module.ts';
import { historyFilters } from '../objects/index.ts';
import * as commands from './commands.ts';
import * as contract from './contract.ts';
import { explainNotifications, type ExplainParts } from './explain.ts';
import { LiveNotifications } from './live.ts';
import { countNotifications, listNotifications } from './queries.ts';

const live = new ServicePart('live notifications', ({ changes }) => new LiveNotifications(changes));

const explainParts = new ServicePart<ExplainParts>('explanations of notifications', ({ actorsOf, modules, get }) => ({
  actorsOf,
  systemActor: ({ config }) => get(people).systemCaller(config).actor,
  filters: historyFilters.of(modules),
}));

export const notificationRoutes: readonly Binding[] = [
  bind(contract.getWatch, (ctx, { params }) => commands.getWatch(ctx, params.objectId)),
  bind(contract.setWatch, (ctx, { params }) => commands.setWatch(ctx, params.objectId, true)),
  bind(contract.endWatch, (ctx, { params }) => commands.setWatch(ctx, params.objectId, false)),
  bind(contract.listNotifications, (ctx, { query }) => listNotifications(ctx, query)),
  bind(contract.countNotifications, (ctx) => countNotifications(ctx)),
  bind(contract.streamNotifications, async (runner, _input, _request, { get }) => get(live).stream(runner)),
  bind(contract.readNotifications, (ctx, { body }) => commands.readNotifications(ctx, body)),
  bind(contract.explainNotifications, (ctx, { body }, _request, { get }) =>
    explainNotifications(ctx, body, get(explainParts)),
  ),
  bind(contract.getChoices, (ctx) => commands.getChoices(ctx)),
  bind(contract.setChoices, (ctx, { body }) => commands.setChoices(ctx, body)),
  bind(contract.getQuietHours, (ctx) => commands.getQuietHours(ctx)),
  bind(contract.setQuietHours, (ctx, { body }) => commands.setQuietHours(ctx, body)),
];
