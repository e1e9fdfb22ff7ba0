/** Consequences of changes of users and rights, whichever operation makes the change. */
import { Fault } from '../../lib/fault.ts';
import type { EventType } from '../../contract/events.ts';
import type { Follower, Invariant } from '../../platform/unit-of-work/context.ts';
import { accessLock } from '../identity/index.ts';
import { endSessionsOf, administratorExists } from './store.ts';

/** Ends the sessions of archived users: when they are restored, they sign in again. */
export const sessionFollower: Follower = {
  name: 'access',
  follow: async (ctx, events) => {
    for (const { type, data } of events) {
      if (type === 'UserArchived') ctx.plan(endSessionsOf, { userId: String(data?.['userId']), keep: null });
    }
  },
};

/** Events of changes that take the right to assign roles from nobody: roles come from groups, and not from units. */
const HARMLESS: ReadonlySet<EventType> = new Set(['GroupMemberAdded', 'OrgMemberSet', 'OrgMemberRemoved']);

/**
 * Refuses a change after which no user could assign roles. It checks every change that changes the rights version, so no list
 * of commands has to be maintained, except units whose events are all harmless. The expiry of a key is not a change and is not
 * checked.
 *
 * @param provider whether users can sign in by OpenID Connect
 */
export function administratorFollower(provider: boolean): Follower {
  const invariant: Invariant<boolean> = {
    name: 'access.administrator',
    lock: accessLock(),
    before: (ctx) => administratorExists(ctx, provider),
    after: async (ctx, existed) => {
      if (!existed || (await administratorExists(ctx, provider))) return;
      throw new Fault(
        'LAST_ADMINISTRATOR',
        'The change would leave no user who has the right role.assign and can sign in or use a key. Grant the right to another user first.',
      );
    },
  };
  return {
    name: 'access.administrator',
    follow: async (ctx, events) => {
      if (ctx.invalidated.size > 0 && !events.every(({ type }) => HARMLESS.has(type))) ctx.verify(invariant);
    },
  };
}
