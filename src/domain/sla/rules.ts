/**
 * Pure decisions on time: the state of an instance, what was reached, what comes next. No database, no clock.
 *
 * Everything is calculated from four facts of an instance (start, pauses, stop, target) and its calendar.
 */
import type { SlaInstancesRow } from '../../platform/database/tables.ts';
import { isArchived } from '../../contract/state.ts';
import { evaluate, type RecordFacts, type Variables } from '../../lib/filter.ts';
import type { Span, WorkTime } from '../../lib/worktime.ts';
import { localized, type LocalizedText } from '../metadata/index.ts';
import type { CalendarException, Policy } from './registry.ts';

/** What holds a pause: the policy's condition, a command, or the archiving of the record. */
export type PausedBy = 'policy' | 'manual' | 'archive';

export interface Pause {
  from: string;
  /** Null while the pause lasts; only the last pause can be open. */
  to: string | null;
  by: PausedBy;
  /** The user who changed the record or gave the command; null for the service itself. */
  actorId: string | null;
}

/** The percentage of a warning, or the breach. */
export type Threshold = number | 'breach';

/**
 * A stored instance. Instants are RFC 3339 UTC with milliseconds.
 *
 * - `lockVersion` grows with every write; a decision on an outdated instance fails.
 * - `startArmed`: the policy may start again on the record, since its start condition was false since this instance stopped.
 * - `pauseArmed`: the policy may pause, since its pause condition was false since the last resume by command.
 * - `pinned`: the calendar was chosen by command and stays.
 * - `elapsedMs` is set only when the instance has stopped.
 * - `notifiedThresholds`: the warnings and the breach that were reported and are still reached.
 */
export type Instance = SlaInstancesRow;

/** The calculated times of an instance at one moment. Open time is in milliseconds. */
export interface SlaTiming {
  targetMs: number;
  elapsedMs: number;
  /** Negative once the target is exceeded. */
  remainingMs: number;
  /** Null if the calendar has too few open hours. For a paused instance: assuming that it resumes now. */
  dueAt: string | null;
  breached: boolean;
  breachedAt: string | null;
}

export function openPause({ pauses }: Pick<Instance, 'pauses'>): Pause | undefined {
  const last = pauses.at(-1);
  return last?.to === null ? last : undefined;
}

function ms(at: string): number {
  return Date.parse(at);
}

