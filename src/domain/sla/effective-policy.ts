/** The policy, calendar and target that apply to an instance in this unit of work, and the writes of a decision. */
import type { RecordFacts } from '../../lib/filter.ts';
import { WorkTime } from '../../lib/worktime.ts';
import type { ActorVariables, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { variables } from '../metadata/index.ts';
import type { RecordView } from '../objects/index.ts';
import { type CalendarDefinition, type CalendarInForce, calendarOf, type Policy, slaRegistry } from './registry.ts';
import { type SlaTiming, timingOf, type Instance, targetOf } from './rules.ts';
import { type Draft, finish, type Setting } from './rules-transitions.ts';
import { changeInstance, insertInstance, type StoredInstance } from './store.ts';

/** Targets depend on the record only, not on the acting user. Their conditions are evaluated without a user. */
const NO_USER: ActorVariables = {
  me: '00000000-0000-0000-0000-000000000000',
  groups: [],
  orgUnit: null,
  orgUnits: [],
};

/** The target of the policy for these facts; undefined if none applies. */
export function targetUnder(ctx: ReadContext, policy: Policy, facts: RecordFacts): number | undefined {
  return targetOf(policy, facts, variables(ctx, NO_USER));
}

/** The policy of an instance. Archived policies stay in the configuration. */
export function policyOf(ctx: ReadContext, instance: Pick<Instance, 'policyId'>): Policy {
  const policy = slaRegistry(ctx).policies.get(instance.policyId);
  if (policy === undefined) throw new Error(`there is no policy ${instance.policyId}`);
  return policy;
}

/** The calendar of the instance: the one chosen by command or used at the stop, else the policy's current one. */
export function calendarFor(ctx: ReadContext, instance: StoredInstance, policy: Policy): CalendarInForce {
  const known = slaRegistry(ctx);
  if (!instance.pinned && instance.status !== 'STOPPED') return calendarOf(known, policy);
  const { calendarId: id, calendarVersion: version, storedCalendar } = instance;
  const present = known.calendars.get(id);
  if (present?.version === version) return present;
  if (storedCalendar === null) throw new Error(`version ${version} of calendar ${id} was not kept`);
  return calendarVersionOf(id, version, storedCalendar);
}

export function calendarVersionOf(id: string, version: number, definition: CalendarDefinition): CalendarInForce {
  return { id, version, definition, time: new WorkTime(definition) };
}

/** The input of a decision about a stored instance. */
export function settingFor(ctx: ReadContext, instance: StoredInstance, view: RecordView): Setting {
  const policy = policyOf(ctx, instance);
  return {
    now: ctx.now,
    actorId: ctx.actor.userId,
    policy,
    calendar: calendarFor(ctx, instance, policy),
    // If no target applies any more, the instance keeps its target.
    targetMs: targetUnder(ctx, policy, view.facts) ?? instance.targetMs,
  };
}

/**
 * The current state of an instance: calculated from the current policy and calendar while it runs, as stored once it has
 * stopped.
 */
export interface Present {
  policy: Policy;
  calendar: CalendarInForce;
  timing: SlaTiming;
}

export function presentOf(ctx: ReadContext, instance: StoredInstance, view: RecordView): Present {
  const policy = policyOf(ctx, instance);
  const calendar = calendarFor(ctx, instance, policy);
  if (instance.status !== 'STOPPED') {
    const targetMs = targetUnder(ctx, policy, view.facts) ?? instance.targetMs;
    return { policy, calendar, timing: timingOf(instance, targetMs, calendar.time, ctx.now) };
  }
  const { targetMs, dueAt } = instance;
  const elapsedMs = instance.elapsedMs ?? 0;
  const breached = elapsedMs >= targetMs;
  return {
    policy,
    calendar,
    timing: {
      targetMs,
      elapsedMs,
      remainingMs: targetMs - elapsedMs,
      dueAt,
      breached,
      breachedAt: breached ? dueAt : null,
    },
  };
}

function latestKey({ objectId, policyId }: Pick<Instance, 'objectId' | 'policyId'>): string {
  return `sla:latest:${objectId}:${policyId}`;
}

/** The instance as the unit of work plans it; undefined if it plans none of the policy on the record. */
export function plannedInstance(
  ctx: ReadContext,
  key: Pick<Instance, 'objectId' | 'policyId'>,
): StoredInstance | undefined {
  return ctx.memo.get(latestKey(key)) as StoredInstance | undefined;
}

/** One statement cannot write a row twice: further changes of the instance become part of its planned row, with its guard. */
function planInstance(ctx: WriteContext, { before }: Draft, instance: Instance): void {
  const key = `sla:written:${instance.id}`;
  const earlier = ctx.memo.get(key) as typeof insertInstance | undefined;
  const write = earlier ?? (before === null ? insertInstance : changeInstance);
  ctx.memo.set(key, write);
  if (earlier === undefined) return ctx.plan(write, instance);
  ctx.replan(write, (row) => (row.id === instance.id ? { ...instance, lockVersion: row.lockVersion } : row));
}

/** Plans the row and the events of a decision, if anything changed. @returns the instance after the change */
export function planDraft(ctx: WriteContext, draft: Draft, setting: Setting): Instance {
  const { instance, timing, events, unchanged } = finish(draft, setting);
  if (unchanged) return draft.before ?? instance;
  planInstance(ctx, draft, instance);
  ctx.memo.set(latestKey(instance), { ...instance, storedCalendar: setting.calendar.definition });
  for (const { type, data } of events) {
    ctx.emit({
      type,
      objectId: instance.objectId,
      data: {
        slaInstanceId: instance.id,
        policyId: instance.policyId,
        policyCode: setting.policy.code,
        status: instance.status,
        slaRevision: instance.revision,
        targetMs: timing.targetMs,
        elapsedMs: timing.elapsedMs,
        dueAt: timing.dueAt,
        ...data,
      },
    });
  }
  return instance;
}
