/**
 * Operations and schemas of SLA instances, and of trying out policies and calendars
 * (docs/spec/workflow-and-sla.md#sla-instances, docs/spec/configuration.md#administration-api).
 */
import Type from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, IdOrCode, Instant, nullable, Revision, Values } from '../../contract/schemas.ts';
import { CALENDAR_HOURS } from './registry.ts';

const Milliseconds = Type.Integer({ description: 'Milliseconds of open time.' });
const Status = Type.Union([Type.Literal('ACTIVE'), Type.Literal('PAUSED'), Type.Literal('STOPPED')]);

export const COMMANDS = ['pause', 'resume', 'stop', 'recalculate'] as const;
export type Command = (typeof COMMANDS)[number];

const InstanceSchema = Type.Object(
  {
    id: Id,
    objectId: Id,
    policyId: Id,
    policyCode: Type.String(),
    name: Type.String(),
    status: Status,
    revision: Revision,
    startedAt: Instant,
    dueAt: nullable(Instant),
    pausedAt: Type.Optional(Instant),
    stoppedAt: Type.Optional(Instant),
    targetMs: Milliseconds,
    elapsedMs: Milliseconds,
    remainingMs: Type.Integer({ description: 'Milliseconds of open time. Negative once the target is breached.' }),
    breached: Type.Boolean(),
    breachedAt: Type.Optional(Instant),
    calendarId: Id,
    calendarVersion: Revision,
  },
  { $id: 'SlaInstance' },
);

const EventSchema = Type.Object(
  {
    id: Id,
    type: Type.String(),
    at: Instant,
    actor: Type.Object({ id: nullable(Id), displayName: Type.String(), via: Type.String() }),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'SlaEvent' },
);

export const IntervalSchema = Type.Object(
  {
    from: Instant,
    to: Instant,
    ms: Type.Integer({ description: 'Length of the interval in elapsed time.' }),
    counted: Type.Boolean(),
    reason: Type.Union(
      ['open', 'closed', 'holiday', 'special-hours', 'paused'].map((reason) => Type.Literal(reason)),
      {
        description:
          'open and closed: by the hours of the weekday. holiday: an exception without hours. special-hours: an exception with its ' +
          'own hours, inside or outside of them. paused: the instance was paused, in open hours or not.',
      },
    ),
    name: Type.Optional(Type.String({ description: 'Name of the exception, if it has one.' })),
    pausedBy: Type.Optional(
      Type.Object({
        by: Type.Union([Type.Literal('policy'), Type.Literal('manual'), Type.Literal('archive')]),
        actor: nullable(Type.Object({ id: Id, displayName: Type.String() })),
      }),
    ),
  },
  { $id: 'SlaInterval' },
);

const ofInstance = closed({ instanceId: Id });
const tag = 'SLA';

export const listSla = defineOperation({
  id: 'sla.list',
  method: 'GET',
  path: '/objects/{objectId}/sla',
  growth: 'record',
  access: 'sla:read',
  right: 'read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'List the SLA instances of a record, oldest first',
  description:
    'Calculated for this moment: running instances from the policies and calendars in force, stopped ones as they were stopped. `dueAt` of a paused instance assumes that it is resumed now; it is null if the calendar has too few open hours.',
  params: closed({ objectId: Id }),
  answer: Type.Array(InstanceSchema),
  faults: ['NOT_FOUND'],
});

export const slaHistory = defineOperation({
  id: 'sla.history',
  method: 'GET',
  path: '/sla/{instanceId}/history',
  access: 'sla:read',
  right: 'read',
  unit: 'read',
  long: true,
  status: 200,
  tag,
  summary: 'List the events of an SLA instance, oldest first',
  description:
    'Starts, pauses, resumes, stops, recalculations, warnings and breaches. Needs the right to read the record.',
  params: ofInstance,
  answer: Type.Array(EventSchema),
  faults: ['NOT_FOUND'],
});

export const commandSla = defineOperation({
  id: 'sla.command',
  method: 'POST',
  path: '/sla/{instanceId}/{command}',
  access: 'sla:write',
  right: 'sla.control',
  unit: 'write',
  status: 200,
  tag,
  summary: 'Pause, resume, stop or recalculate an SLA instance',
  description:
    '`pause` needs the status ACTIVE, `resume` PAUSED, `stop` either of them; `recalculate` is always possible and keeps the status. A pause by command lasts until a resume by command. After a resume or stop by command, the condition of the policy takes effect again only after it was false once. Only `recalculate` takes a calendar; the instance keeps it until it is recalculated without one.',
  params: closed({ instanceId: Id, command: Type.Union(COMMANDS.map((command) => Type.Literal(command))) }),
  body: closed({
    expectedRevision: Type.Optional(Revision),
    calendarId: Type.Optional(Id),
    calendarVersion: Type.Optional(Revision),
  }),
  answer: InstanceSchema,
  faults: ['NOT_FOUND', 'RIGHT_MISSING', 'ARCHIVED', 'REVISION_CONFLICT', 'SLA_COMMAND_NOT_ALLOWED'],
});

export const explainSla = defineOperation({
  id: 'sla.explanation',
  method: 'GET',
  path: '/sla/{instanceId}/explanation',
  growth: 'record',
  access: 'console',
  right: 'read',
  unit: 'read',
  status: 200,
  tag,
  summary: 'Explain the elapsed time of an SLA instance',
  description:
    'All intervals from the start until now, or until the stop, without gaps, with the reason why each was counted or not. The counted ones add up to `elapsedMs` exactly.',
  params: ofInstance,
  answer: Type.Object(
    {
      instance: InstanceSchema,
      calendar: Type.Object({ id: Id, code: Type.String(), version: Revision, timezone: Type.String() }),
      until: Instant,
      elapsedMs: Milliseconds,
      intervals: Type.Array(IntervalSchema),
    },
    { $id: 'SlaExplanation' },
  ),
  faults: ['NOT_FOUND'],
});

// ---------------------------------------------------------------- try-outs

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
      Type.Array(closed({ from: Instant, to: Instant }), {
        maxItems: 100,
        description: 'In ascending order, without overlaps.',
      }),
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
        description: 'From the opening to the due time. Absent if there is no due time.',
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
          exists: Type.Boolean({ description: 'False for a date that does not exist in the time zone.' }),
          ms: Type.Integer({ description: 'Length of the day in milliseconds: 86,400,000 except when clocks change.' }),
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
