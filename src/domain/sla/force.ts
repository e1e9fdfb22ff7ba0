/** What is in force for an instance in this unit, and how a decision about it is planned. */
import type { RecordFacts, Variables } from '../../lib/filter.ts';
import { WorkTime } from '../../lib/worktime.ts';
import type { ActorVariables, ReadContext, WriteContext } from '../../mechanisms/context.ts';
import { registry, today } from '../metadata/door.ts';
import type { RecordView } from '../objects/door.ts';
import { type CalendarDefinition, type CalendarInForce, calendarOf, type Policy, slaRegistry } from './definitions.ts';
import { type Figures, figuresOf, type Instance, targetOf } from './rules.ts';
import { type Draft, finish, type Setting } from './rules-course.ts';
import { changeInstance, insertInstance, rowOf, type StoredInstance } from './store.ts';

/** A target is a fact of the record and not of who looks at it: its conditions know no person. */
const NOBODY: ActorVariables = {
  me: '00000000-0000-0000-0000-000000000000',
  groups: [],
  orgUnit: null,
  orgUnits: [],
};

/** Variables for conditions that are judged for whoever acts, or for nobody. */
export function variablesFor(ctx: ReadContext, person: ActorVariables = ctx.actor.variables): Variables {
  return {
    ...person,
    now: ctx.now,
    // Few conditions ask for the day, and the calendar of a time zone is dear.
    get today() {
      return today(registry(ctx), ctx.now);
    },
  };
}

/** The target that the policy in force has for a record of these facts; undefined where none fits. */
export function targetUnder(ctx: ReadContext, policy: Policy, facts: RecordFacts): number | undefined {
  return targetOf(policy, facts, variablesFor(ctx, NOBODY));
}

/** The policy of an instance; archived ones stay in the configuration. */
export function policyOf(ctx: ReadContext, instance: Pick<Instance, 'policyId'>): Policy {
  const policy = slaRegistry(ctx).policies.get(instance.policyId);
  if (policy === undefined) throw new Error(`there is no policy ${instance.policyId}`);
  return policy;
}

/** The calendar that the instance keeps to: the one chosen by hand or that it stopped with, else the policy's as it is now. */
export function calendarFor(ctx: ReadContext, instance: StoredInstance, policy: Policy): CalendarInForce {
  const known = slaRegistry(ctx);
  if (!instance.pinned && instance.status !== 'STOPPED') return calendarOf(known, policy);
  const { calendarId: id, calendarVersion: version, keptCalendar } = instance;
  const present = known.calendars.get(id);
  if (present?.version === version) return present;
  if (keptCalendar === null) throw new Error(`version ${version} of calendar ${id} was not kept`);
  return keptVersion(id, version, keptCalendar);
}

export function keptVersion(id: string, version: number, definition: CalendarDefinition): CalendarInForce {
  return { id, version, definition, time: new WorkTime(definition) };
}

/** What a decision about a stored instance is made with. */
export function settingFor(ctx: ReadContext, instance: StoredInstance, view: RecordView): Setting {
  const policy = policyOf(ctx, instance);
  return {
    now: ctx.now,
    actorId: ctx.actor.userId,
    policy,
    calendar: calendarFor(ctx, instance, policy),
    // Where no target fits any more, the last one stays.
    targetMs: targetUnder(ctx, policy, view.facts) ?? instance.targetMs,
  };
}

/** An instance as it stands now: by what is in force while it runs, as it was stored once it stopped. */
export interface Present {
  policy: Policy;
  calendar: CalendarInForce;
  figures: Figures;
}

export function presentOf(ctx: ReadContext, instance: StoredInstance, view: RecordView): Present {
  const policy = policyOf(ctx, instance);
  const calendar = calendarFor(ctx, instance, policy);
  if (instance.status !== 'STOPPED') {
    const targetMs = targetUnder(ctx, policy, view.facts) ?? instance.targetMs;
    return { policy, calendar, figures: figuresOf(instance, targetMs, calendar.time, ctx.now) };
  }
  const { targetMs, dueAt } = instance;
  const elapsedMs = instance.elapsedMs ?? 0;
  const breached = elapsedMs >= targetMs;
  return {
    policy,
    calendar,
    figures: {
      targetMs,
      elapsedMs,
      remainingMs: targetMs - elapsedMs,
      dueAt,
      breached,
      breachedAt: breached ? dueAt : null,
    },
  };
}

/** Plans the row and the events of what was decided; nothing where nothing changed. @returns the instance as it will stand */
export function planDraft(ctx: WriteContext, draft: Draft, setting: Setting): Instance {
  const { instance, figures, events, unchanged } = finish(draft, setting);
  if (unchanged) return draft.before ?? instance;
  ctx.plan(draft.before === null ? insertInstance : changeInstance, rowOf(instance));
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
        targetMs: figures.targetMs,
        elapsedMs: figures.elapsedMs,
        dueAt: figures.dueAt,
        ...data,
      },
    });
  }
  return instance;
}
