/** The bundle's sections `calendars` and `slaPolicies` (docs/spec/configuration.md#bundle). */
import Type, { type Static } from 'typebox';
import { closed, Code, described, type Localized, Name, optional } from '../../contract/schemas.ts';
import { storedForm } from '../../lib/data-types/index.ts';
import { problem } from '../../lib/problem.ts';
import { defineSection } from '../../configuration/define.ts';
import { compileTypedCondition, type TypeShape } from '../../configuration/record-types.ts';
import { CodeOf, ConditionSchema } from '../../configuration/schemas.ts';
import type { CompileView, Report } from '../../configuration/section.ts';
import { planItem } from '../../configuration/store.ts';
import {
  CALENDAR_HOURS,
  type CalendarDefinition,
  checkCalendar,
  isOpenTime,
  normaliseHours,
  type PolicyDefinition,
} from './registry.ts';
import { insertCalendarVersion } from './store.ts';

// ---------------------------------------------------------------- calendars: opening hours by weekday, with exceptions by date, in one time zone

const CalendarItem = closed({ code: Code, name: Type.Optional(Name), ...CALENDAR_HOURS });

export const calendarsSection = defineSection<Static<typeof CalendarItem>, CalendarDefinition>({
  key: 'calendars',
  summary: 'Calendars: working hours and exceptions.',
  schema: CalendarItem,
  normalise: (item) => ({
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    ...normaliseHours(item),
  }),
  compile: (calendar, _view, report) => {
    checkCalendar(calendar, report);
    return calendar;
  },
  // All versions are kept, because an instance may be calculated with an older version.
  write: (ctx, change) => {
    planItem(ctx, change);
    if (change.action === 'archive') return;
    const version = (change.stored?.version ?? 0) + 1;
    ctx.plan(insertCalendarVersion, { calendarId: change.id, version, compiled: change.compiled, createdAt: ctx.now });
  },
});

// ---------------------------------------------------------------- policies: the open time that records of a type have

const PolicyItem = closed(
  {
    code: Code,
    name: Type.Optional(Name),
    type: described('Code of the record type whose records the policy measures.', CodeOf('types')),
    calendar: described('Code of the calendar whose opening hours count.', CodeOf('calendars')),
    targets: described(
      'How much open time a record has: the first target whose condition holds counts.',
      Type.Array(
        closed({
          when: optional(
            'Records that the target is for, such as those of one priority. Absent: all others; only the last target can be so.',
            ConditionSchema,
          ),
          duration: described(
            'Open time until the record is due, an ISO 8601 duration in hours, minutes and seconds, such as PT4H.',
            Type.String({ minLength: 1, maxLength: 100 }),
          ),
        }),
        { minItems: 1, maxItems: 100 },
      ),
    ),
    start: described(
      'Time starts when a record meets this condition and not `stop`; again when it meets it after a time without.',
      ConditionSchema,
    ),
    pause: optional('Time does not count while a record meets this condition. Absent: no pauses.', ConditionSchema),
    stop: described('Time stops when a record meets this condition, also during a pause.', ConditionSchema),
    warnAt: optional(
      'Percentages of the target at which the event SlaWarning comes, such as [50, 80]. Default: none.',
      Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), { maxItems: 20, uniqueItems: true }),
    ),
  },
  { typesAt: 'type' },
);

function normalisePolicy(item: Static<typeof PolicyItem>): PolicyDefinition {
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    type: item.type,
    calendar: item.calendar,
    targets: item.targets.map(({ when, duration }) => ({
      ...(when === undefined ? {} : { when: when as never }),
      duration: String(storedForm('duration', duration) ?? duration),
    })),
    start: item.start as never,
    ...(item.pause === undefined ? {} : { pause: item.pause as never }),
    stop: item.stop as never,
    warnAt: [...(item.warnAt ?? [])].sort((a, b) => a - b),
  };
}

function compilePolicy(policy: PolicyDefinition, view: CompileView, report: Report): PolicyDefinition {
  const { targets } = policy;
  for (const [index, { when, duration }] of targets.entries()) {
    if (!isOpenTime(duration)) {
      report(['targets', index, 'duration'], problem('NOT_OPEN_TIME', { example: 'PT4H' }));
    }
    if (when === undefined && index < targets.length - 1) {
      report(['targets', index], problem('TARGET_NEVER_REACHED'));
    }
  }
  const type = view.get<TypeShape>('types', policy.type);
  if (type === undefined) return policy;
  const compiled = { ...policy };
  for (const key of ['start', 'pause', 'stop'] as const) {
    const condition = policy[key];
    if (condition === undefined) continue;
    compiled[key] = compileTypedCondition(condition, [key], [type], { view, report }) ?? condition;
  }
  compiled.targets = targets.map((target, index) => {
    if (target.when === undefined) return target;
    const when = compileTypedCondition(target.when, ['targets', index, 'when'], [type], { view, report });
    return when === undefined ? target : { ...target, when };
  });
  return compiled;
}

export const slaPoliciesSection = defineSection<Static<typeof PolicyItem>, PolicyDefinition>({
  key: 'slaPolicies',
  summary: 'SLA policies: targets, and when time starts, pauses and stops.',
  schema: PolicyItem,
  normalise: normalisePolicy,
  compile: compilePolicy,
});
