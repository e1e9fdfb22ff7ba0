/** The impact of a plan on SLA: running instances whose due time moves, and those that are breached at once. */
import type { Impact, ImpactContext, ImpactSource } from '../../configuration/impact.ts';
import { deepEqualJson } from '../../lib/json.ts';
import { Turns } from '../../lib/yielding.ts';
import { preload, recordOf } from '../objects/index.ts';
import { presentOf } from './effective-policy.ts';
import { slaRegistry } from './registry.ts';
import { listRunning, type StoredInstance } from './store.ts';

const BATCH = 500;
/** Instances of a policy that are calculated. */
const MOST_INSTANCES = 100_000;

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

async function policyImpact(context: ImpactContext, policyId: string): Promise<Impact['sla'][number]> {
  const { before, after } = context;
  const limit = context.limit?.visible('o', 'read', after.now);
  const policy = slaRegistry(before).policies.get(policyId)?.code ?? policyId;
  const found = { policy, moved: 0, earliest: null as string | null, breachedAtOnce: 0 };
  const turns = new Turns();
  let seen = 0;
  for (let last: string | null = null; ; ) {
    const page: StoredInstance[] = await listRunning(after, policyId, { after: last, limit: BATCH, visible: limit });
    const ids = page.map(({ objectId }) => objectId);
    await preload(before, ids);
    await preload(after, ids);
    for (const instance of page) {
      await turns.next();
      const { was, is } = await dueTimes(context, instance);
      if (was === is) continue;
      found.moved++;
      if (is !== null && (found.earliest === null || is < found.earliest)) found.earliest = is;
      if (is !== null && is <= after.now && (was === null || was > after.now)) found.breachedAtOnce++;
    }
    // Records of a page are not needed again.
    before.memo.clear();
    after.memo.clear();
    seen += page.length;
    last = page.at(-1)?.id ?? null;
    if (page.length < BATCH) return found;
    if (seen < MOST_INSTANCES && context.hasTime()) continue;
    context.inexact(null);
    return found;
  }
}

export const slaImpact: ImpactSource = async () => async (context) => {
  const sla: Impact['sla'] = [];
  for (const id of changedPolicies(context)) {
    const found = await policyImpact(context, id);
    if (found.moved > 0) sla.push(found);
  }
  return { sla };
};
