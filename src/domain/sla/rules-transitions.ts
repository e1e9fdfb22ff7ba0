/**
 * Pure decisions on the transitions of an instance: start, pause, resume, change of target and stop, and the resulting events.
 * Each function changes a draft, which starts as the stored instance and ends as the next stored state.
 */
import type { EventOf } from '../../contract/events.ts';
import type { CalendarInForce, Policy } from './registry.ts';
import {
  type SlaTiming,
  timingOf,
  type Instance,
  type ConditionResults,
  nextAt,
  notBefore,
  openPause,
  type PausedBy,
  reached,
  wantsStart,
} from './rules.ts';

export interface SlaEvent {
  type: EventOf<'sla'>;
  data: Record<string, unknown>;
}

/** The input of a decision. */
export interface Setting {
  now: string;
  actorId: string | null;
  policy: Policy;
  calendar: CalendarInForce;
  /** The target from the current policy for the current record. */
  targetMs: number;
}

/** An instance while it is being changed. */
export interface Draft {
  readonly before: Instance | null;
  instance: Instance;
  readonly events: SlaEvent[];
  /** Whether callers can see the change. If so, the revision grows. */
  visible: boolean;
}

export function draftOf(instance: Instance): Draft {
  return { before: instance, instance, events: [], visible: false };
}

function change(draft: Draft, changes: Partial<Instance>): void {
  draft.instance = { ...draft.instance, ...changes };
}

function addEvent(draft: Draft, type: EventOf<'sla'>, data: Record<string, unknown> = {}): void {
  draft.events.push({ type, data });
}

/** Starts a new instance on the record. */
export function begin(id: string, objectId: string, results: ConditionResults, setting: Setting): Draft {
  const { now, policy, calendar, targetMs } = setting;
  const instance: Instance = {
    id,
    objectId,
    policyId: policy.id,
    policyVersion: policy.version,
    revision: 0,
    lockVersion: 0,
    status: 'ACTIVE',
    startedAt: now,
    stoppedAt: null,
    pauses: [],
    startArmed: false,
    pauseArmed: true,
    targetMs,
    calendarId: calendar.id,
    calendarVersion: calendar.version,
    pinned: false,
    elapsedMs: null,
    dueAt: null,
    nextAt: null,
    notifiedThresholds: [],
  };
  const draft: Draft = { before: null, instance, events: [], visible: true };
  addEvent(draft, 'SlaStarted');
  if (results.pause) pause(draft, 'policy', setting);
  return draft;
}

/**
 * Reports warnings and breaches that are reached and were not reported. Forgets those that are no longer reached: if a target
 * moves into the future, its warnings are reported again later. Uses the given target and the calendar of the setting.
 */
function reportThresholds(draft: Draft, setting: Setting, targetMs: number): void {
  const { instance } = draft;
  const timing = timingOf(instance, targetMs, setting.calendar.time, setting.now);
  const { warnAt } = setting.policy;
  // Percentages that the policy no longer has stay remembered while they are reached, in case the policy gets them back.
  const remembered = instance.notifiedThresholds.filter(
    (threshold) => threshold !== 'breach' && !warnAt.includes(threshold),
  );
  const reachedNow = reached(timing, [...warnAt, ...(remembered as number[])]);
  for (const threshold of reachedNow) {
    if (instance.notifiedThresholds.includes(threshold)) continue;
    if (threshold === 'breach') addEvent(draft, 'SlaBreached', { breachedAt: timing.breachedAt });
    else addEvent(draft, 'SlaWarning', { percent: threshold });
  }
  if (
    reachedNow.length !== instance.notifiedThresholds.length ||
    reachedNow.some((threshold) => !instance.notifiedThresholds.includes(threshold))
  )
    change(draft, { notifiedThresholds: reachedNow });
}

/**
 * Updates a running instance to the current target and calendar. First reports what the elapsed time reached under the old
 * target, then what is reached under the new one. `quiet` is for background jobs: the revision does not grow.
 */
export function retarget(draft: Draft, setting: Setting, quiet = false): void {
  const { policy, calendar, targetMs } = setting;
  const { instance } = draft;
  const stale =
    instance.policyVersion !== policy.version ||
    instance.calendarId !== calendar.id ||
    instance.calendarVersion !== calendar.version;
  const other = instance.targetMs !== targetMs;
  if (stale || other) {
    // Nothing is reported under an outdated configuration: its due times may never have applied.
    if (!stale) reportThresholds(draft, setting, instance.targetMs);
    const { dueAt } = timingOf(instance, targetMs, calendar.time, setting.now);
    if (other || (instance.status === 'ACTIVE' && dueAt !== instance.dueAt)) {
      const reason = stale ? 'configuration' : 'target';
      addEvent(draft, 'SlaRecalculated', { reason, targetMsBefore: instance.targetMs, dueAtBefore: instance.dueAt });
      if (!quiet) draft.visible = true;
    }
    const { id: calendarId, version: calendarVersion } = calendar;
    change(draft, { targetMs, policyVersion: policy.version, calendarId, calendarVersion });
  }
  reportThresholds(draft, setting, targetMs);
}

/** Recalculates by command, with the calendar of the setting from now on. The status does not change. */
export function recalculate(draft: Draft, setting: Setting, pinned: boolean): void {
  const { targetMs, dueAt, calendarId, calendarVersion } = draft.instance;
  const { policy, calendar } = setting;
  change(draft, {
    targetMs: setting.targetMs,
    policyVersion: policy.version,
    calendarId: calendar.id,
    calendarVersion: calendar.version,
    pinned,
  });
  draft.visible = true;
  addEvent(draft, 'SlaRecalculated', {
    reason: 'command',
    targetMsBefore: targetMs,
    dueAtBefore: dueAt,
    calendarIdBefore: calendarId,
    calendarVersionBefore: calendarVersion,
  });
  if (draft.instance.status !== 'STOPPED') reportThresholds(draft, setting, setting.targetMs);
}

