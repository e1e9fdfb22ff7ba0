/** Time intervals of an SLA: which of them count, and why. */
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { sla } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { defineText, useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { texts } from '../texts.ts';

export type Interval = AnswerOf<typeof sla.tryPolicy>['intervals'][number];

export function Intervals({ intervals }: { intervals: readonly Interval[] | undefined }) {
  const t = useText(intervalTexts);
  const format = useFormats();
  const columns = useMemo((): Column<Interval>[] => {
    const why = ({ name, reason, pausedBy }: Interval): string =>
      [name ?? t[reason], ...(pausedBy === undefined ? [] : [pausedBy.actor?.displayName ?? t[pausedBy.by]])].join(
        ', ',
      );
    return [
      { key: 'from', title: t.from, value: ({ from }) => from, render: ({ from }) => format.instant(from) },
      { key: 'to', title: t.to, value: ({ to }) => to, render: ({ to }) => format.instant(to) },
      { key: 'counts', title: t.counts, value: ({ counted }) => (counted ? t.counted : t.notCounted) },
      { key: 'why', title: t.why, value: why },
      {
        key: 'span',
        title: t.span,
        value: ({ ms }) => Math.round(ms / 1000),
        render: ({ ms }) => format.duration(ms),
        align: 'end',
      },
    ];
  }, [t, format]);
  return (
    <DataTable label={t.title} columns={columns} rows={intervals} rowKey={({ from }) => from} empty={t.none} short />
  );
}

/** Reasons why time counts or not. */
export const intervalTexts = defineText(
  {
    title: 'Расчёт времени SLA',
    from: 'С',
    to: 'До',
    counts: 'Учитывается',
    why: 'Почему',
    span: 'Длительность',
    counted: 'да',
    notCounted: 'нет',
    open: 'рабочее время',
    closed: 'нерабочее время',
    holiday: 'выходной',
    'special-hours': 'особый график',
    paused: 'пауза',
    policy: 'по условию политики',
    manual: 'вручную',
    archive: 'запись в архиве',
    none: 'Отсчёт ещё не начинался',
  },
  {
    title: 'SLA time calculation',
    from: 'From',
    to: 'To',
    counts: 'Counts',
    why: 'Why',
    span: 'Duration',
    counted: 'yes',
    notCounted: 'no',
    open: 'working hours',
    closed: 'outside working hours',
    holiday: 'holiday',
    'special-hours': 'special hours',
    paused: 'paused',
    policy: 'policy condition',
    manual: 'manually',
    archive: 'the record is archived',
    none: 'The timer has not run yet',
  },
);

export default function SlaExplanation({ id }: { id: string }) {
  const t = useText(texts);
  const format = useFormats();
  const { data, error } = useQuery({
    queryKey: ['sla-explanation', id],
    queryFn: ({ signal }) => call<typeof sla.explainSla>('GET', `/sla/${id}/explanation`, { signal }),
  });
  if (error !== null) return <FaultAlert error={error} />;
  return (
    <Stack gap="xs">
      {data !== undefined && (
        <Text size="sm">
          {t.target}: {format.duration(data.instance.targetMs)} · {t.elapsed}: {format.duration(data.elapsedMs)} ·{' '}
          {t.byCalendar}: {data.calendar.code} ({data.calendar.timezone})
        </Text>
      )}
      <Intervals intervals={data?.intervals} />
    </Stack>
  );
}
