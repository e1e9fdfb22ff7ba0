import { bind, type Binding, ServicePart } from '../../platform/module.ts';
import { placeWatch } from '../../platform/journal/module.ts';
import { readChanges } from './contract.ts';
import { LiveFeed } from './live.ts';
import { readFeed } from './queries.ts';

const liveFeed = new ServicePart('readers of the changes feed that wait', ({ get }) => new LiveFeed(get(placeWatch)));

export const feedRoutes: readonly Binding[] = [
  bind(readChanges, async ({ work, caller }, { query: given }, facts, { get }) => {
    const after = facts.wantsEvents === true ? (facts.lastEventId ?? given.after) : given.after;
    const query = after === undefined ? given : { ...given, after };
    const reader = { work, query, facts, owner: caller.keyId ?? caller.actor.userId ?? '' };
    const first = await work.read(caller, (ctx) => readFeed(ctx, query, facts));
    if (facts.wantsEvents === true) return get(liveFeed).stream(reader, first);
    if (first.page.events.length > 0 || given.wait === undefined || given.wait === 0) return first.page;
    return get(liveFeed).poll(reader, first, given.wait * 1000);
  }),
];