export function pause(draft: Draft, by: PausedBy, { now, actorId }: Setting): void {
  const { pauses, startedAt } = draft.instance;
  const from = notBefore(now, startedAt, pauses.at(-1)?.to);
  change(draft, { status: 'PAUSED', pauses: [...pauses, { from, to: null, by, actorId }] });
  draft.visible = true;
  addEvent(draft, 'SlaPaused', { by });
}

/**
 * @param by what ends the pause
 * @param armed whether the policy may pause again before its pause condition was false
 */
export function resume(draft: Draft, by: PausedBy, { now }: Setting, armed: boolean = draft.instance.pauseArmed): void {
  const { pauses } = draft.instance;
  const last = openPause(draft.instance);
  if (last === undefined) throw new Error(`instance ${draft.instance.id} is not paused`);
  const to = notBefore(now, last.from);
  // A pause of zero length is dropped; only its events remain.
  const closed = to === last.from ? [] : [{ ...last, to }];
  change(draft, { status: 'ACTIVE', pauses: [...pauses.slice(0, -1), ...closed], pauseArmed: armed });
  draft.visible = true;
  addEvent(draft, 'SlaResumed', { by });
}

/** @param armed whether the policy may start a new instance without its start condition becoming false first */
export function stop(draft: Draft, by: 'policy' | 'manual', setting: Setting, armed: boolean): void {
  const { instance } = draft;
  const open = openPause(instance);
  const stoppedAt = notBefore(setting.now, instance.startedAt, instance.pauses.at(-1)?.to, open?.from);
  const pauses = open === undefined ? instance.pauses : closeLast(instance, stoppedAt);
  change(draft, { status: 'STOPPED', stoppedAt, pauses, startArmed: armed });
  draft.visible = true;
  addEvent(draft, 'SlaStopped', { by });
}

function closeLast({ pauses }: Instance, to: string): Instance['pauses'] {
  const last = pauses.at(-1);
  if (last === undefined) return pauses;
  return last.from === to ? pauses.slice(0, -1) : [...pauses.slice(0, -1), { ...last, to }];
}

/**
 * Applies a change of the record to its running instance. Policy conditions act when their result changes
 * (docs/spec/workflow-and-sla.md#sla-instances).
 */
export function follow(draft: Draft, results: ConditionResults, setting: Setting): void {
  retarget(draft, setting);
  if (results.stop) {
    stop(draft, 'policy', setting, !wantsStart(results));
    return;
  }
  const pausedBy = openPause(draft.instance)?.by;
  if ((pausedBy === 'policy' && !results.pause) || (pausedBy === 'archive' && !results.archived))
    resume(draft, pausedBy, setting);
  if (!results.pause && !draft.instance.pauseArmed) change(draft, { pauseArmed: true });
  if (draft.instance.status !== 'ACTIVE') return;
  if (results.pause && draft.instance.pauseArmed) pause(draft, 'policy', setting);
  else if (results.archived) pause(draft, 'archive', setting);
}

/** Applies a change of the record to a stopped instance: once the start condition was false, the policy may start again. */
export function rearm(draft: Draft, results: ConditionResults): void {
  if (!wantsStart(results) && !draft.instance.startArmed) change(draft, { startArmed: true });
}

/** Whether the policy starts a new instance on the record, given the last one. */
export function restarts(last: Instance | undefined, results: ConditionResults, policy: Policy): boolean {
  if (!policy.active || results.archived || !wantsStart(results)) return false;
  return last === undefined || (last.status === 'STOPPED' && last.startArmed);
}

export interface Finished {
  instance: Instance;
  timing: SlaTiming;
  events: readonly SlaEvent[];
  /** Nothing to store. */
  unchanged: boolean;
}

/** The draft as it will be stored: with new due times if it runs, with its final times if it stopped. */
export function finish(draft: Draft, setting: Setting): Finished {
  const { before } = draft;
  const { time } = setting.calendar;
  const timing = timingOf(draft.instance, draft.instance.targetMs, time, setting.now);
  const stopped = draft.instance.status === 'STOPPED';
  change(draft, {
    revision: draft.instance.revision + (draft.visible ? 1 : 0),
    lockVersion: draft.instance.lockVersion + 1,
    elapsedMs: stopped ? timing.elapsedMs : null,
    dueAt: timing.dueAt,
    nextAt: nextAt(draft.instance, draft.instance.targetMs, time, setting.policy.warnAt),
  });
  const { instance } = draft;
  return {
    instance,
    timing,
    events: draft.events,
    unchanged: before !== null && draft.events.length === 0 && sameStored(before, instance),
  };
}

/** Due times of a paused instance change continuously, so they alone cause no write. */
function sameStored(before: Instance, after: Instance): boolean {
  return (
    before.status === after.status &&
    before.policyVersion === after.policyVersion &&
    before.startArmed === after.startArmed &&
    before.pauseArmed === after.pauseArmed &&
    before.targetMs === after.targetMs &&
    before.calendarId === after.calendarId &&
    before.calendarVersion === after.calendarVersion &&
    before.pinned === after.pinned &&
    before.nextAt === after.nextAt &&
    before.notifiedThresholds.length === after.notifiedThresholds.length &&
    before.notifiedThresholds.every((threshold) => after.notifiedThresholds.includes(threshold)) &&
    (after.status === 'PAUSED' || before.dueAt === after.dueAt)
  );
}
