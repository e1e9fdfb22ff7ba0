/**
 * Background jobs of time-based rules: they fire due rules, and arm new and changed rules on existing records. Any number of
 * processes may run them, and each may stop at any time.
 */
import type { Fault } from '../../lib/fault.ts';
import type { Queryable } from '../../platform/database/pool.ts';
import { listRebuilds, type RebuildPart, startRebuild, stepRebuild } from '../../platform/jobs/rebuilds.ts';
import { fireEach, MomentUpdater } from '../../platform/jobs/timers.ts';
import type { Service } from '../../platform/module.ts';
import { IDLE_MS } from '../../platform/moments.ts';
import type { Task } from '../../platform/tasks.ts';
import type { ActorOf, Caller, WriteContext } from '../../platform/unit-of-work/context.ts';
import type { Work } from '../../platform/unit-of-work/work.ts';
import { isArchived } from '../../contract/state.ts';
import { variables } from '../metadata/index.ts';
import { holdRevision, listActiveIds, plannedRow, preload, recordOf, type RecordView } from '../objects/index.ts';
import { findWorkTime } from '../sla/index.ts';
import { fireRule, isFailureOfRule, noteFailure } from './reaction.ts';
import { rulesView, type TimedRule } from './registry.ts';
import { purgeRuleRuns } from './store.ts';
import {
  armingOf,
  armTimer,
  dropStaleTimer,
  findTimer,
  listDue,
  listStale,
  moveTimer,
  purgeTimers,
  type TimedInForce,
} from './store-timers.ts';
import { canBecomeDue, planTake, sinceTimes, timerOf } from './timers.ts';

/** Due timers that are read at once. */
const MAX_DUE = 500;
/** Timers that a process fires at the same time. */
const AT_ONCE = 8;
/** Records that are armed, and timers that are computed again, in one unit of work. */
const BATCH = 500;
/** How long a timer waits after an error that no rule caused, so that failing timers do not block all others. */
const LATER_MS = 60_000;
/** How often outdated timers are searched for without a change of the configuration. */
const RECHECK_MS = 30_000;

/** All time-based rules. A rule for several types is there once for each of them. */
function timedRules({ config }: Pick<Caller, 'config'>): TimedRule[] {
  return [...config.get(rulesView).timed.values()].flat();
}

/**
 * Fires the rules that are due, each once, whichever process runs it.
 *
 * @returns true when there may be more
 */
export async function fireDueRules(work: Work, caller: Caller, actorOf: ActorOf): Promise<boolean> {
  const known = inForce(caller);
  if (known.length === 0) return false;
  const due = await work.read(caller, (ctx) => listDue(ctx, known, MAX_DUE));
  await fireEach(due, {
    atOnce: AT_ONCE,
    fire: (key) => work.write(caller, (ctx) => fireTimer(ctx, key, actorOf)),
    isRefusal: isFailureOfRule,
    // The rule, or a rule that it fired, refuses the change. The timer is taken without it.
    refused: (key, fault) => work.write(caller, (ctx) => fireTimer(ctx, key, actorOf, fault)),
    putOff: (key) => work.write(caller, (ctx) => putOff(ctx, key)),
  });
  return due.length === MAX_DUE;
}

type Key = Parameters<typeof findTimer>[1];

async function putOff(ctx: WriteContext, key: Key): Promise<void> {
  const timer = await findTimer(ctx, key);
  if (timer === undefined || timer.dueAt > ctx.now) return;
  planTake(ctx, timer, { ...timer, dueAt: new Date(Date.parse(ctx.now) + LATER_MS).toISOString() });
}

/** @param failure why the rule cannot be carried out; it is only noted then */
async function fireTimer(ctx: WriteContext, key: Key, actorOf: ActorOf, failure?: Fault): Promise<void> {
  const timer = await findTimer(ctx, key);
  if (timer === undefined || timer.dueAt > ctx.now) return;
  const view = await recordOf(ctx, key.objectId);
  const rule = ctx.config
    .get(rulesView)
    .timed.get(view?.type.id ?? '')
    ?.find(({ id }) => id === key.ruleId);
  if (view === undefined || rule === undefined) return planTake(ctx, timer, { ...timer, dueAt: null });
  const since = (await sinceTimes(ctx, rule, [view])).get(view.row.id);
  const next = since === undefined ? { ...timer, dueAt: null } : timerOf(ctx, rule, view.row.id, since);
  if (next.dueAt === null || next.dueAt > ctx.now) return planTake(ctx, timer, next);
  if (failure !== undefined) noteFailure(ctx, rule, view.row.id, failure);
  else if (!isArchived(view.row)) await fireRule(ctx, rule, { row: view.row }, actorOf);
  // The condition was judged on this revision. A change that the rule made requires it already.
  const { id, revision } = view.row;
  if (plannedRow(ctx, id) === view.row) ctx.plan(holdRevision, { id, expected: revision });
  // Last, so that the statement locks the record before the timer, as changes of the record do.
  planTake(ctx, timer, { ...next, dueAt: null });
}

/** The time-based rules with their versions and those of their calendars. */
function inForce(caller: Caller): TimedInForce[] {
  const rules = new Map(timedRules(caller).map((rule) => [rule.id, rule]));
  return [...rules.values()].map(({ id, version, after: { calendarId } }) => ({
    rule_id: id,
    rule_version: version,
    calendar_version: calendarId === null ? null : (findWorkTime(caller, calendarId)?.version ?? null),
  }));
}

/**
 * Creates the task that keeps timers up to date with the configuration: it arms new and changed rules on existing records,
 * and computes moments again after a change of a calendar. The rows show what is left to do. A moment that was over when the rule
 * was changed does not make it fire.
 */
