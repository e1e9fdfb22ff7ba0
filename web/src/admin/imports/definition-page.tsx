/** One import definition: its mapping, and running a file through preview, dry run and import. */
import { Alert, Button, FileInput, Group, Loader, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import type { imports } from '../../api/types.ts';
import { useHas } from '../../app/session.ts';
import { deskTypesQuery } from '../../desk/queries.ts';
import { useLanguage } from '../../i18n/language.ts';
import { useText } from '../../i18n/text.ts';
import { useAction } from '../../ui/action.ts';
import { confirm } from '../../ui/confirm.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/empty.tsx';
import { FaultAlert } from '../../ui/fault.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Facts } from '../connections/tone.tsx';
import { DefinitionEditor } from './definition-editor.tsx';
import { textOf } from './file.ts';
import classes from './imports.module.css';
import { NamedFields, PreviewTable, useFieldNames } from './preview-table.tsx';
import { type Definition, definitionsQuery, lastSample, nameOf, type Run, runsKey } from './queries.ts';
import { RunProgress, RunResult } from './run-page.tsx';
import { texts } from './texts.ts';
import { useTransformText } from './transforms.tsx';

type Line = Definition['mapping'][number];

const back = '/admin/imports';

export function DefinitionPage({ id, edit }: { id: string; edit: boolean }) {
  const t = useText(texts);
  const language = useLanguage();
  const has = useHas();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(definitionsQuery);
  const definition = data?.find((one) => one.id === id);
  if (definition === undefined) {
    return (
      <Page title={t.title} back={{ label: t.back, href: back }}>
        <FaultAlert error={error} retry={() => void refetch()} />
        {data === undefined ? error === null && <Loader size="sm" /> : <Empty>{t.gone}</Empty>}
      </Page>
    );
  }
  if (edit) return <DefinitionEditor definition={definition} />;
  const change = (): void =>
    void navigate({ to: '/admin/$', params: { _splat: `imports/definitions/${definition.id}/edit` } });
  return (
    <Page
      title={nameOf(definition, language)}
      back={{ label: t.back, href: back }}
      actions={
        has('config.manage') && (
          <Button variant="default" onClick={change}>
            {t.edit}
          </Button>
        )
      }
    >
      <NamedFields type={definition.targetTypeId}>
        {has('import.execute') && <RunPanel definition={definition} />}
        <Panel title={t.mapping}>
          <Settings definition={definition} />
        </Panel>
      </NamedFields>
    </Page>
  );
}

function Settings({ definition }: { definition: Definition }) {
  const t = useText(texts);
  const { data: types = [] } = useQuery(deskTypesQuery);
  const names = useFieldNames();
  const say = useTransformText();
  const type = types.find((one) => one.id === definition.targetTypeId);
  const columns = useMemo(
    (): Column<Line>[] => [
      { key: 'source', title: t.column, value: ({ source }) => source },
      { key: 'target', title: t.field, value: ({ target }) => names.get(target) ?? target },
      { key: 'transform', title: t.transform, value: ({ transform }) => transform.map(say).join(' → ') },
      { key: 'precedence', title: t.precedence, value: ({ precedence }) => precedence, align: 'end' },
    ],
    [t, names, say],
  );
  return (
    <Stack gap="md">
      <Facts
        facts={[
          [t.code, definition.code],
          [t.target, type?.name ?? t[definition.targetKind as 'object']],
          [t.format, definition.format],
          [t.mode, t[definition.mode as 'UPSERT']],
          [t.source, definition.sourceCode],
          [t.externalId, definition.resolver.externalIdField],
        ]}
      />
      <DataTable
        label={t.mapping}
        columns={columns}
        rows={definition.mapping}
        rowKey={({ source, target }) => `${source} ${target}`}
        short
      />
    </Stack>
  );
}

function RunPanel({ definition }: { definition: Definition }) {
  const t = useText(texts);
  const preview = usePreview(definition.id);
  const run = useRun(definition.id);
  const busy = preview.isPending || run.isPending;
  return (
    <Panel title={t.run}>
      <Stack gap="md">
        <FileDrop preview={preview} run={run} definition={definition} busy={busy} />
        <div aria-live="polite">
          {run.isPending && run.variables?.dryRun === false && <Under definitionId={definition.id} />}
          {busy && (
            <Group gap="xs">
              <Loader size="xs" />
              <Text size="sm">{t.working}</Text>
            </Group>
          )}
        </div>
        <FaultAlert error={preview.error ?? run.error} />
        {preview.data !== undefined && <PreviewTable preview={preview.data} />}
        {run.data !== undefined && <RunOutcome run={run.data} />}
      </Stack>
    </Panel>
  );
}

function usePreview(definitionId: string) {
  return useAction({
    run: async (chosen: File) =>
      call<typeof imports.preview>('POST', '/imports/preview', {
        body: { definitionId, content: await textOf(chosen) },
      }),
    quiet: true,
  });
}

function useRun(definitionId: string) {
  return useAction({
    run: async ({ chosen, dryRun }: { chosen: File; dryRun: boolean }) =>
      call<typeof imports.runImport>('POST', '/imports/run', {
        body: { definitionId, content: await textOf(chosen), dryRun },
      }),
    touches: [runsKey],
    quiet: true,
  });
}

/** The sample file with which the definition was just created. */
function takeSample(definitionId: string): File | undefined {
  if (lastSample.definitionId !== definitionId) return undefined;
  const { file } = lastSample;
  delete lastSample.definitionId;
  delete lastSample.file;
  return file;
}

/** The sample of a new definition, whose preview is shown at once. */
function useSample(definitionId: string, show: (file: File) => void): File | undefined {
  const [sample] = useState(() => takeSample(definitionId));
  useEffect(() => {
    if (sample !== undefined) show(sample);
  }, [sample, show]);
  return sample;
}

interface FileDropProps {
  preview: ReturnType<typeof usePreview>;
  run: ReturnType<typeof useRun>;
  definition: Definition;
  busy: boolean;
}

function FileDrop({ preview, run, definition, busy }: FileDropProps) {
  const t = useText(texts);
  const [file, setFile] = useState<File | null>(useSample(definition.id, preview.mutate) ?? null);
  const [over, setOver] = useState(false);
  const choose = (next: File | null): void => {
    setFile(next);
    preview.reset();
    run.reset();
    if (next !== null) preview.mutate(next);
  };
  const start = async (chosen: File): Promise<void> => {
    if (await confirm({ title: t.startTitle, body: t.startBody, yes: t.start }))
      run.mutate({ chosen, dryRun: false }, { onSuccess: () => preview.reset() });
  };
  return (
    <div
      className={classes.drop}
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        choose(event.dataTransfer.files[0] ?? null);
      }}
    >
      <FileInput
        label={t.chooseFile}
        description={t.chooseFileHint(definition.format)}
        placeholder={t.dropHere}
        size="xs"
        style={{ flex: '1 1 14rem' }}
        accept=".csv,.json,.txt,text/csv,application/json"
        value={file}
        onChange={choose}
      />
      {file !== null && (
        <Group gap="xs">
          <Button variant="default" disabled={busy} onClick={() => preview.mutate(file)}>
            {t.preview}
          </Button>
          <Button
            variant="default"
            disabled={busy}
            onClick={() => run.mutate({ chosen: file, dryRun: true }, { onSuccess: () => preview.reset() })}
          >
            {t.dryRun}
          </Button>
          <Button disabled={busy} onClick={() => void start(file)}>
            {t.start}
          </Button>
        </Group>
      )}
    </div>
  );
}

interface RunOutcomeProps {
  run: Run;
}

function RunOutcome({ run }: RunOutcomeProps) {
  const t = useText(texts);
  const navigate = useNavigate();
  return (
    <Stack gap="sm">
      {run.dryRun && <Alert variant="light">{t.dryCounts}</Alert>}
      <Group>
        <Button
          variant="default"
          onClick={() => void navigate({ to: '/admin/$', params: { _splat: `imports/runs/${run.id}` } })}
        >
          {t.openRun}
        </Button>
      </Group>
      <RunResult run={run} />
    </Stack>
  );
}

/** Progress of the import that was just started: rows are counted as they are stored. */
function Under({ definitionId }: { definitionId: string }) {
  const { data } = useQuery({
    queryKey: [...runsKey, 'under', definitionId],
    queryFn: ({ signal }) =>
      call<typeof imports.listRuns>('GET', '/import-runs', { query: { page: 1, pageSize: 20 }, signal }),
    refetchInterval: 1000,
    gcTime: 0,
  });
  const run = data?.rows.find((one) => one.definitionId === definitionId && one.state === 'RUNNING' && !one.dryRun);
  return run === undefined ? null : <RunProgress run={run} />;
}
