/** Commands on SLA instances (docs/spec/workflow-and-sla.md#sla-commands). */
import { Fault, faultAt } from '../../lib/fault.ts';
import { problem, problemAt } from '../../lib/problem.ts';
import type { WriteContext } from '../../platform/unit-of-work/context.ts';
import { variables } from '../metadata/index.ts';
import {
  changedSince,
  holdRevision,
  evaluateAccess,
  plannedRow,
  requireActive,
  type VisibleObject,
} from '../objects/index.ts';
import type { Command } from './contract.ts';
import { type CalendarInForce, calendarOf, slaRegistry } from './registry.ts';
import { calendarVersionOf, planDraft, plannedInstance, presentOf, settingFor } from './effective-policy.ts';
import { answerOf, type InstanceAnswer, requireInstance } from './queries.ts';
import { type Instance, evaluateConditions, wantsStart } from './rules.ts';
import { draftOf, pause, recalculate, resume, retarget, type Setting, stop } from './rules-transitions.ts';
import { findCalendarVersion, listChanges, type StoredInstance } from './store.ts';

export interface CommandInput {
  instanceId: string;
  command: Command;
  expectedRevision?: number;
  calendarId?: string;
  calendarVersion?: number;
}

/** Statuses in which a command is allowed. */
const FROM: Readonly<Record<Command, readonly string[]>> = {
  pause: ['ACTIVE'],
  resume: ['PAUSED'],
  stop: ['ACTIVE', 'PAUSED'],
  recalculate: ['ACTIVE', 'PAUSED', 'STOPPED'],
};

/**
 * Pauses, resumes, stops or recalculates an instance.
 *
 * @throws Fault INVALID_REQUEST, NOT_FOUND, RIGHT_MISSING, ARCHIVED, REVISION_CONFLICT, SLA_COMMAND_NOT_ALLOWED
 */
export async function commandSla(ctx: WriteContext, input: CommandInput): Promise<InstanceAnswer> {
  const { command, expectedRevision } = input;
  requireFittingBody(input);
  const { instance, object } = await requireInstance(ctx, input.instanceId);
  ctx.actor.require('sla.control');
  ctx.markAuthorized();
  requireActive(object);
  if (expectedRevision !== undefined && expectedRevision !== instance.revision) {
    const changes = await listChanges(ctx, instance, expectedRevision);
    const message = 'The SLA instance was changed after the expected revision. Read it again.';
    throw new Fault('REVISION_CONFLICT', message, changedSince(changes));
  }
  if (!FROM[command].includes(instance.status)) {
    throw new Fault(
      'SLA_COMMAND_NOT_ALLOWED',
      `An instance with the status ${instance.status} takes no command "${command}"; ${FROM[command].join(' or ')} does.`,
    );
  }
  // The decision depends on the record, so the record must not change until the unit of work ends.
  ctx.plan(holdRevision, { id: object.row.id, expected: object.row.revision });
  return command === 'recalculate'
    ? await recalculateInstance(ctx, input, instance, object)
    : move(ctx, command, instance, object);
}

function requireFittingBody({ command, calendarId, calendarVersion }: CommandInput): void {
  if (command === 'recalculate') return;
  const given = [
    ...(calendarId === undefined ? [] : ['/calendarId']),
    ...(calendarVersion === undefined ? [] : ['/calendarVersion']),
  ];
  if (given.length === 0) return;
  const problems = given.map((path) => problemAt(path, 'CALENDAR_WITHOUT_RECALCULATE'));
  throw new Fault('INVALID_REQUEST', problem('PROBLEMS_IN_DETAILS'), problems);
}

function move(
  ctx: WriteContext,
  command: Exclude<Command, 'recalculate'>,
  instance: StoredInstance,
  object: VisibleObject,
): InstanceAnswer {
  const setting = settingFor(ctx, instance, object);
  const results = evaluateConditions(setting.policy, object.facts, variables(ctx));
  const draft = draftOf(instance);
  // First apply the warnings, breaches and target changes up to now, then the command.
  retarget(draft, setting);
  if (command === 'pause') pause(draft, 'manual', setting);
  else if (command === 'resume') resume(draft, 'manual', setting, !results.pause);
  else stop(draft, 'manual', setting, !wantsStart(results));
  return plannedAnswer(ctx, planDraft(ctx, draft, setting), setting, object);
}

async function recalculateInstance(
  ctx: WriteContext,
  input: CommandInput,
  instance: StoredInstance,
  object: VisibleObject,
): Promise<InstanceAnswer> {
  const setting = settingFor(ctx, instance, object);
  const chosen = await chosenCalendar(ctx, input, instance, setting);
  const draft = draftOf(instance);
  if (instance.status !== 'STOPPED') retarget(draft, setting);
  const present = calendarOf(slaRegistry(ctx), setting.policy);
  const next = { ...setting, calendar: chosen ?? present };
  recalculate(draft, next, chosen !== undefined);
  return plannedAnswer(ctx, planDraft(ctx, draft, next), next, object);
}

/** The instance as it is committed, with what rules on the event of the command change in the same unit of work. */
function plannedAnswer(ctx: WriteContext, instance: Instance, setting: Setting, object: VisibleObject): InstanceAnswer {
  const stored: StoredInstance = { ...instance, storedCalendar: setting.calendar.definition };
  const answer = answerOf(ctx, stored, presentOf(ctx, stored, object));
  ctx.onReacted(() => {
    const view = evaluateAccess(ctx, plannedRow(ctx, object.row.id) ?? object.row);
    // A rule can have hidden the record from the caller.
    if (!view.right.can('read')) return;
    const latest = plannedInstance(ctx, instance);
    // A rule can also have started another instance of the policy.
    const now = latest?.id === instance.id ? latest : stored;
    const next = answerOf(ctx, now, presentOf(ctx, now, view));
    // The times of a pause or a stop can be gone.
    delete answer.pausedAt;
    delete answer.stoppedAt;
    delete answer.breachedAt;
    Object.assign(answer, next);
  });
  return answer;
}

/**
 * The calendar given in the request: by id, in its current version unless a version is given. A version without an id refers to
 * the policy's calendar. Undefined if neither is given.
 *
 * @throws Fault INVALID_REQUEST for an unknown id or version
 */
async function chosenCalendar(
  ctx: WriteContext,
  { calendarId, calendarVersion }: CommandInput,
  instance: StoredInstance,
  setting: Setting,
): Promise<CalendarInForce | undefined> {
  if (calendarId === undefined && calendarVersion === undefined) return undefined;
  const calendar = slaRegistry(ctx).calendars.get(calendarId ?? setting.policy.calendarId);
  const kept = calendar !== undefined && instance.pinned && calendar.id === instance.calendarId;
  if (calendar === undefined || !(calendar.active || kept))
    throw faultAt('INVALID_REQUEST', '/calendarId', 'NO_CALENDAR');
  if (calendarVersion === undefined || calendarVersion === calendar.version) return calendar;
  const definition = await findCalendarVersion(ctx, calendar.id, calendarVersion);
  if (definition === undefined) throw faultAt('INVALID_REQUEST', '/calendarVersion', 'NO_CALENDAR_VERSION');
  return calendarVersionOf(calendar.id, calendarVersion, definition);
}
