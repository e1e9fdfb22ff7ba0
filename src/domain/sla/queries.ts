/** Reads of SLA instances. They require the right to read the record and write nothing. */
import { Fault } from '../../lib/fault.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { named, registry } from '../metadata/index.ts';
import { findVisible, requireVisible, type VisibleObject } from '../objects/index.ts';
import { slaRegistry } from './registry.ts';
import { type Present, presentOf } from './effective-policy.ts';
import { endOf, type IntervalAnswer, intervalsOf, openPause, type Pause, pauseSpans } from './rules.ts';
import { findInstance, listEvents, listInstances, namesOf, type StoredInstance } from './store.ts';

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
export async function slaHistory(ctx: ReadContext, instanceId: string): Promise<SlaEventAnswer[]> {
  const { instance } = await requireInstance(ctx, instanceId);
  const events = await listEvents(ctx, instance);
  return events.map(({ id, type, at, actorId, actorName, via, data }) => {
    return { id, type, at, actor: { id: actorId, displayName: actorName ?? 'system', via }, data };
  });
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
