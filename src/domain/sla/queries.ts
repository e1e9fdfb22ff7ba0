/** Reads of SLA instances. They require the right to read the record and write nothing. */
import { answerInWindows } from '../../contract/paging.ts';
import { Fault } from '../../lib/fault.ts';
import { eachOf } from '../../platform/database/window.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { named, registry } from '../metadata/index.ts';
import { findVisible, requireVisible, type VisibleObject } from '../objects/index.ts';
import { slaRegistry } from './registry.ts';
import { calendarFor, policyOf, type Present, presentOf } from './effective-policy.ts';
import {
  endOf,
  type IntervalAnswer,
  intervalsOf,
  openPause,
  type Pause,
  pauseSpans,
  reached,
  timingOf,
} from './rules.ts';
import { eventWindows, findInstance, listInstances, listLatest, namesOf, type StoredInstance } from './store.ts';

export interface InstanceAnswer {
  id: string;
  objectId: string;
  policyId: string;
  policyCode: string;
  name: string;
  status: string;
  revision: number;
  startedAt: string;
  dueAt: string | null;
  pausedAt?: string;
  stoppedAt?: string;
  targetMs: number;
  elapsedMs: number;
  remainingMs: number;
  breached: boolean;
  breachedAt?: string;
  calendarId: string;
  calendarVersion: number;
}

/** An instance in API answers (docs/spec/workflow-and-sla.md#sla-instances). */
export function answerOf(ctx: ReadContext, instance: StoredInstance, present: Present): InstanceAnswer {
  const { policy, calendar, timing } = present;
  const pause = openPause(instance);
  return {
    id: instance.id,
    objectId: instance.objectId,
    policyId: policy.id,
    policyCode: policy.code,
    name: named(ctx, policy.name),
    status: instance.status,
    revision: instance.revision,
    startedAt: instance.startedAt,
    dueAt: timing.dueAt,
    ...(pause === undefined ? {} : { pausedAt: pause.from }),
    ...(instance.stoppedAt === null ? {} : { stoppedAt: instance.stoppedAt }),
    targetMs: timing.targetMs,
    elapsedMs: timing.elapsedMs,
    remainingMs: timing.remainingMs,
    breached: timing.breached,
    ...(timing.breachedAt === null ? {} : { breachedAt: timing.breachedAt }),
    calendarId: calendar.id,
    calendarVersion: calendar.version,
  };
}

/** @throws Fault NOT_FOUND */
export async function listSla(ctx: ReadContext, objectId: string): Promise<InstanceAnswer[]> {
  const object = await requireVisible(ctx, objectId);
  const instances = await listInstances(ctx, objectId);
  return instances.map((instance) => answerOf(ctx, instance, presentOf(ctx, instance, object)));
}

/** The time limit of a record that is due next, for lists. Times are in milliseconds of open time. */
export interface SlaFigures {
  policyName: string | null;
  /** Null while the time limit is paused, and when none is running. */
  dueAt: string | null;
  /** Negative once the limit is exceeded; null when none is running. */
  remainingMs: number | null;
  targetMs: number | null;
  paused: boolean;
  /** A warning was reached. */
  warned: boolean;
  breached: boolean;
  /** The calendar is not open around the clock: the times are working time. */
  workingTime: boolean;
}

const DAY_MS = 86_400_000;

/**
 * The figures of records that the caller may read, in one statement. Of several running instances, the one with the least time
 * left that is not paused is shown; without a running one, whether any was breached. Records without instances are absent.
 */
export async function slaFigures(
  ctx: ReadContext,
  objects: readonly VisibleObject[],
): Promise<ReadonlyMap<string, SlaFigures>> {
  const byId = new Map(objects.map((object) => [object.row.id, object]));
  const found = new Map<string, { instance: StoredInstance; present: Present }[]>();
  for (const instance of byId.size === 0 ? [] : await listLatest(ctx, [...byId.keys()])) {
    const object = byId.get(instance.objectId) as VisibleObject;
    const known = found.get(instance.objectId) ?? [];
    known.push({ instance, present: presentOf(ctx, instance, object) });
    found.set(instance.objectId, known);
  }
  return new Map([...found].map(([id, instances]) => [id, figuresOf(ctx, instances)]));
}

