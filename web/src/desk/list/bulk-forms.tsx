/** Forms of bulk changes: a new value for a field, or a transition. */
import { Button, Group, Loader, Select, Stack, Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type BodyOf, dryRun } from '../../api/client.ts';
import type { bulk, FieldSchema } from '../../api/types.ts';
import { checkField } from '../../fields/check.ts';
import { FieldInput } from '../../fields/input.tsx';
import { useProblemText } from '../../fields/use-problem-text.ts';
import { useText } from '../../i18n/text.ts';
import { FaultAlert } from '../../ui/fault.tsx';
import { type DeskType, typeFieldsQuery, workflowQuery } from '../queries.ts';
import { TransitionForm } from '../record/transitions.tsx';
import { QuestionWithPreview, WhatIf } from '../what-if.tsx';
import type { Tried } from '../what-if-answer.tsx';
import type { Row } from './source.ts';
import { bulkTexts } from './bulk-texts.ts';
import { useDialogWarning } from '../../ui/form.tsx';

export type BulkBody = BodyOf<typeof bulk.bulk>;

interface FormProps {
  rows: readonly Row[];
  pending: boolean;
  error: unknown;
  onRun: (body: BulkBody) => void;
}

function updateOf(rows: readonly Row[], code: string, value: unknown): BulkBody {
  const changes = { [code]: value };
  return {
    operation: 'update',
    items: rows.map((row) => ({ objectId: row.id, expectedRevision: row.revision, changes })),
  };
}

function transitionOf(rows: readonly Row[], transitionId: string, values: Record<string, unknown>): BulkBody {
  return {
    operation: 'transition',
    items: rows.map((row) => ({
      objectId: row.id,
      transitionId,
      expectedRevision: row.revision,
      expectedStateId: row.workflowState?.id ?? '',
      values,
    })),
  };
}

export function archiveOf(rows: readonly Row[]): BulkBody {
  return { operation: 'archive', items: rows.map((row) => ({ objectId: row.id, expectedRevision: row.revision })) };
}

async function tryBulk(body: BulkBody): Promise<Tried> {
  const { data, effects } = await dryRun<typeof bulk.bulk>('POST', '/bulk', { body });
  return { results: data, effects };
}

function recordNames(rows: readonly Row[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [row.id, [row.number, row.title].filter(Boolean).join(' · ')]));
}

export function BulkUpdate({ rows, type, pending, error, onRun }: FormProps & { type: DeskType }) {
  const own = useText(bulkTexts);
  const problemText = useProblemText();
  const { data } = useQuery(typeFieldsQuery(type.id));
  const fields = ((data?.fields as FieldSchema[] | undefined) ?? []).filter((field) => !field.readOnly);
  const [code, setCode] = useState<string | null>(null);
  const [value, setValue] = useState<unknown>(null);
  const [clear, setClear] = useState(false);
  useDialogWarning(value !== null);
  const field = fields.find((one) => one.code === code);
  const problem = field === undefined || clear ? undefined : checkField({ ...field, required: true }, value);
  const body =
    field === undefined || problem !== undefined ? undefined : updateOf(rows, field.code, clear ? null : value);
  return (
    <Stack gap="sm">
      <FaultAlert error={error} />
      <Select
        label={own.bulkField}
        data={fields.map((one) => ({ value: one.code, label: one.name }))}
        value={code}
        onChange={(next) => {
          setCode(next);
          setValue(null);
        }}
        searchable
        selectFirstOptionOnChange
        autoFocus
      />
      {field !== undefined && !clear && (
        <FieldInput
          key={field.code}
          field={{ ...field, name: own.bulkValue, required: false }}
          value={value}
          onChange={setValue}
          error={value === null ? undefined : problemText(problem)}
          place={{ typeId: type.id }}
          autoFocus
        />
      )}
      {field !== undefined && !field.required && (
        <Switch label={own.bulkClear} checked={clear} onChange={(event) => setClear(event.currentTarget.checked)} />
      )}
      <WhatIf
        key={JSON.stringify([code, value, clear])}
        ask={body === undefined ? undefined : () => tryBulk(body)}
        typeId={type.id}
        names={recordNames(rows)}
      />
      <Group justify="flex-end">
        <Button loading={pending} disabled={body === undefined} onClick={() => body !== undefined && onRun(body)}>
          {own.bulkRun(rows.length)}
        </Button>
      </Group>
    </Stack>
  );
}

/** The consequences of archiving, as the body of its confirmation. */
export function ArchiveQuestion({ rows }: { rows: readonly Row[] }) {
  const own = useText(bulkTexts);
  return (
    <QuestionWithPreview
      ask={() => tryBulk(archiveOf(rows))}
      typeId={rows[0]?.typeDefinitionId}
      names={recordNames(rows)}
    >
      {own.bulkArchiveBody}
    </QuestionWithPreview>
  );
}

export function BulkTransition({ rows, pending, error, onRun, onCancel }: FormProps & { onCancel: () => void }) {
  const own = useText(bulkTexts);
  const first = rows[0];
  const { data } = useQuery({ ...workflowQuery(first?.id ?? ''), enabled: first !== undefined });
  const [id, setId] = useState<string | null>(null);
  const transition = data?.transitions.find((one) => one.id === id);
  if (data === undefined) return <Loader size="sm" />;
  if (data.transitions.length === 0) return <Text size="sm">{own.bulkNoTransition}</Text>;
  return (
    <Stack gap="sm">
      <Text size="xs" c="dimmed">
        {own.bulkTransitionHint}
      </Text>
      <Select
        label={own.bulkTransition}
        data={data.transitions.map((one) => ({ value: one.id, label: `${one.name} → ${one.to.name}` }))}
        value={id}
        onChange={setId}
      />
      {transition !== undefined && (
        <TransitionForm
          key={transition.id}
          transition={transition}
          pending={pending}
          error={error}
          onCancel={onCancel}
          onSubmit={(values) => onRun(transitionOf(rows, transition.id, values))}
          onTry={(values) => tryBulk(transitionOf(rows, transition.id, values))}
          typeId={first?.typeDefinitionId}
          names={recordNames(rows)}
        />
      )}
    </Stack>
  );
}
