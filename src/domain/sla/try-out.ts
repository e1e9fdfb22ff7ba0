/** Trying out policies and calendars: due times and opening hours, for stored and unsaved calendars. */
import type { Static } from 'typebox';
import { Fault, type FaultDetail } from '../../lib/fault.ts';
import { canonicalDate, canonicalInstant, storedForm } from '../../lib/data-types/index.ts';
import { findByIdOrCode } from '../../contract/schemas.ts';
import { pointer } from '../../lib/json.ts';
import { problem, type ParamsOf, type ProblemReason, problemAt } from '../../lib/problem.ts';
import { type Span, WEEKDAYS, WorkTime } from '../../lib/worktime.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import { checkValue, foldedCopy, type RecordType, registry } from '../metadata/index.ts';
import {
  type CalendarException,
  calendarOf,
  checkCalendar,
  durationMs,
  isOpenTime,
  normaliseHours,
  type Policy,
  slaRegistry,
  type WrittenHours,
} from './registry.ts';
import type * as contract from './contract.ts';
import { calendarVersionOf, targetUnder } from './effective-policy.ts';
import { type IntervalAnswer, intervalsOf, iso, nameIn } from './rules.ts';
import { findCalendarVersion } from './store.ts';

type TryInput = Static<(typeof contract.tryPolicy)['body']>;
type PreviewInput = Static<(typeof contract.previewCalendar)['body']>;

interface Chosen {
  id: string | null;
  version: number | null;
  definition: { timezone: string; exceptions: readonly CalendarException[] };
  time: WorkTime;
}

function refused(problems: FaultDetail[]): Fault {
  return new Fault('INVALID_REQUEST', problem('PROBLEMS_IN_DETAILS'), problems);
}

function wrong<Reason extends ProblemReason>(path: string, reason: Reason, ...params: ParamsOf<Reason>): Fault {
  return refused([problemAt(path, reason, ...params)]);
}

function unsaved(written: WrittenHours): Chosen {
  const definition = normaliseHours(written);
  const problems: FaultDetail[] = [];
  checkCalendar(definition, (path, found) => {
    problems.push({ path: pointer('calendar', ...path.map(String)), ...found });
  });
  if (problems.length > 0) throw refused(problems);
  return { id: null, version: null, definition, time: new WorkTime(definition) };
}

/** @throws Fault INVALID_REQUEST */
async function calendarChosen(
  ctx: ReadContext,
  choice: string | WrittenHours,
  version: number | undefined,
): Promise<Chosen> {
  if (typeof choice !== 'string') {
    if (version !== undefined) throw wrong('/calendarVersion', 'UNSAVED_CALENDAR_VERSION');
    return unsaved(choice);
  }
  const { calendars } = slaRegistry(ctx);
  const calendar = findByIdOrCode(calendars.values(), choice);
  if (calendar === undefined) throw wrong('/calendar', 'NO_CALENDAR');
  if (version === undefined || version === calendar.version) return calendar;
  const definition = await findCalendarVersion(ctx, calendar.id, version);
  if (definition === undefined) {
    throw wrong('/calendarVersion', 'NO_CALENDAR_VERSION');
  }
  return calendarVersionOf(calendar.id, version, definition);
}

/** @throws Fault INVALID_REQUEST */
function policyChosen(ctx: ReadContext, idOrCode: string): Policy {
  const { policies } = slaRegistry(ctx);
  const policy = findByIdOrCode(policies.values(), idOrCode);
  if (policy === undefined) throw wrong('/policy', 'NO_POLICY');
  return policy;
}

/** Values in stored form, with the defaults of the type. @throws Fault INVALID_REQUEST */
function storedValues(type: RecordType, given: Record<string, unknown>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const problems: FaultDetail[] = [];
  for (const field of type.newest.fields.values()) if (field.default !== undefined) values[field.code] = field.default;
  for (const [code, value] of Object.entries(given)) {
    const field = type.newest.fields.get(code);
    const path = pointer('values', code);
    if (field === undefined) {
      problems.push(problemAt(path, 'UNKNOWN_FIELD'));
      continue;
    }
    const checked = checkValue(field, value, path);
    if (!checked.ok) problems.push(...checked.problems);
    else if (checked.stored === null) delete values[code];
    else values[code] = checked.stored;
  }
  if (problems.length > 0) throw refused(problems);
  return values;
}

/** The policy's target for a new record with these values. @throws Fault INVALID_REQUEST */
function targetTried(ctx: ReadContext, policy: Policy, given: Record<string, unknown>, openedAt: string): number {
  const types = registry(ctx);
  const type = types.byId.get(policy.typeId);
  if (type === undefined) throw new Error(`policy ${policy.code} has no type`);
  const values = storedValues(type, given);
  const { workflow, fields } = type.newest;
  const state = workflow?.states.get(workflow.initialId);
  const target = targetUnder(ctx, policy, {
    values,
    folded: foldedCopy([...fields.values()], values),
    system: {
      id: ctx.newId(),
      number: null,
      title: null,
      typeId: type.id,
      typeCode: type.code,
      state: 'ACTIVE',
      workflowState: state?.code ?? null,
      workflowCategory: state?.category ?? null,
      revision: 1,
      createdAt: openedAt,
      createdBy: null,
      updatedAt: openedAt,
      updatedBy: null,
    },
  });
  if (target === undefined) throw wrong('/values', 'NO_TARGET');
  return target;
}

