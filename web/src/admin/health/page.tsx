/** How the service fares: whether it is ready, its parts, and what the process has to do. */
import { Group, Loader, SimpleGrid, Text, Title } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleXFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Mark } from '../config/mark.tsx';
import { readFigures, readReadiness, readVersion } from './figures.ts';
import classes from './health.module.css';
import { texts } from './texts.ts';

const EVERY_MS = 10_000;

export default function HealthPage() {
  const t = useText(texts);
  const format = useFormats();
  const every = { refetchInterval: EVERY_MS };
  const ready = useQuery({ queryKey: ['health', 'ready'], queryFn: ({ signal }) => readReadiness(signal), ...every });
  const figures = useQuery({ queryKey: ['health', 'figures'], queryFn: ({ signal }) => readFigures(signal), ...every });
  const version = useQuery({ queryKey: ['health', 'version'], queryFn: ({ signal }) => readVersion(signal) });
  const names = new Map([
    ['database', t.database],
    ['blobs', t.blobs],
  ]);
  const state = ready.data;
  return (
    <Page title={t.title} hint={t.hint}>
      <FaultAlert error={ready.error} retry={() => void ready.refetch()} />
      {state === undefined && ready.error === null && <Loader size="sm" />}
      {state !== undefined && (
        <div className={classes.state} data-ready={state.ready || undefined} role="status">
          {state.ready ? <IconCircleCheckFilled size={28} /> : <IconCircleXFilled size={28} />}
          <Title order={2}>{state.ready ? t.ready : t.notReady}</Title>
        </div>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" mt="sm">
        <div>
          <Panel title={t.checks}>
            <dl className={classes.facts}>
              {Object.entries(state?.checks ?? {}).map(([key, value]) => (
                <Fact key={key} name={names.get(key) ?? key}>
                  <Mark tone={value === 'ok' ? 'good' : 'warn'}>{value === 'ok' ? t.ok : t.unavailable}</Mark>
                </Fact>
              ))}
              {state !== undefined && <Fact name={t.answer}>{t.ms(state.took)}</Fact>}
              {version.data !== undefined && <Fact name={t.version}>{version.data}</Fact>}
            </dl>
          </Panel>
        </div>
        <div>
          <Panel title={t.figures}>
            {figures.data === null && (
              <Text size="sm" c="dimmed">
                {t.noFigures}
              </Text>
            )}
            {figures.data !== null && figures.data !== undefined && (
              <dl className={classes.facts}>
                <Fact name={t.uptime}>{format.duration(figures.data.uptimeMs)}</Fact>
                <Fact name={t.memory}>{format.bytes(figures.data.memoryBytes)}</Fact>
                <Fact name={t.inFlight}>{format.number(figures.data.inFlight)}</Fact>
                <Fact name={t.requests}>{format.number(figures.data.requests)}</Fact>
                <Fact name={t.slow}>{format.number(figures.data.slow)}</Fact>
                <Fact name={t.failed}>{format.number(figures.data.failed)}</Fact>
              </dl>
            )}
          </Panel>
        </div>
      </SimpleGrid>
      <Group mt="sm">
        <Text size="xs" c="dimmed">
          {t.deep}
        </Text>
      </Group>
    </Page>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt>{name}</dt>
      <dd className="tabular">{children}</dd>
    </div>
  );
}
