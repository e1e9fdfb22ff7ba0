/**
 * Pure decisions on the transitions of an instance: start, pause, resume, change of target and stop, and the resulting events.
 * Each function changes a draft, which starts as the stored instance and ends as the next stored state.
 */
import type { CalendarInForce, Policy } from './definitions.ts';
import {
  type SlaTiming,
  timingOf,
  type Instance,
  type Judged,
  nextAt,
  notBefore,
  openPause,
  type PausedBy,
  reached,
  wantsStart,
} from './rules.ts';

export type SlaEventType =
  | 'SlaStarted'
  | 'SlaPaused'
  | 'SlaResumed'
  | 'SlaStopped'
  | 'SlaRecalculated'
  | 'SlaWarning'
  | 'SlaBreached';

export interface SlaEvent {
  type: SlaEventType;
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

function say(draft: Draft, type: SlaEventType, data: Record<string, unknown> = {}): void {
  draft.events.push({ type, data });
}

/** Starts a new instance on the record. */
export function begin(id: string, objectId: string, judged: Judged, setting: Setting): Draft {
  const { now, policy, calendar, targetMs } = setting;
  const instance: Instance = {
    id,
    objectId,
    policyId: policy.id,
    policyVersion: policy.version,
    revision: 0,
    turn: 0,
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
    told: [],
  };
  const draft: Draft = { before: null, instance, events: [], visible: true };
  say(draft, 'SlaStarted');
  if (judged.pause) pause(draft, 'policy', setting);
  return draft;
}

/**
 * Reports warnings and breaches that are reached and were not reported. Forgets those that are no longer reached: if a target
 * moves into the future, its warnings are reported again later. Uses the given target and the calendar of the setting.
 */
function settle(draft: Draft, setting: Setting, targetMs: number): void {
  const { instance } = draft;
  const timing = timingOf(instance, targetMs, setting.calendar.time, setting.now);
  const { warnAt } = setting.policy;
  // Percentages that the policy no longer has stay remembered while they are reached, in case the policy gets them back.
  const once = instance.told.filter((what) => what !== 'breach' && !warnAt.includes(what));
  const now = reached(timing, [...warnAt, ...(once as number[])]);
  for (const what of now) {
    if (instance.told.includes(what)) continue;
    if (what === 'breach') say(draft, 'SlaBreached', { breachedAt: timing.breachedAt });
    else say(draft, 'SlaWarning', { percent: what });
  }
  if (now.length !== instance.told.length || now.some((what) => !instance.told.includes(what)))
    change(draft, { told: now });
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
    if (!stale) settle(draft, setting, instance.targetMs);
    const { dueAt } = timingOf(instance, targetMs, calendar.time, setting.now);
    if (other || (instance.status === 'ACTIVE' && dueAt !== instance.dueAt)) {
      const reason = stale ? 'configuration' : 'target';
      say(draft, 'SlaRecalculated', { reason, targetMsBefore: instance.targetMs, dueAtBefore: instance.dueAt });
      if (!quiet) draft.visible = true;
    }
    const { id: calendarId, version: calendarVersion } = calendar;
    change(draft, { targetMs, policyVersion: policy.version, calendarId, calendarVersion });
  }
  settle(draft, setting, targetMs);
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
  say(draft, 'SlaRecalculated', {
    reason: 'command',
    targetMsBefore: targetMs,
    dueAtBefore: dueAt,
    calendarIdBefore: calendarId,
    calendarVersionBefore: calendarVersion,
  });
  if (draft.instance.status !== 'STOPPED') settle(draft, setting, setting.targetMs);
}

export function pause(draft: Draft, by: PausedBy, { now, actorId }: Setting): void {
  const { pauses, startedAt } = draft.instance;
  const from = notBefore(now, startedAt, pauses.at(-1)?.to);
  change(draft, { status: 'PAUSED', pauses: [...pauses, { from, to: null, by, actorId }] });
  draft.visible = true;
  say(draft, 'SlaPaused', { by });
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
  say(draft, 'SlaResumed', { by });
}

/** @param armed whether the policy may start a new instance without its start condition becoming false first */
export function stop(draft: Draft, by: 'policy' | 'hand', setting: Setting, armed: boolean): void {
  const { instance } = draft;
  const held = openPause(instance);
  const stoppedAt = notBefore(setting.now, instance.startedAt, instance.pauses.at(-1)?.to, held?.from);
  const pauses = held === undefined ? instance.pauses : closeLast(instance, stoppedAt);
  change(draft, { status: 'STOPPED', stoppedAt, pauses, startArmed: armed });
  draft.visible = true;
  say(draft, 'SlaStopped', { by });
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
export function follow(draft: Draft, judged: Judged, setting: Setting): void {
  retarget(draft, setting);
  if (judged.stop) {
    stop(draft, 'policy', setting, !wantsStart(judged));
    return;
  }
  const held = openPause(draft.instance)?.by;
  if ((held === 'policy' && !judged.pause) || (held === 'archive' && !judged.archived)) resume(draft, held, setting);
  if (!judged.pause && !draft.instance.pauseArmed) change(draft, { pauseArmed: true });
  if (draft.instance.status !== 'ACTIVE') return;
  if (judged.pause && draft.instance.pauseArmed) pause(draft, 'policy', setting);
  else if (judged.archived) pause(draft, 'archive', setting);
}

/** Applies a change of the record to a stopped instance: once the start condition was false, the policy may start again. */
export function rearm(draft: Draft, judged: Judged): void {
  if (!wantsStart(judged) && !draft.instance.startArmed) change(draft, { startArmed: true });
}

/** Whether the policy starts a new instance on the record, given the last one. */
export function restarts(last: Instance | undefined, judged: Judged, policy: Policy): boolean {
  if (!policy.active || judged.archived || !wantsStart(judged)) return false;
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
    turn: draft.instance.turn + 1,
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
    before.told.length === after.told.length &&
    before.told.every((what) => after.told.includes(what)) &&
    (after.status === 'PAUSED' || before.dueAt === after.dueAt)
  );
}
