/** Health of the service: readiness, its parts, and backlogs. */
import { Group, Loader, SimpleGrid, Text, Title } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleXFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Mark } from '../config/mark.tsx';
import { call } from '../../api/client.ts';
import type { desk } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { Time } from '../../ui/time.tsx';
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
  const has = useHas();
  const backlog = useQuery({
    queryKey: ['health', 'backlog'],
    queryFn: ({ signal }) => call<typeof desk.getBacklog>('GET', '/health/backlog', { signal }),
    enabled: has('config.manage'),
    ...every,
  });
  const waiting = backlog.data;
  const amount = (n: number): string => {
    const most = waiting?.limit ?? Number.POSITIVE_INFINITY;
    return n >= most ? t.atLeast(format.number(most)) : format.number(n);
  };
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
        {has('config.manage') && (
          <div>
            <Panel title={t.backlog}>
              <FaultAlert error={backlog.error} />
              {waiting !== undefined && (
                <dl className={classes.facts}>
                  <Backlog name={t.outbox} count={amount(waiting.outbox.waiting)} since={waiting.outbox.oldestAt} />
                  <Backlog
                    name={t.deliveries}
                    count={amount(waiting.deliveries.waiting)}
                    since={waiting.deliveries.oldestAt}
                  />
                  <Fact name={t.later}>{amount(waiting.deliveries.later)}</Fact>
                  <Backlog name={t.timers} count={amount(waiting.timers.waiting)} since={waiting.timers.oldestAt} />
                </dl>
              )}
              <Text size="xs" c="dimmed" mt="xs">
                {t.backlogHint}
              </Text>
            </Panel>
          </div>
        )}
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

/** Number of waiting items, and the time of the oldest. */
function Backlog({ name, count, since }: { name: string; count: string; since: string | null }) {
  const t = useText(texts);
  return (
    <Fact name={name}>
      {count}
      {since !== null && (
        <Text span size="xs" c="dimmed">
          {' '}
          ({t.since} <Time at={since} />)
        </Text>
      )}
    </Fact>
  );
}
