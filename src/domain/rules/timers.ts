/**
 * When time-based rules fire. A rule is armed on a record when `since` changes, in the unit of work of that change. The stored
 * moment only selects candidates: when a rule fires, everything is computed again from the record, the rule and the calendar.
 */
import { evaluate, type RecordFacts, type TypedCondition, type Variables, variablesOf } from '../../lib/filter.ts';
import type { PlannedEvent, ReadContext, WriteContext } from '../../platform/unit-of-work/context.ts';
import { variables } from '../metadata/index.ts';
import { recordOf, type RecordView, stateTimes } from '../objects/index.ts';
import { findWorkTime } from '../sla/index.ts';
import { type RuleIndex, SINCE_STATE, type TimedRule } from './registry.ts';
import { dropTimer, setTimer, takeTimer, type PendingTimer, type TimerRow } from './store-timers.ts';

/** When the rule fires on a record, computed with the current rule and calendar. */
interface Moment {
  /** RFC 3339 UTC with milliseconds; null: never. */
  dueAt: string | null;
  calendarVersion: number | null;
}

export function momentOf(
  ctx: ReadContext,
  { after: { ms, calendarId } }: Pick<TimedRule, 'after'>,
  since: string,
): Moment {
  const start = Date.parse(since);
  if (calendarId === null) return { dueAt: instantOf(start + ms), calendarVersion: null };
  const calendar = findWorkTime(ctx, calendarId);
  const due = calendar?.time.add(start, ms);
  return { dueAt: due === undefined ? null : instantOf(due), calendarVersion: calendar?.version ?? null };
}

const LATEST = 253_402_300_799_999;

function instantOf(ms: number): string | null {
  return ms > LATEST ? null : new Date(ms).toISOString();
}

/** The timer of the rule on the record. */
export function timerOf(ctx: ReadContext, rule: TimedRule, objectId: string, since: string): TimerRow {
  const { dueAt, calendarVersion } = momentOf(ctx, rule, since);
  return {
    ruleId: rule.id,
    objectId,
    since,
    dueAt,
    ruleVersion: rule.version,
    calendarVersion,
  };
}

/** The moments from which the time of the rule counts on the records; without those on which it does not count. */
export async function sinceTimes(
  ctx: ReadContext,
  { after: { since } }: Pick<TimedRule, 'after'>,
  views: readonly RecordView[],
): Promise<ReadonlyMap<string, string>> {
  if (since === SINCE_STATE) {
    const ids = views.map(({ row }) => row.id);
    return await stateTimes(ctx, ids);
  }
  return new Map(views.flatMap(({ row }) => fieldTime(row.values[since], row.id)));
}

function fieldTime(value: unknown, id: string): [string, string][] {
  return typeof value === 'string' ? [[id, value]] : [];
}

/** System fields that change only with the workflow state. */
const WITH_STATE: ReadonlySet<string> = new Set(['workflowState', 'workflowCategory', 'typeCode', 'typeId']);

/**
 * Whether the rule can fire without another change of `since`. Only parts of its condition that cannot change without it are
 * evaluated, so that few timers are kept for records that the rule does not concern.
 */
export function canBecomeDue({ when, after }: TimedRule, facts: RecordFacts, values: Variables): boolean {
  const isFixed = (part: TypedCondition): boolean => {
    if ('logic' in part) return false;
    const { kind, code } = part.field;
    if (variablesOf(part).size > 0) return false;
    return after.since === SINCE_STATE
      ? kind === 'system' && WITH_STATE.has(code)
      : kind === 'value' && code === after.since;
  };
  const canHold = (part: TypedCondition): boolean => {
    if (!('logic' in part)) return !isFixed(part) || evaluate(part, facts, values);
    return part.logic === 'AND' ? part.conditions.every(canHold) : part.conditions.some(canHold);
  };
  return when === null || canHold(when);
}

const TAKEN = 'rules:taken';

/** Notes the timer as taken by this unit of work. It is written once, even if the unit arms it again. */
export function planTake(ctx: WriteContext, read: PendingTimer, next: TimerRow): void {
  ctx.memo.set(TAKEN, `${read.ruleId} ${read.objectId}`);
  ctx.plan(takeTimer, { ...next, readSince: read.since, readDueAt: read.dueAt });
}

/** Arms and disarms the time-based rules on the records that the events changed. */
export async function armTimers(
  ctx: WriteContext,
  timed: RuleIndex['timed'],
  events: readonly Pick<PlannedEvent, 'type' | 'objectId' | 'revision' | 'changes'>[],
): Promise<void> {
  const ofRecord = events.filter(({ objectId, revision }) => objectId !== undefined && revision !== undefined);
  for (const [id, own] of Map.groupBy(ofRecord, ({ objectId }) => objectId as string)) {
    const view = await recordOf(ctx, id);
    if (view === undefined) continue;
    const isNew = own.some(({ type }) => type === 'ObjectCreated');
    const changed = new Set(own.flatMap(({ changes }) => Object.keys(changes ?? {})));
    for (const rule of timed.get(view.type.id) ?? []) {
      const { since } = rule.after;
      if (isNew || changed.has(since)) arm(ctx, rule, view, isNew);
    }
  }
}

function arm(ctx: WriteContext, rule: TimedRule, { row, facts }: RecordView, isNew: boolean): void {
  const { since } = rule.after;
  const start = since === SINCE_STATE ? ctx.now : row.values[since];
  const key = { ruleId: rule.id, objectId: row.id };
  const isTaken = ctx.memo.get(TAKEN) === `${rule.id} ${row.id}`;
  if (typeof start !== 'string' || !canBecomeDue(rule, facts, variables(ctx))) {
    if (!isNew && !isTaken) ctx.plan(dropTimer, key);
    return;
  }
  const timer = timerOf(ctx, rule, row.id, start);
  if (isTaken) ctx.replan(takeTimer, (read) => ({ ...read, ...timer }));
  else ctx.plan(setTimer, timer);
}
