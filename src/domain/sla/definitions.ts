/** Policies and calendars as the service works with them: one registry per configuration snapshot. */
import { isFault } from '../../lib/fault.ts';
import { type Condition, fieldsOf, parseCondition, type TypedCondition, variablesOf } from '../../lib/filter.ts';
import { storedForm } from '../../lib/filter-values.ts';
import { type Weekday, WorkTime } from '../../lib/worktime.ts';
import type { ReadContext } from '../../mechanisms/context.ts';
import type { ConfigSnapshot, ConfigSource, Slice } from '../../mechanisms/snapshot.ts';
import { fieldResolver, type LocalizedText, type RecordType, typeSlice } from '../metadata/door.ts';

/** A calendar as it is stored: the bundle's shape with every default filled in. */
export interface CalendarDefinition {
  code: string;
  name: LocalizedText;
  timezone: string;
  /** `HH:MM-HH:MM`, in order; `24:00` is the end of the day. */
  week: Record<Weekday, string[]>;
  exceptions: CalendarException[];
}

export interface CalendarException {
  date: string;
  /** What the day is called, where it has a name. */
  name?: LocalizedText;
  hours: string[];
}

/** A policy as it is stored; compiled, its conditions have ids in place of codes and logins. */
export interface PolicyDefinition {
  code: string;
  name: LocalizedText;
  /** Code of the record type. */
  type: string;
  /** Code of the calendar. */
  calendar: string;
  /** The first whose condition holds counts. */
  targets: { when?: Condition; duration: string }[];
  start: Condition;
  pause?: Condition;
  stop: Condition;
  /** Percent of the target used, rising. */
  warnAt: number[];
}

export interface Calendar {
  id: string;
  version: number;
  code: string;
  name: LocalizedText;
  active: boolean;
  definition: CalendarDefinition;
  time: WorkTime;
}

/** A version of a calendar as an instance is reckoned by it. */
export type CalendarInForce = Pick<Calendar, 'id' | 'version' | 'definition' | 'time'>;

/** Which changes of a record can move a policy's conditions. */
interface Concern {
  /** A condition asks for the time, for who acts, or for what every change moves. */
  every: boolean;
  fields: ReadonlySet<string>;
}

export interface Policy {
  id: string;
  version: number;
  code: string;
  name: LocalizedText;
  /** An archived policy starts nothing more; what runs under it goes on to its end. */
  active: boolean;
  typeId: string;
  calendarId: string;
  /** The first whose condition holds counts; null: always. */
  targets: readonly { when: TypedCondition | null; ms: number }[];
  start: TypedCondition | null;
  pause: TypedCondition | null;
  stop: TypedCondition | null;
  /** Percent of the target used, rising. */
  warnAt: readonly number[];
  concern: Concern;
}

export interface SlaRegistry {
  policies: ReadonlyMap<string, Policy>;
  /** Type id → its policies, archived ones too, by code. */
  ofType: ReadonlyMap<string, readonly Policy[]>;
  calendars: ReadonlyMap<string, Calendar>;
}

/** What these system fields say never changes. */
const CONSTANT = new Set(['id', 'number', 'typeId', 'typeCode', 'createdAt', 'createdBy']);
/** System field → what a change of it is called in events. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['state', 'state'],
  ['workflowState', 'workflowState'],
  ['workflowCategory', 'workflowState'],
]);

function concernOf(conditions: readonly (TypedCondition | null)[]): Concern {
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

/** Open time is counted in hours, minutes and seconds: how long a day is, the calendar says differently every day. */
export function isOpenTime(duration: string): boolean {
  return duration.startsWith('PT') && duration !== 'PT0S' && storedForm('duration', duration) !== undefined;
}

/** Milliseconds of a duration in hours, minutes and seconds; never nothing. */
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
  const active = item.state === 'ACTIVE';
  const parsed = (condition: unknown): TypedCondition | null => {
    if (condition === undefined) return null;
    try {
      return parseCondition(condition, { resolve, variables: 'allowed' });
    } catch (error) {
      // An archived policy may name what its type has no more: then nothing holds.
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
    concern: concernOf([start, pause, stop, ...targets.map((target) => target.when)]),
  };
}

function build({ items }: ConfigSource, snapshot: ConfigSnapshot): SlaRegistry {
  const types = snapshot.get(typeSlice);
  const calendars = new Map<string, Calendar>();
  const byCode = new Map<string, string>();
  for (const { section, id, version, code, state, compiled } of items) {
    if (section !== 'calendars') continue;
    const definition = compiled as CalendarDefinition;
    const time = new WorkTime(definition);
    calendars.set(id, { id, version, code, name: definition.name, active: state === 'ACTIVE', definition, time });
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

const slaSlice: Slice<SlaRegistry> = { name: 'sla', build };

export function slaRegistry(ctx: Pick<ReadContext, 'config'>): SlaRegistry {
  return ctx.config.get(slaSlice);
}

/** The calendar in force for the policy. */
export function calendarOf(registry: SlaRegistry, policy: Policy): Calendar {
  const calendar = registry.calendars.get(policy.calendarId);
  if (calendar === undefined) throw new Error(`policy ${policy.code} has no calendar`);
  return calendar;
}
