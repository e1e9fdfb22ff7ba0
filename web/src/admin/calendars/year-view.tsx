/** A calendar year: the working hours of each day, as the service computes them. */
import { ActionIcon, Group, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type AnswerOf, type BodyOf, call } from '../../api/client.ts';
import type { sla } from '../../api/types.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import classes from './calendars.module.css';
import { texts } from './texts.ts';

type Day = AnswerOf<typeof sla.previewCalendar>['days'][number];

/** The UTC date of a calendar day. */
function utcDay(year: number, month: number, day: number): Date {
  return new Date(Date.UTC(year, month, day));
}

const MONTHS = Array.from({ length: 12 }, (_, month) => month);

export function YearView({ item }: { item: Readonly<Record<string, unknown>> }) {
  const t = useText(texts);
  const [year, setYear] = useState(() => new Date().getFullYear());
  const { data, error } = useCalendarPreview(item, year);
  const days = data?.days ?? [];
  return (
    <Panel
      title={`${t.year} ${year}`}
      actions={
        <>
          <ActionIcon aria-label={t.before} onClick={() => setYear((one) => one - 1)}>
            <IconChevronLeft size={16} />
          </ActionIcon>
          <ActionIcon aria-label={t.after} onClick={() => setYear((one) => one + 1)}>
            <IconChevronRight size={16} />
          </ActionIcon>
        </>
      }
    >
      <FaultAlert error={error} />
      {data === undefined && error === null && <Text size="sm">{t.unread}</Text>}
      {data !== undefined && (
        <>
          <YearSummary days={days} data={data} />
          <div className={classes.year}>
            {MONTHS.map((month) => (
              <Month key={month} year={year} month={month} days={days} timezone={data.timezone} />
            ))}
          </div>
        </>
      )}
    </Panel>
  );
}

function useCalendarPreview(item: Readonly<Record<string, unknown>>, year: number) {
  const { timezone, week, exceptions } = item;
  const [hours] = useDebouncedValue(JSON.stringify({ timezone, week, exceptions }), 400);
  const leap = utcDay(year, 1, 29).getUTCMonth() === 1;
  const { data, error } = useQuery({
    queryKey: ['calendar-preview', hours, year],
    queryFn: ({ signal }) =>
      call<typeof sla.previewCalendar>('POST', '/calendars/preview', {
        body: {
          calendar: JSON.parse(hours) as BodyOf<typeof sla.previewCalendar>['calendar'],
          from: `${year}-01-01`,
          days: leap ? 366 : 365,
        },
        signal,
      }),
    enabled: typeof timezone === 'string',
    placeholderData: keepPreviousData,
    retry: false,
  });
  return { data, error };
}

interface YearSummaryProps {
  days: AnswerOf<typeof sla.previewCalendar>['days'];
  data: AnswerOf<typeof sla.previewCalendar>;
}

function YearSummary({ days, data }: YearSummaryProps) {
  const language = useLanguage();
  const t = useText(texts);
  const openMs = days.reduce((sum, day) => sum + day.openMs, 0);
  const inHours = new Intl.NumberFormat(language, { style: 'unit', unit: 'hour', maximumFractionDigits: 1 });
  const hoursOf = (ms: number): string => inHours.format(ms / 3_600_000);
  return (
    <Group gap="md" mb="sm">
      <Text size="xs" c="dimmed">
        {data.timezone}. {t.total(days.filter((day) => day.openMs > 0).length, hoursOf(openMs))}
      </Text>
      <span className={classes.legend}>
        <i data-open="true" /> {t.legendOpen}
      </span>
      <span className={classes.legend}>
        <i /> {t.legendClosed}
      </span>
      <span className={classes.legend}>
        <i data-special="true" /> {t.legendSpecial}
      </span>
    </Group>
  );
}

interface MonthProps {
  year: number;
  month: number;
  days: readonly Day[];
  timezone: string;
}

function Month({ year, month, days, timezone }: MonthProps) {
  const t = useText(texts);
  const language = useLanguage();
  const prefix = `${year}-${String(month + 1).padStart(2, '0')}-`;
  const own = days.filter((day) => day.date.startsWith(prefix));
  const name = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' }).format(utcDay(year, month, 1));
  const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', timeZone: timezone });
  // Weeks start on Monday.
  const lead = (utcDay(year, month, 1).getUTCDay() + 6) % 7;
  const say = (day: Day): string => {
    const spans = day.open.map(({ from, to }) => `${clock.format(new Date(from))}–${clock.format(new Date(to))}`);
    const hours = spans.length === 0 ? t.closed : t.open(spans.join(', '));
    const special = day.exception ? `, ${day.name ?? t.special}` : '';
    return `${day.date}: ${hours}${special}`;
  };
  return (
    <section className={classes.month} aria-label={name}>
      <h3>{name}</h3>
      <ol className={classes.days}>
        {own.map((day, index) => (
          <li
            key={day.date}
            style={index === 0 ? { gridColumnStart: lead + 1 } : undefined}
            data-open={day.openMs > 0 || undefined}
            data-special={day.exception || undefined}
            title={say(day)}
          >
            <span aria-hidden="true">{Number(day.date.slice(8))}</span>
            <span className={classes.said}>{say(day)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
