/** Computes the facts of existing records, in batches by id. It can be interrupted, and any process can continue it. */
import type { Caller, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { type RecordType, registry } from '../metadata/index.ts';
import { requesterField } from './requesters.ts';
import {
  endRebuild,
  lockRebuild,
  lockRecords,
  moveRebuild,
  remakeFacts,
  startRebuild,
  type TypeFacts,
} from './store.ts';

const BATCH = 500;

/** Starts a rebuild of all facts, unless one is running. The job `report-facts` does it. */
export function startFactsRebuild(ctx: WriteContext): void {
  ctx.plan(startRebuild, { at: ctx.now });
}

function typeFacts(ctx: WriteContext, type: RecordType): TypeFacts {
  const states = [...type.versions.values()].flatMap(({ workflow }) => [...(workflow?.states.values() ?? [])]);
  const requester = requesterField(ctx, type);
  const done = states.filter(({ category }) => category === 'done');
  return {
    type_id: type.id,
    done_ids: [...new Set(done.map(({ id }) => id))],
    done_codes: [...new Set(done.flatMap(({ code, former = [] }) => [code, ...former]))],
    requester: requester === null ? null : (requester.storedAs ?? requester.code),
  };
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
  const types = [...registry(ctx).byId.values()].map((type) => typeFacts(ctx, type));
  ctx.plan(remakeFacts, { ids, types });
  ctx.plan(moveRebuild, { after: last, done: state.done + ids.length });
  return true;
}

interface ReportJob {
  name: string;
  everyMs: number;
  run(): Promise<boolean>;
}

export function reportJobs(work: Work, system: () => Promise<Caller>): ReportJob[] {
  return [
    {
      name: 'report-facts',
      everyMs: 2000,
      run: async () => {
        const result = await work.write(await system(), stepFactsRebuild);
        return result.kind === 'done' && result.data;
      },
    },
  ];
}
