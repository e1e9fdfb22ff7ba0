/**
 * Pure decisions on time: how an instance stands, what was reached, what comes next. No database, no clock.
 *
 * Everything follows from four facts of an instance: when it started, its pauses, when it stopped, and its target; and from the
 * calendar that it is reckoned by.
 */
import { evaluate, type RecordFacts, type Variables } from '../../lib/filter.ts';
import type { Span, WorkTime } from '../../lib/worktime.ts';
import type { Policy } from './definitions.ts';

export type Status = 'ACTIVE' | 'PAUSED' | 'STOPPED';

/** What holds a pause: the policy's condition, a person's command, or that the record is archived. */
export type PausedBy = 'policy' | 'hand' | 'archive';

export interface Pause {
  from: string;
  /** Null while it lasts; only the last one's is. */
  to: string | null;
  by: PausedBy;
  /** Who made the change or gave the command; null for the service itself. */
  actorId: string | null;
}

/** A percentage at which a warning is due, or the breach. */
export type Told = number | 'breach';

/** An instance as it is stored (table `sla_instances`). Instants are RFC 3339 UTC with milliseconds. */
export interface Instance {
  id: string;
  objectId: string;
  policyId: string;
  policyVersion: number;
  revision: number;
  turn: number;
  status: Status;
  startedAt: string;
  stoppedAt: string | null;
  pauses: readonly Pause[];
  /** Whether the policy may start anew on the record: its condition was false since this instance stopped. */
  startArmed: boolean;
  /** Whether the policy may pause: its condition was false since somebody resumed by hand. */
  pauseArmed: boolean;
  targetMs: number;
  calendarId: string;
  calendarVersion: number;
  /** Whether the calendar was chosen by hand and stays. */
  pinned: boolean;
  /** Of a stopped instance. */
  elapsedMs: number | null;
  dueAt: string | null;
  nextAt: string | null;
  told: readonly Told[];
}

/** How an instance stands at a moment. Open time in milliseconds. */
export interface Figures {
  targetMs: number;
  elapsedMs: number;
  /** Below zero by as much as the target is overrun. */
  remainingMs: number;
  /** Null where the calendar is never open long enough. Of a paused one: as if it went on at this moment. */
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

function iso(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

/** The pauses as spans; one that lasts ends at `until`. */
export function pauseSpans(pauses: readonly Pause[], until: number): Span[] {
  return pauses.map(({ from, to }) => {
    const begins = ms(from);
    return { from: begins, to: to === null ? Math.max(until, begins) : ms(to) };
  });
}

/** The later of the two: no clock that was set back makes time run backwards for an instance. */
export function notBefore(now: string, ...others: (string | null | undefined)[]): string {
  return others.reduce<string>((latest, at) => (at !== null && at !== undefined && at > latest ? at : latest), now);
}

/** The moment up to which the instance counts. */
export function endOf(instance: Pick<Instance, 'stoppedAt'>, now: string): string {
  return instance.stoppedAt ?? now;
}

/**
 * How the instance stands at `now`, from its facts, the target and the calendar. The target is reached when as much open time
 * has passed: that very moment is the breach.
 */
export function figuresOf(
  instance: Pick<Instance, 'startedAt' | 'stoppedAt' | 'pauses'>,
  targetMs: number,
  time: WorkTime,
  now: string,
): Figures {
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

/** Open time after which a thing must be told. */
function needed(what: Told, targetMs: number): number {
  return what === 'breach' ? targetMs : Math.ceil((what * targetMs) / 100);
}

/** Warnings first, so that of two at one moment the breach is the last. */
function tellings(warnAt: readonly number[]): Told[] {
  return [...warnAt, 'breach'];
}

/** What of the warnings and the breach is reached. */
export function reached(figures: Figures, warnAt: readonly number[]): Told[] {
  return tellings(warnAt).filter((what) => figures.elapsedMs >= needed(what, figures.targetMs));
}

/**
 * The moment at which something must be told next, if time runs on: the first of what was not told. Null where nothing is to
 * come, and while the instance is paused.
 */
export function nextAt(
  instance: Pick<Instance, 'startedAt' | 'pauses' | 'status' | 'told'>,
  targetMs: number,
  time: WorkTime,
  warnAt: readonly number[],
): string | null {
  if (instance.status !== 'ACTIVE') return null;
  const untold = tellings(warnAt).filter((what) => !instance.told.includes(what));
  if (untold.length === 0) return null;
  const least = Math.min(...untold.map((what) => needed(what, targetMs)));
  const start = ms(instance.startedAt);
  return iso(time.add(start, least, pauseSpans(instance.pauses, start)));
}

/** The target that the policy has for the record; undefined where none of its conditions holds. */
export function targetOf(policy: Policy, facts: RecordFacts, variables: Variables): number | undefined {
  return policy.targets.find(({ when }) => when === null || evaluate(when, facts, variables))?.ms;
}

/** What the policy's conditions say of a record, and whether the record is archived. */
export interface Judged {
  start: boolean;
  pause: boolean;
  stop: boolean;
  archived: boolean;
}

export function judgePolicy(policy: Policy, facts: RecordFacts, variables: Variables): Judged {
  const holds = (condition: Policy['start']): boolean => condition !== null && evaluate(condition, facts, variables);
  return {
    start: holds(policy.start),
    pause: holds(policy.pause),
    stop: holds(policy.stop),
    archived: facts.system.state === 'ARCHIVED',
  };
}

/** Whether the record as it stands asks for a running instance. */
export function wantsStart({ start, stop }: Judged): boolean {
  return start && !stop;
}
