import { placeWatch } from '../../platform/journal/module.ts';
import { bindWith, type UnboundOperation } from '../../platform/module.ts';
import { readChanges } from './contract.ts';
import { LiveFeed } from './live.ts';
import { readFeed } from './queries.ts';

export const feedRoutes: readonly UnboundOperation[] = [
  bindWith(readChanges, (service) => {
    const live = new LiveFeed(service.get(placeWatch));
    return async ({ work, caller }, { query: given }, facts) => {
      const after = facts.wantsEvents === true ? (facts.lastEventId ?? given.after) : given.after;
      const query = after === undefined ? given : { ...given, after };
      const reader = { work, query, facts, owner: caller.keyId ?? caller.actor.userId ?? '' };
      const first = await work.read(caller, (ctx) => readFeed(ctx, query, facts));
      if (facts.wantsEvents === true) return live.stream(reader, first);
      if (first.page.events.length > 0 || given.wait === undefined || given.wait === 0) return first.page;
      return live.poll(reader, first, given.wait * 1000);
    };
  }),
];
