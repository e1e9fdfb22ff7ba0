/** Makes the facts of all records again, in batches by id. */
import { type RebuildStep, startRebuild } from '../../platform/jobs/rebuilds.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { typeFacts } from './requesters.ts';
import { FACTS_REBUILD, lockRecords, remakeFacts } from './store.ts';

const BATCH = 500;

/** Starts a rebuild of all facts, unless one is running. The job `report-facts` does it. */
export function startFactsRebuild(ctx: WriteContext): void {
  ctx.plan(startRebuild, { name: FACTS_REBUILD, at: ctx.now });
}

export async function remakeBatch(ctx: WriteContext, after: string | null): Promise<RebuildStep<string>> {
  const ids = await lockRecords(ctx, after, BATCH);
  if (ids.length > 0) ctx.plan(remakeFacts, { ids, types: typeFacts(ctx) });
  return { made: ids.length, next: ids.at(-1) ?? null };
}
