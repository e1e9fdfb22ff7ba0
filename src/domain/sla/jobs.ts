/**
 * Background jobs on instances: they report warnings and breaches, and recalculate due times after a change of policies or
 * calendars. Both compare the stored rows with what applies now. Any number of processes may run them, and each may stop at any
 * time.
 */
import { isFault } from '../../lib/fault.ts';
import { RULE_FAULTS } from '../../lib/fault-codes.ts';
import { fireEach, MomentUpdater } from '../../platform/jobs/timers.ts';
import type { Service } from '../../platform/module.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import type { Task } from '../../platform/tasks.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import type { WriteContext, Caller } from '../../platform/unit-of-work/context.ts';
import { preload, recordOf } from '../objects/index.ts';
import { calendarOf, slaRegistry } from './registry.ts';
import { planDraft, settingFor } from './effective-policy.ts';
import { draftOf, retarget } from './rules-transitions.ts';
import { type InForce, listDue, listStale, lockDue, lockStale, type StoredInstance } from './store.ts';

/** Maximum number of instances in one unit of work. */
const BATCH = 200;
/** Maximum number of outdated instances read at once. */
const READ_LIMIT = 1000;
/**
 * How often outdated instances are searched for without a configuration change. A unit of work that began under an older
 * configuration may have written after the last search.
 */
const RECHECK_MS = 60_000;

/** The result of a unit of work: how many instances it locked, and the errors of single instances. */
interface Done {
  taken: number;
  errors: unknown[];
}

/**
 * Updates locked instances to the current policy and calendar, and reports what was reached. An error in one instance does not
 * affect the others.
 */
async function updateInstances(ctx: WriteContext, instances: readonly StoredInstance[]): Promise<Done> {
  await preload(
    ctx,
    instances.map((instance) => instance.objectId),
  );
  const errors: unknown[] = [];
  for (const instance of instances) {
    const one = async (): Promise<void> => {
      const view = await recordOf(ctx, instance.objectId);
      if (view === undefined) throw new Error(`SLA instance ${instance.id} has no record`);
      const setting = settingFor(ctx, instance, view);
      const draft = draftOf(instance);
      retarget(draft, setting, true);
      planDraft(ctx, draft, setting);
    };
    await ctx.attempt(one).catch((error: unknown) => errors.push(error));
  }
  return { taken: instances.length, errors };
}

/** Commits the successful updates, then throws the collected errors. @returns the number of locked instances */
async function runBatch(
  work: Work,
  caller: Caller,
  lock: (ctx: WriteContext) => Promise<StoredInstance[]>,
): Promise<number> {
  const result = await work.write(caller, async (ctx) => await updateInstances(ctx, await lock(ctx)));
  if (result.kind !== 'done') return 0;
  const { taken, errors } = result.data;
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} SLA instances could not be recalculated`);
  return taken;
}

/**
 * Reports due warnings and breaches, each once, whichever process runs it. The stored time only selects candidates; the current
 * policy and calendar decide whether something is due.
 *
 * @returns true when there may be more
 */
export async function fireDue(work: Work, caller: Caller): Promise<boolean> {
  if ((await work.read(caller, (ctx) => listDue(ctx, 1))).length === 0) return false;
  try {
    return (await runBatch(work, caller, (ctx) => lockDue(ctx, BATCH))) === BATCH;
  } catch (error) {
    if (!isOfRule(error) && !isFault(error, 'OVERLOADED')) throw error;
  }
  // A rule refused one of the events, or users kept changing one of the records that rules change. One by one, the others are
  // reported with what rules do; what a rule refuses is reported without it.
  const ids = await work.read(caller, (ctx) => listDue(ctx, BATCH));
  await fireEach(ids, {
    atOnce: 1,
    fire: (id) => runBatch(work, caller, (ctx) => lockDue(ctx, 1, id)),
    isRefusal: isOfRule,
    refused: (id) => runBatch(work, { ...caller, reacts: false }, (ctx) => lockDue(ctx, 1, id)),
  });
  return ids.length === BATCH;
}

/** Whether a rule that reacted to the events refused them. */
function isOfRule(error: unknown): boolean {
  return isFault(error) && RULE_FAULTS.some((code) => code === error.code);
}

function inForce(caller: Caller): InForce[] {
  const known = slaRegistry(caller);
  return [...known.policies.values()].map((policy) => {
    const calendar = calendarOf(known, policy);
    return {
      policy_id: policy.id,
      policy_version: policy.version,
      calendar_id: calendar.id,
      calendar_version: calendar.version,
    };
  });
}

/** Creates the task that updates stored due times after a change of policies or calendars. */
export function dueTimeUpdater(): (work: Work, caller: Caller, nowMs: number) => Promise<boolean> {
  const updater = new MomentUpdater();
  return async (work, caller, nowMs) => {
    const wanted = inForce(caller);
    if (wanted.length === 0) return false;
    return await updater.run({ key: JSON.stringify(wanted), nowMs, recheckMs: RECHECK_MS }, async () => {
      const ids = await work.read(caller, (ctx) => listStale(ctx, wanted, READ_LIMIT));
      if (ids.length === 0) return 'done';
      let updated = 0;
      for (let from = 0; from < ids.length; from += BATCH) {
        updated += await runBatch(work, caller, (ctx) => lockStale(ctx, wanted, ids.slice(from, from + BATCH)));
      }
      // If other processes hold all remaining rows, wait for the next run.
      return updated > 0 ? 'more' : 'wait';
    });
  };
}

export function slaTasks({ clock, work, system }: Pick<Service, 'clock' | 'work' | 'system'>): Task[] {
  const updateDueTimes = dueTimeUpdater();
  return [
    { name: 'sla-timers', everyMs: 1000, idleMs: IDLE_MS, run: async () => await fireDue(work, await system()) },
    {
      name: 'sla-due-times',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => await updateDueTimes(work, await system(), clock.now()),
    },
  ];
}