export function iso(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** The pauses as spans; an open pause ends at `until`. */
export function pauseSpans(pauses: readonly Pause[], until: number): Span[] {
  return pauses.map(({ from, to }) => {
    const begins = ms(from);
    return { from: begins, to: to === null ? Math.max(until, begins) : ms(to) };
  });
}

/** The latest of the given instants. It protects against a clock that was set back. */
export function notBefore(now: string, ...others: (string | null | undefined)[]): string {
  return others.reduce<string>((latest, at) => (at !== null && at !== undefined && at > latest ? at : latest), now);
}

/** The end of the measured time: the stop, or now. */
export function endOf(instance: Pick<Instance, 'stoppedAt'>, now: string): string {
  return instance.stoppedAt ?? now;
}

/**
 * Calculates the times of the instance at `now`. The breach is the exact moment at which the elapsed open time reaches the
 * target.
 */
export function timingOf(
  instance: Pick<Instance, 'startedAt' | 'stoppedAt' | 'pauses'>,
  targetMs: number,
  time: WorkTime,
  now: string,
): SlaTiming {
  const start = ms(instance.startedAt);
  const end = ms(endOf(instance, now));
  const spans = pauseSpans(instance.pauses, end);
  const elapsedMs = time.between(start, end, spans);
  const dueAt = iso(time.add(start, targetMs, spans));
  const breached = elapsedMs >= targetMs;
  return {
    targetMs,
    elapsedMs,
    remainingMs: targetMs - elapsedMs,
    dueAt,
    breached,
    breachedAt: breached ? dueAt : null,
  };
}

/** Open time after which a warning or the breach is due. */
function needed(threshold: Threshold, targetMs: number): number {
  return threshold === 'breach' ? targetMs : Math.ceil((threshold * targetMs) / 100);
}

/** Warnings come first, so that the breach is the last of several at the same moment. */
function thresholdsOf(warnAt: readonly number[]): Threshold[] {
  return [...warnAt, 'breach'];
}

/** The warnings and the breach that are reached. */
export function reached(timing: SlaTiming, warnAt: readonly number[]): Threshold[] {
  return thresholdsOf(warnAt).filter((threshold) => timing.elapsedMs >= needed(threshold, timing.targetMs));
}

/**
 * The next moment at which a warning or the breach must be reported, if the instance keeps running. Null if nothing is left, or
 * while the instance is paused.
 */
export function nextAt(
  instance: Pick<Instance, 'startedAt' | 'pauses' | 'status' | 'notifiedThresholds'>,
  targetMs: number,
  time: WorkTime,
  warnAt: readonly number[],
): string | null {
  if (instance.status !== 'ACTIVE') return null;
  const pending = thresholdsOf(warnAt).filter((threshold) => !instance.notifiedThresholds.includes(threshold));
  if (pending.length === 0) return null;
  const least = Math.min(...pending.map((threshold) => needed(threshold, targetMs)));
  const start = ms(instance.startedAt);
  return iso(time.add(start, least, pauseSpans(instance.pauses, start)));
}

/** The target of the policy for the record; undefined if no condition holds. */
export function targetOf(policy: Policy, facts: RecordFacts, variables: Variables): number | undefined {
  return policy.targets.find(({ when }) => when === null || evaluate(when, facts, variables))?.ms;
}

/** The results of the policy's conditions on a record, and whether the record is archived. */
export interface ConditionResults {
  start: boolean;
  pause: boolean;
  stop: boolean;
  archived: boolean;
}

export function evaluateConditions(policy: Policy, facts: RecordFacts, variables: Variables): ConditionResults {
  const holds = (condition: Policy['start']): boolean => condition !== null && evaluate(condition, facts, variables);
  return {
    start: holds(policy.start),
    pause: holds(policy.pause),
    stop: holds(policy.stop),
    archived: isArchived(facts.system),
  };
}

/** Whether the record needs a running instance. */
export function wantsStart({ start, stop }: ConditionResults): boolean {
  return start && !stop;
}

// ---------------------------------------------------------------- intervals of explanations

export interface IntervalAnswer {
  from: string;
  to: string;
  ms: number;
  counted: boolean;
  reason: string;
  name?: string;
  pausedBy?: { by: string; actor: { id: string; displayName: string } | null };
}

export function nameIn(text: LocalizedText | undefined, locale: string): { name?: string } {
  return text === undefined ? {} : { name: localized(text, locale, locale) };
}

/**
 * Splits the span into intervals without gaps. The counted intervals add up to the open time of the span. `pausedBy` returns
 * who holds the pause with the given index.
 */
export function intervalsOf(
  time: WorkTime,
  exceptions: readonly CalendarException[],
  span: Span,
  pauses: readonly Span[],
  pausedBy: (pause: number) => Pick<IntervalAnswer, 'pausedBy'>,
  locale: string,
): IntervalAnswer[] {
  return time.pieces(span.from, span.to, pauses).map((piece): IntervalAnswer => {
    const interval = {
      from: new Date(piece.from).toISOString(),
      to: new Date(piece.to).toISOString(),
      ms: piece.to - piece.from,
      counted: piece.kind === 'open',
    };
    if (piece.pause !== undefined) return { ...interval, reason: 'paused', ...pausedBy(piece.pause) };
    const exception = piece.exception === undefined ? undefined : exceptions[piece.exception];
    if (exception === undefined) return { ...interval, reason: piece.kind };
    const reason = exception.hours.length === 0 ? 'holiday' : 'special-hours';
    return { ...interval, reason, ...nameIn(exception.name, locale) };
  });
}
