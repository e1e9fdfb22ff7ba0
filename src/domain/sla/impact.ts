/** The impact of a plan on SLA: running instances whose due time moves, and those that are breached at once. */
import type { Impact, ImpactContext, ImpactSource } from '../../configuration/impact.ts';
import { projected, sampleError, sumErrors } from '../../configuration/store-impact.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { Yielder } from '../../lib/yielding.ts';
import { usesHiddenField } from '../metadata/index.ts';
import { preload, recordOf } from '../objects/index.ts';
import { presentOf } from './effective-policy.ts';
import { slaRegistry } from './registry.ts';
import { listRunning, shuffledRunning, type StoredInstance } from './store.ts';

const BATCH = 500;

/** Ids of the policies whose definition, or whose calendar, differs. */
function changedPolicies({ before, after }: ImpactContext): string[] {
  const ids: string[] = [];
  const [was, is] = [slaRegistry(before), slaRegistry(after)];
  const calendarOf = (known: typeof was, id: string): unknown => known.calendars.get(id)?.definition;
  for (const [id, policy] of was.policies) {
    const next = is.policies.get(id);
    if (next === undefined) continue;
    const same =
      policy.version === next.version &&
      policy.calendarId === next.calendarId &&
      deepEqualJson(calendarOf(was, policy.calendarId), calendarOf(is, next.calendarId));
    if (!same) ids.push(id);
  }
  return ids;
}

/** The due time of an instance before and after the change; null while it is paused. */
async function dueTimes({ before, after }: ImpactContext, instance: StoredInstance) {
  const [old, now] = [await recordOf(before, instance.objectId), await recordOf(after, instance.objectId)];
  if (old === undefined || now === undefined) return { was: null, is: null };
  return {
    was: presentOf(before, instance, old).timing.dueAt,
    is: presentOf(after, instance, now).timing.dueAt,
  };
}

type Found = Impact['sla'][number] & { errorBound: number | null };

async function policyImpact(context: ImpactContext, policyId: string): Promise<Found> {
  const { before, after } = context;
  const limit = context.limit?.visible('o', 'read', after.now);
  const policy = slaRegistry(before).policies.get(policyId)?.code ?? policyId;
  const found = { policy, moved: 0, earliest: null as string | null, breachedAtOnce: 0 };
  const yielder = new Yielder();
  const { total, ids } = await shuffledRunning(after, policyId, limit);
  let examined = 0;
  while (examined < ids.length && context.hasTime()) {
    const batch = ids.slice(examined, examined + BATCH);
    const instances: StoredInstance[] = await listRunning(after, batch, limit);
    const records = instances.map(({ objectId }) => objectId);
    await preload(before, records);
    await preload(after, records);
    for (const instance of instances) {
      await yielder.next();
      const { was, is } = await dueTimes(context, instance);
      if (was === is) continue;
      found.moved++;
      if (is !== null && (found.earliest === null || is < found.earliest)) found.earliest = is;
      if (is !== null && is <= after.now && (was === null || was > after.now)) found.breachedAtOnce++;
    }
    // Records of a batch are not needed again.
    before.memo.clear();
    after.memo.clear();
    examined += batch.length;
  }
  const errorBound = sampleError(total, examined);
  if (errorBound !== 0) context.inexact(errorBound);
  const of = (count: number): number => projected(count, total, examined);
  return { ...found, moved: of(found.moved), breachedAtOnce: of(found.breachedAtOnce), errorBound };
}

/** Due times that move tell whether conditions hold. A caller who cannot always read their fields learns nothing about them. */
function isHidden(context: ImpactContext, policyId: string): boolean {
  return [context.before, context.after].some((ctx) => {
    const policy = slaRegistry(ctx).policies.get(policyId);
    if (policy === undefined) return false;
    const { targets, start, pause, stop, typeId } = policy;
    return usesHiddenField(context, typeId, [start, pause, stop, ...targets.map(({ when }) => when)]);
  });
}

export const slaImpact: ImpactSource = async () => async (context) => {
  const sla: Impact['sla'] = [];
  const errors: (number | null)[] = [];
  for (const id of changedPolicies(context)) {
    if (isHidden(context, id)) continue;
    const { errorBound, ...found } = await policyImpact(context, id);
    errors.push(errorBound);
    if (found.moved > 0) sla.push(found);
  }
  return { sla, errors: { 'sla-breached': sumErrors(errors) } };
};
