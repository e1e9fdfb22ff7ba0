/** Operations and schemas for trying out policies and calendars in the console: due times and opening hours. */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, IdOrCode, Instant, nullable, Revision, Values } from '../../contract/schemas.ts';
import { CALENDAR_HOURS } from './calendar-form.ts';
import { IntervalSchema } from './contract.ts';

/** A stored calendar by id or code, or the hours of an unsaved one. */
const CalendarChoice = Type.Union([IdOrCode, closed(CALENDAR_HOURS)]);

const shared = {
  access: 'console',
  right: 'config.manage',
  unit: 'read',
  status: 200,
  tag: 'SLA',
  faults: ['RIGHT_MISSING'],
} as const;

export const tryPolicy = defineOperation({
  ...shared,
  id: 'sla.try',
  method: 'POST',
  path: '/sla/try-out',
  summary: 'Calculate when something would be due',
  description:
    'Name a policy (`policy`, with `values` of a record to choose the target), or give `calendar` and `target`, which also override those of the policy. Nothing is stored.',
  body: closed({
    openedAt: Instant,
    policy: Type.Optional(IdOrCode),
    values: Type.Optional(Values),
    calendar: Type.Optional(CalendarChoice),
    calendarVersion: Type.Optional(Revision),
    target: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Open time such as PT4H.' })),
    pauses: Type.Optional(
      Type.Array(closed({ from: Instant, to: Instant }), { maxItems: 100, description: 'In order and apart.' }),
    ),
  }),
  answer: Type.Object(
    {
      openedAt: Instant,
      targetMs: Type.Integer(),
      dueAt: nullable(Instant),
      warnings: Type.Array(Type.Object({ percent: Type.Integer(), at: nullable(Instant) })),
      calendar: Type.Object({ id: nullable(Id), version: nullable(Revision), timezone: Type.String() }),
      intervals: Type.Array(IntervalSchema, {
        description: 'From the opening to the due time; none where there is none.',
      }),
    },
    { $id: 'SlaTryOut' },
  ),
});

export const previewCalendar = defineOperation({
  ...shared,
  id: 'sla.preview',
  method: 'POST',
  path: '/calendars/preview',
  summary: 'Preview the open hours of a calendar',
  description: 'The calendar is named by id or code, or given in the body before it is saved. Nothing is stored.',
  body: closed({
    calendar: CalendarChoice,
    calendarVersion: Type.Optional(Revision),
    from: Type.String({ format: 'date', description: 'The first day, YYYY-MM-DD.' }),
    days: Type.Integer({ minimum: 1, maximum: 400 }),
  }),
  answer: Type.Object(
    {
      timezone: Type.String(),
      days: Type.Array(
        Type.Object({
          date: Type.String(),
          weekday: Type.String(),
          exists: Type.Boolean({ description: 'False for a day that the time zone skips.' }),
          ms: Type.Integer({ description: 'How long the day is; 86,400,000 but where clocks change.' }),
          openMs: Type.Integer(),
          open: Type.Array(Type.Object({ from: Instant, to: Instant })),
          exception: Type.Boolean(),
          name: Type.Optional(Type.String()),
        }),
      ),
    },
    { $id: 'CalendarPreview' },
  ),
});
