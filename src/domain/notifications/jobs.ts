/** Background tasks: making notifications, ending watches, and retention. Any process can continue them. */
import { type Clock, instant } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { Caller, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { checkWatches, makeNotifications, type MakerParts } from './make.ts';
import { KEPT_MS } from './rules.ts';
import { purgeNotifications } from './store.ts';
import { hasNewPlaces, isWatchCheckDue } from './store-make.ts';

const PURGED_AT_ONCE = 5000;

interface NotificationParts extends MakerParts {
  db: Database;
  clock: Clock;
  work: Work;
  system(): Promise<Caller>;
  /** Reads the current versions of rights and configuration. */
  refresh(): Promise<void>;
}

interface NotificationJob {
  name: string;
  everyMs: number;
  run(): Promise<boolean>;
}

export function notificationJobs({ db, clock, work, system, refresh, ...maker }: NotificationParts): NotificationJob[] {
  const write = async (step: (ctx: WriteContext) => Promise<boolean>): Promise<boolean> => {
    const result = await work.write(await system(), step);
    return result.kind === 'done' && result.data;
  };
  return [
    {
      // Changes do not wait for it. Places are given after commit, so no event is missed.
      name: 'notifications',
      everyMs: 500,
      run: async () =>
        (await work.read(await system(), hasNewPlaces)) && (await write((ctx) => makeNotifications(ctx, maker))),
    },
    {
      name: 'notification-watches',
      everyMs: 2000,
      run: async () =>
        (await work.read(await system(), isWatchCheckDue)) && (await write((ctx) => checkWatches(ctx, maker, refresh))),
    },
    {
      name: 'notification-log',
      everyMs: 600_000,
      run: async () =>
        (await purgeNotifications(db, instant(clock.now() - KEPT_MS), PURGED_AT_ONCE)) === PURGED_AT_ONCE,
    },
  ];
}
