/** Background tasks: the facts of existing records, in batches by id, and the counts of large types. Any process can continue them. */
import type { Database } from '../../platform/database/pool.ts';
import { rebuildTask } from '../../platform/jobs/rebuilds.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import type { Task } from '../../platform/tasks.ts';
import type { Caller } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { stepCounting } from './cells.ts';
import { remakeBatch } from './rebuild.ts';
import { FACTS_REBUILD } from './store.ts';

export function reportJobs(db: Database, work: Work, system: () => Promise<Caller>): Task[] {
  return [
    rebuildTask({ name: FACTS_REBUILD, task: 'report-facts', part: remakeBatch }, work, system),
    { name: 'report-cells', everyMs: 10_000, idleMs: IDLE_MS, run: async () => await stepCounting(db, await system()) },
  ];
}
