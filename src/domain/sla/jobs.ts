/**
 * The service's own work on instances: telling what is due, and moving due times after a change of policies or calendars. Both
 * read what is stored and reconcile, so that any number of processes may run them, and any of them may end at any point.
 */
import type { Caller, Work } from '../../mechanisms/work.ts';
import type { WriteContext } from '../../mechanisms/context.ts';
import { preload, recordOf } from '../objects/door.ts';
import { calendarOf, slaRegistry } from './definitions.ts';
import { planDraft, settingFor } from './force.ts';
import { draftOf, retarget } from './rules-course.ts';
import { type InForce, isDue, listStale, lockDue, lockStale, type StoredInstance } from './store.ts';

/** Instances of one unit. */
const BATCH = 200;
/** Stale instances that are looked up at once. */
const PORTION = 1000;
/**
 * How often the mover looks anew though nothing changed: a unit that began under an older configuration may have written by it
 * after everything was moved.
 */
const AGAIN_MS = 60_000;

/** What a unit did: how many instances it had in hand, and what went wrong with single ones. */
interface Done {
  taken: number;
  errors: unknown[];
}

/**
 * Brings instances that this unit has locked to what is in force, telling what was reached. One that cannot be reckoned holds up
 * no other.
 */
async function bringForward(ctx: WriteContext, instances: readonly StoredInstance[]): Promise<Done> {
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

/** Writes what could be reckoned and then says what could not. @returns how many instances moved on */
async function bring(
  work: Work,
  caller: Caller,
  lock: (ctx: WriteContext) => Promise<StoredInstance[]>,
): Promise<number> {
  const result = await work.write(caller, async (ctx) => await bringForward(ctx, await lock(ctx)));
  if (result.kind !== 'done') return 0;
  const { taken, errors } = result.data;
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} SLA instances could not be reckoned`);
  return taken;
}

/**
 * Tells what is due: warnings and breaches, each once, whichever process comes first. What is due is judged by the policies and
 * calendars in force, not by the stored time alone.
 *
 * @returns true when there may be more
 */
export async function fireDue(work: Work, caller: Caller): Promise<boolean> {
  if (!(await work.read(caller, isDue))) return false;
  return (await bring(work, caller, (ctx) => lockDue(ctx, BATCH))) === BATCH;
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

/**
 * Makes the task that moves stored due times after a change of policies or calendars. What is left to do stands in the rows
 * themselves, so it goes on wherever it was interrupted. @returns whether there is more to do at once
 */
export function dueTimeMover(): (work: Work, caller: Caller, nowMs: number) => Promise<boolean> {
  let settled = '';
  let lookedAt = Number.NEGATIVE_INFINITY;
  return async (work, caller, nowMs) => {
    const wanted = inForce(caller);
    const key = JSON.stringify(wanted);
    if (wanted.length === 0 || (key === settled && Math.abs(nowMs - lookedAt) < AGAIN_MS)) return false;
    const ids = await work.read(caller, (ctx) => listStale(ctx, wanted, PORTION));
    if (ids.length === 0) {
      settled = key;
      lookedAt = nowMs;
      return false;
    }
    let moved = 0;
    for (let from = 0; from < ids.length; from += BATCH) {
      moved += await bring(work, caller, (ctx) => lockStale(ctx, wanted, ids.slice(from, from + BATCH)));
    }
    // Where others have everything in hand, there is no use in asking at once.
    return moved > 0;
  };
}
