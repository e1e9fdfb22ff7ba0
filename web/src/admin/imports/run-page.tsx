/** One import run with the results of its rows. A run that is not a dry run can be undone. */
import { Alert, Anchor, Button, Loader, Progress, SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { type AnswerOf, call } from '../../api/client.ts';
import type { imports } from '../../api/types.ts';
import { useFormats } from '../../i18n/format.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Facts, ToneMark } from '../connections/tone.tsx';
import { NamedFields, RowErrors, TONES } from './preview-table.tsx';
import { definitionsQuery, nameOf, type RowStatus, type Run, runQuery, runsKey } from './queries.ts';
import { texts } from './texts.ts';

type Row = Run['rows'][number];
type UndoRow = AnswerOf<typeof imports.undo>['rows'][number];

export function RunPage({ id }: { id: string }) {
  const t = useText(texts);
  const language = useLanguage();
  const { data: definitions = [] } = useQuery(definitionsQuery);
  const undo = useAction({
    run: () => call<typeof imports.undo>('POST', `/import-runs/${id}/undo`),
    touches: [runsKey],
    done: ({ undone, skipped, failed }) => t.undone(undone, skipped, failed),
    quiet: true,
  });
  const { data: run, error, refetch } = useQuery(runQuery(id, undo.isPending));
  const definition = definitions.find((one) => one.id === run?.definitionId);
  const title = run?.dryRun === true ? t.wasDry : t.wasReal;
  const ask = async (): Promise<void> => {
    const agreed = await confirm({ title: t.undoTitle, body: t.undoBody, yes: t.undo, word: t.undoWord, danger: true });
    if (agreed) undo.mutate();
  };
  const canUndo = run?.dryRun === false && run.state === 'FINISHED' && run.undoneAt === undefined && run.succeeded > 0;
  return (
    <Page
      title={definition === undefined ? title : `${title}: ${nameOf(definition, language)}`}
      back={{ label: t.back, href: '/admin/imports/runs' }}
      actions={
        canUndo && (
          <Button variant="default" loading={undo.isPending} onClick={() => void ask()}>
            {t.undo}
          </Button>
        )
      }
    >
      <NamedFields type={definition?.targetTypeId}>
        <FaultAlert error={error ?? undo.error} retry={() => void refetch()} />
        {run === undefined && error === null && <Loader size="sm" />}
        {run !== undefined && (
          <>
            <Panel>
              <RunFacts run={run} />
            </Panel>
            {run.state === 'RUNNING' && (
              <Panel title={t.running}>
                <RunProgress run={run} />
              </Panel>
            )}
            {run.undoneAt === undefined && (undo.isPending || run.undo !== undefined) && (
              <Panel title={undo.isPending ? t.undoing : t.undoBegun}>
                <Share done={sumOf(run.undo)} total={run.succeeded} label={t.undoing} />
              </Panel>
            )}
            <Panel title={t.outcomes}>
              <RunResult run={run} />
            </Panel>
          </>
        )}
        {undo.data !== undefined && undo.data.rows.some((row) => row.status !== 'UNDONE') && (
          <UndoErrors rows={undo.data.rows} />
        )}
      </NamedFields>
    </Page>
  );
}

function RunFacts({ run }: { run: Run }) {
  const t = useText(texts);
  const format = useFormats();
  return (
    <Facts
      facts={[
        [t.at, format.exact(run.startedAt)],
        [t.who, run.startedBy?.displayName ?? ''],
        ...(run.fileName === undefined ? [] : [[t.file, run.fileName] as const]),
        [t.state, t[run.state]],
        ...(run.undoneAt === undefined ? [] : [[t.undoneAt, format.exact(run.undoneAt)] as const]),
      ]}
    />
  );
}

function UndoErrors({ rows }: { rows: readonly UndoRow[] }) {
  const t = useText(texts);
  return (
    <Panel title={t.errors}>
      {rows
        .filter((row) => row.status !== 'UNDONE')
        .map((row) => (
          <div key={row.row}>
            <Text size="sm">
              {t.row} {row.row}
            </Text>
            <RowErrors errors={row.errors} />
          </div>
        ))}
    </Panel>
  );
}

const sumOf = (undo: Run['undo']): number => (undo === undefined ? 0 : undo.undone + undo.skipped + undo.failed);

/** Progress of a run; the page reloads while it continues. */
export function RunProgress({ run }: { run: Pick<Run, 'succeeded' | 'failed' | 'skipped' | 'total'> }) {
  const t = useText(texts);
  return <Share done={run.succeeded + run.failed + run.skipped} total={run.total} label={t.running} />;
}

function Share({ done, total, label }: { done: number; total: number; label: string }) {
  const t = useText(texts);
  const share = total === 0 ? 0 : Math.min(100, (done / total) * 100);
  return (
    <Stack gap={6}>
      <Progress value={share} aria-label={label} />
      <Text size="sm" role="status">
        {t.progress(done, total)}
      </Text>
    </Stack>
  );
}

/** Counts and rows of a run. */
export function RunResult({ run }: { run: Run }) {
  const t = useText(texts);
  const [status, setStatus] = useState<RowStatus | 'all'>(run.failed > 0 ? 'FAILED' : 'all');
  const present = [...new Set(run.rows.map((row) => row.status))];
  const shown = status === 'all' ? run.rows : run.rows.filter((row) => row.status === status);
  const columns = useMemo(
    (): Column<Row>[] => [
      { key: 'row', title: t.row, value: (row) => row.row, align: 'end', width: '4.5rem' },
      { key: 'externalId', title: t.externalNumber, value: (row) => row.externalId },
      {
        key: 'status',
        title: t.outcome,
        value: (row) => t[row.status],
        render: (row) => <ToneMark tone={TONES[row.status]}>{t[row.status]}</ToneMark>,
      },
      {
        key: 'errors',
        title: t.detail,
        value: (row) => row.errors.map((one) => `${one.path} ${one.message}`).join('; '),
        render: (row) => <Detail row={row} linked={!run.dryRun} />,
      },
    ],
    [t, run.dryRun],
  );
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        {t.counts(run.succeeded, run.failed, run.skipped)}
      </Text>
      {run.rowsTruncated && <Alert variant="light">{t.truncated}</Alert>}
      <DataTable
        label={t.outcomes}
        columns={columns}
        rows={shown}
        rowKey={(row) => String(row.row)}
        tools={
          present.length > 1 && (
            <SegmentedControl
              aria-label={t.outcome}
              value={status}
              onChange={(next) => setStatus(next as RowStatus | 'all')}
              data={[{ value: 'all', label: t.all }, ...present.map((one) => ({ value: one, label: t[one] }))]}
            />
          )
        }
      />
    </Stack>
  );
}

function Detail({ row, linked }: { row: Row; linked: boolean }) {
  const t = useText(texts);
  if (row.errors.length > 0) return <RowErrors errors={row.errors} />;
  if (!linked || row.id === undefined) return null;
  const { id } = row;
  return (
    <Anchor size="xs" renderRoot={(props) => <Link to="/records/$recordId" params={{ recordId: id }} {...props} />}>
      {t.open}
    </Anchor>
  );
}
