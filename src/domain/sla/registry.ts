/** Policies and calendars: the schema and checks of opening hours, and one registry per configuration snapshot. */
import Type, { type Static } from 'typebox';
import { isActive } from '../../contract/state.ts';
import { faultAt, isFault } from '../../lib/fault.ts';
import { storedForm } from '../../lib/data-types/index.ts';
import { type Condition, fieldsOf, parseCondition, type TypedCondition, variablesOf } from '../../lib/filter.ts';
import { type Weekday, WEEKDAYS, WorkTime } from '../../lib/worktime.ts';
import type { ReadContext } from '../../platform/unit-of-work/context.ts';
import type { ConfigSnapshot, ConfigSource, DerivedView } from '../../platform/unit-of-work/snapshot.ts';
import { fieldResolver, type LocalizedText, type RecordType, typeView } from '../metadata/index.ts';
import { closed, described, findByIdOrCode, type Localized, Name, optional } from '../../contract/schemas.ts';
import { problem } from '../../lib/problem.ts';
import { checkTimeZone, checkUnique } from '../../configuration/checks.ts';
import type { ItemPath, Report } from '../../configuration/section.ts';

/** A stored calendar: the shape of the bundle with every default filled in. */
export interface CalendarDefinition {
  code: string;
  name: LocalizedText;
  timezone: string;
  /** `HH:MM-HH:MM`, in ascending order; `24:00` is the end of the day. */
  week: Record<Weekday, string[]>;
  exceptions: CalendarException[];
}

export interface CalendarException {
  date: string;
  /** Name of the day, if it has one. */
  name?: LocalizedText;
  hours: string[];
}

/** A stored policy. In its compiled form, conditions contain ids instead of codes and logins. */
export interface PolicyDefinition {
  code: string;
  name: LocalizedText;
  /** Code of the record type. */
  type: string;
  /** Code of the calendar. */
  calendar: string;
  /** The first target whose condition holds applies. */
  targets: { when?: Condition; duration: string }[];
  start: Condition;
  pause?: Condition;
  stop: Condition;
  /** Percentages of the target at which warnings are due, ascending. */
  warnAt: number[];
}

interface Calendar {
  id: string;
  version: number;
  code: string;
  name: LocalizedText;
  active: boolean;
  definition: CalendarDefinition;
  time: WorkTime;
}

/** The calendar version that an instance is calculated with. */
export type CalendarInForce = Pick<Calendar, 'id' | 'version' | 'definition' | 'time'>;

/** The changes of a record that can change the result of a policy's conditions. */
interface Inputs {
  /** Any change counts: a condition uses variables, or a system field that the changes of events do not name. */
  every: boolean;
  fields: ReadonlySet<string>;
}

export interface Policy {
  id: string;
  version: number;
  code: string;
  name: LocalizedText;
  /** An archived policy starts no new instances. Its running instances continue. */
  active: boolean;
  typeId: string;
  calendarId: string;
  /** The first target whose condition holds applies; null always holds. */
  targets: readonly { when: TypedCondition | null; ms: number }[];
  start: TypedCondition | null;
  pause: TypedCondition | null;
  stop: TypedCondition | null;
  /** Percentages of the target at which warnings are due, ascending. */
  warnAt: readonly number[];
  inputs: Inputs;
}

interface SlaRegistry {
  policies: ReadonlyMap<string, Policy>;
  /** Type id → its policies by code, including archived ones. */
  ofType: ReadonlyMap<string, readonly Policy[]>;
  calendars: ReadonlyMap<string, Calendar>;
}

/** System fields that never change. */
const CONSTANT = new Set(['id', 'number', 'typeId', 'typeCode', 'createdAt', 'createdBy']);
/** System field → its name in the changes of events. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['state', 'state'],
  ['workflowState', 'workflowState'],
  ['workflowCategory', 'workflowState'],
]);

function inputsOf(conditions: readonly (TypedCondition | null)[]): Inputs {
  const fields = new Set<string>();
  let every = false;
  for (const condition of conditions) {
    if (condition === null) continue;
    if (variablesOf(condition).size > 0) every = true;
    for (const { kind, code } of fieldsOf(condition)) {
      const named = kind === 'value' ? code : NAMED.get(code);
      if (named !== undefined) fields.add(named);
      else if (!CONSTANT.has(code)) every = true;
    }
  }
  return { every, fields };
}

/** Open time is given in hours, minutes and seconds only, because the open hours of a day vary with the calendar. */
export function isOpenTime(duration: string): boolean {
  return duration.startsWith('PT') && duration !== 'PT0S' && storedForm('duration', duration) !== undefined;
}

