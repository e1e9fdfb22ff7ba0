/** The last runs of a rule: on which record, with which outcome, what was done and how long it took. */
import { Anchor, NativeSelect, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { labelText, useLabels } from '../../fields/labels.ts';
import { eventName, eventTexts } from '../../i18n/event-texts.ts';
import { useFormats } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FaultAlert, useNotedFaultText } from '../../ui/fault.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Facts, ToneMark } from '../connections/tone.tsx';
import { sectionQuery } from '../config/queries.ts';
import { nameIn } from '../config/yaml-text.ts';
import { type Run, runsQuery } from './queries.ts';
import { actionName, effectName, texts } from './texts.ts';

/** As many as the service keeps. */
const LIMIT = 1000;

type Labels = ReturnType<typeof useLabels>;

export default function RunsPage({ code }: { code: string }) {
  const t = useText(texts);
  const language = useLanguage();
  const events = useRunEvents();
  const { data, error, refetch } = useQuery(runsQuery(code, LIMIT));
  const rule = useQuery(sectionQuery('rules')).data?.find((one) => one.code === code);
  const [outcome, setOutcome] = useState('');
  const [event, setEvent] = useState('');
  const [open, setOpen] = useState<Run>();
  const labels = useLabels((data ?? []).flatMap(({ objectId }) => objectId ?? []));
  const columns = useRunColumns(labels);
  const kinds = [...new Set((data ?? []).map(({ eventType }) => eventType))];
  const shown = data?.filter(
    (run) => (outcome || run.outcome) === run.outcome && (event || run.eventType) === run.eventType,
  );
  return (
    <Page
      title={t.runsOf(nameIn(rule?.name, language) || code)}
      back={{ label: nameIn(rule?.name, language) || code, href: `/admin/rules/${encodeURIComponent(code)}` }}
    >
      <FaultAlert error={error} retry={() => void refetch()} />
      <DataTable
        label={t.runs}
        columns={columns}
        rows={shown}
        rowKey={(row) => row.id}
        onOpen={setOpen}
        empty={data?.length === 0 ? t.noRuns : t.noSuchRuns}
        tools={
          data?.length === 0 ? undefined : (
            <>
              <NativeSelect
                aria-label={t.outcome}
                value={outcome}
                data={[
                  { value: '', label: t.allOutcomes },
                  ...(['DONE', 'FAILED'] as const).map((one) => ({ value: one, label: t[one] })),
                ]}
                onChange={(changed) => setOutcome(changed.currentTarget.value)}
              />
              <NativeSelect
                aria-label={t.event}
                value={event}
                data={[
                  { value: '', label: t.allEvents },
                  ...kinds.map((one) => ({ value: one, label: eventName(events, one) })),
                ]}
                onChange={(changed) => setEvent(changed.currentTarget.value)}
              />
            </>
          )
        }
      />
      <Dialog opened={open !== undefined} onClose={() => setOpen(undefined)} title={t.run} size="lg">
        {open !== undefined && <RunDetails run={open} labels={labels} />}
      </Dialog>
    </Page>
  );
}

function useRunColumns(labels: Labels): readonly Column<Run>[] {
  const t = useText(texts);
  const events = useRunEvents();
  const say = useNotedFaultText();
  return useMemo(() => {
    const done = ({ effects, error }: Run): string =>
      error === null ? effects.map(({ kind }) => effectName(t, kind)).join(', ') : say(error);
    const record = ({ objectId }: Run): string =>
      objectId === null ? t.hiddenRecord : (labelText(labels.get(objectId)) ?? '…');
    return [
      {
        key: 'at',
        title: t.at,
        value: (run) => run.at,
        render: (run) => <Time at={run.at} />,
        width: '8rem',
      },
      { key: 'record', title: t.record, value: record, render: (run) => <Cut>{record(run)}</Cut>, width: '32%' },
      {
        key: 'event',
        title: t.event,
        value: (run) => eventName(events, run.eventType),
        minor: true,
      },
      {
        key: 'outcome',
        title: t.outcome,
        value: (run) => t[run.outcome],
        render: (run) => <ToneMark tone={run.outcome === 'DONE' ? 'good' : 'bad'}>{t[run.outcome]}</ToneMark>,
        width: '8rem',
      },
      {
        key: 'effects',
        title: t.effects,
        value: done,
        render: (run) => <Cut>{done(run)}</Cut>,
        width: '24%',
        minor: true,
      },
      {
        key: 'took',
        title: t.took,
        value: (run) => run.durationMs,
        render: (run) => t.ms(run.durationMs),
        align: 'end',
        width: '6.5rem',
        minor: true,
      },
    ];
  }, [t, events, labels, say]);
}

/** A long text of a cell, at most two lines. */
function Cut({ children }: { children: string }) {
  return (
    <Text size="sm" lineClamp={2} title={children}>
      {children}
    </Text>
  );
}

/** Names of events, and of what fires a time-based rule. */
function useRunEvents(): Readonly<Record<string, string>> {
  const t = useText(texts);
  const events = useText(eventTexts);
  return useMemo(() => ({ ...events, Timer: t.timer }), [t, events]);
}

function RecordLink({ id, labels }: { id: string | null; labels: Labels }) {
  const t = useText(texts);
  if (id === null) return t.hiddenRecord;
  return (
    <Anchor size="sm" renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: id }} {...props} />}>
      {labelText(labels.get(id)) ?? t.record}
    </Anchor>
  );
}

function RunDetails({ run, labels }: { run: Run; labels: Labels }) {
  const t = useText(texts);
  const format = useFormats();
  const events = useRunEvents();
  const say = useNotedFaultText();
  const created = useLabels(run.effects.flatMap(({ kind, objectId }) => (kind === 'create' ? (objectId ?? []) : [])));
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          [t.at, format.exact(run.at)],
          [t.record, <RecordLink key="record" id={run.objectId} labels={labels} />],
          [t.event, eventName(events, run.eventType)],
          [
            t.outcome,
            <ToneMark key="outcome" tone={run.outcome === 'DONE' ? 'good' : 'bad'}>
              {t[run.outcome]}
            </ToneMark>,
          ],
          ...(run.error === null ? [] : [[t.error, `${say(run.error)} (${run.error.code})`] as const]),
          ...(run.chain.length === 0 ? [] : [[t.chain, run.chain.join(' → ')] as const]),
          [t.took, t.ms(run.durationMs)],
          [t.correlation, <code key="id">{run.correlationId}</code>],
        ]}
      />
      {run.effects.length > 0 && (
        <ol>
          {run.effects.map(({ kind, objectId }, index) => (
            // Effects have no id; they are listed in the order of the actions.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index}>
              <Text size="sm" span>
                {actionName(t, kind)} {kind === 'create' && <RecordLink id={objectId} labels={created} />}
              </Text>
            </li>
          ))}
        </ol>
      )}
    </Stack>
  );
}
