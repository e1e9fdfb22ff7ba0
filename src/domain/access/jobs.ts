/** Background tasks: what was used last, and the end of sessions and of sign-in attempts. */
import { instant } from '../../platform/clock.ts';
import type { Service } from '../../platform/module.ts';
import type { Task } from '../../platform/tasks.ts';
import { authenticator } from './parts.ts';
import { purgeSessions, touchKeys, touchSessions } from './store.ts';
import { purgeSignIns } from './store-sign-in.ts';

export function accessTasks({ db, clock, get }: Service): Task[] {
  const people = get(authenticator);
  return [
    {
      name: 'sessions',
      everyMs: 3_600_000,
      run: async () => {
        await purgeSessions(db, instant(clock.now()));
        return false;
      },
    },
    {
      name: 'sign-ins',
      everyMs: 300_000,
      run: async () => (await purgeSignIns(db, instant(clock.now()), 5000)) === 5000,
    },
    {
      name: 'key-uses',
      everyMs: 30_000,
      run: async () => {
        const uses = people.takeUses();
        if (uses.size > 0) await touchKeys(db, uses);
        const sessions = people.takeSessionUses();
        if (sessions.size > 0) await touchSessions(db, sessions);
        return false;
      },
    },
  ];
}
