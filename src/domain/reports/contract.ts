/** The API contract of reports (docs/reference/reports.md). */
import Type, { type Static } from 'typebox';
import { defineOperation } from '../../contract/operation.ts';
import { closed, Id, IdOrCode, oneOf, optional } from '../../contract/schemas.ts';
import { MEASURES, MOMENTS } from '../../lib/report-query.ts';

const CalendarDate = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });

const Period = closed(
  {
    of: optional(
      'The time of a record that must be in the period: when it was created, or was done last. Default: createdAt.',
      oneOf(MOMENTS),
    ),
    from: optional('First day, YYYY-MM-DD. Absent: without a beginning.', CalendarDate),
    to: optional('Last day, YYYY-MM-DD. Absent: without an end.', CalendarDate),
    lastDays: optional(
      'Number of days that end with today. Excludes from and to.',
      Type.Integer({ minimum: 1, maximum: 3660 }),
    ),
  },
  {
    description:
      'Days in the time zone of the report, first and last day included. `of` names the time that must be in the period, `createdAt` by default. `lastDays` is a number of days that ends today; it excludes `from` and `to`.',
  },
);

export const ReportQuery = closed({
  types: Type.Array(IdOrCode, { minItems: 1, maxItems: 20, description: 'Ids or codes of record types.' }),
  filter: Type.Optional(
    Type.Unknown({ description: 'A condition, as in GET /search. Variables such as $me can be used as values.' }),
  ),
  measures: Type.Array(oneOf(MEASURES), {
    minItems: 1,
    maxItems: 10,
    description:
      '`count`; `reopened`, how often records left the states of the category `done`; `slaMet`, the share of SLA instances that met their target among those that ended or are breached; and times in milliseconds: `age` of records that are not done, `timeToFirstReply`, `timeToDone`, each with a statistic. Durations are elapsed time, including nights and weekends, unless `calendar` is given.',
  }),
  groupBy: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
      maxItems: 2,
      description:
        'Codes of fields; `typeCode`, `workflowState`, `workflowCategory`, `createdBy`, `updatedBy`; `slaPolicy`; `createdAt.day`, `.week`, `.month`, `doneAt.day`, `.week`, `.month`. A record with several values in a field counts in the group of each value.',
    }),
  ),
  period: Type.Optional(Period),
  calendar: Type.Optional({
    ...IdOrCode,
    description: 'Id or code of a calendar. Durations then count only its opening hours: they are working time.',
  }),
  timeZone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description:
        'IANA time zone for days, weeks and months. Default: the time zone of the caller, or else of the service.',
    }),
  ),
});
export type ReportBody = Static<typeof ReportQuery>;

/** The largest number of groups in an answer. */
export const MAX_GROUPS = 1000;

export const queryReport = defineOperation({
  id: 'reports.query',
  access: 'console',
  method: 'POST',
  path: '/reports/query',
  unit: 'snapshot',
  status: 200,
  tag: 'Reports',
  summary: 'Count and measure records in groups',
  description: `Active records that the caller may read. A field that the caller cannot read is refused like one that does not exist; on records where it is hidden it has no value. \`reopened\`, \`timeToDone\` and the time of completion are computed only from records whose history the caller may read. Groups by time are in chronological order, all others are sorted by number of records. If there are more than ${MAX_GROUPS}, the list is cut and \`truncated\` is true. A duration without records is null. Time limit 3 s.`,
  body: ReportQuery,
  answer: Type.Object(
    {
      groupBy: Type.Array(Type.String()),
      measures: Type.Array(Type.String()),
      timeZone: Type.String(),
      rows: Type.Array(
        Type.Object({
          group: Type.Array(Type.Unknown(), {
            description:
              'One value for each entry of `groupBy`: the value of the field, the code of a state or type, an id, or the first day of a day, week (starting on Monday) or month. Null if there is no value.',
          }),
          values: Type.Array(Type.Union([Type.Number(), Type.Null()]), {
            description: 'One value for each entry of `measures`.',
          }),
        }),
      ),
      names: Type.Array(Type.Record(Type.String(), Type.String()), {
        description:
          'For each of `groupBy`, the names of values that the configuration defines: options, states, types, services, SLA policies.',
      }),
      truncated: Type.Boolean(),
      complete: Type.Boolean({
        description: 'False while the facts of older records are still being computed; figures may then be too low.',
      }),
    },
    { $id: 'Report' },
  ),
  faults: ['INVALID_FILTER', 'FILTER_TOO_EXPENSIVE'],
});

export const listCalendars = defineOperation({
  id: 'reports.calendars',
  access: 'console',
  method: 'GET',
  path: '/reports/calendars',
  growth: 'few',
  unit: 'snapshot',
  status: 200,
  tag: 'Reports',
  summary: 'List the calendars for working time in reports',
  description:
    'Active calendars of the configuration, with their names in the language of the caller. Empty for callers who may read no type of records.',
  answer: Type.Array(Type.Object({ id: Id, code: Type.String(), name: Type.String() }, { $id: 'ReportCalendar' })),
  faults: [],
});
