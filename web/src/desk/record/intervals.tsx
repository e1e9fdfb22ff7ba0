/** Time intervals of an SLA: which of them count, and why. */
import { useMemo } from 'react';
import type { AnswerOf } from '../../api/client.ts';
import type { sla } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { intervalTexts } from './interval-texts.ts';

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
