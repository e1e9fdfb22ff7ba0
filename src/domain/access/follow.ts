/** Whoever is archived has no sessions left: should they come back, they sign in anew. */
import type { Follower } from '../../mechanisms/context.ts';
import { endSessionsOf } from './store.ts';

export const sessionFollower: Follower = {
  name: 'access',
  follow: async (ctx, events) => {
    for (const { type, data } of events) {
      if (type === 'UserArchived') ctx.plan(endSessionsOf, { user_id: String(data?.['userId']) });
    }
  },
};