/** Milliseconds of a duration in hours, minutes and seconds; at least 1. */
export function durationMs(duration: string): number {
  return Math.max(1, Math.round(Temporal.Duration.from(duration).total('milliseconds')));
}

function policyOf(
  item: ConfigSource['items'][number],
  type: RecordType,
  calendarId: string,
  definition: PolicyDefinition,
): Policy {
  const resolve = fieldResolver(type);
  const active = isActive(item);
  const parsed = (condition: unknown): TypedCondition | null => {
    if (condition === undefined) return null;
    try {
      return parseCondition(condition, { resolve, variables: 'allowed' });
    } catch (error) {
      // An archived policy may refer to fields that its type no longer has. Such a condition never holds.
      if (!active && isFault(error)) return null;
      throw error;
    }
  };
  const targets = definition.targets.flatMap(({ when, duration }) => {
    const condition = parsed(when);
    return when !== undefined && condition === null ? [] : [{ when: condition, ms: durationMs(duration) }];
  });
  const [start, pause, stop] = [parsed(definition.start), parsed(definition.pause), parsed(definition.stop)];
  return {
    id: item.id,
    version: item.version,
    code: item.code,
    name: definition.name,
    active: active && type.active,
    typeId: type.id,
    calendarId,
    targets,
    start,
    pause,
    stop,
    warnAt: definition.warnAt,
    inputs: inputsOf([start, pause, stop, ...targets.map((target) => target.when)]),
  };
}

function build({ items }: ConfigSource, snapshot: ConfigSnapshot): SlaRegistry {
  const types = snapshot.get(typeView);
  const calendars = new Map<string, Calendar>();
  const byCode = new Map<string, string>();
  for (const { section, id, version, code, state, compiled } of items) {
    if (section !== 'calendars') continue;
    const definition = compiled as CalendarDefinition;
    const time = new WorkTime(definition);
    calendars.set(id, { id, version, code, name: definition.name, active: isActive({ state }), definition, time });
    byCode.set(code, id);
  }
  const policies = new Map<string, Policy>();
  const ofType = new Map<string, Policy[]>();
  for (const item of items) {
    if (item.section !== 'slaPolicies') continue;
    const definition = item.compiled as PolicyDefinition;
    const type = types.byCode.get(definition.type);
    const calendarId = byCode.get(definition.calendar);
    if (type === undefined || calendarId === undefined) continue;
    const policy = policyOf(item, type, calendarId, definition);
    policies.set(policy.id, policy);
    const list = ofType.get(type.id);
    if (list === undefined) ofType.set(type.id, [policy]);
    else list.push(policy);
  }
  return { policies, ofType, calendars };
}

const slaView: DerivedView<SlaRegistry> = { name: 'sla', build };

export function slaRegistry(ctx: Pick<ReadContext, 'config'>): SlaRegistry {
  return ctx.config.get(slaView);
}

/**
 * A policy by its id or code, also an archived one. Those of types that the caller may not read do not exist for the caller.
 *
 * @throws Fault INVALID_REQUEST
 */
export function requirePolicy(ctx: Pick<ReadContext, 'config' | 'actor'>, idOrCode: string, path: string): Policy {
  const policy = findByIdOrCode(slaRegistry(ctx).policies.values(), idOrCode);
  if (policy === undefined || !ctx.actor.mayEver(policy.typeId, 'read'))
    throw faultAt('INVALID_REQUEST', path, 'NO_POLICY');
  return policy;
}

/** The policies of the type, also archived ones; none if the caller may not read records of the type. */
export function policiesOfType(ctx: Pick<ReadContext, 'config' | 'actor'>, typeId: string): readonly Policy[] {
  if (!ctx.actor.mayEver(typeId, 'read')) return [];
  return slaRegistry(ctx).ofType.get(typeId) ?? [];
}

