/** Background tasks: making notifications, ending watches, and retention. Any process can continue them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, instant } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/pool.ts';
import { isBehind } from '../../platform/journal/consumers.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import type { Task } from '../../platform/tasks.ts';
import type { Caller, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { checkWatches, makeNotifications, type MakerParts } from './make.ts';
import { KEPT_MS } from './rules.ts';
import { purgeNotifications } from './store.ts';
import { isWatchCheckDue, NOTIFICATIONS } from './store-make.ts';

const PURGED_AT_ONCE = 5000;
/** Pause after each part of a check of watches: a multiple of its duration, up to a maximum. */
const REST = 9;
const LONGEST_REST_MS = 2000;

interface NotificationParts extends MakerParts {
  db: Database;
  clock: Clock;
  work: Work;
  system(): Promise<Caller>;
  /** Reads the current versions of rights and configuration. */
  refresh(): Promise<void>;
}

export function notificationJobs({ db, clock, work, system, refresh, ...maker }: NotificationParts): Task[] {
  const write = async (step: (ctx: WriteContext) => Promise<boolean>): Promise<boolean> => {
    const result = await work.write(await system(), step);
    return result.kind === 'done' && result.data;
  };
  return [
    {
      // Changes do not wait for it. Places are given after commit, so no event is missed.
      name: 'notifications',
      everyMs: 500,
      idleMs: IDLE_MS,
      run: async () => (await isBehind(db, NOTIFICATIONS)) && (await write((ctx) => makeNotifications(ctx, maker))),
    },
    {
      name: 'notification-watches',
      everyMs: 2000,
      idleMs: IDLE_MS,
      // Each change of rights or configuration checks the watches of all users. Under steady changes one check follows another, so
      // each process spends at most a tenth of its time on them. Notifications sent meanwhile are judged anyway.
      run: async () => {
        if (!(await work.read(await system(), isWatchCheckDue))) return false;
        const startedMs = performance.now();
        const hasMore = await write((ctx) => checkWatches(ctx, maker, refresh));
        await sleep(Math.min(REST * (performance.now() - startedMs), LONGEST_REST_MS));
        return hasMore;
      },
    },
    {
      name: 'notification-log',
      everyMs: 600_000,
      run: async () =>
        (await purgeNotifications(db, instant(clock.now() - KEPT_MS), PURGED_AT_ONCE)) === PURGED_AT_ONCE,
    },
  ];
}
