/** SLA timers of a record, updated live, with an explanation of their state. */
import { ActionIcon, Anchor, Loader, Menu, Progress } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { sla } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { useFormats } from '../../i18n/format.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { recordKey } from '../queries.ts';
import { texts as listTexts } from '../list/texts.ts';
import { isClose, timeText } from '../list/time-left.tsx';
import { texts } from '../texts.ts';
import classes from './record.module.css';
import styles from './sla.module.css';
import { Dialog } from '../../ui/dialog.tsx';

const SlaExplanation = lazy(() => import('./intervals.tsx'));

type SlaInstance = AnswerOf<typeof sla.listSla>[number];

interface Reading {
  at: number;
  instances: SlaInstance[];
  /** Instances whose time grew since the previous load: their calendar is open now. */
  ticking: ReadonlySet<string>;
}

export const slaQuery = (recordId: string) =>
  queryOptions({
    queryKey: [...recordKey(recordId), 'sla'],
    queryFn: async ({ client, queryKey, signal }): Promise<Reading> => {
      const before = client.getQueryData<Reading>(queryKey);
      const instances = await call<typeof sla.listSla>('GET', `/objects/${recordId}/sla`, { signal });
      const grew = (instance: SlaInstance): boolean => {
        const old = before?.instances.find((one) => one.id === instance.id);
        return instance.status === 'ACTIVE' && old !== undefined && instance.elapsedMs > old.elapsedMs;
      };
      return { at: Date.now(), instances, ticking: new Set(instances.filter(grew).map((one) => one.id)) };
    },
    // A second load soon after the first shows whether the calendar is open.
    refetchInterval: (query) => (query.state.dataUpdateCount < 2 ? 2500 : 30_000),
    retry: false,
  });

export function SlaPanel({ recordId }: { recordId: string }) {
  const t = useText(texts);
  const { data } = useQuery(slaQuery(recordId));
  if (data === undefined || data.instances.length === 0) return null;
  return (
    <section aria-label={t.sla} className={styles.panel}>
      <h2 className={classes.sideHeading}>{t.sla}</h2>
      {data.instances.map((instance) => (
        <Timer
          key={instance.id}
          instance={instance}
          ticking={data.ticking.has(instance.id)}
          readAt={data.at}
          recordId={recordId}
        />
      ))}
    </section>
  );
}

/** The current time, updated every second while a timer runs. */
function useNow(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

/** Milliseconds by which clocks and loads may differ. */
const TOLERANCE = 60_000;

/**
 * True if the time limit counts working time: more time passes until it is due than is left of it. Where both are equal, the
 * rest is in one stretch of open time, and either wording is right.
 */
function isWorkingTime({ dueAt, remainingMs }: SlaInstance, readAt: number): boolean {
  return dueAt !== null && Math.abs(Date.parse(dueAt) - readAt - remainingMs) > TOLERANCE;
}

interface TimerProps {
  instance: SlaInstance;
  ticking: boolean;
  /** Time of the load in milliseconds. */
  readAt: number;
  recordId: string;
}

function Timer({ instance, ticking, readAt, recordId }: TimerProps) {
  const t = useText(texts);
  const listText = useText(listTexts);
  const format = useFormats();
  const has = useHas();
  const [explained, setExplained] = useState(false);
  const running = instance.status === 'ACTIVE';
  const now = useNow(ticking);
  const passed = ticking ? Math.max(0, now - readAt) : 0;
  const remaining = instance.remainingMs - passed;
  const share = Math.min(100, Math.max(0, ((instance.targetMs - remaining) / instance.targetMs) * 100));
  const late = instance.breached || remaining < 0;
  const working = isWorkingTime(instance, readAt);
  const span = (ms: number): string => (working ? timeText(ms, true, listText) : format.duration(ms));
  const close = !late && running && isClose(remaining, instance.targetMs);
  const tone = late ? 'red' : close ? 'orange' : 'petrol';
  const commands = { ACTIVE: ['pause', 'stop'], PAUSED: ['resume', 'stop'], STOPPED: [] } as const;
  const possible = has('sla.control') ? commands[instance.status] : [];
  const status = { ACTIVE: t.running, PAUSED: t.paused, STOPPED: t.stopped }[instance.status];
  const words = late ? t.over(span(-remaining)) : instance.status === 'STOPPED' ? t.met : t.left(span(remaining));
  return (
    <div className={styles.timer} data-late={late || undefined} data-close={close || undefined}>
      <div className={styles.head}>
        <span className={styles.name}>{instance.name}</span>
        <span className={styles.status}>{status}</span>
        {possible.length > 0 && <TimerMenu instance={instance} recordId={recordId} possible={possible} />}
      </div>
      <Progress value={share} color={tone} size={4} aria-label={instance.name} />
      <div className={styles.foot}>
        <span className="tabular">{words}</span>
        <Anchor
          component="button"
          size="xs"
          aria-label={`${t.why} ${instance.name}`}
          onClick={() => setExplained(true)}
        >
          {t.why}
        </Anchor>
      </div>
      {instance.dueAt !== null && running && (
        <div className={styles.due}>
          {t.due}: {format.instant(instance.dueAt)}
        </div>
      )}
      <Dialog opened={explained} onClose={() => setExplained(false)} title={instance.name} size="xl">
        {explained && (
          <Suspense fallback={<Loader size="sm" />}>
            <SlaExplanation id={instance.id} />
          </Suspense>
        )}
      </Dialog>
    </div>
  );
}

interface TimerMenuProps {
  instance: TimerProps['instance'];
  recordId: string;
  possible: readonly ('pause' | 'resume' | 'stop')[];
}

function TimerMenu({ instance, recordId, possible }: TimerMenuProps) {
  const t = useText(texts);
  const command = useAction({
    run: (name: 'pause' | 'resume' | 'stop') =>
      call<typeof sla.commandSla>('POST', `/sla/${instance.id}/${name}`, {
        body: { expectedRevision: instance.revision },
      }),
    touches: [recordKey(recordId)],
  });
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon size="xs" aria-label={`${t.more}: ${instance.name}`}>
          <IconDots size={13} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {possible.map((name) => (
          <Menu.Item key={name} onClick={() => command.mutate(name)}>
            {t[name]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