/** @throws Fault INVALID_REQUEST */
function instantOf(given: string, path: string): string {
  const at = canonicalInstant(given);
  if (at === undefined) throw wrong(path, 'NOT_AN_INSTANT');
  return at;
}

function spansOf(pauses: NonNullable<TryInput['pauses']>): Span[] {
  let last = Number.NEGATIVE_INFINITY;
  return pauses.map(({ from, to }, index) => {
    const span = {
      from: Date.parse(instantOf(from, `/pauses/${index}/from`)),
      to: Date.parse(instantOf(to, `/pauses/${index}/to`)),
    };
    if (span.from >= span.to || span.from < last) {
      throw wrong(`/pauses/${index}`, 'PAUSES_OVERLAP');
    }
    last = span.to;
    return span;
  });
}

export interface TryAnswer {
  openedAt: string;
  targetMs: number;
  dueAt: string | null;
  warnings: { percent: number; at: string | null }[];
  calendar: { id: string | null; version: number | null; timezone: string };
  intervals: IntervalAnswer[];
}

/** Calculates the due time for a policy, or for a calendar and a target. @throws Fault RIGHT_MISSING, INVALID_REQUEST */
export async function tryPolicy(ctx: ReadContext, input: TryInput): Promise<TryAnswer> {
  ctx.actor.require('config.manage');
  const openedAt = instantOf(input.openedAt, '/openedAt');
  const policy = input.policy === undefined ? undefined : policyChosen(ctx, input.policy);
  if (policy === undefined && (input.calendar === undefined || input.target === undefined)) {
    throw wrong('', 'POLICY_OR_CALENDAR');
  }
  if (policy === undefined && input.values !== undefined) {
    throw wrong('/values', 'VALUES_WITHOUT_POLICY');
  }
  const choice = input.calendar ?? calendarOf(slaRegistry(ctx), policy as Policy).id;
  const { id, version, definition, time } = await calendarChosen(ctx, choice, input.calendarVersion);
  const targetMs =
    input.target === undefined
      ? targetTried(ctx, policy as Policy, input.values ?? {}, openedAt)
      : givenTarget(input.target);
  const start = Date.parse(openedAt);
  const pauses = spansOf(input.pauses ?? []);
  const due = time.add(start, targetMs, pauses);
  const { defaultLocale } = registry(ctx).settings;
  return {
    openedAt,
    targetMs,
    dueAt: iso(due),
    warnings: (policy?.warnAt ?? []).map((percent) => {
      return { percent, at: iso(time.add(start, Math.ceil((percent * targetMs) / 100), pauses)) };
    }),
    calendar: { id, version, timezone: definition.timezone },
    intervals:
      due === undefined
        ? []
        : intervalsOf(time, definition.exceptions, { from: start, to: due }, pauses, () => ({}), defaultLocale),
  };
}

/** @throws Fault INVALID_REQUEST */
function givenTarget(target: string): number {
  const duration = storedForm('duration', target);
  if (typeof duration !== 'string' || !isOpenTime(duration)) {
    throw wrong('/target', 'NOT_OPEN_TIME', { example: 'PT4H' });
  }
  return durationMs(duration);
}

export interface PreviewAnswer {
  timezone: string;
  days: {
    date: string;
    weekday: string;
    exists: boolean;
    ms: number;
    openMs: number;
    open: { from: string; to: string }[];
    exception: boolean;
    name?: string;
  }[];
}

/** The open hours of each day of a calendar. @throws Fault RIGHT_MISSING, INVALID_REQUEST */
export async function previewCalendar(ctx: ReadContext, input: PreviewInput): Promise<PreviewAnswer> {
  ctx.actor.require('config.manage');
  const { definition, time } = await calendarChosen(ctx, input.calendar, input.calendarVersion);
  const { timezone, exceptions } = definition;
  const first = canonicalDate(input.from);
  if (first === undefined) throw wrong('/from', 'NOT_A_DATE', { example: '2027-01-31' });
  const from = Temporal.PlainDate.from(first);
  if (from.year > 9990) throw wrong('/from', 'DATE_TOO_LATE');
  const { defaultLocale } = registry(ctx).settings;
  const beginning = (date: Temporal.PlainDate): number => date.toZonedDateTime(timezone).epochMilliseconds;
  const days = Array.from({ length: input.days }, (_, index) => {
    const day = from.add({ days: index });
    const date = day.toString();
    const [start, end] = [beginning(day), beginning(day.add({ days: 1 }))];
    const open = time.pieces(start, end).filter((piece) => piece.kind === 'open');
    const exception = exceptions.find((one) => one.date === date);
    return {
      date,
      weekday: WEEKDAYS[day.dayOfWeek - 1] as string,
      exists: end > start,
      ms: end - start,
      openMs: open.reduce((sum, piece) => sum + piece.to - piece.from, 0),
      open: open.map((piece) => ({ from: new Date(piece.from).toISOString(), to: new Date(piece.to).toISOString() })),
      exception: exception !== undefined,
      ...nameIn(exception?.name, defaultLocale),
    };
  });
  return { timezone, days };
}
