import { type BoundOperation, bind } from '../../platform/unit-of-work/binding.ts';
import type { Changes } from '../../platform/unit-of-work/changes.ts';
import * as commands from './commands.ts';
import * as contract from './contract.ts';
import { explainNotifications, type ExplainParts } from './explain.ts';
import { LiveNotifications } from './live.ts';
import { countNotifications, listNotifications } from './queries.ts';

/** @param changes tells that changes were committed */
export function notificationRoutes(changes: Pick<Changes, 'listen'>, parts: ExplainParts): BoundOperation[] {
  const live = new LiveNotifications(changes);
  return [
    bind(contract.getWatch, (ctx, { params }) => commands.getWatch(ctx, params.objectId)),
    bind(contract.setWatch, (ctx, { params }) => commands.setWatch(ctx, params.objectId, true)),
    bind(contract.endWatch, (ctx, { params }) => commands.setWatch(ctx, params.objectId, false)),
    bind(contract.listNotifications, (ctx, { query }) => listNotifications(ctx, query)),
    bind(contract.countNotifications, (ctx) => countNotifications(ctx)),
    bind(contract.streamNotifications, async (runner) => live.stream(runner)),
    bind(contract.readNotifications, (ctx, { body }) => commands.readNotifications(ctx, body)),
    bind(contract.explainNotifications, (ctx, { body }) => explainNotifications(ctx, body, parts)),
    bind(contract.getChoices, (ctx) => commands.getChoices(ctx)),
    bind(contract.setChoices, (ctx, { body }) => commands.setChoices(ctx, body)),
    bind(contract.getQuietHours, (ctx) => commands.getQuietHours(ctx)),
    bind(contract.setQuietHours, (ctx, { body }) => commands.setQuietHours(ctx, body)),
  ];
}
