/** Background tasks: the facts of existing records, in batches by id, and the counts of large types. Any process can continue them. */
import type { Database } from '../../platform/database/pool.ts';
import { type RebuildStep, rebuildTask, startRebuild } from '../../platform/jobs/rebuilds.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import type { Caller, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { stepCounting } from './cells.ts';
import { typeFacts } from './requesters.ts';
import { FACTS_REBUILD, lockRecords, remakeFacts } from './store.ts';

const BATCH = 500;

/** Starts a rebuild of all facts, unless one is running. The job `report-facts` does it. */
export function startFactsRebuild(ctx: WriteContext): void {
  ctx.plan(startRebuild, { name: FACTS_REBUILD, at: ctx.now });
}

async function remakeBatch(ctx: WriteContext, after: string | null): Promise<RebuildStep<string>> {
  const ids = await lockRecords(ctx, after, BATCH);
  if (ids.length > 0) ctx.plan(remakeFacts, { ids, types: typeFacts(ctx) });
  return { made: ids.length, next: ids.at(-1) ?? null };
}

interface ReportJob {
  name: string;
  everyMs: number;
  idleMs?: number;
  run(): Promise<boolean>;
}

export function reportJobs(db: Database, work: Work, system: () => Promise<Caller>): ReportJob[] {
  return [
    rebuildTask({ name: FACTS_REBUILD, task: 'report-facts', part: remakeBatch }, work, system),
    { name: 'report-cells', everyMs: 10_000, idleMs: IDLE_MS, run: async () => await stepCounting(db, await system()) },
  ];
}