function figuresOf(ctx: ReadContext, instances: readonly { instance: StoredInstance; present: Present }[]): SlaFigures {
  const running = instances.filter(({ instance }) => instance.status !== 'STOPPED');
  const [next] = running.sort((a, b) => {
    const paused = Number(a.instance.status === 'PAUSED') - Number(b.instance.status === 'PAUSED');
    return paused === 0 ? compareDue(a.present.timing, b.present.timing) : paused;
  });
  const breached = (running.length > 0 ? running : instances).some(({ present }) => present.timing.breached);
  if (next === undefined) {
    const none = { policyName: null, dueAt: null, remainingMs: null, targetMs: null, workingTime: false };
    return { ...none, paused: false, warned: false, breached };
  }
  const { policy, calendar, timing } = next.present;
  const paused = next.instance.status === 'PAUSED';
  const start = Date.parse(ctx.now);
  return {
    policyName: named(ctx, policy.name),
    dueAt: paused ? null : timing.dueAt,
    remainingMs: timing.remainingMs,
    targetMs: timing.targetMs,
    paused,
    warned: reached(timing, policy.warnAt).length > 0,
    breached,
    workingTime: calendar.time.between(start, start + 7 * DAY_MS, []) < 7 * DAY_MS,
  };
}

function compareDue(a: Present['timing'], b: Present['timing']): number {
  if (a.dueAt === b.dueAt) return a.remainingMs - b.remainingMs;
  if (a.dueAt === null || b.dueAt === null) return a.dueAt === null ? 1 : -1;
  return a.dueAt < b.dueAt ? -1 : 1;
}

/**
 * The least time left of each record's running instances, with the targets as stored. The caller of this function must check
 * access.
 */
export async function remainingTimes(ctx: ReadContext, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const least = new Map<string, number>();
  for (const instance of ids.length === 0 ? [] : await listLatest(ctx, ids)) {
    if (instance.status === 'STOPPED') continue;
    const { time } = calendarFor(ctx, instance, policyOf(ctx, instance));
    const { remainingMs } = timingOf(instance, instance.targetMs, time, ctx.now);
    least.set(instance.objectId, Math.min(remainingMs, least.get(instance.objectId) ?? Number.POSITIVE_INFINITY));
  }
  return least;
}

/** The instance with its record. @throws Fault NOT_FOUND, also if the caller may not read the record */
export async function requireInstance(
  ctx: ReadContext,
  id: string,
): Promise<{ instance: StoredInstance; object: VisibleObject }> {
  const instance = await findInstance(ctx, id);
  const object = instance === undefined ? undefined : await findVisible(ctx, instance.objectId);
  if (instance === undefined || object === undefined) {
    throw new Fault('NOT_FOUND', 'There is no such SLA instance, or you may not see its record.');
  }
  return { instance, object };
}

export interface SlaEventAnswer {
  id: string;
  type: string;
  at: string;
  actor: { id: string | null; displayName: string; via: string };
  data: Record<string, unknown>;
}

/** @throws Fault NOT_FOUND */
export async function slaHistory(ctx: ReadContext, instanceId: string): Promise<unknown> {
  const { instance } = await requireInstance(ctx, instanceId);
  const answers = eachOf(
    eventWindows(ctx, instance),
    ({ id, type, at, actorId, actorName, via, data }): SlaEventAnswer => {
      return { id, type, at, actor: { id: actorId, displayName: actorName ?? 'system', via }, data };
    },
  );
  return await answerInWindows(answers, undefined);
}

export interface ExplanationAnswer {
  instance: InstanceAnswer;
  calendar: { id: string; code: string; version: number; timezone: string };
  until: string;
  elapsedMs: number;
  intervals: IntervalAnswer[];
}

/**
 * All intervals from the start until now or the stop, and why each was counted or not
 * (docs/spec/configuration.md#administration-api).
 *
 * @throws Fault NOT_FOUND
 */
export async function explainSla(ctx: ReadContext, instanceId: string): Promise<ExplanationAnswer> {
  const { instance, object } = await requireInstance(ctx, instanceId);
  const present = presentOf(ctx, instance, object);
  const { calendar, timing } = present;
  const { definition, time } = calendar;
  const until = endOf(instance, ctx.now);
  const end = Date.parse(until);
  const names = await namesOf(ctx, instance.pauses);
  const locale = ctx.locale ?? registry(ctx).settings.defaultLocale;
  const span = { from: Date.parse(instance.startedAt), to: end };
  const pausedBy = (index: number) => holderOf(instance.pauses[index] as Pause, names);
  const spans = pauseSpans(instance.pauses, end);
  const intervals = intervalsOf(time, definition.exceptions, span, spans, pausedBy, locale);
  const code = slaRegistry(ctx).calendars.get(calendar.id)?.code ?? definition.code;
  return {
    instance: answerOf(ctx, instance, present),
    calendar: { id: calendar.id, code, version: calendar.version, timezone: definition.timezone },
    until,
    elapsedMs: timing.elapsedMs,
    intervals,
  };
}

function holderOf({ by, actorId }: Pause, names: ReadonlyMap<string, string>): Pick<IntervalAnswer, 'pausedBy'> {
  const actor = actorId === null ? null : { id: actorId, displayName: names.get(actorId) ?? '' };
  return { pausedBy: { by, actor } };
}
