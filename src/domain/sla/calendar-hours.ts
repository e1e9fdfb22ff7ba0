/** Schema and validation of a calendar's hours, in a bundle or in a try-out. */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { storedForm } from '../../lib/data-types/index.ts';
import { problem } from '../../lib/problem.ts';
import { type Weekday, WEEKDAYS } from '../../lib/worktime.ts';
import { checkTimeZone, checkUnique } from '../../configuration/checks.ts';
import { type Localized, Name } from '../../configuration/schemas.ts';
import type { ItemPath, Report } from '../../configuration/section.ts';
import type { CalendarDefinition } from './registry.ts';

const Hours = Type.Array(
  Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
    phrase: { phrase: 'RANGE', example: "'09:00-18:00'" },
  }),
  { maxItems: 48 },
);

/** A weekday that is left out is closed. */
const Open = Type.Optional(Hours);

/** The properties of a calendar that define its opening hours. */
export const CALENDAR_HOURS = {
  timezone: Type.String({ minLength: 1, maxLength: 64 }),
  week: closed({ mon: Open, tue: Open, wed: Open, thu: Open, fri: Open, sat: Open, sun: Open }),
  exceptions: Type.Optional(
    Type.Array(closed({ date: Type.String(), name: Type.Optional(Name), hours: Hours }), { maxItems: 10_000 }),
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
