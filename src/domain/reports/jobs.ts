/** Background tasks: the facts of existing records, in batches by id, and the counts of large types. Any process can continue them. */
import type { Database } from '../../platform/database/pool.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import type { Caller, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { stepCounting } from './cells.ts';
import { typeFacts } from './requesters.ts';
import { endRebuild, lockRebuild, lockRecords, moveRebuild, remakeFacts, startRebuild } from './store.ts';

const BATCH = 500;

/** Starts a rebuild of all facts, unless one is running. The job `report-facts` does it. */
export function startFactsRebuild(ctx: WriteContext): void {
  ctx.plan(startRebuild, { at: ctx.now });
}

/** One batch. @returns whether there is more to do */
async function stepFactsRebuild(ctx: WriteContext): Promise<boolean> {
  const state = await lockRebuild(ctx);
  if (state === undefined) return false;
  const ids = await lockRecords(ctx, state.after, BATCH);
  const last = ids.at(-1);
  if (last === undefined) {
    ctx.plan(endRebuild, {});
    return false;
  }
  ctx.plan(remakeFacts, { ids, types: typeFacts(ctx) });
  ctx.plan(moveRebuild, { after: last, done: state.done + ids.length });
  return true;
}

interface ReportJob {
  name: string;
  everyMs: number;
  idleMs?: number;
  run(): Promise<boolean>;
}

export function reportJobs(db: Database, work: Work, system: () => Promise<Caller>): ReportJob[] {
  return [
    {
      name: 'report-facts',
      everyMs: 2000,
      idleMs: IDLE_MS,
      run: async () => {
        const result = await work.write(await system(), stepFactsRebuild);
        return result.kind === 'done' && result.data;
      },
    },
    { name: 'report-cells', everyMs: 10_000, idleMs: IDLE_MS, run: async () => await stepCounting(db, await system()) },
  ];
}
