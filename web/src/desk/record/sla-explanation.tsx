/** Explains the state of an SLA; loaded on demand. */
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import type { sla } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { texts } from '../texts.ts';
import { Intervals } from './intervals.tsx';

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