/** An active calendar by its id or code. */
export function findCalendar(ctx: Pick<ReadContext, 'config'>, idOrCode: string): Calendar | undefined {
  return findByIdOrCode(activeCalendars(ctx), idOrCode);
}

export function activeCalendars(ctx: Pick<ReadContext, 'config'>): Calendar[] {
  return [...slaRegistry(ctx).calendars.values()].filter(({ active }) => active);
}

/** The open time of the calendar with the id, also of an archived one. */
export function findWorkTime(ctx: Pick<ReadContext, 'config'>, id: string): CalendarInForce | undefined {
  return slaRegistry(ctx).calendars.get(id);
}

/** The current calendar of the policy. */
export function calendarOf(registry: SlaRegistry, policy: Policy): Calendar {
  const calendar = registry.calendars.get(policy.calendarId);
  if (calendar === undefined) throw new Error(`policy ${policy.code} has no calendar`);
  return calendar;
}

const Hours = Type.Array(
  Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
    phrase: { phrase: 'RANGE', example: "'09:00-18:00'" },
  }),
  { maxItems: 48 },
);

const open = (day: string) =>
  optional(`Opening hours on ${day}, such as 09:00-18:00, in order and without overlap. Absent: closed.`, Hours);

/** The properties of a calendar that define its opening hours. */
export const CALENDAR_HOURS = {
  timezone: described(
    'IANA time zone of the hours, such as Europe/Moscow. Changes to summer time are counted exactly.',
    Type.String({ minLength: 1, maxLength: 64 }),
  ),
  week: described(
    'Opening hours of each weekday; several ranges a day are possible.',
    closed({
      mon: open('Mondays'),
      tue: open('Tuesdays'),
      wed: open('Wednesdays'),
      thu: open('Thursdays'),
      fri: open('Fridays'),
      sat: open('Saturdays'),
      sun: open('Sundays'),
    }),
  ),
  exceptions: optional(
    'Days with other hours than their weekday, such as holidays. One entry for each date.',
    Type.Array(
      closed({
        date: described('The day in the time zone of the calendar, YYYY-MM-DD.', Type.String()),
        name: optional('Why the day differs, such as New Year; explanations of SLA time show it.', Name),
        hours: described('Opening hours of this day. An empty list is a holiday.', Hours),
      }),
      { maxItems: 10_000 },
    ),
  ),
};

const CalendarHoursSchema = closed(CALENDAR_HOURS);
export type WrittenHours = Static<typeof CalendarHoursSchema>;

/** The hours with all defaults filled in. */
export function normaliseHours({
  timezone,
  week,
  exceptions = [],
}: WrittenHours): Pick<CalendarDefinition, 'timezone' | 'week' | 'exceptions'> {
  return {
    timezone,
    week: Object.fromEntries(WEEKDAYS.map((day) => [day, week[day] ?? []])) as Record<Weekday, string[]>,
    exceptions: exceptions.map(({ date, name, hours }) => ({
      date,
      ...(name === undefined ? {} : { name: name as Localized }),
      hours,
    })),
  };
}

/** Each range of a day must end after it starts and must not start before the previous range ends. */
function checkHours(hours: readonly string[], path: ItemPath, report: Report): void {
  let last = '';
  for (const [index, range] of hours.entries()) {
    const [from = '', to = ''] = range.split('-');
    if (from >= to) report([...path, index], problem('EMPTY_RANGE', { range }));
    else if (from < last) report([...path, index], problem('RANGES_OVERLAP', { range }));
    last = to;
  }
}

/** Reports the problems that the JSON schema cannot detect. */
export function checkCalendar(
  calendar: Pick<CalendarDefinition, 'timezone' | 'week' | 'exceptions'>,
  report: Report,
): void {
  checkTimeZone(calendar.timezone, ['timezone'], report);
  for (const day of WEEKDAYS) checkHours(calendar.week[day], ['week', day], report);
  checkUnique(calendar.exceptions, (exception) => exception.date, ['exceptions'], 'date', report);
  for (const [index, { date, hours }] of calendar.exceptions.entries()) {
    const at = ['exceptions', index];
    if (storedForm('date', date) === undefined)
      report([...at, 'date'], problem('NOT_A_DATE', { example: '2027-01-01' }));
    checkHours(hours, [...at, 'hours'], report);
  }
}