export function timerUpdater(): (db: Queryable, work: Work, caller: Caller, nowMs: number) => Promise<boolean> {
  const updater = new MomentUpdater();
  return async (db, work, caller, nowMs) => {
    const wanted = inForce(caller);
    const { version } = caller.config;
    const recheckMs = wanted.length === 0 ? Number.POSITIVE_INFINITY : RECHECK_MS;
    return await updater.run({ key: JSON.stringify([version, wanted]), nowMs, recheckMs }, async (isChanged) => {
      const ids = wanted.map(({ rule_id }) => rule_id);
      // It reads all timers, so it does not run at each check.
      if (isChanged && (await purgeTimers(db, ids, version))) return 'more';
      const isArmed = await armRules(db, work, caller);
      const updated = await work.write(caller, (ctx) => updateStale(ctx, wanted));
      return isArmed && !(updated.kind === 'done' && updated.data === BATCH) ? 'done' : 'more';
    });
  };
}

/** Arms new and changed rules on the next records. @returns whether there is nothing more to do now */
async function armRules(db: Queryable, work: Work, caller: Caller): Promise<boolean> {
  const rules = [...new Map(timedRules(caller).map((rule) => [rule.id, rule])).values()];
  const names = rules.map(({ id }) => armingOf(id));
  const armings = new Map((await listRebuilds(db, names)).map((arming) => [arming.name, arming]));
  const changed = rules.filter(({ id, version }) => (armings.get(armingOf(id))?.version ?? 0) < version);
  if (changed.length > 0) {
    await work.write(caller, async (ctx) => {
      for (const { id, version } of changed) ctx.plan(startRebuild, { name: armingOf(id), version, at: ctx.now });
    });
  }
  let isArmed = changed.length === 0;
  for (const rule of rules) {
    const name = armingOf(rule.id);
    const arming = armings.get(name);
    // A newer rule is armed by processes that know it.
    if (arming?.isRunning !== true || arming.version > rule.version) continue;
    const armed = await work.write(caller, (ctx) => stepRebuild(ctx, name, armBatch(rule)));
    if (armed.kind === 'done' && armed.data?.finished === false) isArmed = false;
  }
  return isArmed;
}

/** A unit of work that began before a rule was changed may write after the first pass. It ends within this time. */
const SECOND_PASS_MS = 60_000;

/** Arms the rule on the next records, in two passes. */
function armBatch({ id: ruleId, changedAt }: TimedRule): RebuildPart<{ pass: number; after: string | null }> {
  return async (ctx, position) => {
    const { pass, after } = position ?? { pass: 1, after: null };
    const typeIds = [...ctx.config.get(rulesView).timed].flatMap(([type, own]) =>
      own.some(({ id }) => id === ruleId) ? [type] : [],
    );
    const ids = await listActiveIds(ctx, typeIds, { after, limit: BATCH });
    await armOn(ctx, ruleId, ids, (timer) => {
      const isPast = timer.dueAt !== null && timer.dueAt < changedAt;
      ctx.plan(armTimer, { ...timer, isPast });
    });
    if (ids.length === BATCH) return { made: BATCH, next: { pass, after: ids.at(-1) ?? null } };
    if (pass === 2) return { made: ids.length, next: null };
    return { made: ids.length, next: { pass: 2, after: null }, waitMs: SECOND_PASS_MS };
  };
}

async function updateStale(ctx: WriteContext, wanted: readonly TimedInForce[]): Promise<number> {
  const stale = await listStale(ctx, wanted, BATCH);
  for (const [ruleId, timers] of Map.groupBy(stale, (timer) => timer.ruleId)) {
    const left = new Map(timers.map(({ objectId, since }) => [objectId, since]));
    await armOn(ctx, ruleId, [...left.keys()], (timer) => {
      ctx.plan(moveTimer, { ...timer, readSince: left.get(timer.objectId) ?? timer.since });
      left.delete(timer.objectId);
    });
    for (const [objectId, readSince] of left) ctx.plan(dropStaleTimer, { ruleId, objectId, readSince });
  }
  return stale.length;
}

/** Computes the timers of the rule on those of the records on which it can fire. */
async function armOn(
  ctx: WriteContext,
  ruleId: string,
  ids: readonly string[],
  take: (timer: ReturnType<typeof timerOf>) => void,
): Promise<void> {
  await preload(ctx, ids);
  const views = (await Promise.all(ids.map((id) => recordOf(ctx, id)))).filter((view) => view !== undefined);
  for (const [typeId, own] of Map.groupBy(views, ({ type }: RecordView) => type.id)) {
    const rule = ctx.config
      .get(rulesView)
      .timed.get(typeId)
      ?.find(({ id }) => id === ruleId);
    if (rule === undefined) continue;
    const fitting = own.filter(({ facts }) => canBecomeDue(rule, facts, variables(ctx)));
    for (const [id, since] of await sinceTimes(ctx, rule, fitting)) take(timerOf(ctx, rule, id, since));
  }
}

export function ruleTasks({ db, clock, work, system, actorOf }: Service): Task[] {
  const updateTimers = timerUpdater();
  return [
    { name: 'rule-runs', everyMs: 600_000, run: () => purgeRuleRuns(db) },
    {
      name: 'rule-timers',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => await fireDueRules(work, await system(), actorOf),
    },
    {
      name: 'rule-timer-updates',
      everyMs: 1000,
      idleMs: IDLE_MS,
      run: async () => await updateTimers(db, work, await system(), clock.now()),
    },
  ];
}
