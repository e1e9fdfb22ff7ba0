/** Health of the service: readiness, its parts, and backlogs. */
import { Group, Loader, SimpleGrid, Text, Title } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleXFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../api/client.ts';
import type { desk } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Mark } from '../config/mark.tsx';
import classes from './health.module.css';
import { texts } from './texts.ts';

const EVERY_MS = 10_000;

export default function HealthPage() {
  const t = useText(texts);
  const ready = useQuery({
    queryKey: ['health', 'ready'],
    queryFn: ({ signal }) => readReadiness(signal),
    refetchInterval: EVERY_MS,
  });
  const has = useHas();
  const state = ready.data;
  return (
    <Page title={t.title} hint={t.hint}>
      <FaultAlert error={ready.error} retry={() => void ready.refetch()} />
      {state === undefined && ready.error === null && <Loader size="sm" />}
      {state !== undefined && <ReadinessState state={state} />}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" mt="sm">
        <div>
          <Checks state={state} />
        </div>
        <div>
          <Load />
        </div>
        {has('config.manage') && (
          <div>
            <BacklogPanel />
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

/** Whether the service accepts requests. */
function ReadinessState({ state }: { state: Readiness }) {
  const t = useText(texts);
  return (
    <div className={classes.state} data-ready={state.ready || undefined} role="status">
      {state.ready ? <IconCircleCheckFilled size={28} /> : <IconCircleXFilled size={28} />}
      <Title order={2}>{state.ready ? t.ready : t.notReady}</Title>
    </div>
  );
}

/** The state of the parts of the service. */
function Checks({ state }: { state: Readiness | undefined }) {
  const t = useText(texts);
  const version = useQuery({ queryKey: ['health', 'version'], queryFn: ({ signal }) => readVersion(signal) });
  const names = new Map([
    ['database', t.database],
    ['blobs', t.blobs],
  ]);
  return (
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
  );
}

/** Load of the process; empty if metrics are not served here. */
function Load() {
  const t = useText(texts);
  const format = useFormats();
  const figures = useQuery({
    queryKey: ['health', 'figures'],
    queryFn: ({ signal }) => readFigures(signal),
    refetchInterval: EVERY_MS,
  });
  return (
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
  );
}

/** Background work that waits. */
function BacklogPanel() {
  const t = useText(texts);
  const format = useFormats();
  const backlog = useQuery({
    queryKey: ['health', 'backlog'],
    queryFn: ({ signal }) => call<typeof desk.getBacklog>('GET', '/health/backlog', { signal }),
    refetchInterval: EVERY_MS,
  });
  const waiting = backlog.data;
  const amount = (n: number): string => {
    const most = waiting?.limit ?? Number.POSITIVE_INFINITY;
    return n >= most ? t.atLeast(format.number(most)) : format.number(n);
  };
  return (
    <Panel title={t.backlog}>
      <FaultAlert error={backlog.error} />
      {waiting !== undefined && (
        <dl className={classes.facts}>
          <Backlog name={t.outbox} count={amount(waiting.outbox.waiting)} since={waiting.outbox.oldestAt} />
          <Backlog name={t.deliveries} count={amount(waiting.deliveries.waiting)} since={waiting.deliveries.oldestAt} />
          <Fact name={t.later}>{amount(waiting.deliveries.later)}</Fact>
          <Backlog name={t.timers} count={amount(waiting.timers.waiting)} since={waiting.timers.oldestAt} />
        </dl>
      )}
      <Text size="xs" c="dimmed" mt="xs">
        {t.backlogHint}
      </Text>
    </Panel>
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

/** Readiness and metrics from the service's probes. Probes are outside the API and need no permissions. */

export interface Readiness {
  ready: boolean;
  checks: Readonly<Record<string, string>>;
  /** Response time in milliseconds. */
  took: number;
}

export interface Figures {
  uptimeMs: number;
  memoryBytes: number;
  inFlight: number;
  requests: number;
  failed: number;
  slow: number;
}

export async function readReadiness(signal: AbortSignal): Promise<Readiness> {
  const start = performance.now();
  const response = await fetch('/readyz', { signal });
  const body = (await response.json()) as { checks?: Record<string, string> };
  return { ready: response.ok, checks: body.checks ?? {}, took: Math.round(performance.now() - start) };
}

export async function readVersion(signal: AbortSignal): Promise<string> {
  const response = await fetch('/api/admin/v1/openapi.json', { signal });
  const body = (await response.json()) as { info?: { version?: string } };
  return body.info?.version ?? '';
}

/** Null if metrics are not allowed from this network. */
export async function readFigures(signal: AbortSignal): Promise<Figures | null> {
  const response = await fetch('/metrics', { signal });
  if (!response.ok) return null;
  return figuresOf(await response.text());
}

const LINE = /^(\w+)(?:\{([^}]*)\})? (\S+)/;

/** Parses metrics in Prometheus text format. */
export function figuresOf(text: string): Figures {
  const single = new Map<string, number>();
  const found = { requests: 0, failed: 0, fast: 0 };
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
    const amount = Number(value);
    if (name === 'docket_http_request_duration_seconds_count') {
      found.requests += amount;
      if (/status="5/.test(labels)) found.failed += amount;
    } else if (name === 'docket_http_request_duration_seconds_bucket' && /le="1"/.test(labels)) found.fast += amount;
    else if (labels === '') single.set(name, amount);
  }
  return {
    uptimeMs: (single.get('process_uptime_seconds') ?? 0) * 1000,
    memoryBytes: single.get('process_resident_memory_bytes') ?? 0,
    inFlight: single.get('docket_http_requests_in_flight') ?? 0,
    requests: found.requests,
    failed: found.failed,
    slow: Math.max(0, found.requests - found.fast),
  };
}
