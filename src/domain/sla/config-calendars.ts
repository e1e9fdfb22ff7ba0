/** The bundle's section `calendars`: opening hours by weekday, with exceptions by date, in one time zone. */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { storedForm } from '../../lib/filter-values.ts';
import { WEEKDAYS, type Weekday } from '../../lib/worktime.ts';
import { checkTimeZone, checkUnique } from '../../mechanisms/config-checks.ts';
import { defineSection } from '../../mechanisms/config-define.ts';
import { Code, type Localized, Name } from '../../mechanisms/config-schemas.ts';
import type { ItemPath, Report } from '../../mechanisms/config-section.ts';
import { planItem } from '../../mechanisms/config-store.ts';
import { insertCalendarVersion } from './config-store.ts';
import type { CalendarDefinition } from './definitions.ts';

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
  exceptions: Type.Optional(
    Type.Array(closed({ date: Type.String(), name: Type.Optional(Name), hours: Hours }), { maxItems: 10_000 }),
  ),
});

type Item = Static<typeof CalendarItem>;

function normalise(item: Item): CalendarDefinition {
  const { week } = item;
  return {
    code: item.code,
    name: (item.name as Localized | undefined) ?? item.code,
    timezone: item.timezone,
    week: Object.fromEntries(WEEKDAYS.map((day) => [day, week[day] ?? []])) as Record<Weekday, string[]>,
    exceptions: (item.exceptions ?? []).map(({ date, name, hours }) => ({
      date,
      ...(name === undefined ? {} : { name: name as Localized }),
      hours,
    })),
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
    for (const day of WEEKDAYS) checkHours(calendar.week[day], ['week', day], report);
    checkUnique(calendar.exceptions, (exception) => exception.date, ['exceptions'], 'date', report);
    for (const [index, { date, hours }] of calendar.exceptions.entries()) {
      const at = ['exceptions', index];
      if (storedForm('date', date) === undefined)
        report([...at, 'date'], 'WRONG_FORMAT', 'Use a date such as 2027-01-01.');
      checkHours(hours, [...at, 'hours'], report);
    }
    return calendar;
  },
  // Every version stays: an instance may be reckoned by one that is in force no more.
  write: (ctx, change) => {
    planItem(ctx, change);
    if (change.action === 'archive') return;
    const version = (change.stored?.version ?? 0) + 1;
    ctx.plan(insertCalendarVersion, { calendar_id: change.id, version, compiled: change.compiled, at: ctx.now });
  },
});
