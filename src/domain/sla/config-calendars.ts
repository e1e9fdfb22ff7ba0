/** The bundle's section `calendars`: opening hours by weekday, with exceptions by date, in one time zone. */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { storedForm } from '../../lib/filter-values.ts';
import { checkTimeZone, checkUnique } from '../../mechanisms/config-checks.ts';
import { defineSection } from '../../mechanisms/config-define.ts';
import { Code, type Localized, Name } from '../../mechanisms/config-schemas.ts';
import type { ItemPath, Report } from '../../mechanisms/config-section.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
type Day = (typeof DAYS)[number];

const Hours = Type.Array(
  Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$',
    description: "a range in quotes such as '09:00-18:00'",
  }),
  { maxItems: 48 },
);

/** A day that is left out is closed. */
const Open = Type.Optional(Hours);

const CalendarItem = closed({
  code: Code,
  name: Type.Optional(Name),
  timezone: Type.String({ minLength: 1, maxLength: 64 }),
  week: closed({ mon: Open, tue: Open, wed: Open, thu: Open, fri: Open, sat: Open, sun: Open }),
  exceptions: Type.Optional(Type.Array(closed({ date: Type.String(), hours: Hours }), { maxItems: 10_000 })),
});

type Item = Static<typeof CalendarItem>;

export interface CalendarDefinition {
  code: string;
  name: Localized;
  timezone: string;
  /** `HH:MM-HH:MM`, in order; `24:00` is the end of the day. */
  week: Record<Day, string[]>;
  exceptions: { date: string; hours: string[] }[];
}

function normalise(item: Item): CalendarDefinition {
  const { week } = item;
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    timezone: item.timezone,
    week: Object.fromEntries(DAYS.map((day) => [day, week[day] ?? []])) as Record<Day, string[]>,
    exceptions: (item.exceptions ?? []).map(({ date, hours }) => ({ date, hours })),
  };
}

/** Ranges of one day: each ends after it begins, and the next begins where the one before has ended. */
function checkHours(hours: readonly string[], path: ItemPath, report: Report): void {
  let last = '';
  for (const [index, range] of hours.entries()) {
    const [from = '', to = ''] = range.split('-');
    if (from >= to)
      report([...path, index], 'EMPTY_RANGE', `${range} ends before it begins; a night is written as two days.`);
    else if (from < last) report([...path, index], 'OVERLAP', `${range} begins before the range above it ends.`);
    last = to;
  }
}

export const calendarsSection = defineSection<Item, CalendarDefinition>({
  key: 'calendars',
  schema: CalendarItem,
  normalise,
  compile: (calendar, _view, report) => {
    checkTimeZone(calendar.timezone, ['timezone'], report);
    for (const day of DAYS) checkHours(calendar.week[day], ['week', day], report);
    checkUnique(calendar.exceptions, (exception) => exception.date, ['exceptions'], 'date', report);
    for (const [index, { date, hours }] of calendar.exceptions.entries()) {
      const at = ['exceptions', index];
      if (storedForm('date', date) === undefined)
        report([...at, 'date'], 'WRONG_FORMAT', 'Use a date such as 2027-01-01.');
      checkHours(hours, [...at, 'hours'], report);
    }
    return calendar;
  },
});
