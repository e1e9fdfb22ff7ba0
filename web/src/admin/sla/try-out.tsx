/** "Opened at … → due at …", by a policy as it is stored. */
import { Box, Button, Group, JsonInput, Stack, TextInput, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import type { slaTry } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { fromInput, toInput } from '../../i18n/clock.ts';
import { useZone } from '../../i18n/zone.ts';
import { useAction } from '../../ui/action.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Panel } from '../../ui/page.tsx';
import { Facts } from '../connections/tone.tsx';
import { texts } from './texts.ts';

export function TryOut({ code }: { code: string }) {
  const t = useText(texts);
  const format = useFormats();
  const zone = useZone();
  const [openedAt, setOpenedAt] = useState(() => toInput(new Date().toISOString(), zone));
  const [values, setValues] = useState('{}');
  const [flaw, setFlaw] = useState<string>();
  const run = useAction({
    run: (given: Record<string, unknown>) =>
      call<typeof slaTry.tryPolicy>('POST', '/sla/try-out', {
        body: { policy: code, openedAt: fromInput(openedAt, zone), values: given },
      }),
    quiet: true,
  });
  const start = (): void => {
    try {
      const given = JSON.parse(values) as Record<string, unknown>;
      setFlaw(undefined);
      run.mutate(given);
    } catch {
      setFlaw(t.notJson);
    }
  };
  const { data } = run;
  return (
    <Box mb="sm">
      <Panel title={t.tryOut}>
        <Stack gap="sm">
          <Text size="xs" c="dimmed">
            {t.tryHint}
          </Text>
          <Group align="flex-start" gap="md">
            <TextInput
              type="datetime-local"
              label={t.openedAt}
              description=" "
              value={openedAt}
              onChange={(event) => setOpenedAt(event.currentTarget.value)}
            />
            <JsonInput
              label={t.values}
              description={t.valuesHint}
              size="xs"
              autosize
              minRows={1}
              flex="1 1 16rem"
              value={values}
              onChange={setValues}
              error={flaw}
            />
          </Group>
          <Group>
            <Button variant="default" loading={run.isPending} disabled={openedAt === ''} onClick={start}>
              {t.run}
            </Button>
          </Group>
          <FaultAlert error={run.error} />
          {data !== undefined && (
            <div role="status">
              <Facts
                facts={[
                  [t.openedAt, format.exact(data.openedAt)],
                  [t.dueAt, <strong key="due">{data.dueAt === null ? t.never : format.exact(data.dueAt)}</strong>],
                  [t.target, format.duration(data.targetMs)],
                  [t.calendar, data.calendar.timezone],
                  ...data.warnings.map(
                    ({ percent, at }) => [t.warning(percent), at === null ? t.never : format.exact(at)] as const,
                  ),
                ]}
              />
            </div>
          )}
        </Stack>
      </Panel>
    </Box>
  );
}
