/** The bundle's section `calendars`: opening hours by weekday, with exceptions by date, in one time zone. */
import Type, { type Static } from 'typebox';
import { closed } from '../../contract/schemas.ts';
import { defineSection } from '../../configuration/define.ts';
import { Code, type Localized, Name } from '../../configuration/schemas.ts';
import { planItem } from '../../configuration/store.ts';
import { CALENDAR_HOURS, checkCalendar, normaliseHours } from './calendar-form.ts';
import { insertCalendarVersion } from './config-store.ts';
import type { CalendarDefinition } from './definitions.ts';

const CalendarItem = closed({ code: Code, name: Type.Optional(Name), ...CALENDAR_HOURS });

type Item = Static<typeof CalendarItem>;

export const calendarsSection = defineSection<Item, CalendarDefinition>({
  key: 'calendars',
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
    ctx.plan(insertCalendarVersion, { calendar_id: change.id, version, compiled: change.compiled, at: ctx.now });
  },
});
