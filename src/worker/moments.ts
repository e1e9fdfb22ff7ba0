/** Wakes tasks at the next moment at which one of their rows is due. */
import { type Clock, instant } from '../platform/clock.ts';
import type { Database } from '../platform/database/pool.ts';
import { IDLE_MS, type Moment, readMoments } from '../platform/moments.ts';
import type { Task } from '../platform/tasks.ts';

/** What is due for longer waits for something else, for example for a disabled webhook to be enabled, which is a write. */
const OVERDUE_MS = 60_000;

export function momentTask(
  { db, clock }: { db: Database; clock: Clock },
  moments: readonly Moment[],
  wake: (task: string) => void,
): Task {
  return {
    name: 'moments',
    everyMs: 1000,
    idleMs: IDLE_MS,
    run: async () => {
      const now = clock.now();
      let nextMs = Number.POSITIVE_INFINITY;
      for (const { task, at } of await readMoments(db, moments, instant(now - OVERDUE_MS))) {
        const left = Date.parse(at) - now;
        if (left <= 0) wake(task);
        else nextMs = Math.min(nextMs, left);
      }
      return nextMs;
    },
  };
}
